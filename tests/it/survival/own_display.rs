//! Displays and programs that belong to a run which dies.

use std::time::Duration;

use openspace_testkit::{
    leak::pressed,
    model::{Call, Script, SeenRequest, Turn},
    wait::poll,
    wait_until,
};
use serde_json::json;

use super::{Instant, LONG, SCREEN, World, kill};

/// Opens a dialog; then waits in a command, or ends when the task says so.
fn script() -> Script {
    Script::decide(|seen: &SeenRequest| {
        let leaves = seen.person().contains("leave");
        match seen.turns() {
            0 => Turn::call(Call::new(
                "open_program",
                json!({"program": "zenity", "arguments": ["--info", "--text=Hello"]}),
            )),
            1 if !leaves => Turn::shell("sleep 600"),
            _ => Turn::done("It is open."),
        }
    })
}

/// What a run opened stays for the person when the run is done, and ends with a run that is killed.
#[test]
fn opened_programs_end_with_a_killed_run_only() {
    let world = World::on_screen(script());
    let output = world.rig.run("open it and leave it", SCREEN);
    assert_eq!(output.code, Some(0), "{output:?}");
    let opened = world.processes("--text=Hello");
    assert_eq!(opened.len(), 1, "it is still open: {output:?}");
    kill(opened[0].id);
    world.ended(Instant::now(), "");

    let mut runner = world.start(&[&["run", "open it and wait"], SCREEN]);
    let id = world.run_of("open it and wait");
    world.wait_call(&id, "run_command");
    assert_eq!(
        world.processes("--text=Hello").len(),
        1,
        "{:?}",
        world.events(&id)
    );
    kill(world.runner_of(&id));
    runner.wait(LONG).expect("it is dead");
    world.ended(Instant::now(), "");
    world.assert_interrupted(&id);
    world.finish();
}

/// A display of the run's own ends with its runner, at whatever moment of its start that dies.
#[test]
fn a_display_of_its_own_ends_with_its_runner() {
    let world = World::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        _ => Turn::shell("sleep 600"),
    }));
    for round in 0..8_u64 {
        let task = format!("round {round}");
        let private = ["--display", "private"];
        let mut runner = world.start(&[&["run", &task], SCREEN, &private]);
        let id = world.run_of(&task);
        if round == 0 {
            world.wait_call(&id, "run_command");
        } else {
            std::thread::sleep(Duration::from_millis(round * 60));
        }
        kill(world.runner_of(&id));
        runner.wait(LONG).expect("it is dead");
        world.ended(Instant::now(), "");
        world.assert_interrupted(&id);
    }
    world.finish();
}

/// So does the display of a demo, which is there before its run: the server, its window manager, its
/// bus and what that started, the editor.
#[test]
fn the_display_of_a_demo_ends_with_it() {
    let world = World::headless(Script::decide(|_: &SeenRequest| {
        panic!("the demo asks no model");
    }));
    let demo: &[&str] = &["demo", "--yes", "--display", "private"];
    for round in 0..8_u64 {
        let mut running = world.start(&[demo]);
        if round == 0 {
            let listed = poll(LONG, || world.runs().into_iter().next());
            let id = listed.expect("the run is there").id;
            world.wait_call(&id, "computer_batch");
            for program in ["Xvfb", "dbus-daemon", "mousepad"] {
                assert!(!world.processes(program).is_empty(), "{program} runs");
            }
        } else {
            std::thread::sleep(Duration::from_millis(round * 60));
        }
        kill(running.id());
        running.wait(LONG).expect("it is dead");
        world.ended(Instant::now(), "");
    }
    world.finish();
}

/// Bits of the pointer's mask that tell the keyboard's group.
const GROUP: u16 = 0x6000;

/// A person whose keyboard is in its second layout finds it there again, also when the run that typed
/// in the first one is killed in the middle.
#[test]
fn a_killed_run_leaves_the_layout_as_it_was() {
    let world = World::on_screen(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        _ => Turn::type_text(&"The quick brown FOX. ".repeat(450)),
    }));
    world.screen().set_layouts("us,ru", 1).expect("two layouts");
    let target = world.target();
    let group = || pressed(world.screen()).expect("the screen").mask & GROUP;
    let before = group();
    assert_ne!(before, 0, "the second layout is on");
    let mut runner = world.start(&[&["run", "type"], SCREEN]);
    let id = world.run_of("type");
    assert!(
        wait_until(LONG, || target.keys().len() > 100),
        "it types: {:?}",
        world.events(&id)
    );
    assert_eq!(group(), 0, "in the first layout");
    kill(world.runner_of(&id));
    runner.wait(LONG).expect("it is dead");
    world.released(Instant::now());
    world.ended(Instant::now(), "");
    assert_eq!(group(), before);
    drop(target);
    world.finish();
}
