//! Releasing what a run held, from another process, after it was killed.

use std::path::Path;

use x11rb::protocol::xkb;
use x11rb::protocol::xproto::{self, ConnectionExt as _, KeyButMask};
use x11rb::protocol::xtest;

use crate::{Button, Held, ScreenError};

use super::connection::Display;
use super::keyboard::{self, set_symbols};
use super::layout::Layout;

/// Releases the keys and buttons of `held` that are still down and restores its key codes and locks.
///
/// # Errors
/// [`ScreenError`] when the display cannot be reached any more; then nothing is held either.
pub fn release_held(held: &Held) -> Result<(), ScreenError> {
    release_held_with(held, None)
}

/// As [`release_held`], with the authority file that lets into the display.
///
/// # Errors
/// As [`release_held`].
pub fn release_held_with(held: &Held, authority: Option<&Path>) -> Result<(), ScreenError> {
    if held.is_empty() {
        return Ok(());
    }
    let display = Display::open(&held.display, authority)?;
    display.require(xtest::X11_EXTENSION_NAME)?;
    let conn = &display.conn;
    xtest::grab_control(conn, true)?;
    let send = |kind, detail| xtest::fake_input(conn, kind, detail, 0, x11rb::NONE, 0, 0, 0);

    let down = conn.query_keymap()?.reply()?.keys;
    for keycode in held
        .keycodes
        .iter()
        .filter_map(|keycode| u8::try_from(*keycode).ok())
    {
        if down[usize::from(keycode / 8)] & (1 << (keycode % 8)) != 0 {
            send(xproto::KEY_RELEASE_EVENT, keycode)?;
        }
    }
    let mask = u16::from(conn.query_pointer(display.root)?.reply()?.mask);
    let mapping = conn.get_pointer_mapping()?.reply()?.map;
    for button in &held.buttons {
        let (logical, bit) = match button {
            Button::Left => (1, KeyButMask::BUTTON1),
            Button::Middle => (2, KeyButMask::BUTTON2),
            Button::Right => (3, KeyButMask::BUTTON3),
        };
        if mask & u16::from(bit) != 0 {
            let index = mapping.iter().position(|it| *it == logical);
            send(
                xproto::BUTTON_RELEASE_EVENT,
                index.map_or(logical, |index| index as u8 + 1),
            )?;
        }
    }
    display.sync()?;
    if let Some((modifiers, group)) = held.locks {
        xkb::use_extension(conn, 1, 0)?.reply()?;
        keyboard::lock(&display, modifiers, group)?;
    }
    restore(&display, held)?;
    display.sync()?;
    Ok(())
}

/// Gives key codes their symbols back.
fn restore(display: &Display, held: &Held) -> Result<(), ScreenError> {
    if held.remapped.is_empty() {
        return Ok(());
    }
    xkb::use_extension(&display.conn, 1, 0)?.reply()?;
    let layout = Layout::read(display)?;
    for (keycode, symbols) in &held.remapped {
        let Ok(keycode) = u8::try_from(*keycode) else {
            continue;
        };
        let before = symbols.first().copied().unwrap_or(0);
        // Whoever changed the layout since has restored it already.
        if layout.first_symbol(keycode) != before {
            set_symbols(display, &[(keycode, before)])?;
        }
    }
    display.sync()?;
    Ok(())
}
