//! Text the model reads, besides the tools' own descriptions.

use std::fmt::Write as _;

const SYSTEM: &str = include_str!("prompts/system.md");

/// What the model is told about where it works.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Operating system, as a person names it.
    pub system: String,
    /// Folder that relative paths start from.
    pub workspace: String,
    /// Today, `YYYY-MM-DD`, in the person's time zone.
    pub today: String,
    /// One line about the screen, or why there is none.
    pub screen: String,
    /// Languages or wishes of the person, one a line.
    pub notes: Vec<String>,
}

/// The standing instructions of a run. Stable within a run, so that providers can cache them.
pub fn system(surroundings: &Surroundings) -> String {
    let mut text = SYSTEM.replace("{untrusted}", openspace_grounding::untrusted::EXPLANATION);
    text.push_str("\nWhere you are\n");
    let lines = [
        ("System", &surroundings.system),
        ("Working folder", &surroundings.workspace),
        ("Today", &surroundings.today),
        ("Screen", &surroundings.screen),
    ];
    for (name, value) in lines.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(text, "- {name}: {value}");
    }
    for note in &surroundings.notes {
        let _ = writeln!(text, "- {note}");
    }
    text
}

pub(crate) const EMPTY_REPLY: &str =
    "Your last reply was empty. Go on with the task, or answer with the result if it is done.";
pub(crate) const CUT_REPLY: &str = "Your last reply was cut off by its length limit. Go on from where it ended, in smaller pieces.";
pub(crate) const BATCH_HINT: &str =
    "Hint: several actions on the screen can be sent in one `computer_batch` call.";
pub(crate) const INTERRUPTED_CALL: &str = "This call was interrupted before its result was known. \
It may or may not have taken effect: look before you act, and do not simply repeat it.";
pub(crate) const NOT_RUN_AFTER_PAUSE: &str = "Not run: the person paused the run meanwhile, so what \
you saw may be out of date. Take a fresh look, then decide.";
pub(crate) const UNVERIFIED: &str = "Before you finish: your last action on the screen had no \
visible effect. Look at the screen and check that the task is really done. If it is, say how you \
verified it; if it is not, go on or call `give_up`.";

/// Stands before the result of a call whose command a person changed.
pub(crate) fn edited(line: &str) -> String {
    format!(
        "The person changed the command before allowing it. In place of yours, this is the command the result below belongs to:\n{line}"
    )
}

pub(crate) fn resumed(note: Option<&str>) -> String {
    let mut text = String::from(
        "The run was paused and goes on now. The screen and the files may have changed: take a fresh look before you act.",
    );
    if let Some(note) = note.filter(|note| !note.trim().is_empty()) {
        let _ = write!(text, " The person says: {note}");
    }
    text
}
