//! Several runs and several processes at once.

use openspace_app::RunStatus;
use openspace_testkit::model::{Call, Script, SeenRequest, Turn};
use serde_json::Value;

use super::{BLUE, LONG, RED, SCREEN, World, wait_until};

/// The task named `first` clicks the red button and then keeps the screen; others click the blue one.
fn script() -> Script {
    Script::decide(|seen: &SeenRequest| {
        let first = seen.person().contains("first");
        match seen.turns() {
            0 => Turn::screenshot(),
            1 => {
                let colour = if first { RED } else { BLUE };
                Turn::click_at(seen.find_color(colour, 60).expect("the button"))
            }
            2 if first => Turn::shell("sleep 600"),
            _ => Turn::done("Clicked."),
        }
    })
}

fn waits_for_screen(world: &World, run: &str) -> bool {
    let shown = world.openspace(&["runs", "show", run, "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    assert_eq!(shown["run"]["status"], "running", "{shown}");
    shown["run"]["reason"]
        .as_str()
        .is_some_and(|reason| reason.contains("waiting_for_screen"))
}

/// One run has the screen, others wait and say so; each is stopped alone, and the screen goes to who
/// waits. A third process sees and stops all of them.
#[test]
fn one_run_has_the_screen_and_the_next_gets_it() {
    let world = World::on_screen(script());
    let target = world.target();
    let mut holder = world.start(&[&["run", "the first task"], SCREEN]);
    target
        .wait_for_click("first", LONG)
        .expect("the holder clicks");
    let held = world.run_of("the first task");

    // One that waits is stopped, which leaves the holder alone.
    let mut leaves = world.start(&[&["run", "a task that leaves"], SCREEN]);
    let waiting = world.run_of("a task that leaves");
    assert!(wait_until(LONG, || world.run(&waiting).step > 1));
    assert!(wait_until(LONG, || waits_for_screen(
        &world,
        waiting.as_str()
    )));
    let stopped = world.openspace(&["stop", waiting.as_str()]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(leaves.wait(LONG).expect("it ends").code, Some(3));
    assert_eq!(world.run(&waiting).status, RunStatus::Stopped);

    // Both are seen live, from here and from a process that lists them.
    let mut next = world.start(&[&["run", "the second task"], SCREEN]);
    let second = world.run_of("the second task");
    next.wait_for("another run has the screen", LONG)
        .expect("it says so");
    let listed = world.openspace(&["runs", "list", "--status", "running", "--json"]);
    let listed: Vec<Value> = listed
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let mut ids: Vec<_> = listed
        .iter()
        .filter_map(|it| it["run"]["id"].as_str())
        .collect();
    ids.sort_unstable();
    let mut both = [held.as_str(), second.as_str()];
    both.sort_unstable();
    assert_eq!(ids, both, "{listed:?}");
    assert!(holder.running());

    let stopped = world.openspace(&["stop", held.as_str()]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(holder.wait(LONG).expect("it ends").code, Some(3));
    let ended = next.wait(LONG).expect("it ends");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let clicked: Vec<_> = target
        .clicks()
        .into_iter()
        .map(|(patch, ..)| patch)
        .collect();
    assert_eq!(
        clicked,
        [Some("first".to_owned()), Some("second".to_owned())]
    );
    drop(target);
    world.finish();
}

/// A process that watches hears every event of another process's run, in order.
#[test]
fn a_watching_process_hears_everything() {
    let world = World::headless(vec![
        Turn::calls([Call::shell("true"), Call::shell("echo two")]),
        Turn::done("Done."),
    ]);
    let store = world.store.clone();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let heard = runtime.spawn(async move {
        let mut watch = store.watch(0).expect("a watch");
        let mut kinds = Vec::new();
        loop {
            let event = watch.next().await.expect("an event");
            let over = event.kind == "run.status" && event.payload["status"] == "done";
            kinds.push((event.id, event.kind));
            if over {
                return kinds;
            }
        }
    });
    let output = world.rig.run("two commands", &["--backends", "shell"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let heard = runtime.block_on(async {
        tokio::time::timeout(LONG, heard)
            .await
            .expect("in time")
            .expect("no panic")
    });
    let kept = world
        .store
        .read_blocking(|db| db.events().after(0, u32::MAX));
    let kept: Vec<_> = kept
        .expect("events")
        .into_iter()
        .map(|it| (it.id, it.kind))
        .collect();
    assert!(
        kept.starts_with(&heard),
        "{heard:?} is not the beginning of {kept:?}"
    );
    world.finish();
}
