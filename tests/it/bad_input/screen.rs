//! Screens that are not there.

use std::{net::TcpListener, time::Instant};

use openspace_testkit::{
    Program,
    cli::Output,
    model::{Call, Turn},
    screen::Options,
    watch::InputWatch,
};

use super::{assert_says, assert_store_is_whole, openspace};
use crate::rig::{LIMIT, Rig};

fn run_on(rig: &Rig, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut environment = rig.environment();
    for (name, value) in variables {
        environment.insert((*name).to_owned(), (*value).to_owned());
    }
    Program::new(env!("CARGO_BIN_EXE_openspace"))
        .args(["run", "Look"].iter().chain(arguments).copied())
        .environment(environment)
        .folder(rig.home.workspace())
        .limit(LIMIT)
        .run()
        .expect("the program runs")
}

/// More than the question whether the model is there.
fn was_offered_tools(rig: &Rig) -> bool {
    let requests = rig.server.requests();
    requests.iter().any(|seen| !seen.tools.is_empty())
}

/// A display that does not answer.
const NOWHERE: (&str, &str) = ("DISPLAY", ":4987");

/// A task that needs the screen fails with what to do; one that can do without goes on, and the
/// model is told and not offered the screen.
#[test]
fn a_display_that_is_not_there() {
    let rig = Rig::headless(vec![Turn::done("Without.")]);
    let output = run_on(&rig, &[NOWHERE], &["--backends", "gui"]);
    assert_says(&output, 1, &[":4987", "--display private"]);
    assert!(!was_offered_tools(&rig), "the model was given no task");
    let output = run_on(&rig, &[NOWHERE], &["--backends", "gui,shell"]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "Without.\n"),
        "{output:?}"
    );
    assert!(
        output.stderr.contains(":4987"),
        "the person is told: {output:?}"
    );
    let requests = rig.server.requests();
    let asked = requests.last().expect("a request");
    assert!(
        asked.system().contains("not available"),
        "the model is told"
    );
    assert!(asked.tool("computer").is_none(), "and not offered it");
    assert_store_is_whole(&rig, &["done", "failed"]);
    rig.finish();
}

/// A display that lets everybody in and answers nobody is told, and waited for no longer than that takes.
#[test]
fn a_display_that_is_frozen() {
    // Display `n` of a machine is its port 6000 + n.
    let frozen = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = frozen.local_addr().expect("its address").port();
    let display = format!("127.0.0.1:{}", port - 6_000);
    let told = format!("the display `{display}` does not answer");
    let rig = Rig::headless(vec![Turn::done("Without.")]);
    let begun = Instant::now();
    let doctor = rig
        .openspace(&["doctor", "--json"])
        .env("DISPLAY", &display);
    let doctor = doctor.run().expect("the program runs");
    assert!(doctor.stdout.contains(&told), "{doctor:?}");
    let shell = ["--backends", "gui,shell"];
    let output = run_on(&rig, &[("DISPLAY", &display)], &shell);
    assert_eq!(output.stdout, "Without.\n", "{output:?}");
    assert!(output.stderr.contains(&told), "{output:?}");
    assert!(begun.elapsed() < LIMIT / 2, "{:?}", begun.elapsed());
    rig.finish();
}

/// A Wayland session without X is named as such.
#[test]
fn a_session_with_wayland_only() {
    let rig = Rig::headless(Vec::new());
    let wayland = [
        ("WAYLAND_DISPLAY", "wayland-4987"),
        ("XDG_SESSION_TYPE", "wayland"),
    ];
    let output = run_on(&rig, &wayland, &["--backends", "gui"]);
    assert_says(&output, 1, &["Wayland", "--display private"]);
    let doctor = rig
        .openspace(&["doctor", "--json"])
        .env("WAYLAND_DISPLAY", "wayland-4987")
        .env("XDG_SESSION_TYPE", "wayland")
        .run()
        .expect("runs");
    assert!(doctor.stdout.contains("Wayland"), "{doctor:?}");
    rig.finish();
}

/// A monitor of an unknown name is refused with the names there are.
#[test]
fn a_monitor_that_is_not_there() {
    let rig = Rig::with_screen(Options::default(), Vec::new());
    let output = run_on(&rig, &[], &["--backends", "gui", "--monitor", "HDMI-77"]);
    assert_says(&output, 2, &["no monitor `HDMI-77`", "there"]);
    assert!(!was_offered_tools(&rig), "nothing was begun");
    assert_store_is_whole(&rig, &["failed"]);
    rig.finish();
}

/// Coordinates that are none are errors the model sees, and nothing is clicked.
#[test]
fn d08_coordinates_that_are_none() {
    let coordinates = [
        "[NaN, 5]",
        "[Infinity, 0]",
        "[1e400, 0]",
        "[-1, 5]",
        "[99999, 5]",
        "[5]",
        "[5, 5, 5]",
        "[0.07, 0.03]",
        "{\"x\": 1}",
        "\"middle\"",
        "null",
        "[null, null]",
    ];
    let calls: Vec<Turn> = coordinates
        .iter()
        .map(|place| {
            let arguments = format!("{{\"action\": \"left_click\", \"coordinate\": {place}}}");
            Turn::call(Call::raw("computer", arguments))
        })
        .collect();
    let count = calls.len();
    let turns = [Turn::screenshot()]
        .into_iter()
        .chain(calls)
        // What did not work on the screen may be doubted once more before the end.
        .chain([Turn::done("Enough."), Turn::done("Enough.")]);
    let rig = Rig::with_screen(Options::default(), turns.collect::<Vec<_>>());
    let watch = InputWatch::start(rig.screen()).expect("watch");
    let output = run_on(&rig, &[], &["--backends", "gui", "--allow", "gui:*"]);
    let requests = rig.server.requests();
    let results = requests.last().expect("a request").results();
    for (place, result) in coordinates.iter().zip(results.iter().skip(1)) {
        if *place != "null" {
            assert!(result.is_error, "{place}: {}", result.text);
        }
    }
    assert_eq!(results.len(), count + 1, "each was answered: {output:?}");
    assert!(watch.inputs().len() <= 2, "{:?}", watch.inputs());
    rig.finish();
}

/// The checks work without a screen and with one, in words and as JSON.
#[test]
fn doctor_with_and_without_a_screen() {
    for screen in [false, true] {
        let rig = if screen {
            Rig::with_screen(Options::default(), Vec::new())
        } else {
            Rig::headless(Vec::new())
        };
        let check = |arguments: &[&str]| {
            let program = rig.openspace(arguments);
            let program = if screen {
                program
            } else {
                program.env(NOWHERE.0, NOWHERE.1)
            };
            program.run().expect("runs")
        };
        let json = check(&["doctor", "--json", "--model"]);
        assert_eq!(json.code, Some(0), "{json:?}");
        let checks: Vec<serde_json::Value> = json
            .stdout
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let health = |id: &str| {
            let found = checks.iter().find(|check| check["id"] == id);
            found.map_or("", |check| check["health"].as_str().unwrap_or_default())
        };
        for id in ["settings", "data", "model", "sandbox"] {
            assert_eq!(health(id), "ok", "{id}: {json:?}");
        }
        assert_eq!(health("screen"), if screen { "ok" } else { "warning" });
        assert_eq!(health("capture"), if screen { "ok" } else { "" });
        let words = check(&["doctor"]);
        assert!(words.stdout.contains("✓ sandbox"), "{words:?}");
        rig.finish();
    }
}

/// Several runs going at once are named when a stop does not say which.
#[test]
fn a_stop_that_is_not_clear_changes_nothing() {
    let rig = Rig::headless(Vec::new());
    let slow = || Turn::done("Late.").after(std::time::Duration::from_secs(60));
    rig.server.set_script(vec![slow(), slow()]);
    let start = || {
        rig.openspace(&["run", "Wait", "--backends", "shell"])
            .start()
            .expect("starts")
    };
    let (mut one, mut two) = (start(), start());
    assert!(rig.server.wait_for_requests(2, LIMIT), "both run");
    let output = openspace(&rig, &["stop"]);
    assert_says(&output, 2, &["several runs", "--all"]);
    assert_says(&openspace(&rig, &["stop", "--all"]), 0, &["Stopped"]);
    for run in [&mut one, &mut two] {
        assert_eq!(run.wait(LIMIT).expect("ends").code, Some(3));
    }
    assert_store_is_whole(&rig, &["stopped", "stopped"]);
    rig.finish();
}
