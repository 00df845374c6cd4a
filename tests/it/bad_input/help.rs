//! What the program says about itself.

use super::{assert_says, openspace};
use crate::rig::Rig;

fn said(arguments: &[&str]) -> String {
    let rig = Rig::headless(Vec::new());
    let output = openspace(&rig, arguments);
    assert_says(&output, 0, &[]);
    rig.finish();
    output.stdout
}

/// The first thing a new person reads.
#[test]
fn help() {
    insta::assert_snapshot!("help", said(&["--help"]));
}

/// Everything about running a task.
#[test]
fn help_of_run() {
    insta::assert_snapshot!("help_run", said(&["run", "--help"]));
}

/// Called with nothing, the program says how it is called.
#[test]
fn nothing_asked_is_help() {
    let rig = Rig::headless(Vec::new());
    assert_says(
        &openspace(&rig, &[]),
        2,
        &["Usage: openspace", "openspace run"],
    );
    rig.finish();
}

/// Completion scripts are accepted by their shells, and a shell there is none for is told.
#[test]
fn completions() {
    for shell in ["bash", "zsh", "fish"] {
        let script = said(&["completions", shell]);
        assert!(script.contains("openspace") && script.contains("max-steps"));
        assert!(!script.contains("guard"), "hidden commands stay hidden");
    }
    let script = said(&["completions", "bash"]);
    let checked = openspace_testkit::Program::new("/bin/bash")
        .args(["-n", "/dev/stdin"])
        .stdin(script)
        .run()
        .expect("bash");
    assert_eq!((checked.code, checked.stderr.as_str()), (Some(0), ""));
    let rig = Rig::headless(Vec::new());
    assert_says(
        &openspace(&rig, &["completions", "csh"]),
        2,
        &["csh", "bash"],
    );
    rig.finish();
}
