//! The platform on a real X server, against real programs.
#![cfg(target_os = "linux")]
// The functions that tests share are tests too.
#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "x11/accessibility.rs"]
mod accessibility;
#[path = "x11/capture.rs"]
mod capture;
#[path = "x11/clipboard.rs"]
mod clipboard;
#[path = "x11/covers.rs"]
mod covers;
#[path = "x11/guard.rs"]
mod guard;
#[path = "x11/pointer.rs"]
mod pointer;
#[path = "x11/private.rs"]
mod private;
#[path = "x11/ring.rs"]
mod ring;
#[path = "x11/tools.rs"]
mod tools;
#[path = "x11/typing.rs"]
mod typing;
#[path = "x11/windows.rs"]
mod windows;

use openspace_gui::Key;
use openspace_gui::platform::{self, Platform};
use openspace_testkit::TestScreen;
use x11rb::protocol::xproto::ConnectionExt as _;

/// The return key, the shift key.
const RETURN: Key = Key(0xff0d);
const SHIFT: Key = Key(0xffe1);
const CONTROL: Key = Key(0xffe3);

/// Allows everything.
fn yes() -> bool {
    true
}

/// Opens the platform on a test's screen.
fn open(screen: &TestScreen) -> Platform {
    platform::open(&platform::Options {
        display: Some(screen.display()),
        authority: screen.environment().get("XAUTHORITY").map(Into::into),
        session_bus: Some(screen.bus_address().unwrap_or("disabled:").to_owned()),
        ..platform::Options::default()
    })
    .unwrap()
}

/// Key codes that are down, whoever pressed them.
fn keys_down(screen: &TestScreen) -> Vec<u8> {
    let connection = screen.connect().unwrap();
    let keys = connection.query_keymap().unwrap().reply().unwrap().keys;
    (0..=u8::MAX)
        .filter(|key| keys[usize::from(key / 8)] & (1 << (key % 8)) != 0)
        .collect()
}

/// The core mapping of every key.
fn mapping(screen: &TestScreen) -> Vec<u32> {
    let connection = screen.connect().unwrap();
    let reply = connection
        .get_keyboard_mapping(8, 248)
        .unwrap()
        .reply()
        .unwrap();
    let per_key = usize::from(reply.keysyms_per_keycode);
    // Servers never narrow the table again, so only what is in the columns counts.
    reply
        .keysyms
        .chunks(per_key)
        .flat_map(|key| [key[0], key.get(1).copied().unwrap_or(0)])
        .collect()
}
