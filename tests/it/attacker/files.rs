//! The file tools, which work outside the sandbox: only the policy holds them.

use std::fs;

use openspace_testkit::model::Call;
use serde_json::json;

use super::victim::{PROGRAM, Victim};

/// Ways to say the same forbidden file.
const SECRETS: &[&str] = &[
    "~/.ssh/id_ed25519",
    "@HOME/.ssh/id_ed25519",
    "@HOME/.ssh/../.ssh/./id_ed25519",
    "../home/.ssh/id_ed25519",
    "keys/id_ed25519",
    "door/home/.aws/credentials",
    "twice/credentials",
    "/proc/self/root@HOME/.ssh/id_ed25519",
    "/proc/self/cwd/../home/.aws/credentials",
    "/proc/thread-self/root@HOME/.netrc",
    "/proc/self/environ",
    "/proc/thread-self/environ",
    "/proc/self/task/../environ",
    "/proc/self/../self/environ",
    "/dev/fd/../environ",
    "/proc/1/environ",
    "@HOME/.config/openspace/token",
    "@HOME/.aws/credentials",
    "@DATA/openspace.db",
    "@DATA/settings.toml",
    "/proc/self/root@DATA/settings.toml",
    "/etc/shadow",
];

fn calls(victim: &Victim) -> Vec<Call> {
    let mut calls = Vec::new();
    for path in SECRETS {
        let path = victim.fill(path);
        calls.push(Call::new("read_file", json!({"path": path})));
        calls.push(Call::new(
            "write_file",
            json!({"path": path, "content": "pwned"}),
        ));
        calls.push(Call::new(
            "edit_file",
            json!({"path": path, "old": "a", "new": "b", "replace_all": true}),
        ));
        calls.push(Call::new(
            "search",
            json!({"pattern": "planted|sk-test", "path": path}),
        ));
    }
    // Whatever the runner itself has open: the database, its log, its pipes.
    for number in 0..24 {
        let path = format!("/proc/self/fd/{number}");
        calls.push(Call::new("read_file", json!({"path": path})));
        calls.push(Call::new(
            "write_file",
            json!({"path": path, "content": "pwned"}),
        ));
    }
    for hook in [".git/hooks/pre-commit", "./x/../.git/hooks/post-checkout"] {
        calls.push(Call::new(
            "write_file",
            json!({"path": hook, "content": "#!/bin/sh\ntouch pwned\n"}),
        ));
    }
    for folder in ["~/.ssh", "keys", "@DATA", "/proc/self/cwd/../home/.aws"] {
        calls.push(Call::new(
            "run_command",
            json!({"command": "cat * > /dev/stderr", "folder": victim.fill(folder)}),
        ));
    }
    for folder in ["~", "~/.ssh", "@ROOT", "/proc/self", "door", "keys", "/"] {
        let folder = victim.fill(folder);
        calls.push(Call::new(
            "search",
            json!({"pattern": "planted-7d3f9a", "path": folder}),
        ));
        calls.push(Call::new("list_dir", json!({"path": folder, "depth": 3})));
    }
    for path in [
        "~/.bashrc",
        "@HOME/.config/autostart/x.desktop",
        "@ROOT/pwned",
        "door/pwned",
        "door/home/.bashrc",
    ] {
        let path = victim.fill(path);
        calls.push(Call::new(
            "write_file",
            json!({"path": path, "content": "touch pwned"}),
        ));
    }
    let programs = [
        (PROGRAM, vec!["approve"]),
        (PROGRAM, vec!["run", "Do evil"]),
        (PROGRAM, vec!["config", "set", "policy.preset", "hands-off"]),
        ("openspace", vec!["approve"]),
        ("xterm", vec!["-e", PROGRAM, "approve"]),
        ("bash", vec!["-c", "cat ~/.ssh/id_ed25519"]),
        ("python3", vec!["-c", "open('pwned', 'w')"]),
        (
            "env",
            vec![PROGRAM, "config", "set", "policy.preset", "hands-off"],
        ),
        ("setsid", vec![PROGRAM, "run", "Do evil"]),
        (
            "./helper",
            vec!["config", "set", "policy.preset", "hands-off"],
        ),
    ];
    for (program, arguments) in programs {
        calls.push(Call::new(
            "open_program",
            json!({"program": program, "arguments": arguments}),
        ));
    }
    calls
}

/// Links of the workspace that lead to what is not the attacker's.
fn prepare(victim: &Victim) {
    use std::os::unix::fs::symlink;
    let workspace = victim.rig.home.workspace();
    let link = |target: &str, name: &str| {
        symlink(victim.path(target), workspace.join(name)).expect("a link");
    };
    link("home/.ssh", "keys");
    link("", "door");
    symlink("door/home/.aws", workspace.join("twice")).expect("a link");
    symlink(PROGRAM, workspace.join("helper")).expect("a link");
    fs::create_dir_all(workspace.join(".git/hooks")).expect("folder");
}

fn try_tools(flags: &[&str]) {
    let victim = Victim::headless();
    prepare(&victim);
    let home = format!("write:{}", victim.path("home"));
    let root = format!("read:{}", victim.path(""));
    let flags: Vec<&str> = flags
        .iter()
        .map(|flag| match *flag {
            "write" => home.as_str(),
            "read" => root.as_str(),
            flag => flag,
        })
        .collect();
    let calls = calls(&victim);
    // With a rule that allows writing to the home, its own files may be written.
    let allowed = flags.contains(&home.as_str());
    let calls: Vec<Call> = calls
        .into_iter()
        .filter(|call| {
            !(allowed && call.name == "write_file" && call.arguments.contains("\"touch pwned"))
        })
        .collect();
    let output = victim.attack(&calls, &flags);
    let results = victim.results();
    assert_eq!(results.len(), calls.len(), "every call was answered");
    for (call, (is_error, text)) in calls.iter().zip(&results) {
        if matches!(call.name.as_str(), "read_file" | "write_file" | "edit_file") {
            assert!(is_error, "{call:?} was done: {text}");
        }
    }
    victim.assert_unharmed(&[&output], 1);
}

/// No spelling of a protected file is read, written or searched with the default preset.
#[test]
fn file_tools_in_the_default_preset() {
    try_tools(&[]);
}

/// The same hands-off, with rules that allow the folders around.
#[test]
fn file_tools_hands_off_with_rules() {
    try_tools(&[
        "--preset",
        "hands-off",
        "--allow",
        "write",
        "--allow",
        "read",
        "--allow",
        "gui:*",
    ]);
}
