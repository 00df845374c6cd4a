//! How long things take; printed, not judged. Run in release with `--ignored --nocapture bench`.

use std::time::{Duration, Instant};

use openspace_gui::{Button, InputPoint, TypeOptions};
use openspace_testkit::target::Window;
use openspace_testkit::{Options, RawTarget, TestScreen};

use super::{open, yes};

fn median(mut run: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..41)
        .map(|_| {
            let begin = Instant::now();
            run();
            begin.elapsed()
        })
        .collect();
    times.sort();
    times[20]
}

/// Prints the median of grabs, of move and click, and of a thousand characters.
#[test]
#[ignore = "a measurement, not a check"]
fn bench() {
    for (width, height) in [(1920, 1080), (3840, 2160)] {
        let screen = TestScreen::start(Options::sized(width, height)).unwrap();
        let _target = RawTarget::start(&screen, Window::full(&screen)).unwrap();
        let mut platform = open(&screen);
        let monitor = platform.screen.monitors().unwrap().remove(0);
        let grab = median(|| drop(platform.screen.capture(&monitor).unwrap()));
        println!("grab {width}x{height}: {grab:?}");
        let mut x = 0;
        let click = median(|| {
            x += 7;
            platform
                .input
                .move_to(InputPoint { x, y: 50 }, &yes)
                .unwrap();
            platform.input.button(Button::Left, true, &yes).unwrap();
            platform.input.button(Button::Left, false, &yes).unwrap();
        });
        println!("move and click: {click:?}");
        let point = InputPoint { x: 5, y: 5 };
        println!(
            "window_at: {:?}",
            median(|| drop(platform.screen.window_at(point).unwrap()))
        );
        println!(
            "focused: {:?}",
            median(|| drop(platform.screen.focused().unwrap()))
        );
        println!(
            "state: {:?}",
            median(|| assert!(platform.screen.state().is_ok()))
        );
        let text = "aB3$".repeat(250);
        let begin = Instant::now();
        platform
            .input
            .type_text(
                &text,
                TypeOptions {
                    delay: Duration::ZERO,
                },
                &yes,
            )
            .unwrap();
        println!("1000 characters: {:?}", begin.elapsed());
    }
}

/// For comparison: the grab of the portable fallback.
#[cfg(feature = "portable")]
#[test]
#[ignore = "a measurement; it grabs the display that the environment names"]
fn bench_portable() {
    use openspace_gui::Screen as _;
    let screen = openspace_gui::platform::portable::PortableScreen::open().unwrap();
    let monitor = screen.monitors().unwrap().remove(0);
    let grab = median(|| drop(screen.capture(&monitor).unwrap()));
    println!("portable grab {:?}: {grab:?}", monitor.area);
}
