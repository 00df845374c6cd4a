//! The process that cleans up is killed itself, or the runner before it has one.

use std::{fs, time::Duration};

use openspace_app::RunStatus;
use openspace_testkit::{
    leak::Process,
    model::{Script, SeenRequest, Turn},
    wait_until,
};

use super::{Instant, LONG, SHELL, World, kill};

/// Waits in a command until the file named in the task is there.
fn script() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => {
            let task = seen.person();
            let file = task.split_whitespace().last().expect("a name").to_owned();
            Turn::shell(&format!("until test -e {file}; do sleep 0.05; done"))
        }
        _ => Turn::done("It came."),
    })
}

fn guard_of(world: &World, runner: u32) -> Option<Process> {
    let mut guards = world.processes(" guard");
    guards.retain(|it| it.parent == runner);
    guards.pop()
}

/// A run goes on without its guard, and the runner's next run has a new one that does its work.
#[test]
fn a_killed_guard_is_replaced_with_the_next_run() {
    let world = World::headless(script());
    let files = world.rig.home.workspace();
    let detached = world.openspace(&[&["run", "wait for one", "--detach"], SHELL].concat());
    assert_eq!(detached.code, Some(0), "{detached:?}");
    let first = world.run_of("wait for one");
    world.wait_call(&first, "run_command");
    let runner = world.runner_of(&first);
    let guard = guard_of(&world, runner).expect("a guard");
    kill(guard.id);
    assert!(wait_until(LONG, || guard_of(&world, runner).is_none()));
    fs::write(files.join("one"), "").expect("a file");
    world.wait_status(&first, RunStatus::Done);

    let detached = world.openspace(&[&["run", "wait for two", "--detach"], SHELL].concat());
    assert_eq!(detached.code, Some(0), "{detached:?}");
    let second = world.run_of("wait for two");
    world.wait_call(&second, "run_command");
    assert_eq!(world.runner_of(&second), runner, "the same runner");
    let next = guard_of(&world, runner).expect("a new guard");
    assert_ne!(next.id, guard.id);
    kill(runner);
    world.ended(Instant::now(), "");
    world.assert_interrupted(&second);
    world.finish();
}

/// A runner killed around the moment its guard is started leaves nothing behind, nor a run that
/// nobody can take up.
#[test]
fn a_runner_killed_while_its_guard_starts_leaves_nothing() {
    let world = World::headless(script());
    for round in 0..12_u64 {
        let task = format!("wait for round-{round}");
        let mut runner = world.start(&[&["run", &task], SHELL]);
        let id = world.run_of(&task);
        std::thread::sleep(Duration::from_millis(round * 4));
        kill(runner.id());
        let since = Instant::now();
        runner.wait(LONG).expect("it is dead");
        world.ended(since, "");
        world.assert_interrupted(&id);
    }
    world.finish();
}
