//! What people and machines get wrong: each ends in a message that says what happened and what to
//! do, with the right exit code, and the store stays whole.

use openspace_testkit::cli::Output;
use serde_json::Value;

use crate::rig::Rig;

mod attachments;
mod command_line;
mod data_folder;
mod help;
mod model;
mod screen;
mod settings;

/// The command as a person gave it ended with this code and said all of this on standard error.
fn assert_says(output: &Output, code: i32, said: &[&str]) {
    assert_eq!(output.code, Some(code), "{output:?}");
    assert!(
        !output.stderr.contains("panicked") && !output.stderr.contains("RUST_BACKTRACE"),
        "{output:?}"
    );
    for text in said {
        assert!(
            output.stderr.contains(text),
            "`{text}` is said: {}",
            output.stderr
        );
    }
}

/// A command without a terminal.
fn openspace(rig: &Rig, arguments: &[&str]) -> Output {
    rig.openspace(arguments).run().expect("the program runs")
}

/// The store opens, every run in it has ended, and no run's events have a gap.
fn assert_store_is_whole(rig: &Rig, statuses: &[&str]) {
    let listed = openspace(rig, &["runs", "list", "--json"]);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let mut found = Vec::new();
    for line in listed.stdout.lines() {
        let row: Value = serde_json::from_str(line).expect("JSON");
        let text = |key: &str| row["run"][key].as_str().expect("text").to_owned();
        let shown = openspace(rig, &["runs", "show", &text("id"), "--json"]);
        let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
        let events = shown["events"].as_array().expect("events");
        assert!(!events.is_empty(), "a run has events");
        for (position, event) in events.iter().enumerate() {
            assert_eq!(event["seq"], position as u64 + 1, "no gap: {events:?}");
        }
        let last = events
            .iter()
            .rev()
            .find(|event| event["kind"] == "run.status")
            .expect("a status");
        assert_eq!(last["payload"]["status"], row["run"]["status"]);
        found.push(text("status"));
    }
    assert_eq!(found, statuses, "newest first");
}
