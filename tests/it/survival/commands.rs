//! What running runs are told through the store, as any surface does it.

use std::{sync::Arc, time::Duration};

use openspace_app::{CommandKind, RunStatus};
use openspace_testkit::{
    InputWatch,
    model::{Script, SeenRequest, Turn},
    wait_until,
};
use serde_json::json;

use super::{Instant, LONG, RED, SCREEN, SHELL, World};

/// Types for long, then clicks, and ends.
fn typist() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        1 => Turn::type_text(&"The quick brown FOX. ".repeat(450)),
        2 => Turn::click_at(seen.find_color(RED, 60).expect("the button")),
        _ => Turn::done("Typed."),
    })
}

/// Pauses a typing run one way and lets it go on the other way.
fn pauses(pause: CommandKind, resume: CommandKind) {
    let world = World::on_screen(typist());
    let target = world.target();
    let watch = InputWatch::start(world.screen()).expect("a watch");
    let mut runner = world.start(&[&["run", "type"], SCREEN]);
    let id = world.run_of("type");
    assert!(watch.wait_for(200, LONG), "it types");
    world.tell(&id, pause, &json!({}));
    world.wait_status(&id, RunStatus::Paused);
    world.released(Instant::now());
    let typed = watch.inputs().len();
    let more = wait_until(Duration::from_secs(1), || watch.inputs().len() > typed);
    assert!(!more, "a paused run presses nothing");
    assert!(typed < 9_000, "it was in the middle: {typed}");
    let asked = world.rig.server.requests().len();
    // Told twice is the same as told once.
    world.tell(&id, pause, &json!({}));
    let more = wait_until(Duration::from_millis(500), || watch.inputs().len() > typed);
    assert!(!more && world.rig.server.requests().len() == asked);

    world.tell(&id, resume, &json!({ "text": "I closed the dialog." }));
    let output = runner.wait(LONG).expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
    let requests = world.rig.server.requests();
    let after = requests
        .iter()
        .find(|seen| seen.mentions("I closed the dialog."));
    let after = after.expect("the model is told what the person said");
    assert!(after.mentions("was paused"), "and that it was paused");
    assert_eq!(target.clicks().len(), 1, "it acts again");
    let open = world.store.read_blocking(|db| db.commands().get(1));
    assert!(open.expect("the command").acknowledged_at.is_some());
    drop(target);
    world.finish();
}

/// A paused run presses nothing, and goes on with what it is told.
#[test]
fn a_paused_run_rests_until_it_is_resumed() {
    pauses(CommandKind::Pause, CommandKind::Resume);
}

/// The same for a person who takes over and hands back.
#[test]
fn a_taken_over_run_rests_until_it_is_handed_back() {
    pauses(CommandKind::TakeOver, CommandKind::HandBack);
}

/// The requests of the conversation, without the check of the model before it.
fn asked(world: &World) -> Vec<Arc<SeenRequest>> {
    let mut requests = world.rig.server.requests();
    requests.retain(|seen| !seen.tools.is_empty());
    requests
}

/// What a person says is heard: while a command runs, and while the model writes its last words.
#[test]
fn messages_are_heard_at_any_moment() {
    let world = World::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("until test -e go; do sleep 0.05; done"),
        1 => Turn::done("I am ready.").after(Duration::from_secs(3)),
        _ => Turn::done("Green it is."),
    }));
    let mut runner = world.start(&[&["run", "paint"], SHELL]);
    let id = world.run_of("paint");
    world.wait_call(&id, "run_command");
    let first = world.tell(&id, CommandKind::Message, &json!({ "text": "Use blue." }));
    std::fs::write(world.rig.home.workspace().join("go"), "").expect("a file");
    assert!(wait_until(LONG, || asked(&world).len() == 2));
    let second = world.tell(&id, CommandKind::Message, &json!({ "text": "No: green." }));
    let output = runner.wait(LONG).expect("it ends");
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "Green it is.\n")
    );
    let requests = asked(&world);
    assert!(requests[1].mentions("Use blue.") && !requests[1].mentions("No: green."));
    assert!(requests[2].mentions("No: green."));
    for id in [first, second] {
        let command = world.store.read_blocking(|db| db.commands().get(id));
        assert!(command.expect("the command").acknowledged_at.is_some());
    }
    world.finish();
}

/// What was said to a run that is killed before it could hear it is heard by whoever continues it.
#[test]
fn a_message_to_a_run_that_dies_is_heard_when_it_is_continued() {
    let world = World::headless(vec![Turn::shell("sleep 600")]);
    let mut runner = world.start(&[&["run", "paint"], SHELL]);
    let id = world.run_of("paint");
    world.wait_call(&id, "run_command");
    world.tell(&id, CommandKind::Message, &json!({ "text": "Use blue." }));
    // Long enough for the runner to have seen it.
    std::thread::sleep(Duration::from_millis(300));
    super::kill(runner.id());
    runner.wait(LONG).expect("it is dead");
    world.ended(Instant::now(), "");
    world.assert_interrupted(&id);
    world.rig.server.set_script(vec![Turn::done("Blue it is.")]);
    let output = world.openspace(&["runs", "continue", id.as_str()]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let last = world.rig.server.requests();
    assert!(last.last().expect("a request").mentions("Use blue."));
    world.finish();
}
