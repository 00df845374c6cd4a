//! Runs that outlive whoever asked for them.

use openspace_app::RunStatus;
use openspace_testkit::model::{Script, SeenRequest, Turn};
use rustix::process::Signal;

use super::{LONG, SHELL, World, wait_until};

fn script() -> Script {
    Script::decide(|seen: &SeenRequest| {
        let sleeps = seen.person().contains("sleep");
        match seen.turns() {
            0 if sleeps => Turn::shell("setsid sleep 600 & sleep 601"),
            0 => Turn::shell("sleep 1; echo worked"),
            _ => Turn::done("Worked."),
        }
    })
}

/// Ids of the processes of a session.
fn session(leader: u32) -> Vec<u32> {
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let ids = all.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        fields.split_whitespace().nth(3) == Some(&leader.to_string())
    })
    .collect()
}

/// The terminal that asked, with everything in its session, is killed at once: two runs are carried
/// out all the same, by one runner, which ends when there is nothing left to do.
#[test]
fn detached_runs_outlive_the_session_that_asked() {
    let world = World::headless(script());
    let line = r#""$0" run "one" --detach --backends shell; "$0" run "two" --detach --backends shell; sleep 600"#;
    let program = env!("CARGO_BIN_EXE_openspace");
    let mut asker = openspace_testkit::Program::new("/bin/sh")
        .args(["-c", line, program])
        .environment(world.rig.environment())
        .folder(world.rig.home.workspace())
        .terminal()
        .start()
        .expect("a shell");
    let first = world.run_of("one");
    let second = world.run_of("two");
    // `--detach` has returned once the line after it has queued its run; for the second one this
    // waits for the shell to be where it sleeps.
    let sleeping = wait_until(LONG, || {
        // The shell's own command line has these words in it, too.
        let processes = world.processes("sleep 600");
        processes
            .iter()
            .any(|process| process.command == "sleep 600")
    });
    assert!(sleeping, "{}", asker.stdout());
    for pid in session(asker.id()) {
        super::kill(pid);
    }
    asker.wait(LONG).expect("it is dead");
    world.wait_status(&first, RunStatus::Done);
    world.wait_status(&second, RunStatus::Done);
    assert_eq!(
        world.run(&first).runner,
        world.run(&second).runner,
        "one runner"
    );

    // Both of two more are stopped at once, with all they started.
    for task in ["sleep a", "sleep b"] {
        let output = world.openspace(&[&["run", task, "--detach"], SHELL].concat());
        assert_eq!(output.code, Some(0), "{output:?}");
        world.wait_call(&world.run_of(task), "run_command");
    }
    let refused = world.openspace(&["stop"]);
    assert_eq!(refused.code, Some(2), "which one is not said: {refused:?}");
    let stopped = world.openspace(&["stop", "--all"]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    for task in ["sleep a", "sleep b"] {
        assert_eq!(world.run(&world.run_of(task)).status, RunStatus::Stopped);
    }
    let gone = wait_until(LONG, || world.processes("sleep 60").is_empty());
    assert!(gone, "{:?}", world.processes(""));
    let idle = wait_until(LONG, || world.processes("").is_empty());
    assert!(idle, "the runner ends when idle: {:?}", world.processes(""));
    world.finish();
}

/// Asking and being killed right after, group and all, leaves no run behind that nobody executes.
#[test]
fn an_asker_killed_right_after_leaves_no_run_waiting() {
    let world = World::headless(script());
    for round in 0..6_u64 {
        let task = format!("round {round}");
        let mut asker = world.start(&[&["run", &task, "--detach"], SHELL]);
        let id = world.run_of(&task);
        asker
            .wait_for(id.as_str(), LONG)
            .expect("the id is printed");
        asker.signal(Signal::KILL);
        asker.wait(LONG).expect("it is dead");
        world.wait_status(&id, RunStatus::Done);
        // Every second time the runner is ended between two runs.
        if round % 2 == 1 {
            for runner in world.processes(" runner") {
                super::kill(runner.id);
            }
            assert!(wait_until(LONG, || world.processes("").is_empty()));
        }
    }
    world.finish();
}

/// A run of one's own is not taken by a runner that happens to be there.
#[test]
fn a_run_of_ones_own_is_not_taken_by_a_runner() {
    let world = World::headless(script());
    let detached = world.openspace(&[&["run", "the one before", "--detach"], SHELL].concat());
    assert_eq!(detached.code, Some(0), "{detached:?}");
    for round in 0..4 {
        let output = world.rig.run(&format!("own {round}"), SHELL);
        assert_eq!(output.code, Some(0), "{output:?}");
        assert_eq!(output.stdout, "Worked.\n");
    }
    assert!(
        !world.processes(" runner").is_empty(),
        "it was there all the time"
    );
    let asked = world.openspace(&["stop", "--all"]);
    assert_eq!(asked.code, Some(0), "{asked:?}");
    for runner in world.processes(" runner") {
        super::signal(runner.id, Signal::TERM);
    }
    assert!(wait_until(LONG, || world.processes("").is_empty()));
    world.finish();
}
