//! Runners that neither obey nor die.

use std::time::{Duration, Instant};

use openspace_app::{Run, RunEvent, RunId, RunStatus};
use openspace_testkit::{
    InputWatch,
    model::{Script, SeenRequest, Turn},
    wait_until,
    watch::InputKind,
};
use rustix::process::Signal;

use super::{LONG, SCREEN, World, alive, signal};

/// Types for long, and once it is asked again ends.
fn script() -> Script {
    let mut typed = false;
    Script::decide(move |seen: &SeenRequest| {
        if seen.turns() == 0 {
            return Turn::screenshot();
        }
        if std::mem::replace(&mut typed, true) {
            return Turn::done("The rest can wait.");
        }
        Turn::type_text(&"The quick brown FOX. ".repeat(450))
    })
}

/// No input event comes any more; how many there were.
fn settled(watch: &InputWatch) -> usize {
    let mut last = (watch.inputs().len(), Instant::now());
    let quiet = wait_until(LONG, || {
        let now = watch.inputs().len();
        if now != last.0 {
            last = (now, Instant::now());
        }
        last.1.elapsed() > Duration::from_millis(300)
    });
    assert!(quiet, "input goes on and on");
    last.0
}

/// A runner suspended in the middle of typing keeps its run: nobody else can have it, nothing is typed
/// meanwhile. Stopping it ends it, and whoever continues the run is alone, also after the first one was
/// told to go on.
#[test]
fn a_suspended_runner_never_acts_beside_its_successor() {
    let world = World::on_screen(script());
    let target = world.target();
    let watch = InputWatch::start(world.screen()).expect("a watch");
    let mut first = world.start(&[&["run", "type"], SCREEN]);
    let id = world.run_of("type");
    assert!(watch.wait_for(200, LONG), "it types");
    let pid = world.runner_of(&id);
    signal(pid, Signal::STOP);
    let typed = settled(&watch);

    // Suspended is not dead: looking does not change it, and nobody else can have it.
    assert_eq!(world.looked_at(&id).status, RunStatus::Running);
    let refused = world.openspace(&["runs", "continue", id.as_str()]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(watch.inputs().len(), typed);
    let listed = world.openspace(&["runs", "list", "--status", "running"]);
    assert!(listed.stdout.contains(id.as_str()), "{listed:?}");

    let stopped = world.openspace(&["stop", id.as_str()]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert!(!alive(pid), "a runner that does not obey is ended");
    let since = Instant::now();
    world.released(since);
    world.ended(since, "");
    first.wait(LONG).expect("it is dead");
    let ended = world.looked_at(&id).status;
    assert!(
        matches!(ended, RunStatus::Interrupted | RunStatus::Stopped),
        "{ended}"
    );

    let before = settled(&watch);
    let continued = world.openspace(&["runs", "continue", id.as_str()]);
    signal(pid, Signal::CONT);
    assert_eq!(continued.code, Some(0), "{continued:?}");
    assert_eq!(continued.stdout, "The rest can wait.\n");
    assert_eq!(settled(&watch), before, "nobody typed after the stop");
    drop(target);
    world.finish();
}

/// Everything a run has left in the store.
fn kept(world: &World, id: &RunId) -> (Run, Vec<RunEvent>, usize, usize, usize) {
    let read = world.store.read_blocking(|db| {
        Ok((
            db.runs().get(id)?,
            db.events().of("run", id.as_str(), 0, u32::MAX)?,
            db.frames().of_run(id)?.len(),
            db.messages().of_run(id)?.len(),
            db.changes().of_run(id)?.len(),
        ))
    });
    read.expect("the store")
}

/// A suspended runner whose locks are gone (a cleaned folder, a file system that forgot them) loses its
/// run. Told to go on, it presses nothing more and writes nothing more about it, while its successor
/// is at work, and says why it ends.
#[test]
fn a_revived_runner_neither_types_nor_writes_beside_its_successor() {
    let mut calls = 0;
    let world = World::on_screen(Script::decide(move |_: &SeenRequest| {
        calls += 1;
        match calls {
            1 => Turn::screenshot(),
            2 => Turn::type_text(&"The quick brown FOX. ".repeat(450)),
            3 => Turn::shell("while [ ! -e go ]; do sleep 0.05; done"),
            _ => Turn::done("The second one did it."),
        }
    }));
    let target = world.target();
    let watch = InputWatch::start(world.screen()).expect("a watch");
    let mut first = world.start(&[&["run", "type"], SCREEN]);
    let id = world.run_of("type");
    assert!(watch.wait_for(200, LONG), "it types");
    let pid = world.runner_of(&id);
    signal(pid, Signal::STOP);
    settled(&watch);
    let owner = world.run(&id).owner.expect("it is executed");
    let lock = format!("instances/{owner}.lock");
    std::fs::remove_file(world.rig.home.data().join(lock)).expect("the lock of the process");
    let mut locks =
        std::fs::read_dir(world.rig.home.runtime().join("openspace")).expect("the runtime folder");
    let control = locks.find_map(|entry| {
        let path = entry.ok()?.path();
        path.file_name()?
            .to_str()?
            .starts_with("control-")
            .then_some(path)
    });
    std::fs::remove_file(control.expect("the lock of the screen")).expect("removed");

    let mut second = world.start(&[&["runs", "continue", id.as_str()]]);
    world.wait_call(&id, "run_command");
    assert_ne!(world.runner_of(&id), pid, "somebody else has it");
    let before = kept(&world, &id);
    let typed = watch.inputs().len();
    signal(pid, Signal::CONT);
    let output = first.wait(LONG).expect("it ends");
    assert_ne!(output.code, Some(0), "{output:?}");
    assert!(
        output.stderr.contains(id.as_str()),
        "it says so: {output:?}"
    );
    settled(&watch);
    let pressed: Vec<_> = watch.inputs().split_off(typed);
    let releases = [InputKind::KeyUp, InputKind::ButtonUp];
    assert!(
        pressed.iter().all(|input| releases.contains(&input.kind)),
        "{pressed:?}"
    );
    assert_eq!(kept(&world, &id), before, "nothing was written about it");

    std::fs::write(world.rig.home.workspace().join("go"), "").expect("written");
    let output = second.wait(LONG).expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(world.run(&id).status, RunStatus::Done);
    world.released(Instant::now());
    drop(target);
    world.finish();
}

/// The same while it is told to go on before its time is up: then it obeys the stop itself.
#[test]
fn a_runner_that_wakes_up_obeys_the_stop_that_waits_for_it() {
    let world = World::on_screen(script());
    let target = world.target();
    let watch = InputWatch::start(world.screen()).expect("a watch");
    let mut first = world.start(&[&["run", "type"], SCREEN]);
    let id = world.run_of("type");
    assert!(watch.wait_for(200, LONG), "it types");
    let pid = world.runner_of(&id);
    signal(pid, Signal::STOP);
    let typed = settled(&watch);
    world.tell(
        &id,
        openspace_app::CommandKind::Stop,
        &serde_json::json!({}),
    );
    signal(pid, Signal::CONT);
    let output = first.wait(LONG).expect("it ends");
    assert_eq!(output.code, Some(3), "{output:?}");
    assert_eq!(world.run(&id).status, RunStatus::Stopped);
    // Releases are allowed, and what was on its way when it was suspended: one key with its modifier.
    let more = settled(&watch) - typed;
    assert!(more <= 12, "{more} events after the stop");
    world.released(Instant::now());
    drop(target);
    world.finish();
}
