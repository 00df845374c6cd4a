//! The main window while a run has control: in none of its pictures, out of its way, and back afterwards.

use std::time::{Duration, Instant};

use openspace_app::{COUNTDOWN, RunStatus};
use openspace_testkit::{
    RawTarget,
    model::{Call, Script, SeenRequest, Turn},
    screen::Rect,
    target::Window,
    wait::poll,
};
use serde_json::json;

use super::{
    FREE, MARKER, SOON, driver::Driver, end, place, program, queue, rig, runs, shown, start, store,
    wait_status,
};
use crate::rig::Rig;

const WIDTH: f64 = 1_400.0;
/// Paint over our windows in pictures, and the colour of another program.
const NEUTRAL: [u8; 3] = [0x80, 0x80, 0x80];
const OTHER: [u8; 3] = [30, 160, 70];
/// Left of the main window, which is in the middle.
const BESIDE: (i32, i32) = (20, 450);

/// The main window, while it is on the screen. A search that meets another window just as that goes
/// finds nothing, so it is made again.
fn main_window(rig: &Rig) -> Option<String> {
    poll(Duration::from_millis(400), || {
        shown(rig, &format!("{MARKER}$")).pop()
    })
}

fn wait_shown(rig: &Rig, is: bool) {
    let turned = poll(SOON, || (main_window(rig).is_some() == is).then_some(()));
    assert!(turned.is_some(), "the window is shown: {}", !is);
}

/// It stays on the screen so long.
fn assert_stays(rig: &Rig, time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        assert!(main_window(rig).is_some(), "after {:?}", begun.elapsed());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Where the run has to point in its picture to reach a place of the screen.
fn sent(seen: &SeenRequest, (x, y): (i32, i32)) -> (i32, i32) {
    let width = seen
        .newest_image()
        .map_or(WIDTH, |it| f64::from(it.width()));
    let scaled = |at: i32| (f64::from(at) * width / WIDTH) as i32;
    (scaled(x), scaled(y))
}

fn looks_like(seen: &SeenRequest, at: (i32, i32), colour: [u8; 3]) -> bool {
    let picture = seen.newest_image().expect("a picture");
    let (x, y) = sent(seen, at);
    let pixel = picture.get_pixel(x as u32, y as u32).0;
    // JPEG and scaling change it a little.
    pixel
        .iter()
        .zip(colour)
        .all(|(is, should)| is.abs_diff(should) < 12)
}

/// Looks, points at a place, and looks again after a while, until told to end.
fn points_at(place: (i32, i32)) -> Script {
    Script::decide(move |seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        1 => Turn::call(Call::point_at("mouse_move", sent(seen, place))),
        2 => Turn::screenshot().after(Duration::from_secs(2)),
        _ => Turn::done("Seen."),
    })
}

/// Its place is grey in the first picture, except where another program lies above it; then it makes
/// way, and comes back as it was.
#[test]
fn it_is_in_no_picture_and_in_no_way() {
    let rig = rig(vec![]);
    let app = start(&rig);
    let window = poll(SOON, || main_window(&rig)).expect("the window");
    let before = place(&rig, &window).expect("its place");
    let corner = (before.x + 30, before.y + 30);
    let (x, y) = before.centre();
    let mut above = Window::new(Rect::new(x - 60, y - 40, 120, 80));
    above.background = OTHER;
    let _above = RawTarget::start(rig.screen(), above).expect("another program");
    rig.server.set_script(points_at((x, y)));
    queue(&rig, "Look", &FREE);
    wait_shown(&rig, false);
    wait_status(&store(&rig), RunStatus::Done);
    wait_shown(&rig, true);
    assert_eq!(place(&rig, &window), Some(before), "as it was");

    let requests = rig.server.requests();
    let mut pictures = requests.iter().filter(|it| it.newest_image().is_some());
    let (first, last) = (pictures.next(), pictures.next_back());
    let (first, last) = first.zip(last).expect("pictures");
    assert!(looks_like(first, corner, NEUTRAL), "the window is left out");
    assert!(looks_like(first, (x, y), OTHER), "what lies above is seen");
    assert!(first.mentions("Grey in the picture is a window of OpenSpace"));
    assert!(looks_like(last, corner, [0, 0, 0]), "it made way");
    assert!(looks_like(last, (x, y), OTHER));
    end(app);
    rig.finish();
}

/// With the setting off it stays, and a run that points at it is told what is there.
#[test]
fn it_stays_where_the_setting_says_so() {
    let rig = rig(vec![]);
    let set = rig.openspace(&["config", "set", "desktop.step_aside", "false"]);
    assert_eq!(set.run().expect("it runs").code, Some(0));
    let app = start(&rig);
    let window = poll(SOON, || main_window(&rig)).expect("the window");
    let area = place(&rig, &window).expect("its place");
    let on_it = (area.x + 30, area.y + 30);
    rig.server
        .set_script(Script::decide(move |seen: &SeenRequest| {
            match seen.turns() {
                0 => Turn::screenshot(),
                1 => Turn::call(Call::point_at("mouse_move", sent(seen, BESIDE))),
                2 => Turn::click_at(sent(seen, on_it)).after(Duration::from_secs(1)),
                _ => Turn::done("Seen."),
            }
        }));
    queue(&rig, "Look", &FREE);
    assert_stays(&rig, COUNTDOWN + Duration::from_secs(2));
    wait_status(&store(&rig), RunStatus::Done);
    assert!(main_window(&rig).is_some());
    let last = rig.server.requests().pop().expect("a request");
    assert!(looks_like(&last, on_it, NEUTRAL), "no picture shows it");
    let results = last.results();
    let told = &results.last().expect("a result").text;
    for part in ["windows of OpenSpace, which are grey", "move or minimise"] {
        assert!(told.contains(part), "{told}");
    }
    end(app);
    rig.finish();
}

/// Who takes over has the window again; who brings it back meanwhile keeps it.
#[test]
fn the_person_has_it_when_they_want_it() {
    let rig = rig(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        turn => {
            let place = (BESIDE.0, BESIDE.1 + turn as i32 % 50);
            let moved = Turn::call(Call::point_at("mouse_move", sent(seen, place)));
            moved.after(Duration::from_millis(200))
        }
    }));
    let driver = Driver::start(&rig, &["openspace://tasks"]);
    driver.wait("return document.querySelector('main') !== null");
    wait_shown(&rig, true);
    queue(&rig, "Move", &FREE);
    let store = store(&rig);
    wait_shown(&rig, false);
    let run = runs(&store).remove(0).id.to_string();
    let command = |command: &str| {
        driver.call("run_command", &json!({ "run": run, "command": command }));
    };
    command("take_over");
    wait_shown(&rig, true);
    assert_stays(&rig, Duration::from_secs(1));
    command("hand_back");
    wait_shown(&rig, false);
    let again = program(&rig, &[]).run().expect("a second start");
    assert_eq!(again.code, Some(0), "{again:?}");
    wait_shown(&rig, true);
    assert_stays(&rig, Duration::from_secs(3));
    driver.call("run_stop", &json!({ "run": run }));
    wait_status(&store, RunStatus::Stopped);
    assert_stays(&rig, Duration::from_secs(1));
    drop(driver);
    rig.finish();
}
