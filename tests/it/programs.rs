//! Real programs, driven by a model that knows no more than what it is shown: every answer comes from
//! what can be read in the picture it was sent, never from a known position.

use openspace_testkit::{
    find::Point,
    model::{Call, Script, SeenRequest, Turn},
};
use serde_json::json;

mod browser;
mod desktop;
mod terminal;

/// One thing the model does as soon as it sees that it can; `None` while it cannot.
type Stage = Box<dyn FnMut(&SeenRequest) -> Option<Turn> + Send>;

/// Looks so often for one stage before it gives up; a loaded machine starts programs slowly.
const MOST_LOOKS: u32 = 40;

fn stage(act: impl FnMut(&SeenRequest) -> Option<Turn> + Send + 'static) -> Stage {
    Box::new(act)
}

/// Goes through the stages, waiting a moment and looking again while the next one cannot be done.
fn stages(stages: Vec<Stage>) -> Script {
    let mut left = stages.into_iter().enumerate().peekable();
    let mut looks = 0;
    Script::decide(move |seen: &SeenRequest| {
        let Some((index, act)) = left.peek_mut() else {
            panic!("all stages are done");
        };
        if let Some(turn) = act(seen) {
            left.next();
            looks = 0;
            return turn;
        }
        looks += 1;
        assert!(
            looks <= MOST_LOOKS,
            "stage {index} never became possible; on the screen: {}",
            seen.read_text()
        );
        wait()
    })
}

/// Waits a moment and looks.
fn wait() -> Turn {
    Turn::call(Call::computer(json!({"action": "wait", "duration": 0.7})))
}

/// Clicks a text as soon as it can be read.
fn click_text(text: &'static str) -> Stage {
    stage(move |seen| Some(Turn::click_at(seen.find_text(text)?)))
}

/// Clicks right of a label, where its field is, as soon as the label can be read.
fn click_beside(label: &'static str, right: i32) -> Stage {
    stage(move |seen| {
        let Point { x, y } = seen.find_text(label)?;
        Some(Turn::click_at((x + right, y)))
    })
}

/// Types at once.
fn type_now(text: impl Into<String>) -> Stage {
    let text = text.into();
    stage(move |_| Some(Turn::type_text(&text)))
}

/// Presses a chord at once.
fn press(chord: &'static str) -> Stage {
    stage(move |_| Some(Turn::key(chord)))
}

/// Ends with what it read, as soon as one of the lines contains `word`.
fn report_line_with(word: &'static str) -> Stage {
    stage(move |seen| {
        seen.newest_image()?;
        let text = seen.read_text();
        let line = text.lines().find(|line| line.contains(word))?;
        Some(Turn::done(line))
    })
}
