//! What a continued run is shown.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use openspace_testkit::model::{Call, Script, SeenRequest, Turn};

use super::{LONG, RED, SCREEN, World, kill};

/// A run is killed after a click whose result the model never saw: continued, the model is told that
/// the outcome is unknown, and a click without a fresh look does nothing.
#[test]
fn a_continued_run_does_not_repeat_the_last_click_blindly() {
    let continued = Arc::new(AtomicBool::new(false));
    let goes_on = Arc::clone(&continued);
    let mut tried = 0;
    let world = World::on_screen(Script::decide(move |seen: &SeenRequest| {
        if !goes_on.load(Ordering::SeqCst) {
            if seen.turns() == 0 {
                return Turn::screenshot();
            }
            let button = seen.find_color(RED, 60).expect("the button");
            return Turn::calls([Call::click_at(button), Call::shell("sleep 600")]);
        }
        tried += 1;
        match tried {
            1 => {
                let results = seen.new_results();
                assert_eq!(results.len(), 2, "both calls are answered: {results:?}");
                assert!(results.iter().all(|it| it.is_error), "{results:?}");
                assert!(seen.person().contains("do not simply repeat it"));
                Turn::click_at((140, 130))
            }
            2 => {
                assert_eq!(seen.images().len(), 2, "a fresh picture instead");
                Turn::done("It had been clicked already.")
            }
            _ => panic!("one request too many"),
        }
    }));
    let target = world.target();
    let mut runner = world.start(&[&["run", "click once"], SCREEN]);
    let id = world.run_of("click once");
    world.wait_call(&id, "run_command");
    kill(world.runner_of(&id));
    runner.wait(LONG).expect("it is dead");
    assert_eq!(target.clicks().len(), 1);
    world.assert_interrupted(&id);

    continued.store(true, Ordering::SeqCst);
    let output = world.openspace(&["runs", "continue", id.as_str()]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(output.stdout, "It had been clicked already.\n");
    assert_eq!(target.clicks().len(), 1, "nothing was clicked again");
    drop(target);
    world.finish();
}

/// Every way to act without looking first is answered by a fresh picture in a continued run: keys and
/// clicks where the pointer is as well.
#[test]
fn a_continued_run_looks_before_it_acts() {
    let continued = Arc::new(AtomicBool::new(false));
    let goes_on = Arc::clone(&continued);
    let mut tried = 0;
    let world = World::on_screen(Script::decide(move |seen: &SeenRequest| {
        if !goes_on.load(Ordering::SeqCst) {
            if seen.turns() == 0 {
                return Turn::screenshot();
            }
            return Turn::shell("sleep 600");
        }
        tried += 1;
        match tried {
            1 => Turn::key("Return"),
            2 => {
                assert_eq!(seen.images().len(), 2, "a fresh picture instead");
                Turn::click_at(seen.find_color(RED, 60).expect("the button"))
            }
            _ => Turn::done("Pressed."),
        }
    }));
    let target = world.target();
    let mut runner = world.start(&[&["run", "press a key"], SCREEN]);
    let id = world.run_of("press a key");
    world.wait_call(&id, "run_command");
    kill(world.runner_of(&id));
    runner.wait(LONG).expect("it is dead");
    world.assert_interrupted(&id);
    continued.store(true, Ordering::SeqCst);
    let output = world.openspace(&["runs", "continue", id.as_str()]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(
        target.keys().is_empty(),
        "only what came after a look is done"
    );
    assert_eq!(target.clicks().len(), 1);
    drop(target);
    world.finish();
}
