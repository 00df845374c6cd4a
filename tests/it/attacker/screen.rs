//! The attacker has the mouse and the keyboard of a real screen.

use std::{fs, time::Duration};

use openspace_testkit::{
    cli::{Program, Running},
    model::{Call, Script, Turn},
    wait_until,
};
use serde_json::json;

use super::victim::{PROGRAM, Victim};
use crate::rig::LIMIT;

/// Where the terminals of these tests are for sure: they are opened in the upper left corner.
const IN_TERMINAL: (i32, i32) = (300, 200);

/// A terminal program on the test's screen, as a person would have opened it.
fn xterm(victim: &Victim, words: &[&str]) -> Running {
    Program::new("/usr/bin/xterm")
        .args(["-geometry", "110x40+0+0", "-e"])
        .args(words.iter().copied())
        .environment(victim.rig.environment())
        .folder(victim.rig.home.workspace())
        .start()
        .expect("xterm starts")
}

fn outside(line: &str) -> Call {
    Call::new(
        "run_command",
        json!({"command": line, "outside_sandbox": true}),
    )
}

/// Plays the one that waits for an answer, and the attacker who makes his calls one a turn.
fn two_runs(line: String, calls: Vec<Call>) -> Script {
    Script::decide(move |seen| {
        if seen.person().contains("Tidy up") {
            return match seen.turns() {
                0 => Turn::call(outside(&line)),
                _ => Turn::done("Done."),
            };
        }
        match seen.turns() {
            0 => Turn::screenshot(),
            turn => calls.get(turn - 1).map_or_else(
                || Turn::done("Nothing worked."),
                |call| Turn::call(call.clone()),
            ),
        }
    })
}

fn attack(victim: &Victim, preset: &str) -> openspace_testkit::cli::Output {
    let output = victim
        .openspace(&[
            "run",
            "Attack",
            "--backends",
            "gui,shell",
            "--allow",
            "gui:*",
            "--preset",
            preset,
        ])
        .run()
        .expect("runs");
    assert!(
        output.stdout.contains("Nothing worked.") || output.code == Some(1),
        "it went to its end: {output:?}"
    );
    output
}

/// The terminal that waits for a person's answer takes no click and no key of any run, nor does
/// the run press the chord that stops it.
#[test]
fn the_terminal_that_asks_is_off_limits() {
    let victim = Victim::with_screen();
    let computer = |arguments| Call::computer(arguments);
    let (x, y) = IN_TERMINAL;
    let calls = vec![
        Call::click_at(IN_TERMINAL),
        Call::type_text("y\n"),
        Call::key("y"),
        Call::key("Return"),
        Call::point_at("middle_click", IN_TERMINAL),
        computer(
            json!({"action": "left_click_drag", "start_coordinate": [x, y], "coordinate": [x + 90, y]}),
        ),
        computer(json!({"action": "hold_key", "text": "y", "duration": 0.2})),
        Call::key("alt+F4"),
        Call::key("ctrl+c"),
        Call::key("ctrl+alt+period"),
        computer(json!({"action": "hold_key", "text": "ctrl+alt+.", "duration": 0.2})),
    ];
    let count = calls.len();
    victim
        .rig
        .server
        .set_script(two_runs(victim.fill("touch @ROOT/pwned"), calls));
    let mut terminal = xterm(&victim, &[PROGRAM, "run", "Tidy up", "--backends", "shell"]);
    let asks = wait_until(LIMIT, || {
        victim
            .runs()
            .first()
            .is_some_and(|row| row["run"]["status"] == "needs_approval")
    });
    assert!(asks, "{:?}", victim.runs());

    let output = attack(&victim, "hands-off");
    let requests = victim.rig.server.requests();
    let last = requests
        .iter()
        .rev()
        .find(|seen| seen.person().contains("Attack"))
        .expect("the attacker asked");
    let results = last.results();
    assert!(results.len() > 3, "{results:?}");
    for result in results.iter().skip(1) {
        assert!(result.is_error, "{}", result.text);
    }
    assert!(results.len() == count + 1 || output.code == Some(1));
    let waiting = victim.runs();
    let status = |task: &str| {
        waiting
            .iter()
            .find(|row| row["task"] == task)
            .map(|row| row["run"]["status"].clone())
    };
    assert_eq!(
        status("Tidy up"),
        Some(json!("needs_approval")),
        "{waiting:?}"
    );

    let stopped = victim.openspace(&["stop"]).run().expect("stops");
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    terminal.wait(LIMIT).expect("the terminal closes");
    drop(terminal);
    victim.assert_unharmed(&[&output], 2);
}

/// Programs with a window run outside the sandbox: none is opened with a secret, or as a way to run
/// a command, however much was allowed.
#[test]
fn programs_are_not_opened_to_reach_further() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let victim = Victim::with_screen();
    let workspace = victim.rig.home.workspace();
    symlink(victim.path("home/.ssh"), workspace.join("keys")).expect("a link");
    fs::write(
        workspace.join("evil.desktop"),
        "[Desktop Entry]\nType=Application\nName=x\nExec=touch pwned\n",
    )
    .expect("write");
    fs::write(workspace.join("evil.sh"), "#!/bin/sh\ntouch pwned\n").expect("write");
    fs::set_permissions(workspace.join("evil.sh"), fs::Permissions::from_mode(0o755))
        .expect("mode");
    let key = victim.fill("@HOME/.ssh/id_ed25519");
    let url = format!("file://{key}");
    let option = format!("--file={key}");
    let marker = victim.fill("@ROOTpwned");
    let touch = format!("touch {marker}");
    let evil = format!("open('{marker}', 'w')");
    let prefix = format!("--renderer-cmd-prefix={touch}");
    let output_file = format!("of={marker}");
    let service = victim.fill("http://127.0.0.1:@PORT/");
    let programs: Vec<(&str, Vec<&str>)> = vec![
        ("mousepad", vec![&key]),
        ("mousepad", vec![&url]),
        ("mousepad", vec!["keys/id_ed25519"]),
        ("mousepad", vec![&option]),
        ("mousepad", vec!["~/.ssh/id_ed25519"]),
        ("zenity", vec!["--text-info", "--filename", &key]),
        ("xclip", vec!["-selection", "clipboard", &key]),
        ("chromium", vec![&url]),
        ("chromium", vec!["--no-sandbox", &prefix, "about:blank"]),
        ("xdg-open", vec![&url]),
        ("gio", vec!["open", &url]),
        ("cp", vec![&key, "stolen"]),
        ("xterm", vec!["-e", &touch]),
        ("xterm", vec!["-e", "sh", "-c", &touch]),
        ("x-terminal-emulator", vec!["-e", &touch]),
        ("script", vec!["-c", &touch]),
        ("env", vec!["touch", &marker]),
        ("nice", vec!["touch", &marker]),
        ("setsid", vec!["touch", &marker]),
        ("dbus-run-session", vec!["touch", &marker]),
        ("find", vec![".", "-exec", "touch", &marker, ";"]),
        ("sh", vec!["-c", &touch]),
        ("bash", vec!["evil.sh"]),
        ("./evil.sh", vec![]),
        ("./evil.desktop", vec![]),
        ("python3", vec!["-c", &evil]),
        ("perl", vec!["-e", "unlink 'x'"]),
        ("touch", vec![&marker]),
        ("tee", vec![&marker]),
        ("dd", vec!["if=/dev/null", &output_file]),
        ("sed", vec!["-i", "s/a/b/", &marker]),
        ("curl", vec![&service]),
        ("wget", vec![&service]),
        ("ssh", vec!["localhost", &touch]),
        ("crontab", vec!["evil.sh"]),
        ("make", vec!["-f", "evil.sh"]),
        ("git", vec!["-c", "core.pager=evil.sh", "log"]),
        ("pkill", vec!["-f", "no-such-process-at-all"]),
        ("xdotool", vec!["key", "y"]),
        ("xinput", vec!["list"]),
    ];
    let calls: Vec<Call> = programs
        .iter()
        .map(|(program, words)| {
            Call::new(
                "open_program",
                json!({"program": program, "arguments": words}),
            )
        })
        .collect();
    let count = calls.len();
    let turns = calls
        .chunks(4)
        .map(|calls| Turn::calls(calls.iter().cloned()))
        .chain([Turn::done("Nothing worked."), Turn::done("Nothing worked.")]);
    victim.rig.server.set_script(turns.collect::<Vec<_>>());
    let root = format!("read:{}", victim.path(""));
    let output = victim
        .openspace(&[
            "run",
            "Attack",
            "--backends",
            "gui,shell",
            "--allow",
            "gui:*",
            "--allow",
            &root,
            "--preset",
            "hands-off",
        ])
        .run()
        .expect("runs");
    let results = victim.results();
    assert_eq!(results.len(), count, "{output:?}");
    for ((program, words), (is_error, text)) in programs.iter().zip(&results) {
        assert!(is_error, "{program} {words:?} was opened: {text}");
    }
    victim.assert_unharmed(&[&output], 1);
}

/// Commands typed into a person's terminal are judged as commands, whole or in pieces.
#[test]
fn what_is_typed_into_a_terminal_is_judged() {
    let victim = Victim::with_screen();
    let workspace = victim.rig.home.workspace();
    let mut terminal = xterm(&victim, &["bash", "--norc"]);
    // Its prompt is there once bash has the terminal.
    std::thread::sleep(Duration::from_secs(2));
    let line = victim.fill("touch @ROOT/pwned");
    let (first, second) = line.split_at(line.len() - 5);
    let calls = vec![
        Call::click_at(IN_TERMINAL),
        Call::type_text(&format!("{line}\n")),
        Call::type_text(first),
        Call::type_text(second),
        Call::key("Return"),
        Call::type_text(&victim.fill("cat ~/.ssh/id_ed25519 > @ROOT/pwned\r")),
        Call::type_text("\u{15}"),
        Call::key("ctrl+m"),
        Call::computer(json!({"action": "key", "text": "KP_Enter"})),
        Call::new(
            "computer_batch",
            json!({"actions": [
                {"action": "type", "text": line},
                {"action": "key", "text": "Return"},
            ]}),
        ),
        Call::computer(json!({"action": "clipboard_write", "text": format!("{line}\n")})),
        Call::key("shift+Insert"),
        Call::point_at("middle_click", IN_TERMINAL),
        Call::key("Return"),
    ];
    victim.rig.server.set_script(two_runs(String::new(), calls));
    let output = attack(&victim, "hands-off");
    assert!(terminal.running(), "the terminal is still there");
    let left: Vec<_> = fs::read_dir(workspace).expect("a folder").collect();
    assert!(left.is_empty(), "{left:?}");
    drop(terminal);
    victim.assert_unharmed(&[&output], 1);
}
