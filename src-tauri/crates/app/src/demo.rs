//! The demo: a recorded plan drives a real editor through the real loop, without a model or a key.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use openspace_gui::{Monitor, Tree, platform::Platform};
use openspace_llm::{
    Image,
    recorded::{Call, Finder, Plan, Recording, Turn},
};
use openspace_store::{Answer, Decision, RunId};
use serde_json::{Value, json};

use crate::{App, Code, Display, Failure, RunRequest, SpecAttendance, failure::Result};

/// What the demo types: letters no keyboard layout has all of.
pub const TEXT: &str = "Grüße aus OpenSpace: Ω, “naïve”, 北京 and 👍.";
/// Name of the model that plays it; says itself that it is none.
pub const MODEL: &str = "recorded/demo";
const EDITOR: &str = "mousepad";
/// Folder of the demo below the home folder.
pub const FOLDER: &str = "openspace-demo";
/// How long one look for an element may take: a plan has time, unlike a click.
const LOOK: Duration = Duration::from_millis(400);

/// Everything the demo needs besides an opened [`App`].
pub struct Demo {
    folder: PathBuf,
}

/// Removes what the demo made: its own files and the pictures it exported, nothing else.
pub(crate) fn remove(folder: &Path) -> std::io::Result<()> {
    let gone = |result: std::io::Result<()>| match result {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    for file in [LETTER, DRAFT] {
        gone(std::fs::remove_file(folder.join(file)))?;
    }
    let exports = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return gone(Err(error)),
    };
    for entry in exports.flatten() {
        if entry.file_name().to_string_lossy().starts_with(EXPORT) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    // What somebody else put there keeps the folder.
    let _kept = std::fs::remove_dir(folder);
    Ok(())
}

impl Demo {
    /// The demo in a folder that was prepared before.
    pub(crate) fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// Prepares the folder: a draft to be deleted, and no letter of an earlier demo.
    pub fn prepare(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::new(
                Code::Unavailable,
                format!("cannot create `{}`: {error}", folder.display()),
            )
        })?;
        let draft = folder.join(DRAFT);
        std::fs::write(&draft, "An old draft that the demo asks to delete.\n").map_err(
            |error| {
                Failure::new(
                    Code::Unavailable,
                    format!("cannot write `{}`: {error}", draft.display()),
                )
            },
        )?;
        let letter = folder.join(LETTER);
        match std::fs::remove_file(&letter) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(Failure::new(
                    Code::Unavailable,
                    format!(
                        "cannot remove the letter of an earlier demo, `{}`: {error}",
                        letter.display()
                    ),
                ));
            }
        }
        let folder = folder.canonicalize().map_err(|error| {
            Failure::new(
                Code::Unavailable,
                format!("cannot use `{}`: {error}", folder.display()),
            )
        })?;
        Ok(Self { folder })
    }

    /// Where it writes.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The request that starts it. The editor is allowed beforehand; deleting the draft is asked for.
    pub fn request(&self) -> RunRequest {
        RunRequest {
            task: format!(
                "Write a greeting into {LETTER} with the text editor, check it, and delete {DRAFT}."
            ),
            session: None,
            origin: "demo".to_owned(),
            idempotency_key: None,
            model: Some(MODEL.to_owned()),
            backends: Some(vec!["shell".to_owned(), "gui".to_owned()]),
            workspace: Some(self.folder.clone()),
            folder: self.folder.clone(),
            limits: openspace_agent::Limits::default(),
            preset: Some("ask-risky".to_owned()),
            allow: vec![format!("gui:{EDITOR}")],
            display: Display::Session,
            monitor: None,
            attendance: SpecAttendance::Waits,
            attachments: Vec::new(),
        }
    }

    /// The plan, with eyes on the display the demo runs on.
    pub(crate) fn recording(&self, open: &Platform) -> Result<Recording> {
        let eyes = Eyes::new(open)?;
        Ok(Recording {
            plan: self.plan(),
            finder: Arc::new(eyes),
        })
    }

    fn plan(&self) -> Plan {
        let letter = self.folder.join(LETTER);
        let turn = |text: &str, calls: Vec<Call>| Turn {
            text: text.to_owned(),
            calls,
            retry_until: None,
        };
        let call = |name: &str, input: Value| Call {
            name: name.to_owned(),
            input,
        };
        let screen = |actions: Value| call("computer_batch", json!({ "actions": actions }));
        Plan::new(vec![
            turn(
                "I open the text editor.",
                vec![call("open_program", json!({ "program": EDITOR }))],
            ),
            turn(
                "I look at the screen.",
                vec![call("computer", json!({ "action": "screenshot" }))],
            ),
            turn(
                "I click into the empty page and write.",
                vec![screen(json!([
                    { "action": "left_click", "coordinate": { "$find": { "role": ["text", "page tab list"] } } },
                    { "action": "type", "text": format!("{TEXT}\n") },
                    { "action": "key", "text": "ctrl+s" },
                ]))],
            ),
            Turn {
                // Save itself is grey until there is a name.
                retry_until: Some(json!({ "role": "push button", "name": "Cancel" })),
                ..turn(
                    "The dialog for saving is open: I fill in the name.",
                    vec![screen(json!([
                        { "action": "key", "text": "ctrl+a" },
                        { "action": "type", "text": letter.display().to_string() },
                    ]))],
                )
            },
            turn(
                "I press Save with the mouse.",
                vec![call(
                    "computer",
                    json!({ "action": "left_click", "coordinate": { "$find": { "role": "push button", "name": "Save" } } }),
                )],
            ),
            Turn {
                retry_until: Some(json!({ "role": "menu", "name": "File" })),
                ..turn(
                    "I close the editor.",
                    vec![call(
                        "computer",
                        json!({ "action": "key", "text": "ctrl+q" }),
                    )],
                )
            },
            turn(
                "I check the file with a command.",
                vec![call(
                    "run_command",
                    json!({ "command": format!("cat {LETTER} && wc -m {LETTER}") }),
                )],
            ),
            turn(
                "The old draft is not needed any more; deleting it needs your permission.",
                vec![call(
                    "run_command",
                    json!({ "command": format!("rm {DRAFT}") }),
                )],
            ),
            turn(
                &format!("The greeting is written, saved as {LETTER} and checked."),
                Vec::new(),
            ),
        ])
    }

    /// Whether the editor's file holds exactly what was to be typed.
    pub fn verify(&self) -> (PathBuf, bool) {
        let letter = self.folder.join(LETTER);
        let right = std::fs::read_to_string(&letter).is_ok_and(|text| text == format!("{TEXT}\n"));
        (letter, right)
    }
}

const LETTER: &str = "greeting.txt";
const DRAFT: &str = "draft.txt";
/// Beginning of the names of exported runs in the demo's folder.
pub const EXPORT: &str = "run-";

/// Answers the demo's questions with yes, because the person said so beforehand.
pub async fn say_yes(app: Arc<App>, run: RunId) {
    let cursor = 0;
    let Ok(mut watch) = app.store.watch(cursor) else {
        return;
    };
    while let Ok(event) = watch.next().await {
        if event.kind != "run.approval_asked" || event.key != run.as_str() {
            continue;
        }
        let Some(id) = event
            .payload
            .get("approval")
            .and_then(Value::as_str)
            .and_then(|id| id.parse().ok())
        else {
            continue;
        };
        let yes = Answer {
            decision: Decision::AllowOnce,
            edited: None,
            note: None,
        };
        let answered = app
            .store
            .call(move |db| db.approvals().answer(&id, &yes, "demo --yes"))
            .await;
        if let Err(error) = answered {
            tracing::warn!(%error, "answering the demo's question");
        }
    }
}

/// Finds elements by what programs say of themselves, and tells where they are in the picture.
struct Eyes {
    screen: Arc<dyn openspace_gui::Screen>,
    tree: Arc<dyn Tree>,
    monitor: Monitor,
}

impl Eyes {
    fn new(open: &Platform) -> Result<Self> {
        let unavailable = |message: String| Failure::new(Code::Unavailable, message);
        let monitors = open
            .screen
            .monitors()
            .map_err(|error| unavailable(error.to_string()))?;
        let monitor = monitors
            .into_iter()
            .next()
            .ok_or_else(|| unavailable("there is no monitor".to_owned()))?;
        let tree = open.tree.clone().ok_or_else(|| {
            unavailable(
                "the demo finds its way by the accessibility service, which does not answer here"
                    .to_owned(),
            )
            .hint("apt-get install at-spi2-core dbus, or: openspace demo --display private")
        })?;
        Ok(Self {
            screen: Arc::clone(&open.screen),
            tree,
            monitor,
        })
    }
}

impl Finder for Eyes {
    fn find(&self, what: &Value, image: &Image) -> Option<(u32, u32)> {
        let (roles, name) = (what.get("role"), what.get("name").and_then(Value::as_str));
        let window = self.screen.focused().ok()??;
        let elements = self.tree.elements(&window, Instant::now() + LOOK).elements;
        tracing::debug!(?window, ?elements, %what, "looking for an element");
        let is_one_of = |role: &str| match roles {
            None => true,
            Some(Value::Array(roles)) => roles.iter().any(|known| known.as_str() == Some(role)),
            Some(known) => known.as_str() == Some(role),
        };
        let element = elements.iter().find(|element| {
            is_one_of(&element.role)
                && name.is_none_or(|name| element.name == name)
                && element.enabled
        })?;
        let centre = element.centre();
        let area = self.monitor.area;
        let place = |at: i32, origin: i32, length: u32, sent: u32| {
            let inside = u64::try_from(i64::from(at) - i64::from(origin)).ok()?;
            let scaled = (inside * 2 + 1) * u64::from(sent) / (u64::from(length) * 2);
            u32::try_from(scaled).ok().filter(|scaled| *scaled < sent)
        };
        Some((
            place(centre.x, area.x, area.width, image.width)?,
            place(centre.y, area.y, area.height, image.height)?,
        ))
    }
}
