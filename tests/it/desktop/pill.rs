//! Answering on the pill: by the person's hand, and by nothing else.

use std::{
    path::PathBuf,
    thread::sleep,
    time::{Duration, Instant},
};

use openspace_app::{Approval, ApprovalState, RunStatus, Store};
use openspace_testkit::{
    find,
    model::{Call, Script, SeenRequest, Turn},
    screen::Rect,
    wait::poll,
};
use serde_json::json;

use super::{
    SOON, driver::Driver, end, place, queue, rig, shown, start, store, wait_status, xdotool,
};
use crate::rig::Rig;

/// Title of pill and frame.
const CONTROL: &str = "OpenSpace\u{2060} control";
/// Border of a button that can be pressed.
const BORDER: [u8; 3] = [0x75, 0x81, 0x9A];
/// Longer than a question must be seen before it can be allowed.
const READ: Duration = Duration::from_millis(900);
/// Longer than an injected press spoils those after it.
const FORGOTTEN: Duration = Duration::from_millis(3_200);
/// What the run may do without a question.
const GUI: [&str; 4] = ["--allow", "gui:*", "--wait-approval", "10m"];

/// A file that a run may write only after a question: beside its folder.
fn outside(rig: &Rig) -> PathBuf {
    let folder = rig.home.root().join("elsewhere");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join("note.txt")
}

/// Takes control, then makes a call that is asked about, then says what became of it.
fn asks(call: Call) -> Script {
    Script::decide(move |seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        1 => Turn::call(Call::point_at("mouse_move", (40, 400))),
        2 => Turn::call(call.clone()),
        _ => {
            let result = seen.results().last().map(|result| result.text.clone());
            Turn::done(&format!("It came to: {}", result.unwrap_or_default()))
        }
    })
}

fn writes(path: &std::path::Path) -> Call {
    Call::new("write_file", json!({ "path": path, "content": "x" }))
}

/// The pill, where it is shown.
fn pill(rig: &Rig) -> Option<Rect> {
    let windows = shown(rig, CONTROL);
    let mut places = windows.iter().filter_map(|window| place(rig, window));
    places.find(|place| place.width == 320)
}

/// The pill with a question in it.
fn asking(rig: &Rig) -> Rect {
    let found = poll(SOON, || pill(rig).filter(|pill| pill.height == 200));
    found.unwrap_or_else(|| panic!("no question on the pill: {:?}", pill(rig)))
}

/// Middles of the buttons below the question, from left to right, as far as they can be pressed.
fn buttons(rig: &Rig, pill: Rect) -> Vec<(i32, i32)> {
    let picture = rig.screen().screenshot().expect("a picture");
    let mut tops: Vec<_> = find::colours(&picture, BORDER, 0)
        .into_iter()
        .filter(|area| area.width >= 20)
        .map(|area| ((area.left + area.width / 2) as i32, area.top as i32))
        .filter(|(x, y)| pill.contains(*x, *y) && *y > pill.y + 150)
        .collect();
    tops.sort_unstable();
    // Of the lines above and below a button the upper one comes first.
    tops.dedup_by_key(|(x, _)| *x);
    tops.iter().map(|(x, y)| (*x, y + 14)).collect()
}

fn the_question(store: &Store) -> Approval {
    let all = store.read_blocking(|db| db.approvals().recent(10));
    let mut all = all.expect("the questions");
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

/// What is injected allows nothing and is told; a press of the mouse allows; the window knows at once.
#[test]
fn only_a_hand_allows_on_the_pill() {
    let rig = rig(vec![]);
    let file = outside(&rig);
    rig.server.set_script(asks(writes(&file)));
    let driver = Driver::start(&rig, &["openspace://approvals"]);
    driver.wait("return document.querySelector('main') !== null");
    queue(&rig, "Leave a note", &GUI);
    let store = store(&rig);
    wait_status(&store, RunStatus::NeedsApproval);
    let pill = asking(&rig);
    sleep(READ);
    let allow = |rig: &Rig| {
        let found = poll(SOON, || buttons(rig, pill).get(1).copied());
        found.expect("it can be allowed")
    };
    // Longer than the pill is high: it is read to the end first.
    assert_eq!(buttons(&rig, pill).len(), 1, "it can only be denied");
    let (left, top) = ((pill.x + 100).to_string(), (pill.y + 100).to_string());
    xdotool(&rig, &["mousemove", "--sync", &left, &top]).expect("over it");
    xdotool(&rig, &["click", "--repeat", "8", "--delay", "50", "5"]).expect("scrolled");
    let (x, y) = allow(&rig);
    let (left, top) = (x.to_string(), y.to_string());
    xdotool(&rig, &["mousemove", "--sync", &left, &top, "click", "1"]).expect("injected");
    sleep(Duration::from_secs(1));
    assert_eq!(the_question(&store).state, ApprovalState::Open);
    assert!(!file.exists());
    let picture = rig.screen().screenshot().expect("a picture");
    let said = find::read_text(&picture).expect("words");
    assert!(said.contains("your own hand"), "it is told: {said}");

    xdotool(&rig, &["mousemove", "40", "400"]).expect("off the button");
    sleep(FORGOTTEN);
    driver.wait("return document.body.innerText.includes('Write files in')");
    let (x, y) = allow(&rig);
    rig.screen().click_by_hand(x, y).expect("pressed");
    let pressed = Instant::now();
    let answered = poll(SOON, || {
        let question = the_question(&store);
        (question.state != ApprovalState::Open).then_some(question)
    });
    let answered = answered.expect("it is answered");
    driver.wait("return document.body.innerText.includes('Allowed')");
    println!(
        "pressed on the pill, seen in the window after {:?}",
        pressed.elapsed()
    );
    assert_eq!(answered.state, ApprovalState::AllowedOnce);
    assert_eq!(answered.answered_by.as_deref(), Some("app"));
    wait_status(&store, RunStatus::Done);
    assert!(file.exists(), "it was done");
    drop(driver);
    rig.finish();
}

/// Denying needs one press, and reaches the run; the pill is small again where it was before.
#[test]
fn a_question_is_denied_on_the_pill() {
    let rig = rig(vec![]);
    let file = outside(&rig);
    let call = writes(&file);
    rig.server
        .set_script(Script::decide(move |seen: &SeenRequest| {
            match seen.turns() {
                0 => Turn::screenshot(),
                1 => Turn::call(Call::point_at("mouse_move", (40, 400))),
                2 => Turn::call(call.clone()),
                // It keeps the control that it has.
                _ => Turn::shell("sleep 600"),
            }
        }));
    let app = start(&rig);
    queue(&rig, "Leave a note", &GUI);
    let store = store(&rig);
    let before = poll(SOON, || pill(&rig).filter(|pill| pill.height == 56));
    let before = before.expect("the pill");
    let tall = asking(&rig);
    let deny = poll(SOON, || buttons(&rig, tall).first().copied());
    let (x, y) = deny.expect("it can be denied");
    rig.screen().click_by_hand(x, y).expect("pressed");
    let back = poll(SOON, || (pill(&rig) == Some(before)).then_some(()));
    assert!(
        back.is_some(),
        "{:?}, not where it was: {before:?}",
        pill(&rig)
    );
    let question = the_question(&store);
    assert_eq!(question.state, ApprovalState::Denied);
    assert!(!file.exists());
    let stopped = rig.openspace(&["stop", "--all"]).run();
    assert_eq!(stopped.expect("it runs").code, Some(0));
    end(app);
    rig.finish();
}

/// What is risky cannot be allowed on the pill; it leads to the window, at that question.
#[test]
fn what_is_risky_is_left_to_the_window() {
    let rig = rig(asks(Call::shell("rm precious.txt")));
    std::fs::write(rig.home.workspace().join("precious.txt"), "x").expect("a file");
    let driver = Driver::start(&rig, &["openspace://tasks"]);
    driver.wait("return document.querySelector('main') !== null");
    queue(&rig, "Remove it", &GUI);
    let store = store(&rig);
    wait_status(&store, RunStatus::NeedsApproval);
    let pill = asking(&rig);
    sleep(READ);
    let can_be_pressed = buttons(&rig, pill);
    assert_eq!(can_be_pressed.len(), 1, "only to deny: {can_be_pressed:?}");
    let (x, y) = (pill.x + 320 - 50, can_be_pressed[0].1);
    rig.screen().click_by_hand(x, y).expect("pressed");
    let question = the_question(&store);
    let page = format!("return location.hash === '#/approvals/{}'", question.id);
    driver.wait(&page);
    assert_eq!(question.state, ApprovalState::Open);
    drop(driver);
    rig.finish();
}

/// A question is in no picture of another run, as high as the pill has become.
#[test]
fn no_picture_has_the_question() {
    let rig = rig(vec![]);
    let file = outside(&rig);
    let call = writes(&file);
    rig.server
        .set_script(Script::decide(move |seen: &SeenRequest| {
            if seen.mentions("Only look") {
                return match seen.turns() {
                    0 => Turn::screenshot(),
                    _ => Turn::done("Seen."),
                };
            }
            match seen.turns() {
                0 => Turn::screenshot(),
                1 => Turn::call(Call::point_at("mouse_move", (40, 400))),
                2 => Turn::call(call.clone()),
                _ => Turn::done("Done."),
            }
        }));
    let app = start(&rig);
    queue(&rig, "Leave a note", &GUI);
    wait_status(&store(&rig), RunStatus::NeedsApproval);
    let pill = asking(&rig);
    poll(SOON, || (!buttons(&rig, pill).is_empty()).then_some(())).expect("it is drawn");
    queue(&rig, "Only look", &GUI);
    let looked = |told: &std::sync::Arc<SeenRequest>| {
        told.mentions("Only look") && told.newest_image().is_some()
    };
    let told = poll(SOON, || rig.server.requests().into_iter().find(looked));
    let told = told.expect("it looked");
    let picture = told.newest_image().expect("a picture");
    let scale = f64::from(picture.width()) / 1_400.0;
    for (x, y) in [(10, 10), (310, 10), (160, 100), (40, 180), (310, 190)] {
        let at = |from: i32, inside: i32| (f64::from(from + inside) * scale) as u32;
        let pixel = picture.get_pixel(at(pill.x, x), at(pill.y, y)).0;
        let neutral = pixel.iter().all(|part| part.abs_diff(0x80) < 6);
        assert!(neutral, "{x}, {y} of the pill is {pixel:?}");
    }
    end(app);
    rig.finish();
}

/// A person can put the pill elsewhere, and it comes back there.
#[test]
fn the_pill_can_be_moved() {
    let moves = |count: usize| {
        Script::decide(move |seen: &SeenRequest| match seen.turns() {
            0 => Turn::screenshot(),
            turn if turn < count => {
                Turn::call(Call::point_at("mouse_move", (40, 300 + turn as i32)))
            }
            _ => Turn::done("Done."),
        })
    };
    let rig = rig(moves(400));
    let app = start(&rig);
    let set = rig
        .openspace(&["config", "set", "screen.human_input", "ignore"])
        .run();
    assert_eq!(set.expect("it runs").code, Some(0));
    queue(&rig, "Move", &GUI);
    let store = store(&rig);
    let before = poll(SOON, || pill(&rig)).expect("the pill");
    wait_status(&store, RunStatus::Running);
    let (x, y) = (before.x + 20, before.y + 12);
    let screen = rig.screen();
    let put = poll(SOON, || {
        screen.move_pointer(x, y).ok()?;
        screen.button_by_hand(true).ok()?;
        for step in 1..=10 {
            screen.move_pointer(x - 40 * step, y - 30 * step).ok()?;
            sleep(Duration::from_millis(15));
        }
        screen.button_by_hand(false).ok()?;
        pill(&rig).filter(|pill| (pill.x, pill.y) != (before.x, before.y))
    });
    let put = put.expect("it was moved");
    let stopped = rig.openspace(&["stop", "--all"]).run();
    assert_eq!(stopped.expect("it runs").code, Some(0));
    poll(SOON, || pill(&rig).is_none().then_some(())).expect("it is gone");
    queue(&rig, "Move again", &GUI);
    let again = poll(SOON, || pill(&rig)).expect("the pill");
    assert_eq!((again.x, again.y), (put.x, put.y));
    end(app);
    rig.finish();
}
