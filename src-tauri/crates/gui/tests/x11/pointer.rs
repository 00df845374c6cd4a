//! Clicks land exactly where they are asked for.

use std::time::Duration;

use openspace_gui::{Button, InputError, InputPoint};
use openspace_testkit::screen::Rect;
use openspace_testkit::target::{Happened, Window};
use openspace_testkit::{Options, RawTarget, TestScreen, wait_until};
use x11rb::protocol::xproto::ConnectionExt as _;

use super::{open, yes};

/// A click lands on the very pixel, on every monitor and in every corner.
#[test]
fn d_03_a_click_lands_on_the_pixel() {
    let monitors = vec![
        Rect::new(1280, 0, 1280, 1024),
        Rect::new(0, 0, 1280, 1024),
        Rect::new(2560, 0, 1280, 1024),
    ];
    let screen = TestScreen::start(Options {
        monitors,
        ..Options::sized(3840, 1024)
    })
    .unwrap();
    let target = RawTarget::start(&screen, Window::full(&screen)).unwrap();
    let mut platform = open(&screen);
    let points = [
        (0, 0),
        (3839, 1023),
        (1280, 0),
        (1279, 1023),
        (1987, 511),
        (2561, 3),
    ];
    for (x, y) in points {
        platform.input.move_to(InputPoint { x, y }, &yes).unwrap();
        assert_eq!(platform.screen.pointer().unwrap(), InputPoint { x, y });
        platform.input.button(Button::Left, true, &yes).unwrap();
        assert_eq!(platform.input.held().buttons, [Button::Left]);
        platform.input.button(Button::Left, false, &yes).unwrap();
    }
    assert!(wait_until(Duration::from_secs(5), || target.clicks().len()
        == points.len()));
    let landed: Vec<_> = target
        .clicks()
        .into_iter()
        .map(|(_, x, y)| (x, y))
        .collect();
    assert_eq!(landed, points);
    assert!(platform.input.held().is_empty());
}

/// A point outside is an error, not a click at the nearest edge.
#[test]
fn a_point_outside_is_refused() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let mut input = open(&screen).input;
    for (x, y) in [(640, 10), (-1, 10), (10, 480), (70_000, 10)] {
        let refused = input.move_to(InputPoint { x, y }, &yes);
        assert!(
            matches!(refused, Err(InputError::NotPermitted(_))),
            "{refused:?}"
        );
    }
}

/// Every button and every direction of the wheel is what it is called.
#[test]
fn buttons_and_wheel_are_what_they_are_called() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let target = RawTarget::start(&screen, Window::full(&screen)).unwrap();
    let mut input = open(&screen).input;
    input.move_to(InputPoint { x: 300, y: 200 }, &yes).unwrap();
    for button in [Button::Left, Button::Middle, Button::Right] {
        input.button(button, true, &yes).unwrap();
        input.button(button, false, &yes).unwrap();
    }
    input.scroll(0, 2, &yes).unwrap();
    input.scroll(0, -1, &yes).unwrap();
    input.scroll(1, 0, &yes).unwrap();
    input.scroll(-1, 0, &yes).unwrap();
    let downs = || -> Vec<u8> {
        let events = target.events().into_iter();
        events
            .filter_map(|it| match it.what {
                Happened::ButtonDown { button, .. } => Some(button),
                _ => None,
            })
            .collect()
    };
    assert!(wait_until(Duration::from_secs(5), || downs().len() == 8));
    assert_eq!(downs(), [1, 2, 3, 5, 5, 4, 7, 6]);
}

/// The left button is the left one for a left-handed person too.
#[test]
fn swapped_buttons_are_respected() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let target = RawTarget::start(&screen, Window::full(&screen)).unwrap();
    let connection = screen.connect().unwrap();
    let mut map = connection
        .get_pointer_mapping()
        .unwrap()
        .reply()
        .unwrap()
        .map;
    map.swap(0, 2);
    connection
        .set_pointer_mapping(&map)
        .unwrap()
        .reply()
        .unwrap();
    let mut input = open(&screen).input;
    input.move_to(InputPoint { x: 300, y: 200 }, &yes).unwrap();
    input.button(Button::Left, true, &yes).unwrap();
    input.button(Button::Left, false, &yes).unwrap();
    assert!(wait_until(Duration::from_secs(5), || !target
        .clicks()
        .is_empty()));
    assert_eq!(target.clicks(), [(None, 300, 200)]);
}

/// D-11: a no between press and release of a button releases it, and nothing moves any more.
#[test]
fn d_11_a_halt_releases_the_button() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let _target = RawTarget::start(&screen, Window::full(&screen)).unwrap();
    let mut platform = open(&screen);
    platform
        .input
        .move_to(InputPoint { x: 30, y: 40 }, &yes)
        .unwrap();
    platform.input.button(Button::Left, true, &yes).unwrap();
    let no = || false;
    let halted = platform.input.move_to(InputPoint { x: 100, y: 100 }, &no);
    assert_eq!(halted, Err(InputError::Halted));
    assert_eq!(
        platform.screen.pointer().unwrap(),
        InputPoint { x: 30, y: 40 }
    );
    assert!(platform.input.held().is_empty());
    let connection = screen.connect().unwrap();
    let root = x11rb::connection::Connection::setup(&connection).roots[0].root;
    let mask = connection
        .query_pointer(root)
        .unwrap()
        .reply()
        .unwrap()
        .mask;
    assert_eq!(u16::from(mask), 0);
}
