//! A screen that is locked while a run works on it.

use std::process::Child;

use openspace_app::RunStatus;
use openspace_testkit::{
    InputWatch,
    model::{Script, SeenRequest, Turn},
};

use super::{LONG, SCREEN, World};

/// A real locker, which tells no extension that it locks. Ended, the screen is unlocked.
struct Locker(Child);

impl Locker {
    fn start(world: &World) -> Self {
        let mut locker = std::process::Command::new("i3lock");
        locker
            .arg("--nofork")
            .envs(world.screen().environment_in(&world.rig.home));
        Self(locker.spawn().expect("i3lock is installed"))
    }
}

impl Drop for Locker {
    fn drop(&mut self) {
        self.0.kill().expect("ended");
        self.0.wait().expect("gone");
    }
}

fn wait_locked(world: &World, id: &openspace_app::RunId) {
    world.wait_status(id, RunStatus::Paused);
    let reason = world.run(id).reason.expect("a reason");
    let reason: serde_json::Value = serde_json::from_str(&reason).expect("a kind");
    assert_eq!(reason["pause"], "screen_locked");
}

/// A run waits while the screen is locked: nothing is typed into the locker, no model is asked. It goes
/// on by itself when the screen is unlocked.
#[test]
fn a_run_waits_while_the_screen_is_locked() {
    let mut calls = 0;
    let world = World::on_screen(Script::decide(move |_: &SeenRequest| {
        calls += 1;
        match calls {
            1 => Turn::screenshot(),
            2 => Turn::shell("while [ ! -e go ]; do sleep 0.05; done"),
            3 => Turn::type_text("hello"),
            _ => Turn::done("Typed."),
        }
    }));
    let target = world.target();
    let watch = InputWatch::start(world.screen()).expect("a watch");
    let mut run = world.start(&[&["run", "type"], SCREEN]);
    let id = world.run_of("type");
    world.wait_call(&id, "run_command");
    let locker = Locker::start(&world);
    wait_locked(&world, &id);
    std::fs::write(world.rig.home.workspace().join("go"), "").expect("written");
    std::thread::sleep(std::time::Duration::from_secs(1));
    wait_locked(&world, &id);
    assert_eq!(watch.inputs().len(), 0, "the locker heard something");

    drop(locker);
    let output = run.wait(LONG).expect("it ends");
    // Nothing is seen of what was typed, so the run does not count as a success.
    assert_eq!(output.stdout, "Typed.\n", "{output:?}");
    assert!(watch.inputs().len() >= 10, "five letters, down and up");
    drop(target);
    world.finish();
}
