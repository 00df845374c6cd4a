//! Pictures are what is on the screen.

use openspace_gui::{InputRect, ScreenError};
use openspace_testkit::screen::Rect;
use openspace_testkit::target::{Patch, Window};
use openspace_testkit::{Options, RawTarget, TestScreen};

use super::open;

fn pixel(capture: &openspace_gui::Capture, x: u32, y: u32) -> [u8; 3] {
    let at = ((y * capture.width + x) * 4) as usize;
    let bgrx = &capture.bgrx[at..at + 4];
    [bgrx[2], bgrx[1], bgrx[0]]
}

/// Every pixel equals what another client of the server reads.
#[test]
fn a_capture_is_what_is_on_the_screen() {
    let screen = TestScreen::start(Options::sized(1013, 701)).unwrap();
    let patch = Patch::new("red", Rect::new(20, 30, 40, 50), [200, 10, 30]);
    let window = Window::new(Rect::new(100, 80, 300, 200)).with(patch);
    let _target = RawTarget::start(&screen, window).unwrap();
    let platform = open(&screen);
    let monitors = platform.screen.monitors().unwrap();
    let capture = platform.screen.capture(&monitors[0]).unwrap();
    assert_eq!((capture.width, capture.height), (1013, 701));
    assert_eq!(pixel(&capture, 120, 110), [200, 10, 30]);
    assert_eq!(pixel(&capture, 119, 110), [208, 208, 208]);
    let wanted = screen.screenshot().unwrap();
    let rgb: Vec<u8> = capture
        .bgrx
        .chunks(4)
        .flat_map(|it| [it[2], it[1], it[0]])
        .collect();
    assert!(rgb == wanted.into_raw(), "some pixel differs");
}

/// Monitors come primary first, each with its own place and its own picture.
#[test]
fn d_03_each_monitor_has_its_own_picture() {
    let monitors = vec![
        Rect::new(1280, 0, 1280, 1024),
        Rect::new(0, 100, 1280, 924),
        Rect::new(2560, 0, 1280, 1024),
    ];
    let screen = TestScreen::start(Options {
        monitors,
        ..Options::sized(3840, 1024)
    })
    .unwrap();
    let window = Window::full(&screen)
        .with(Patch::new("left", Rect::new(0, 100, 10, 10), [1, 2, 3]))
        .with(Patch::new("middle", Rect::new(1280, 0, 10, 10), [4, 5, 6]))
        .with(Patch::new("right", Rect::new(2560, 0, 10, 10), [7, 8, 9]));
    let _target = RawTarget::start(&screen, window).unwrap();
    let platform = open(&screen);
    let monitors = platform.screen.monitors().unwrap();
    let places: Vec<_> = monitors
        .iter()
        .map(|it| (it.area.x, it.area.y, it.primary))
        .collect();
    assert_eq!(places, [(1280, 0, true), (0, 100, false), (2560, 0, false)]);
    let corners: Vec<_> = monitors
        .iter()
        .map(|it| {
            let capture = platform.screen.capture(it).unwrap();
            assert_eq!(
                (capture.width, capture.height),
                (it.area.width, it.area.height)
            );
            pixel(&capture, 0, 0)
        })
        .collect();
    assert_eq!(corners, [[4, 5, 6], [1, 2, 3], [7, 8, 9]]);
}

/// A monitor that is elsewhere now, or gone, is not captured as if nothing had happened.
#[test]
fn a_changed_layout_is_an_error() {
    let screen = TestScreen::start(Options::sized(800, 600)).unwrap();
    let platform = open(&screen);
    let mut monitor = platform.screen.monitors().unwrap().remove(0);
    assert_eq!(
        monitor.area,
        InputRect {
            x: 0,
            y: 0,
            width: 800,
            height: 600
        }
    );
    monitor.area.width = 640;
    let gone = ScreenError::MonitorGone(monitor.name.clone());
    assert_eq!(platform.screen.capture(&monitor), Err(gone));
}
