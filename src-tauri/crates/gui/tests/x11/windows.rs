//! Which window is where, whose it is, and whether a person is at work.

use std::sync::mpsc::channel;
use std::time::Duration;

use openspace_gui::platform::{self, HumanInput, HumanWatch};
use openspace_gui::{Button, InputPoint, ScreenError, ScreenState};
use openspace_testkit::screen::Rect;
use openspace_testkit::target::Window;
use openspace_testkit::{GtkTarget, Options, RawTarget, TestScreen, wait_until};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConnectionExt as _, GrabMode, GrabStatus};
use x11rb::protocol::{dpms, xinput, xtest};

use super::{open, yes};

/// The window under a point and the focused one are told with class, title and the process that
/// the server knows; an unmanaged window above it comes first; beside it there is none.
#[test]
fn windows_are_told_apart() {
    let screen = TestScreen::start(Options::sized(1280, 800)).unwrap();
    let gtk = GtkTarget::titled(&screen, "Zürich – Übersicht").unwrap();
    let platform = open(&screen);
    let area = gtk.area("save").unwrap();
    let (x, y) = area.centre();
    let window = platform
        .screen
        .window_at(InputPoint { x, y })
        .unwrap()
        .unwrap();
    assert_eq!(window.id, u64::from(gtk.window()));
    assert_eq!(window.pid, Some(gtk.id()));
    assert_eq!(window.title, "Zürich – Übersicht");
    assert_eq!(window.class, "gtk_target.py");
    assert!(window.area.contains(InputPoint { x, y }));
    assert_eq!(platform.screen.focused().unwrap(), Some(window));

    let menu = RawTarget::start(&screen, Window::new(Rect::new(x - 5, y - 5, 20, 20))).unwrap();
    let above = platform
        .screen
        .window_at(InputPoint { x, y })
        .unwrap()
        .unwrap();
    assert_eq!(above.id, u64::from(menu.window()));
    assert_eq!(above.pid, Some(std::process::id()));
    let shown = platform.screen.windows().unwrap();
    let mut owners: Vec<_> = shown.iter().filter_map(|window| window.pid).collect();
    owners.sort_unstable();
    let mut right = [gtk.id(), std::process::id()];
    right.sort_unstable();
    assert_eq!(owners, right, "both windows, and nothing else: {shown:?}");
    assert_eq!(
        platform
            .screen
            .window_at(InputPoint { x: 1279, y: 799 })
            .unwrap(),
        None
    );
    assert_eq!(
        platform
            .screen
            .window_at(InputPoint { x: -40_000, y: 0 })
            .unwrap(),
        None
    );
}

/// A display that is switched off is not usable.
#[test]
fn a_display_that_is_off_is_noticed() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let platform = open(&screen);
    assert_eq!(platform.screen.state().unwrap(), ScreenState::Usable);
    let connection = screen.connect().unwrap();
    let can = dpms::capable(&connection).is_ok_and(|it| it.reply().is_ok_and(|it| it.capable));
    if can {
        dpms::enable(&connection).unwrap().check().unwrap();
        dpms::force_level(&connection, dpms::DPMSMode::OFF)
            .unwrap()
            .check()
            .unwrap();
        assert_eq!(platform.screen.state().unwrap(), ScreenState::Off);
    }
}

/// Ends it with the test, whatever becomes of that.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A locker that tells nobody is known by what it does: it covers the screen and takes the keyboard and
/// the pointer. Either alone is no lock.
#[test]
fn a_locker_that_tells_nobody_is_noticed() {
    let screen = TestScreen::start(Options {
        window_manager: false,
        ..Options::sized(640, 480)
    })
    .unwrap();
    let platform = open(&screen);
    let is = |state| {
        wait_until(Duration::from_secs(20), || {
            platform.screen.state().unwrap() == state
        })
    };
    let cover = RawTarget::start(&screen, Window::full(&screen)).unwrap();
    assert_eq!(platform.screen.state().unwrap(), ScreenState::Usable);
    drop(cover);

    let connection = screen.connect().unwrap();
    let root = connection.setup().roots[0].root;
    let (mode, now) = (GrabMode::ASYNC, x11rb::CURRENT_TIME);
    let grabbed = connection.grab_keyboard(false, root, now, mode, mode);
    assert_eq!(
        grabbed.unwrap().reply().unwrap().status,
        GrabStatus::SUCCESS
    );
    assert_eq!(platform.screen.state().unwrap(), ScreenState::Usable);
    connection.ungrab_keyboard(now).unwrap().check().unwrap();

    let mut locker = std::process::Command::new("i3lock");
    locker.arg("--nofork").envs(screen.environment());
    let locker = Ended(locker.spawn().unwrap());
    assert!(is(ScreenState::Locked), "locked");
    drop(locker);
    assert!(is(ScreenState::Usable), "unlocked");
}

/// Wayland, no display, a display that is not there and one that refuses us are told apart.
#[test]
fn what_cannot_be_opened_says_why() {
    let reason = |options: platform::Options| match platform::open(&options) {
        Err(ScreenError::NoDisplay(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let display = Some(":0".to_owned());
    let wayland = platform::Options {
        display,
        wayland: true,
        ..Default::default()
    };
    assert!(reason(wayland).contains("Wayland"));
    assert!(reason(platform::Options::default()).contains("DISPLAY"));
    let nobody = platform::Options {
        display: Some(":54321".into()),
        ..Default::default()
    };
    assert!(reason(nobody).contains("no X server answers at `:54321`"));
    for name in ["nonsense", ":", ":65000", ":-1"] {
        let nonsense = platform::Options {
            display: Some(name.into()),
            ..Default::default()
        };
        assert!(reason(nonsense).contains("not the name"), "{name}");
    }
    let screen = TestScreen::start(Options {
        cookie: true,
        ..Options::sized(640, 480)
    })
    .unwrap();
    let empty = screen.home().root().join("empty");
    std::fs::write(&empty, "").unwrap();
    let refused = platform::Options {
        display: Some(screen.display()),
        authority: Some(empty),
        ..Default::default()
    };
    assert!(reason(refused).contains("does not let us in"));
    assert_eq!(open(&screen).display_name, screen.display());
}

/// A server that accepts and never answers is told as such, and not waited for without end.
#[test]
fn a_frozen_server_is_an_error() {
    // Display `n` of a machine is its port 6000 + n.
    let frozen = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let display = format!("127.0.0.1:{}", frozen.local_addr().unwrap().port() - 6_000);
    let begun = std::time::Instant::now();
    let opened = platform::open(&platform::Options {
        display: Some(display.clone()),
        ..Default::default()
    });
    let Err(ScreenError::NoDisplay(reason)) = opened else {
        panic!("{opened:?}");
    };
    let told = format!("the display `{display}` does not answer");
    assert!(reason.contains(&told), "{reason}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{begun:?}");
}

/// A server that dies is an error, not a hang.
#[test]
fn a_dying_server_is_an_error() {
    let mut screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let mut platform = open(&screen);
    screen.crash();
    assert!(matches!(
        platform.screen.monitors(),
        Err(ScreenError::Lost(_))
    ));
    assert!(
        platform
            .input
            .move_to(InputPoint { x: 1, y: 1 }, &yes)
            .is_err()
    );
}

/// Our own input is not taken for a person's; that of every other device is.
#[test]
fn a_person_is_told_from_us() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let (seen, events) = channel();
    let watch = HumanWatch::start(&screen.display(), None, move |input| {
        seen.send(input).ok();
    })
    .unwrap();
    let mut input = open(&screen).input;
    input.move_to(InputPoint { x: 100, y: 100 }, &yes).unwrap();
    input.button(Button::Left, true, &yes).unwrap();
    input.button(Button::Left, false, &yes).unwrap();
    input.key(super::SHIFT, true, &yes).unwrap();
    input.key(super::SHIFT, false, &yes).unwrap();

    // XTEST can also speak for any other device, as a driver would.
    let connection = screen.connect().unwrap();
    let device = |name: &str| -> u8 {
        let all = xinput::xi_query_device(&connection, xinput::Device::ALL).unwrap();
        let infos = all.reply().unwrap().infos;
        let named = |it: &&xinput::XIDeviceInfo| it.name.as_slice() == name.as_bytes();
        infos.iter().find(named).unwrap().deviceid as u8
    };
    let first = x11rb::connection::RequestConnection::extension_information(
        &connection,
        xinput::X11_EXTENSION_NAME,
    )
    .unwrap()
    .unwrap()
    .first_event;
    let fake = |kind: u8, detail: u8, device: u8| {
        xtest::fake_input(&connection, kind, detail, 0, x11rb::NONE, 0, 0, device)
            .unwrap()
            .check()
            .unwrap();
    };
    let (keyboard, mouse) = (device("Xvfb keyboard"), device("Xvfb mouse"));
    fake(first + xinput::DEVICE_BUTTON_PRESS_EVENT, 1, mouse);
    fake(first + xinput::DEVICE_BUTTON_RELEASE_EVENT, 1, mouse);
    fake(first + xinput::DEVICE_KEY_PRESS_EVENT, 38, keyboard);
    fake(first + xinput::DEVICE_KEY_RELEASE_EVENT, 38, keyboard);
    let wanted = [HumanInput::Button, HumanInput::Key];
    let mut got = Vec::new();
    wait_until(Duration::from_secs(5), || {
        got.extend(events.try_iter());
        got.len() >= wanted.len()
    });
    drop(watch);
    got.extend(events.try_iter());
    assert_eq!(got, wanted);
}
