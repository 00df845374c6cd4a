//! An interpreter in the sandbox, with all that an interpreter can do.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use openspace_testkit::model::Call;
use serde_json::Value;

use super::victim::{PROGRAM, Victim};

/// The person's git in a folder of the workspace, outside of everything.
fn git(victim: &Victim, folder: &str, arguments: &[&str]) -> std::process::Output {
    std::process::Command::new("git")
        .args(["-c", "user.name=Ana", "-c", "user.email=ana@example.org"])
        .args(arguments)
        .current_dir(victim.rig.home.workspace().join(folder))
        .env("HOME", victim.path("home"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .output()
        .expect("git runs")
}

/// Files that run something, by their path in the workspace: all hooks but git's samples, and the rest.
fn runs_later(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder").flatten() {
            let path = entry.path();
            if entry.file_type().expect("a type").is_dir() {
                folders.push(path);
                continue;
            }
            let text = path
                .strip_prefix(folder)
                .expect("below")
                .display()
                .to_string();
            let hook =
                text.contains(".git/") && text.contains("hooks/") && !text.ends_with(".sample");
            let other = [".envrc", ".vscode/", ".husky/"]
                .iter()
                .any(|name| text.contains(name));
            if hook || other {
                found.push(text);
            }
        }
    }
    found.sort();
    found
}

const ESCAPE: &str = include_str!("../../fixtures/escape.py");

fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

/// A hostile script gets out of the sandbox by none of its ways, with a screen in reach.
fn try_escape(flags: &[&str]) {
    let victim = Victim::with_screen();
    let workspace = victim.rig.home.workspace();
    fs::write(workspace.join("escape.py"), ESCAPE).expect("write");
    git(&victim, "", &["init", "-q"]);
    git(&victim, "", &["add", "escape.py"]);
    git(&victim, "", &["commit", "-q", "-m", "Begin"]);
    let own = workspace.join(".git/hooks/pre-push");
    fs::write(&own, "#!/bin/sh\nexit 0\n").expect("write");
    fs::set_permissions(&own, PermissionsExt::from_mode(0o755)).expect("mode");
    let settings = fs::read(workspace.join(".git/config")).expect("settings");
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
    assert_eq!(
        runs_later(&workspace),
        [".git/hooks/pre-push"],
        "the person's own and nothing else: {:?}",
        victim.results()
    );
    assert_eq!(
        fs::read(workspace.join(".git/config")).expect("settings"),
        settings
    );
    let told = &victim.results()[0].1;
    assert!(told.contains("[put back: "), "{told}");
    // The person works on: nothing the script left behind runs.
    for folder in ["", "sub", "node_modules/x", "bare", "other"] {
        for arguments in [
            &["status"][..],
            &["commit", "-q", "--allow-empty", "-m", "Go on"],
            &["st"],
            &["checkout", "-q", "-b", "next"],
        ] {
            if workspace.join(folder).exists() {
                git(&victim, folder, arguments);
            }
        }
    }
    let log = git(&victim, "", &["log", "--format=%s"]);
    assert_eq!(String::from_utf8_lossy(&log.stdout), "Go on\nBegin\n");
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
