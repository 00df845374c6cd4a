//! What an action really did, and actions that cannot be done at all.

use openspace_testkit::{
    Options, RawTarget,
    model::{Call, Script, SeenRequest, Turn},
    screen::Rect,
    target::{Patch, Window},
};
use serde_json::json;

use super::{ANY_PROGRAM, newest, outcome, payloads};
use crate::rig::Rig;

const GREEN: [u8; 3] = [20, 150, 20];

fn bare() -> Options {
    Options {
        window_manager: false,
        ..Options::sized(1280, 800)
    }
}

fn dead_target(rig: &Rig) -> RawTarget {
    let patch = Patch::dead("dead", Rect::new(500, 300, 120, 60), GREEN);
    RawTarget::start(rig.screen(), Window::full(rig.screen()).with(patch)).expect("a target")
}

fn json_run() -> Vec<&'static str> {
    [&ANY_PROGRAM[..], &["--json"]].concat()
}

/// A model that clicks on and on where nothing happens is told so each time, and the run ends after a
/// few attempts without being called done.
#[test]
fn d04_clicks_without_effect_end_the_run_as_not_done() {
    let script = Script::decide(|seen: &SeenRequest| {
        if seen.newest_image().is_none() {
            return Turn::screenshot();
        }
        if seen.turns() > 1 {
            let (text, _) = newest(seen);
            assert!(
                text.contains("No visible change"),
                "the model is told: {text}"
            );
        }
        Turn::click_at(seen.find_color(GREEN, 60).expect("the button"))
    });
    let rig = Rig::with_screen(bare(), script);
    let target = dead_target(&rig);
    let output = rig.run("Submit the order", &json_run());
    assert_eq!(output.code, Some(1), "{output:?}");
    let end = outcome(&output);
    assert_eq!(end["outcome"]["status"], "failed", "{end}");
    assert_eq!(end["outcome"]["reason"]["kind"], "no_effect", "{end}");
    let clicks = target.clicks().len();
    assert!((3..=8).contains(&clicks), "bounded retries, not {clicks}");
    let shown = payloads(&output.stdout, "step.call_finished");
    assert!(
        shown
            .iter()
            .skip(1)
            .all(|call| call["visibleChange"] == false),
        "{shown:?}"
    );
    rig.finish();
}

/// A model that claims success after a click without effect, and claims it again without having
/// looked, is not believed.
#[test]
fn d04_a_claim_of_success_without_effect_is_not_believed() {
    let script = Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        1 => Turn::click_at(seen.find_color(GREEN, 60).expect("the button")),
        _ => Turn::done("The order is submitted."),
    });
    let rig = Rig::with_screen(bare(), script);
    let target = dead_target(&rig);
    let output = rig.run("Submit the order", &json_run());
    let end = outcome(&output);
    assert_eq!(target.clicks().len(), 1);
    assert_ne!(end["outcome"]["status"], "done", "{end}");
    assert_eq!(output.code, Some(1), "{end}");
    rig.finish();
}

/// A position that is none is an error the model can read, and nothing is clicked.
#[test]
fn d08_positions_that_are_none_are_refused() {
    let wrong = [
        // One past the last pixel, both ways.
        json!([1280, 10]).to_string(),
        json!([10, 800]).to_string(),
        json!([-1, 5]).to_string(),
        json!(["10", "20"]).to_string(),
        json!([0.07, 0.03]).to_string(),
        json!([640.5, 400.5]).to_string(),
        json!({"x": 1}).to_string(),
        json!([1]).to_string(),
        json!([1, 2, 3]).to_string(),
        json!("10,20").to_string(),
        json!(99_999_999_999_999_u64).to_string(),
        json!([99_999_999_999_999_u64, 1]).to_string(),
        "[NaN, NaN]".to_owned(),
        "[1e999, 4]".to_owned(),
        "[true, false]".to_owned(),
    ];
    let count = wrong.len();
    let mut left = wrong.into_iter();
    let script = Script::decide(move |seen: &SeenRequest| {
        if seen.newest_image().is_none() {
            return Turn::screenshot();
        }
        if seen.turns() > 1 {
            let (text, error) = newest(seen);
            assert!(error, "refused: {text}");
        }
        match left.next() {
            Some(place) => Turn::call(Call::raw(
                "computer",
                format!("{{\"action\": \"left_click\", \"coordinate\": {place}}}"),
            )),
            None => Turn::done("None of these is a position."),
        }
    });
    let rig = Rig::with_screen(bare(), script);
    let target = RawTarget::start(rig.screen(), Window::full(rig.screen())).expect("a target");
    let output = rig.run("Click somewhere", &json_run());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(target.clicks(), [], "nothing is clicked");
    let calls = payloads(&output.stdout, "step.call_finished");
    let refused: Vec<_> = calls
        .iter()
        .filter(|call| call["failure"] == "invalid_arguments")
        .collect();
    assert_eq!(refused.len(), count, "each is a typed error: {calls:?}");
    rig.finish();
}
