//! Questions when processes and terminals die, and how Ctrl-C ends a run.

use std::time::Duration;

use openspace_app::{Approval, ApprovalState, RunId, RunStatus};
use openspace_testkit::{Program, model::Turn, wait_until};
use rustix::process::Signal;

use super::{Instant, LONG, SHELL, World, kill, poll};

fn world() -> World {
    let world = World::headless(vec![Turn::shell("rm precious.txt"), Turn::done("Removed.")]);
    std::fs::write(world.rig.home.workspace().join("precious.txt"), "x").expect("a file");
    world
}

fn exists(world: &World) -> bool {
    world.rig.home.workspace().join("precious.txt").exists()
}

fn question(world: &World, run: &RunId) -> Approval {
    let asked = poll(LONG, || {
        let all = world.store.read_blocking(|db| db.approvals().of_run(run));
        all.expect("approvals").pop()
    });
    asked.expect("a question")
}

/// The question of a run whose process is killed is void: an answer allows nothing.
#[test]
fn the_question_of_a_killed_run_is_withdrawn() {
    let world = world();
    let waits = ["--wait-approval", "10m"];
    let mut runner = world.start(&[&["run", "remove it"], SHELL, &waits]);
    let id = world.run_of("remove it");
    let asked = question(&world, &id);
    world.wait_status(&id, RunStatus::NeedsApproval);
    kill(runner.id());
    runner.wait(LONG).expect("it is dead");
    world.ended(Instant::now(), "");
    let late = world
        .rig
        .openspace(&["approve", asked.id.as_str()])
        .terminal()
        .stdin("y\n")
        .run()
        .expect("it ends");
    world.assert_interrupted(&id);
    assert_eq!(
        question(&world, &id).state,
        ApprovalState::Withdrawn,
        "{late:?}"
    );
    let again = world.openspace(&["deny", asked.id.as_str()]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert_eq!(question(&world, &id).state, ApprovalState::Withdrawn);
    assert!(exists(&world));
    world.rig.server.set_script(vec![Turn::done("Not needed.")]);
    let output = world.openspace(&["runs", "continue", id.as_str()]);
    assert_eq!(output.code, Some(0), "{output:?}");
    world.finish();
}

/// The terminal that shows the question is closed: that answers nothing. The run waits on, and a person
/// answers in another terminal, once.
#[test]
fn a_question_outlives_its_terminal() {
    let world = world();
    let mut window = Program::new("/usr/bin/python3")
        .args(["-c", "import pty, sys; pty.spawn(sys.argv[1:])"])
        .args([env!("CARGO_BIN_EXE_openspace"), "run", "remove it"])
        .args(SHELL.iter().copied())
        .environment(world.rig.environment())
        .folder(world.rig.home.workspace())
        .start()
        .expect("a terminal");
    let id = world.run_of("remove it");
    let asked = question(&world, &id);
    window
        .wait_for("[y] allow once", LONG)
        .expect("it is shown");
    kill(window.id());
    window.wait(LONG).expect("the terminal is gone");
    // Long enough for the run to notice, were it to take this for an answer.
    let ended = wait_until(Duration::from_secs(2), || {
        question(&world, &id).state != ApprovalState::Open
    });
    assert!(!ended, "{:?}", question(&world, &id));
    assert_eq!(world.looked_at(&id).status, RunStatus::NeedsApproval);
    assert!(exists(&world));

    let refused = world.openspace(&["approve", asked.id.as_str()]);
    assert_eq!(refused.code, Some(1), "without a terminal: {refused:?}");
    assert!(refused.stderr.contains("terminal"), "{refused:?}");
    assert_eq!(question(&world, &id).state, ApprovalState::Open);

    let mut approve = world
        .rig
        .openspace(&["approve", asked.id.as_str()])
        .terminal()
        .start()
        .expect("another terminal");
    approve
        .wait_for("[y] allow once", LONG)
        .expect("it is shown");
    assert!(
        approve.stdout().contains("rm precious.txt"),
        "the exact action"
    );
    approve.send("y\n").expect("typed");
    let answered = approve.wait(LONG).expect("it ends");
    assert_eq!(answered.code, Some(0), "{answered:?}");
    world.wait_status(&id, RunStatus::Done);
    assert!(!exists(&world));
    let again = world
        .rig
        .openspace(&["approve", asked.id.as_str()])
        .terminal()
        .stdin("y\n")
        .run()
        .expect("it ends");
    assert_eq!(again.code, Some(1), "{again:?}");
    assert_eq!(question(&world, &id).state, ApprovalState::AllowedOnce);
    world.ended(Instant::now(), "");
    world.finish();
}

/// Two terminals show the question and both are answered: the first counts, the second harms nothing.
#[test]
fn the_second_answer_harms_nothing() {
    let world = world();
    let waits = ["--wait-approval", "10m"];
    let mut runner = world.start(&[&["run", "remove it"], SHELL, &waits]);
    let id = world.run_of("remove it");
    let asked = question(&world, &id);
    let show = || {
        let program = world
            .rig
            .openspace(&["approve", asked.id.as_str()])
            .terminal();
        let mut shown = program.start().expect("a terminal");
        shown.wait_for("[y] allow once", LONG).expect("it is shown");
        shown
    };
    let (mut one, mut two) = (show(), show());
    one.send("n\n").expect("typed");
    assert_eq!(one.wait(LONG).expect("it ends").code, Some(0));
    two.send("y\n").expect("typed");
    assert_eq!(two.wait(LONG).expect("it ends").code, Some(1));
    assert_eq!(question(&world, &id).state, ApprovalState::Denied);
    assert_eq!(runner.wait(LONG).expect("it ends").code, Some(0));
    assert!(exists(&world));
    world.finish();
}

/// The first Ctrl-C stops a run cleanly, whatever its commands ignore.
#[test]
fn one_interrupt_stops_cleanly() {
    let world = World::headless(vec![Turn::shell(
        "trap '' INT TERM; setsid sleep 600 & sleep 601; sleep 602",
    )]);
    let mut runner = world.start(&[&["run", "sleep"], SHELL]);
    let id = world.run_of("sleep");
    world.wait_call(&id, "run_command");
    let asleep = wait_until(LONG, || world.processes("sleep 60").len() >= 2);
    assert!(asleep, "{:?}", world.processes(""));
    runner.signal(Signal::INT);
    let output = runner.wait(LONG).expect("it ends");
    assert_eq!(output.code, Some(3), "{output:?}");
    assert_eq!(world.run(&id).status, RunStatus::Stopped);
    assert!(world.left("").is_empty(), "{:?}", world.left(""));
    world.finish();
}

/// The second one leaves at once, and the guard cleans up.
#[test]
fn two_interrupts_leave_at_once() {
    let world = World::headless(vec![Turn::shell(
        "trap '' INT TERM; setsid sleep 600 & sleep 601; sleep 602",
    )]);
    let mut runner = world.start(&[&["run", "sleep"], SHELL]);
    let id = world.run_of("sleep");
    world.wait_call(&id, "run_command");
    let asleep = wait_until(LONG, || world.processes("sleep 60").len() >= 2);
    assert!(asleep, "{:?}", world.processes(""));
    runner.signal(Signal::INT);
    runner.wait_for("Stopping", LONG).expect("it says so");
    runner.signal(Signal::INT);
    let output = runner.wait(LONG).expect("it ends");
    assert_eq!(output.code, Some(3), "{output:?}");
    world.ended(Instant::now(), "");
    let ended = world.looked_at(&id).status;
    assert!(
        matches!(ended, RunStatus::Stopped | RunStatus::Interrupted),
        "{ended}"
    );
    world.finish();
}

/// A model that never answers does not keep a run from being stopped before it began.
#[test]
fn a_run_is_stopped_while_its_model_is_being_checked() {
    let world = World::headless(vec![]);
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", silent.local_addr().expect("an address"));
    let mut runner = world
        .rig
        .openspace(&[&["run", "wait"], SHELL].concat())
        .env("OPENSPACE_LLM_API_BASE", address)
        .start()
        .expect("it starts");
    let id = world.run_of("wait");
    world.runner_of(&id);
    runner.signal(Signal::INT);
    let output = runner
        .wait(Duration::from_secs(15))
        .expect("it ends before the check does");
    assert_eq!(output.code, Some(3), "{output:?}");
    assert_eq!(world.run(&id).status, RunStatus::Stopped);
    world.finish();
}
