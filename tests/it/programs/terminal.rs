//! A terminal on the screen: what is typed into it is judged as the command it is.

use openspace_testkit::{
    Options, Program,
    cli::Running,
    model::{Script, Turn},
};
use serde_json::Value;

use super::{press, report_line_with, stage, stages, type_now};
use crate::rig::{LIMIT, Rig};

/// The answer can be read in the output only: the command line itself does not contain it.
const COMMAND: &str = "echo The result is $((6 * 7000 + 191))";
const RESULT: &str = "42191";

fn rig() -> Rig {
    Rig::with_screen(Options::sized(1280, 800), script())
}

fn script() -> Script {
    stages(vec![
        stage(|seen| {
            seen.find_text("ready")?;
            Some(Turn::type_text(COMMAND))
        }),
        press("Return"),
        report_line_with(RESULT),
    ])
}

fn xterm(rig: &Rig) -> Running {
    Program::new("/usr/bin/xterm")
        .args(["-fa", "DejaVu Sans Mono", "-fs", "18", "-geometry", "70x16"])
        .args([
            "-e",
            "sh",
            "-c",
            "echo Everything is ready; PS1='> ' exec sh",
        ])
        .environment(rig.screen().environment_in(&rig.home))
        .folder(rig.home.workspace())
        .start()
        .expect("xterm starts")
}

/// The person at the run's own terminal sees the exact line, allows it once for the typing and once
/// for the Return that runs it, and the result is read from the picture.
#[test]
fn a_typed_command_is_allowed_at_the_runs_own_terminal() {
    let rig = rig();
    let xterm = xterm(&rig);
    let mut run = rig
        .openspace(&["run", "Calculate in the terminal", "--allow", "gui:xterm"])
        .terminal()
        .start()
        .expect("starts");
    run.wait_for("[y] allow once", LIMIT).expect("it asks");
    let asked = run.stdout();
    assert!(asked.contains(COMMAND), "the exact line is shown: {asked}");
    assert!(
        !asked.contains("allow for this run"),
        "never for the whole run: {asked}"
    );
    run.send("y\n").expect("answers");
    let twice = |run: &Running| run.stdout().matches("[y] allow once").count() > 1;
    assert!(
        openspace_testkit::wait_until(LIMIT, || twice(&run)),
        "running it is asked about too: {}",
        run.stdout()
    );
    run.send("y\n").expect("answers");
    let output = run.wait(LIMIT).expect("the run ends");
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    assert!(output.stdout.contains(RESULT), "{output:?}");
    drop(xterm);
    rig.finish();
}

/// The same from another terminal: `openspace approve` shows the exact line and asks there.
#[test]
fn a_typed_command_is_allowed_at_another_terminal() {
    let rig = rig();
    let xterm = xterm(&rig);
    let all = [
        "run",
        "Calculate",
        "--allow",
        "gui:xterm",
        "--json",
        "--wait-approval",
        "2m",
    ];
    let mut run = rig.openspace(&all).start().expect("starts");
    let mut answered = Vec::new();
    for _ in 0..2 {
        let known = answered.clone();
        let line = run
            .wait_for_line(LIMIT, |line| {
                line.contains("run.approval_asked") && !known.contains(&line.to_owned())
            })
            .expect("it asks");
        let event: Value = serde_json::from_str(&line).expect("JSON");
        let id = event["payload"]["approval"]
            .as_str()
            .expect("its id")
            .to_owned();
        // A pipe is no person.
        let piped = rig
            .openspace(&["approve", &id])
            .stdin("y\n")
            .run()
            .expect("runs");
        assert_eq!(piped.code, Some(1), "{piped:?}");
        let mut approve = rig
            .openspace(&["approve", &id])
            .terminal()
            .start()
            .expect("starts");
        approve.wait_for("[y] allow once", LIMIT).expect("it asks");
        assert!(approve.stdout().contains(COMMAND), "{}", approve.stdout());
        approve.send("y\n").expect("answers");
        assert_eq!(approve.wait(LIMIT).expect("ends").code, Some(0));
        answered.push(line);
    }
    let output = run.wait(LIMIT).expect("the run ends");
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    assert!(output.stdout.contains(RESULT), "{output:?}");
    drop(xterm);
    rig.finish();
}

/// Without anybody to ask nothing is typed, and the model knows why.
#[test]
fn a_typed_command_that_nobody_allows_is_not_typed() {
    let rig = Rig::with_screen(
        Options::sized(1280, 800),
        stages(vec![
            stage(|seen| {
                seen.find_text("ready")?;
                Some(Turn::type_text(&format!("{COMMAND}\n")))
            }),
            stage(|seen| {
                assert!(seen.new_results()[0].is_error, "refused");
                Some(Turn::screenshot())
            }),
            stage(|seen| {
                let shown = seen.read_text();
                assert!(!shown.contains("echo"), "nothing is typed: {shown}");
                Some(Turn::done("It was not allowed."))
            }),
        ]),
    );
    let xterm = xterm(&rig);
    let output = rig.run("Calculate in the terminal", &["--allow", "gui:*"]);
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    drop(xterm);
    rig.finish();
}

/// Deleting files by typing it somewhere else is no way around the rules: it is asked about as what
/// it is, and refused here.
#[test]
fn a_dangerous_line_is_shown_before_a_letter_of_it_is_typed() {
    let rig = Rig::with_screen(
        Options::sized(1280, 800),
        stages(vec![
            stage(|seen| {
                seen.find_text("ready")?;
                Some(Turn::type_text("rm -rf precious\n"))
            }),
            type_now("\n"),
            stage(|_| Some(Turn::screenshot())),
            stage(|_| Some(Turn::done("It was not allowed."))),
        ]),
    );
    let precious = rig.home.workspace().join("precious");
    std::fs::create_dir(&precious).expect("made");
    let xterm = xterm(&rig);
    let mut run = rig
        .openspace(&["run", "Clean up", "--allow", "gui:xterm"])
        .terminal()
        .start()
        .expect("starts");
    for count in 1..=2 {
        let asked = || run.stdout().matches("[y] allow once").count() >= count;
        assert!(
            openspace_testkit::wait_until(LIMIT, asked),
            "it asks: {}",
            run.stdout()
        );
        if count == 1 {
            assert!(run.stdout().contains("rm -rf precious"), "{}", run.stdout());
        }
        run.send("n\n").expect("answers");
    }
    let output = run.wait(LIMIT).expect("the run ends");
    assert_eq!(
        output.code,
        Some(0),
        "{output:?}\n{:?}",
        rig.server.violations()
    );
    assert!(precious.exists(), "nothing is deleted");
    drop(xterm);
    rig.finish();
}
