//! The ring around the place of the next click.

use std::thread::sleep;
use std::time::{Duration, Instant};

use openspace_gui::platform::RingWindow;
use openspace_gui::{Button, DrawRing as _, InputPoint};
use openspace_testkit::target::Window;
use openspace_testkit::{Options, RawTarget, TestScreen, wait_until};

use super::{open, yes};

const COLOUR: u32 = 0x9A_34_12;
const MIDDLE: InputPoint = InputPoint { x: 400, y: 300 };
/// On the ring, right of its middle.
const ON_IT: (u32, u32) = (422, 300);
const SOON: Duration = Duration::from_secs(5);

fn ring(screen: &TestScreen) -> RingWindow {
    RingWindow::open(&screen.display(), None, COLOUR, "ring").unwrap()
}

fn is_shown(screen: &TestScreen) -> bool {
    let picture = screen.screenshot().unwrap();
    picture.get_pixel(ON_IT.0, ON_IT.1).0 == [0x9A, 0x34, 0x12]
}

/// It is on the screen for about a quarter of a second, leaves its middle free, and goes by itself.
#[test]
fn the_ring_shows_for_a_moment() {
    let screen = TestScreen::start(Options::sized(800, 600)).unwrap();
    let mut ring = ring(&screen);
    assert!(!is_shown(&screen));
    let asked = Instant::now();
    ring.show(MIDDLE);
    assert!(
        asked.elapsed() < Duration::from_millis(20),
        "nobody waits for it"
    );
    assert!(wait_until(SOON, || is_shown(&screen)));
    let middle = screen.screenshot().unwrap().get_pixel(400, 300).0;
    assert_ne!(middle, [0x9A, 0x34, 0x12]);
    assert!(wait_until(SOON, || !is_shown(&screen)));
    assert!(
        asked.elapsed() >= Duration::from_millis(230),
        "{:?}",
        asked.elapsed()
    );

    ring.show(MIDDLE);
    assert!(wait_until(SOON, || is_shown(&screen)));
    ring.hide();
    assert!(!is_shown(&screen), "it is gone when that returns");
}

/// Clicks go through it wherever they land, and it is no window that a click would reach.
#[test]
fn the_ring_takes_no_input() {
    let screen = TestScreen::start(Options::sized(800, 600)).unwrap();
    let target = RawTarget::start(&screen, Window::full(&screen)).unwrap();
    let mut platform = open(&screen);
    let mut ring = ring(&screen);
    let on_it = InputPoint {
        x: ON_IT.0 as i32,
        y: ON_IT.1 as i32,
    };
    for point in [MIDDLE, on_it] {
        ring.show(MIDDLE);
        assert!(wait_until(SOON, || is_shown(&screen)));
        let below = platform.screen.window_at(point).unwrap().unwrap();
        assert_eq!(below.id, u64::from(target.window()));
        platform.input.move_to(point, &yes).unwrap();
        platform.input.button(Button::Left, true, &yes).unwrap();
        platform.input.button(Button::Left, false, &yes).unwrap();
    }
    assert!(wait_until(SOON, || target.clicks().len() == 2));
    let landed: Vec<_> = target
        .clicks()
        .into_iter()
        .map(|(_, x, y)| (x, y))
        .collect();
    assert_eq!(landed, [(400, 300), (422, 300)]);
}

/// Whoever asks for windows is told of it by its id, while it is shown and not afterwards.
#[test]
fn the_ring_can_be_told_from_other_windows() {
    let screen = TestScreen::start(Options::sized(800, 600)).unwrap();
    let platform = open(&screen);
    let mut ring = ring(&screen);
    let listed = || {
        let windows = platform.screen.windows().unwrap();
        windows.into_iter().find(|window| window.title == "ring")
    };
    assert_eq!(listed(), None);
    ring.show(MIDDLE);
    assert!(wait_until(SOON, || listed().is_some()));
    ring.show(MIDDLE);
    let window = listed().unwrap();
    assert_eq!(window.id, ring.window());
    assert_eq!(window.pid, Some(std::process::id()));
    sleep(Duration::from_millis(300));
    assert!(wait_until(SOON, || listed().is_none()));
}
