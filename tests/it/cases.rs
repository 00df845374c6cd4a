//! The cases from public bug reports against comparable products, each with its id.

use std::time::Duration;

use openspace_testkit::{
    cli::{Output, Running},
    leak,
    model::{Call, SeenRequest, Turn},
    screen::TestScreen,
};
use serde_json::{Value, json};

mod effect;
mod hosts;
mod images;
mod keys;
mod pixels;
mod stop;
mod toolset;
mod trouble;
mod typing;

/// Longest a test waits for something that should come soon.
const SOON: Duration = Duration::from_secs(60);

/// Lets a run use whatever is on the screen, so that a test is about something else.
const ANY_PROGRAM: [&str; 2] = ["--allow", "gui:*"];

/// What `--json` told, line by line.
fn told(output: &str) -> Vec<Value> {
    output
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// The events of one kind, their payloads only.
fn payloads(output: &str, kind: &str) -> Vec<Value> {
    told(output)
        .into_iter()
        .filter(|event| event["kind"] == kind)
        .map(|event| event["payload"].clone())
        .collect()
}

/// How a run with `--json` ended.
fn outcome(output: &Output) -> Value {
    told(&output.stdout)
        .into_iter()
        .find(|event| event["kind"] == "result")
        .unwrap_or_else(|| panic!("no result in {output:?}"))
}

/// The id of a run with `--json` that has begun.
fn run_id(running: &mut Running) -> String {
    let line = running
        .wait_for_line(SOON, |line| line.contains("\"topic\":\"run\""))
        .expect("an event of the run");
    let event: Value = serde_json::from_str(&line).expect("an event is JSON");
    event["key"].as_str().expect("the run's id").to_owned()
}

/// A turn with several actions in one call.
fn batch(actions: &[Value]) -> Turn {
    Turn::call(Call::new("computer_batch", json!({ "actions": actions })))
}

/// Nothing is held down any more.
fn assert_released(screen: &TestScreen) {
    let pressed = leak::wait_released(screen, Duration::from_secs(2)).expect("the display answers");
    assert!(pressed.is_empty(), "still pressed: {pressed:?}");
}

/// The text of the newest results, and whether one of them is an error.
fn newest(seen: &SeenRequest) -> (String, bool) {
    let results = seen.new_results();
    let texts: Vec<_> = results.iter().map(|result| result.text.as_str()).collect();
    (
        texts.join("\n"),
        results.iter().any(|result| result.is_error),
    )
}
