//! Words on the command line that mean nothing, and tasks that are none.

use std::fs;

use openspace_testkit::model::Turn;

use super::{assert_says, assert_store_is_whole, openspace};
use crate::rig::Rig;

/// Every request that makes no sense is refused with exit code 2 before a run is queued.
#[test]
fn senseless_requests_are_refused() {
    let rig = Rig::headless(Vec::new());
    let cases: &[(&[&str], &[&str])] = &[
        (&["run", ""], &["the task is empty", "hint:"]),
        (&["run", "  \n\t "], &["the task is empty"]),
        (&["run"], &["<TASK>"]),
        (
            &["run", "x", "--model", "foo"],
            &["`foo` names no provider", "anthropic"],
        ),
        (
            &["run", "x", "--model", "foo/bar"],
            &["no provider `foo`", "ollama"],
        ),
        (
            &["run", "x", "--preset", "no"],
            &["`no` is not a preset", "hands-off"],
        ),
        (
            &["run", "x", "--allow", "bogus:1"],
            &["`bogus:1` is not a rule", "hint:"],
        ),
        (
            &["run", "x", "--backends", "magic"],
            &["no back end `magic`", "shell"],
        ),
        (
            &["run", "x", "--workspace", "/nonexistent"],
            &["workspace `/nonexistent`"],
        ),
        (
            &["run", "x", "--workspace", "/etc/passwd"],
            &["`/etc/passwd` is not a folder"],
        ),
        (&["run", "x", "--session", "zzz"], &["no session `zzz`"]),
        (&["run", "x", "--wait-approval", "5d"], &["no unit of time"]),
        (&["run", "x", "--wait-approval", "soon"], &["no"]),
        (
            &["run", "x", "--wait-approval", "99999999999999999h"],
            &["longer than a year"],
        ),
        (&["run", "x", "--max-steps", "0"], &["max-steps"]),
        (&["run", "x", "--max-minutes", "nan"], &["a number above 0"]),
        (&["run", "x", "--max-minutes", "-5"], &["a number above 0"]),
        (&["run", "x", "--max-cost", "-1"], &["a number above 0"]),
        (&["run", "x", "--max-cost", "inf"], &["a number above 0"]),
        (
            &[
                "run",
                "x",
                "--max-cost",
                "1",
                "--model",
                "openai-compatible/somebodys-own",
            ],
            &["price of `openai-compatible/somebodys-own`", "--max-tokens"],
        ),
        (&["runs", "show", "zzz"], &["no run `zzz`"]),
        (&["runs", "continue", "zzz"], &["no run `zzz`"]),
        (&["runs", "export", "zzz", "-o", "there"], &["no run `zzz`"]),
        (
            &["runs", "list", "--status", "happy"],
            &["no status `happy`", "needs_approval"],
        ),
        (&["stop", "zzz"], &["no run `zzz`"]),
        (&["deny", "zzz"], &["no"]),
        (&["frobnicate"], &["frobnicate", "--help"]),
    ];
    for (arguments, said) in cases {
        let output = openspace(&rig, arguments);
        assert_says(&output, 2, said);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
    assert!(rig.server.requests().is_empty(), "the model was not asked");
    assert_store_is_whole(&rig, &[]);
    rig.finish();
}

/// Nothing to list is said, not shown as nothing.
#[test]
fn empty_lists_are_said() {
    let rig = Rig::headless(Vec::new());
    for (arguments, said) in [
        (vec!["runs", "list"], "no runs"),
        (vec!["stop"], "Nothing is running"),
        (vec!["stop", "--all"], "Nothing is running"),
        (vec!["approve"], "No run is waiting"),
    ] {
        assert_says(&openspace(&rig, &arguments), 0, &[said]);
    }
    let json = openspace(&rig, &["runs", "list", "--json"]);
    assert_eq!((json.stdout.as_str(), json.stderr.as_str()), ("", ""));
    rig.finish();
}

/// A task from standard input is the task; none there is told.
#[test]
fn a_task_comes_from_standard_input() {
    let rig = Rig::headless(vec![Turn::done("Read.")]);
    let piped = |bytes: &[u8]| {
        rig.openspace(&["run", "-", "--backends", "shell"])
            .stdin(bytes)
            .run()
            .expect("runs")
    };
    assert_says(&piped(b""), 2, &["the task is empty"]);
    assert_says(&piped(b"\xff\xfe\xfd"), 2, &["standard input", "UTF-8"]);
    let output = piped("Übersetze „Hallo“\nins Englische\n".as_bytes());
    assert_eq!((output.code, output.stdout.as_str()), (Some(0), "Read.\n"));
    let requests = rig.server.requests();
    assert!(
        requests
            .last()
            .expect("a request")
            .person()
            .contains("Übersetze „Hallo“\nins Englische")
    );
    rig.finish();
}

/// A done run does not go on; an ambiguous id names the choice; an existing folder is not filled.
#[test]
fn ended_runs_and_ids() {
    let rig = Rig::headless((0..40).map(|_| Turn::done("Done.")).collect::<Vec<_>>());
    // Ids are random: among so many two begin alike for certain.
    let mut ids = Vec::new();
    let twins = loop {
        let output = rig.run("Nothing", &["--backends", "shell", "--json"]);
        assert_eq!(output.code, Some(0), "{output:?}");
        let last = output.stdout.lines().last().expect("a line");
        let result: serde_json::Value = serde_json::from_str(last).expect("JSON");
        let id = result["run"].as_str().expect("id").to_owned();
        let same = ids.iter().any(|other: &String| other[..1] == id[..1]);
        ids.push(id.clone());
        if same {
            break id;
        }
        assert!(ids.len() < 38, "{ids:?}");
    };
    let output = openspace(&rig, &["runs", "show", &twins[..1]]);
    assert_says(&output, 2, &[&twins[..1], "more"]);
    let output = openspace(&rig, &["runs", "continue", &twins]);
    assert_says(&output, 1, &["done"]);
    let output = openspace(&rig, &["stop", &twins]);
    assert_ne!(output.code, Some(101), "{output:?}");

    let folder = rig.home.root().join("export");
    let path = folder.display().to_string();
    let export = |path: &str| openspace(&rig, &["runs", "export", &twins, "-o", path]);
    assert_eq!(export(&path).code, Some(0));
    fs::write(folder.join("mine.txt"), "mine").expect("write");
    assert_says(&export(&path), 2, &["export", "hint:"]);
    assert_says(&export("/nonexistent/x"), 2, &["/nonexistent/x", "hint:"]);
    let mine = fs::read_to_string(folder.join("mine.txt")).expect("still there");
    assert_eq!(mine, "mine");
    rig.finish();
}

/// A reader that wants nothing more is no failure: no panic, no message.
#[test]
fn closed_standard_output_is_no_failure() {
    let rig = Rig::headless(vec![Turn::done("Done.")]);
    rig.run("Nothing", &["--backends", "shell"]);
    for arguments in [
        "runs list",
        "config get",
        "doctor",
        "--help",
        "completions bash",
    ] {
        let line = format!(
            "{} {arguments} | head -0; echo \"codes: ${{PIPESTATUS[0]}}\"",
            env!("CARGO_BIN_EXE_openspace")
        );
        let output = openspace_testkit::Program::new("/bin/bash")
            .args(["-c", line.as_str()])
            .environment(rig.environment())
            .folder(rig.home.workspace())
            .run()
            .expect("runs");
        assert!(
            !output.stderr.contains("panicked"),
            "{arguments}: {output:?}"
        );
        assert!(
            ["codes: 0", "codes: 141"].contains(&output.stdout.trim()),
            "{arguments}: {output:?}"
        );
    }
    rig.finish();
}

/// Colours are for terminals: a log that goes into a file or a pipe has none.
#[test]
fn a_piped_log_has_no_colours() {
    let rig = Rig::headless(vec![Turn::done("Done.")]);
    fs::write(
        rig.home.data().join("settings.toml"),
        "[log]\nlevel = \"trace\"\n",
    )
    .expect("write");
    let output = rig.run("Nothing", &["--backends", "shell"]);
    assert!(output.stderr.contains("TRACE"), "{output:?}");
    assert!(!output.stderr.contains('\u{1b}'), "{output:?}");
    rig.finish();
}

/// Variables of the old system are answered with what replaced them.
#[test]
fn old_variables_are_told() {
    let rig = Rig::headless(Vec::new());
    let output = rig
        .openspace(&["doctor", "--json"])
        .env("OPENSPACE_MAX_ITERATIONS", "20")
        .env("OPENSPACE_NO_SUCH_THING", "1")
        .run()
        .expect("runs");
    let told: Vec<serde_json::Value> = output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|check: &serde_json::Value| check["id"] == "variables")
        .collect();
    let text = serde_json::to_string(&told).expect("text");
    assert!(text.contains("OPENSPACE_NO_SUCH_THING"), "{output:?}");
    rig.finish();
}
