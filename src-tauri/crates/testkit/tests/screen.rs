//! The screen, the targets, the finder and the leak check, on a real X server.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "these are tests, and so are their helpers"
)]

use std::time::{Duration, Instant};

use fast_image_resize::images::Image;
use fast_image_resize::{PixelType, Resizer};
use image::{DynamicImage, RgbImage};
use openspace_testkit::screen::Rect;
use openspace_testkit::target::{Happened, Patch, Window};
use openspace_testkit::{
    GtkTarget, InputWatch, LeakCheck, Options, Program, RawTarget, TestHome, TestScreen, find,
    leak, wait_until,
};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::ConnectionExt as _;
use x11rb::protocol::xtest::ConnectionExt as _;

const LIMIT: Duration = Duration::from_secs(10);

/// What a model of the standard class is sent: 1080p becomes 1456x819, JPEG at quality 78.
fn as_sent(picture: &RgbImage, width: u32, height: u32) -> RgbImage {
    let source = Image::from_vec_u8(
        picture.width(),
        picture.height(),
        DynamicImage::from(picture.clone()).into_rgba8().into_raw(),
        PixelType::U8x4,
    )
    .unwrap();
    let mut small = Image::new(width, height, PixelType::U8x4);
    Resizer::new().resize(&source, &mut small, None).unwrap();
    let mut jpeg = Vec::new();
    jpeg_encoder::Encoder::new(&mut jpeg, 78)
        .encode(
            small.buffer(),
            width as u16,
            height as u16,
            jpeg_encoder::ColorType::Rgba,
        )
        .unwrap();
    image::load_from_memory(&jpeg).unwrap().into_rgb8()
}

/// Waits until two screenshots in a row are equal and `shown` can be read in the sent picture.
fn wait_for_text(screen: &TestScreen, shown: &str) -> (RgbImage, find::Point) {
    let mut found = None;
    wait_until(Duration::from_secs(40), || {
        if !settled(screen) {
            return false;
        }
        let second = screen.screenshot().unwrap();
        let sent = as_sent(&second, 1456, 819);
        found = find::text(&sent, shown).unwrap().map(|point| (sent, point));
        found.is_some()
    });
    found.unwrap_or_else(|| panic!("`{shown}` cannot be read on the screen"))
}

/// Whether the picture stays the same for a while.
fn settled(screen: &TestScreen) -> bool {
    let first = screen.screenshot().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    first == screen.screenshot().unwrap()
}

/// The middle of the dark pixels of a text: its true centre on the screen, from full resolution.
fn ink_centre(picture: &RgbImage, around: Rect) -> (f64, f64) {
    let (mut left, mut top, mut right, mut bottom) = (i32::MAX, i32::MAX, 0, 0);
    for y in around.y..around.y + around.height as i32 {
        for x in around.x..around.x + around.width as i32 {
            let [r, g, b] = picture.get_pixel(x as u32, y as u32).0;
            if u32::from(r) + u32::from(g) + u32::from(b) < 330 {
                left = left.min(x);
                right = right.max(x + 1);
                top = top.min(y);
                bottom = bottom.max(y + 1);
            }
        }
    }
    (f64::from(left + right) / 2.0, f64::from(top + bottom) / 2.0)
}

fn click(screen: &TestScreen, x: i32, y: i32) {
    let connection = screen.connect().unwrap();
    let root = connection.setup().roots[0].root;
    connection
        .xtest_fake_input(6, 0, 0, root, x as i16, y as i16, 0)
        .unwrap();
    connection.xtest_fake_input(4, 1, 0, root, 0, 0, 0).unwrap();
    connection.xtest_fake_input(5, 1, 0, root, 0, 0, 0).unwrap();
    connection.get_input_focus().unwrap().reply().unwrap();
}

fn press_key(screen: &TestScreen, code: u8, down: bool) {
    let connection = screen.connect().unwrap();
    let root = connection.setup().roots[0].root;
    connection
        .xtest_fake_input(if down { 2 } else { 3 }, code, 0, root, 0, 0, 0)
        .unwrap();
    connection.get_input_focus().unwrap().reply().unwrap();
}

/// Text of a zenity dialog is found in the picture a model gets, within 4 px of where it is.
#[test]
fn text_of_a_dialog_is_found() {
    let screen = TestScreen::start(Options::default()).unwrap();
    let _zenity = screen
        .run(
            "zenity",
            &[
                "--question",
                "--title=Confirm",
                "--text=Replace the existing report?",
                "--ok-label=Replace",
                "--cancel-label=Keep both",
            ],
        )
        .unwrap();
    let (sent, question) = wait_for_text(&screen, "existing report?");
    let full = screen.screenshot().unwrap();
    let scale = 1920.0 / 1456.0;
    for phrase in ["Keep both", "existing report?"] {
        let point = find::text(&sent, phrase).unwrap().unwrap();
        let (x, y) = (
            (f64::from(point.x) + 0.5) * scale,
            (f64::from(point.y) + 0.5) * scale,
        );
        let words = find::words(&full).unwrap();
        let first = phrase.split(' ').next().unwrap();
        let last = phrase.split(' ').next_back().unwrap();
        let a = words.iter().find(|word| word.text == first).unwrap();
        let b = words
            .iter()
            .find(|word| word.text.starts_with(last.trim_end_matches('?')))
            .unwrap();
        let area = Rect::new(
            a.left as i32 - 1,
            a.top as i32 - 2,
            (b.left + b.width - a.left) as u32 + 3,
            a.height as u32 + 4,
        );
        let truth = ink_centre(&full, area);
        assert!(
            (x - truth.0).abs() <= 4.0 && (y - truth.1).abs() <= 4.0,
            "{phrase}: ({x}, {y}) is not near {truth:?}"
        );
    }
    assert_eq!(find::text(&sent, "Abracadabra").unwrap(), None);
    assert!(question.y > 0);
}

/// Text in an editor is found and read in the picture a model gets.
#[test]
fn text_of_an_editor_is_found_and_read() {
    let screen = TestScreen::start(Options::default()).unwrap();
    let file = screen.home().workspace().join("invoice.txt");
    std::fs::write(
        &file,
        "Invoice number 4711\nTotal amount due: 1,250.00 EUR\n",
    )
    .unwrap();
    let _editor = screen.run("mousepad", &[file.to_str().unwrap()]).unwrap();
    let (sent, _) = wait_for_text(&screen, "Total amount due:");
    let read = find::read_text(&sent).unwrap();
    assert!(read.contains("4711") && read.contains("1,250.00"), "{read}");
    for phrase in ["Invoice number", "Search", "Document"] {
        assert!(
            find::text(&sent, phrase).unwrap().is_some(),
            "{phrase} in {read}"
        );
    }
}

/// Every probe is found by its colour at the right place, at each of the awkward sizes.
#[test]
fn d01_probes_are_found_by_colour() {
    for ((width, height), (sent_width, sent_height)) in [
        ((2560, 1440), (1456, 819)),
        ((3440, 1440), (1568, 656)),
        ((1080, 1920), (819, 1456)),
    ] {
        let options = Options {
            window_manager: false,
            ..Options::sized(width, height)
        };
        let screen = TestScreen::start(options).unwrap();
        let window = Window::full(&screen).with_probes(12);
        let target = RawTarget::start(&screen, window.clone()).unwrap();
        let sent = as_sent(&screen.screenshot().unwrap(), sent_width, sent_height);
        for patch in &window.patches {
            let area = find::colour(&sent, patch.colour, 80)
                .unwrap_or_else(|| panic!("{} at {width}x{height}", patch.name));
            let scale = f64::from(width) / f64::from(sent_width);
            let (x, y) = (area.centre.0 * scale, area.centre.1 * scale);
            let centre = (f64::from(patch.area.x) + 6.0, f64::from(patch.area.y) + 6.0);
            assert!(
                (x - centre.0).abs() < 1.0 && (y - centre.1).abs() < 1.0,
                "{} at {width}x{height}: {x}, {y} is not {centre:?}",
                patch.name
            );
            click(&screen, x as i32, y as i32);
            assert!(
                target.wait_for_click(&patch.name, LIMIT).is_some(),
                "{}",
                patch.name
            );
        }
    }
}

/// Clicks change a live patch and leave a dead one as it is; both are logged.
#[test]
fn d04_a_dead_patch_swallows_clicks() {
    let screen = TestScreen::start(Options {
        window_manager: false,
        ..Options::sized(400, 300)
    })
    .unwrap();
    let window = Window::full(&screen)
        .with(Patch::new("live", Rect::new(50, 50, 40, 40), [200, 0, 0]))
        .with(Patch::dead("dead", Rect::new(200, 50, 40, 40), [0, 0, 200]));
    let target = RawTarget::start(&screen, window).unwrap();
    let before = screen.screenshot().unwrap();
    click(&screen, 220, 70);
    let event = target.wait_for_click("dead", LIMIT).unwrap();
    assert_eq!((event.x, event.y), (220, 70));
    assert_eq!(screen.screenshot().unwrap(), before);
    click(&screen, 70, 70);
    target.wait_for_click("live", LIMIT).unwrap();
    assert!(wait_until(LIMIT, || screen.screenshot().unwrap() != before));
    assert!(
        target
            .json_lines()
            .lines()
            .any(|line| line.contains(r#""event":"button_down""#))
    );
}

/// Keys are logged by name, watched on the whole display, and seen while they are held.
#[test]
fn keys_are_logged_watched_and_seen_when_held() {
    let screen = TestScreen::start(Options {
        window_manager: false,
        layouts: "us,ru".into(),
        ..Options::sized(400, 300)
    })
    .unwrap();
    let target = RawTarget::start(&screen, Window::full(&screen)).unwrap();
    let watch = InputWatch::start(&screen).unwrap();
    let started = Instant::now();
    press_key(&screen, 50, true);
    press_key(&screen, 38, true);
    let held = leak::pressed(&screen).unwrap();
    assert_eq!(held.keys, [38, 50]);
    press_key(&screen, 38, false);
    press_key(&screen, 50, false);
    assert!(leak::wait_released(&screen, LIMIT).unwrap().is_empty());
    screen.set_layouts("us,ru", 1).unwrap();
    press_key(&screen, 38, true);
    press_key(&screen, 38, false);
    assert!(watch.wait_for(6, LIMIT));
    assert!(watch.last().unwrap().at >= started);
    target
        .wait_for(LIMIT, |event| {
            matches!(&event.what, Happened::KeyUp { .. }) && event.state & 0x2000 != 0
        })
        .unwrap();
    assert_eq!(target.keys()[..2], ["Shift_L", "A"]);
}

/// A GTK form gets real clicks and says what it received.
#[test]
fn a_gtk_form_says_what_it_received() {
    let screen = TestScreen::start(Options::default()).unwrap();
    let form = GtkTarget::start(&screen).unwrap();
    let (x, y) = form.area("save").unwrap().centre();
    click(&screen, x, y);
    form.wait_for(LIMIT, |event| event.event == "saved")
        .unwrap();
    assert_eq!(form.clicks("save"), 1);
    let (x, y) = form.area("urgent").unwrap().centre();
    click(&screen, x, y);
    assert!(wait_until(LIMIT, || form.ticked("urgent")));
    let (x, y) = form.area("entry").unwrap().centre();
    click(&screen, x, y);
    // The window manager may give the focus a moment after the click: a key before that is nobody's.
    let typed = (0..5).find_map(|_| {
        press_key(&screen, 43, true);
        press_key(&screen, 43, false);
        let text = form.wait_for_text("entry", "h", Duration::from_secs(2));
        (!text.is_empty()).then_some(text)
    });
    assert_eq!(typed.as_deref(), Some("h"));
    for phrase in ["Save", "Submit order", "Full name", "Barcelona", "Clear"] {
        let (sent, point) = wait_for_text(&screen, phrase);
        assert!(point.x < sent.width() as i32);
    }
    let (_, point) = wait_for_text(&screen, "Submit order");
    let scale = 1920.0 / 1456.0;
    screen.move_pointer(5, 5).unwrap();
    assert!(wait_until(LIMIT, || settled(&screen)));
    let before = screen.screenshot().unwrap();
    click(
        &screen,
        (f64::from(point.x) * scale) as i32,
        (f64::from(point.y) * scale) as i32,
    );
    assert!(wait_until(LIMIT, || form.clicks("dead") == 1));
    screen.move_pointer(5, 5).unwrap();
    assert!(wait_until(LIMIT, || screen.screenshot().unwrap() == before));
}

/// Virtual monitors divide the screen exactly as asked, the first being the primary.
#[test]
fn d03_monitors_are_as_asked() {
    use x11rb::protocol::randr::ConnectionExt as _;
    let areas: Vec<Rect> = (0..3).map(|i| Rect::new(i * 1280, 0, 1280, 1024)).collect();
    let screen = TestScreen::start(Options {
        monitors: areas,
        window_manager: false,
        dpi: Some(144),
        ..Options::sized(3840, 1024)
    })
    .unwrap();
    let connection = screen.connect().unwrap();
    let root = connection.setup().roots[0].root;
    let mut monitors = connection
        .randr_get_monitors(root, true)
        .unwrap()
        .reply()
        .unwrap()
        .monitors;
    monitors.sort_by_key(|monitor| monitor.x);
    let seen: Vec<_> = monitors
        .iter()
        .map(|m| (m.x, m.y, m.width, m.height, m.primary))
        .collect();
    assert_eq!(
        seen,
        [
            (0, 0, 1280, 1024, true),
            (1280, 0, 1280, 1024, false),
            (2560, 0, 1280, 1024, false)
        ]
    );
}

/// A screen with a cookie lets only those in who present it; a bus is up, and all ends on drop.
#[test]
fn a_screen_with_cookie_and_bus_ends_without_a_trace() {
    let home = TestHome::new().unwrap();
    let check = LeakCheck::start(&home);
    let options = Options {
        cookie: true,
        session_bus: true,
        mark: Some(home.mark().clone()),
        ..Options::sized(800, 600)
    };
    let screen = TestScreen::start(options).unwrap();
    let environment = screen.environment_in(&home);
    let query = |environment| {
        Program::new("/usr/bin/setxkbmap")
            .arg("-query")
            .environment(environment)
            .run()
            .unwrap()
    };
    assert_eq!(query(environment.clone()).code, Some(0));
    let mut without = environment.clone();
    without.insert("XAUTHORITY".into(), "/dev/null".into());
    assert_ne!(query(without).code, Some(0));
    let names = Program::new("/usr/bin/dbus-send")
        .args([
            "--session",
            "--print-reply",
            "--dest=org.a11y.Bus",
            "/org/a11y/bus",
            "org.a11y.Bus.GetAddress",
        ])
        .environment(environment)
        .run()
        .unwrap();
    assert!(names.stdout.contains("unix:"), "{names:?}");
    assert!(check.processes().len() >= 4, "{:?}", check.processes());
    drop(screen);
    check.assert_no_leak();
}

/// A process that left its group, session and environment behind is still noticed.
#[test]
fn a_daemon_is_noticed() {
    let home = TestHome::new().unwrap();
    let check = LeakCheck::start(&home);
    let started = Program::new("/bin/sh")
        .args(["-c", "setsid env -i sleep 30 >/dev/null 2>&1 & echo $!"])
        .folder(home.workspace())
        .environment(home.environment())
        .run()
        .unwrap();
    let seen = wait_until(Duration::from_secs(10), || {
        let processes = check.processes();
        processes.iter().any(|it| it.command.contains("sleep 30"))
    });
    assert!(seen, "{started:?} {:?}", check.processes());
    let left = check.wait_gone(Duration::from_millis(200));
    assert_eq!(left.len(), 1, "{started:?} {left:?}");
    let id = rustix::process::Pid::from_raw(left[0].id as i32).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    check.assert_no_leak();
}

/// A program gets arguments, environment and input, and its output and exit code come back.
#[test]
fn a_program_is_run_to_its_end() {
    let output = Program::new("/bin/sh")
        .args(["-c", "cat; echo $WORD >&2; exit 7"])
        .env("WORD", "hint")
        .stdin("in")
        .run()
        .unwrap();
    assert_eq!(
        (output.code, output.stdout.as_str(), output.stderr.as_str()),
        (Some(7), "in", "hint\n")
    );
    let slow = Program::new("/bin/sleep")
        .arg("30")
        .limit(Duration::from_millis(100))
        .run();
    assert!(slow.unwrap_err().to_string().contains("still runs"));
}

/// With a terminal a program can open its controlling terminal and be answered there.
#[test]
fn a_terminal_is_the_controlling_one() {
    let mut running = Program::new("/bin/sh")
        .args(["-c", "printf 'Allow? ' >/dev/tty; read answer </dev/tty; echo \"got $answer\"; test -t 0 && exit 3"])
        .env("PATH", "/usr/bin:/bin")
        .terminal()
        .start()
        .unwrap();
    running.wait_for("Allow?", LIMIT).unwrap();
    running.send("yes\n").unwrap();
    let output = running.wait(LIMIT).unwrap();
    assert_eq!(output.code, Some(3));
    assert!(output.stdout.contains("got yes"), "{output:?}");
}
