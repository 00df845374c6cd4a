//! What happens for the first time: the stop key is proved, and a run announces that it takes the
//! mouse.

use std::time::Instant;

use openspace_app::{COUNTDOWN, RunStatus};
use openspace_testkit::{
    model::{Call, Script, SeenRequest, Turn},
    wait::poll,
};
use serde_json::json;

use super::{
    FREE, SOON, driver::Driver, elsewhere, end, numbers, queue, rig, shown, start, store,
    wait_status, xdotool,
};
use crate::rig::Rig;

/// Title of pill and frame.
const CONTROL: &str = "OpenSpace\u{2060} control";
/// Looks, then moves the pointer again and again.
fn moves() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        // Left of our own window, which no run may touch.
        turn if turn <= 4 => Turn::call(Call::point_at("mouse_move", (40, 300 + turn as i32))),
        _ => Turn::done("Moved."),
    })
}

/// Where the pointer is.
fn pointer(rig: &Rig) -> (i32, i32) {
    let told = xdotool(rig, &["getmouselocation", "--shell"]).expect("a place");
    numbers(&told, ["X", "Y"])
        .map(|[x, y]| (x, y))
        .expect("numbers")
}

/// A press of the stop key anywhere is heard, shown by the page that asks for it, and kept.
#[test]
fn a_press_of_the_stop_key_proves_it() {
    let rig = rig(vec![]);
    let driver = Driver::start(&rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    driver.run("location.hash = '#/welcome/safety'");
    driver.wait("return document.body.innerText.includes('Not heard yet.')");
    let check = |what: &str| {
        let made = driver.call(
            "check_run",
            &json!({ "check": "hotkeys", "askModel": false }),
        );
        assert_eq!(
            made["findings"][0]["found"][0]["key"],
            format!("check.hotkeys.{what}")
        );
    };
    check("unproven");
    let (_terminal, _) = elsewhere(&rig);
    xdotool(&rig, &["key", "ctrl+alt+period"]).expect("pressed");
    driver.wait("return document.body.innerText.includes('It works.')");
    check("heard");
    // Other keys have to prove themselves anew.
    let set = rig
        .openspace(&["config", "set", "desktop.hotkey_stop", "ctrl+alt+f9"])
        .run();
    assert_eq!(set.expect("it runs").code, Some(0));
    driver.wait("return document.body.innerText.includes('Ctrl+Alt+F9')");
    driver.wait("return document.body.innerText.includes('Not heard yet.')");
    check("unproven");
    drop(driver);
    rig.finish();
}

/// Before a run moves the mouse for the first time it says so, and nothing moves until the moment for
/// objections is over; afterwards it acts without further announcements.
#[test]
fn the_first_control_is_announced() {
    let rig = rig(moves());
    let app = start(&rig);
    let before = pointer(&rig);
    queue(&rig, "Move", &FREE);
    let announced = poll(SOON, || {
        (!shown(&rig, CONTROL).is_empty()).then(Instant::now)
    });
    let announced = announced.expect("the pill is shown");
    assert_eq!(pointer(&rig), before, "{:?}", announced.elapsed());
    let moved = poll(SOON, || (pointer(&rig) != before).then_some(()));
    assert!(moved.is_some(), "then it moves");
    let run = wait_status(&store(&rig), RunStatus::Done);
    let events = store(&rig)
        .read_blocking(|db| db.events().of("run", run.id.as_str(), 0, u32::MAX))
        .expect("events");
    let times = |kind: &str| -> Vec<i64> {
        let of_kind = events.iter().filter(|event| event.kind == kind);
        of_kind.map(|event| event.at).collect()
    };
    let took: Vec<_> = times("step.call_started")
        .into_iter()
        .zip(times("step.call_finished"))
        .map(|(started, finished)| finished - started)
        .collect();
    let announcement = i64::try_from(COUNTDOWN.as_millis()).expect("short");
    // A look, the first move with the moment before it, and moves without.
    assert_eq!(took.len(), 5, "{events:?}");
    assert!(took[1] >= announcement, "{took:?}");
    assert!(
        took[2..].iter().all(|took| *took < announcement),
        "{took:?}"
    );
    end(app);
    rig.finish();
}

/// Who objects in that moment stops the run before it has touched anything.
#[test]
fn an_objection_in_time_leaves_the_mouse_alone() {
    let rig = rig(moves());
    let app = start(&rig);
    let before = pointer(&rig);
    queue(&rig, "Move", &FREE);
    poll(SOON, || (!shown(&rig, CONTROL).is_empty()).then_some(())).expect("the pill is shown");
    xdotool(&rig, &["key", "ctrl+alt+period"]).expect("pressed");
    wait_status(&store(&rig), RunStatus::Stopped);
    std::thread::sleep(COUNTDOWN);
    assert_eq!(pointer(&rig), before, "nothing moved");
    end(app);
    rig.finish();
}
