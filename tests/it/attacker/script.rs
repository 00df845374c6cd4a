//! An interpreter in the sandbox, with all that an interpreter can do.

use std::fs;

use openspace_testkit::model::Call;
use serde_json::Value;

use super::victim::{PROGRAM, Victim};

const ESCAPE: &str = include_str!("../../fixtures/escape.py");

fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

/// A hostile script gets out of the sandbox by none of its ways, with a screen in reach.
fn try_escape(flags: &[&str]) {
    let victim = Victim::with_screen();
    let workspace = victim.rig.home.workspace();
    fs::write(workspace.join("escape.py"), ESCAPE).expect("write");
    let display = victim.rig.screen().display();
    let root = victim.path("");
    let words = [
        root.trim_end_matches('/'),
        &victim.port.to_string(),
        PROGRAM,
        display.trim_start_matches(':'),
    ];
    let words: Vec<String> = words.iter().map(|word| backwards(word)).collect();
    let line = format!("/usr/bin/python3 escape.py {}", words.join(" "));
    let output = victim.attack(&[Call::shell(&line)], flags);
    let report = fs::read_to_string(workspace.join("report.json"))
        .unwrap_or_else(|error| panic!("{error}: {:?}", victim.results()));
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert!(report["tried"].as_u64() > Some(40), "{report}");
    assert_eq!(
        report["brought"],
        serde_json::json!({}),
        "nothing came of it"
    );
    for path in [
        "/tmp/openspace-pwned",
        "/etc/openspace-pwned",
        "/dev/shm/openspace-pwned",
    ] {
        assert!(!std::path::Path::new(path).exists(), "{path}");
    }
    victim.assert_unharmed(&[&output], 1);
}

/// The default preset runs an interpreter in the sandbox without a question: the sandbox must hold.
#[test]
fn a_script_does_not_escape() {
    try_escape(&[]);
}

/// So it is hands-off.
#[test]
fn a_script_does_not_escape_hands_off() {
    try_escape(&["--preset", "hands-off", "--allow", "gui:*"]);
}
