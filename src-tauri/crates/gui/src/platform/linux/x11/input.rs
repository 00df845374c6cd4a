//! [`Input`] on X11: events through XTEST, each confirmed by the server before the next.

use std::path::Path;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{self, ConnectionExt as _};
use x11rb::protocol::{xkb, xtest};

use crate::{
    Announcer, Button, Held, Input, InputError, InputPoint, Key, ScreenError, TellHeld, TypeOptions,
};

use super::clipboard::Clipboard;
use super::connection::Display;
use super::keyboard::{self, Keyboard, State};
use super::layout::{Layout, Stroke};

mod chord;
mod typing;

use chord::Pressed;

/// What can be pressed on an X display.
pub(crate) struct X11Input {
    display: Display,
    keyboard: Keyboard,
    /// Key codes that are down because of us, in the order they were pressed.
    down: Vec<u8>,
    buttons: Vec<Button>,
    pressed: Vec<Pressed>,
    /// Locked modifiers and group to put back.
    locks: Option<(u8, u8)>,
    clipboard: Clipboard,
    announcer: Announcer,
}

impl X11Input {
    /// Connects to the display.
    pub(crate) fn open(name: &str, authority: Option<&Path>) -> Result<Self, ScreenError> {
        let display = Display::open(name, authority)?;
        display.require(xtest::X11_EXTENSION_NAME)?;
        display.require(xkb::X11_EXTENSION_NAME)?;
        xkb::use_extension(&display.conn, 1, 0)?.reply()?;
        // Our releases must get through even while some program has grabbed the server.
        xtest::grab_control(&display.conn, true)?;
        let clipboard = Clipboard::new(&display, authority);
        Ok(Self {
            display,
            keyboard: Keyboard::default(),
            down: Vec::new(),
            buttons: Vec::new(),
            pressed: Vec::new(),
            locks: None,
            clipboard,
            announcer: Announcer::default(),
        })
    }

    /// Asks, and lets go of everything when the answer is no.
    fn ask(&mut self, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        if may_act() {
            return Ok(());
        }
        self.let_go()?;
        Err(InputError::Halted)
    }

    fn announce(&mut self) {
        let held = self.held();
        self.announcer.announce(held);
    }

    /// Puts symbols on keys, see [`Keyboard::lend`].
    fn lend(&mut self, layout: &Layout, wanted: &[u32]) -> Result<(), InputError> {
        let held = self.held();
        let (announcer, keyboard) = (&mut self.announcer, &mut self.keyboard);
        keyboard.lend(&self.display, layout, wanted, |remapped| {
            announcer.announce(Held { remapped, ..held });
        })
    }

    fn send(&self, kind: u8, detail: u8) -> Result<(), InputError> {
        xtest::fake_input(&self.display.conn, kind, detail, 0, x11rb::NONE, 0, 0, 0)?;
        Ok(())
    }

    fn press_key(&mut self, keycode: u8, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        self.ask(may_act)?;
        if !self.down.contains(&keycode) {
            self.down.push(keycode);
        }
        self.keyboard.used(keycode);
        self.announce();
        self.send(xproto::KEY_PRESS_EVENT, keycode)
    }

    /// Asks as for every event; when the answer is no, the key is released all the same.
    fn release_key(&mut self, keycode: u8, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        self.ask(may_act)?;
        self.drop_key(keycode)
    }

    fn drop_key(&mut self, keycode: u8) -> Result<(), InputError> {
        self.down.retain(|held| *held != keycode);
        self.send(xproto::KEY_RELEASE_EVENT, keycode)
    }

    /// Releases every key and button that is down because of us, and puts the locks back.
    fn let_go(&mut self) -> Result<(), InputError> {
        while let Some(keycode) = self.down.last().copied() {
            self.drop_key(keycode)?;
        }
        self.pressed.clear();
        let mapping = self.button_mapping();
        while let Some(button) = self.buttons.pop() {
            self.send(xproto::BUTTON_RELEASE_EVENT, physical(button, &mapping))?;
        }
        self.unlock()?;
        self.display.sync()?;
        Ok(())
    }

    fn lock(&mut self, state: State, modifiers: u8, group: u8) -> Result<(), InputError> {
        let before = (state.locked, state.locked_group);
        if before == (modifiers, group) && state.latched == 0 {
            return Ok(());
        }
        // Only what the person had is worth putting back, not what we set in between.
        self.locks.get_or_insert(before);
        self.announce();
        keyboard::lock(&self.display, modifiers, group)?;
        Ok(())
    }

    fn unlock(&mut self) -> Result<(), InputError> {
        if let Some((modifiers, group)) = self.locks.take() {
            keyboard::lock(&self.display, modifiers, group)?;
        }
        Ok(())
    }

    /// Which physical button gives which logical one; a left-handed person swaps them.
    fn button_mapping(&self) -> Vec<u8> {
        let reply = self
            .display
            .conn
            .get_pointer_mapping()
            .map(x11rb::cookie::Cookie::reply);
        match reply {
            Ok(Ok(mapping)) => mapping.map,
            // A broken connection is reported by the event that follows.
            Ok(Err(_)) | Err(_) => Vec::new(),
        }
    }

    fn pointer(&self) -> Result<InputPoint, InputError> {
        let pointer = self
            .display
            .conn
            .query_pointer(self.display.root)?
            .reply()?;
        Ok(InputPoint {
            x: pointer.root_x.into(),
            y: pointer.root_y.into(),
        })
    }

    fn layout(&mut self) -> Result<Layout, InputError> {
        let layout = Layout::read(&self.display)?;
        self.keyboard.reconcile(&layout);
        Ok(layout)
    }
}

/// The number XTEST wants for a button.
fn physical(button: Button, mapping: &[u8]) -> u8 {
    let logical = match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    };
    mapping
        .iter()
        .position(|it| *it == logical)
        .map_or(logical, |index| index as u8 + 1)
}

impl Input for X11Input {
    fn move_to(&mut self, point: InputPoint, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        let outside =
            || InputError::NotPermitted(format!("{}, {} is off the screen", point.x, point.y));
        let x = i16::try_from(point.x).map_err(|_| outside())?;
        let y = i16::try_from(point.y).map_err(|_| outside())?;
        let mut reached = point;
        // A second try: a hand on the mouse may have moved it between the two requests.
        for _ in 0..2 {
            self.ask(may_act)?;
            let (conn, root) = (&self.display.conn, self.display.root);
            xtest::fake_input(conn, xproto::MOTION_NOTIFY_EVENT, 0, 0, root, x, y, 0)?;
            reached = self.pointer()?;
            if reached == point {
                return Ok(());
            }
        }
        Err(InputError::NotPermitted(format!(
            "the pointer stays at {}, {} instead of {}, {}; something holds it there, or that point \
             is off the screen",
            reached.x, reached.y, point.x, point.y
        )))
    }

    fn button(
        &mut self,
        button: Button,
        down: bool,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        let number = physical(button, &self.button_mapping());
        self.ask(may_act)?;
        self.buttons.retain(|held| *held != button);
        let kind = if down {
            self.buttons.push(button);
            self.announce();
            xproto::BUTTON_PRESS_EVENT
        } else {
            xproto::BUTTON_RELEASE_EVENT
        };
        self.send(kind, number)?;
        self.display.sync()?;
        Ok(())
    }

    fn scroll(
        &mut self,
        right: i32,
        down: i32,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        // X has no wheel: buttons 4 to 7 are one notch up, down, left and right.
        for (amount, back, forth) in [(down, 4, 5), (right, 6, 7)] {
            let number = if amount < 0 { back } else { forth };
            for _ in 0..amount.unsigned_abs() {
                self.ask(may_act)?;
                self.send(xproto::BUTTON_PRESS_EVENT, number)?;
                // Both halves belong to one notch: a wheel cannot be left pressed.
                let halted = !may_act();
                self.send(xproto::BUTTON_RELEASE_EVENT, number)?;
                self.display.sync()?;
                if halted {
                    self.let_go()?;
                    return Err(InputError::Halted);
                }
            }
        }
        Ok(())
    }

    fn key(&mut self, key: Key, down: bool, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        if down {
            self.chord_press(key, may_act)
        } else {
            self.chord_release(key, may_act)
        }
    }

    fn type_text(
        &mut self,
        text: &str,
        options: TypeOptions,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        self.write(text, options, may_act)
    }

    fn clipboard(&mut self) -> Result<Option<String>, InputError> {
        Clipboard::read(&self.display)
    }

    fn set_clipboard(&mut self, text: &str) -> Result<(), InputError> {
        self.clipboard.set(text)
    }

    fn set_secret_clipboard(&mut self, text: &str) -> Result<(), InputError> {
        self.clipboard.set_secret(text)
    }

    fn held(&self) -> Held {
        Held {
            display: self.display.name.clone(),
            keycodes: self
                .down
                .iter()
                .map(|keycode| u32::from(*keycode))
                .collect(),
            buttons: self.buttons.clone(),
            remapped: self.keyboard.remapped(),
            locks: self.locks,
        }
    }

    fn report_to(&mut self, tell: Option<TellHeld>) {
        self.announcer.report_to(tell);
    }

    fn release_all(&mut self) -> Result<(), InputError> {
        self.let_go()?;
        self.keyboard.give_back(&self.display)
    }
}

impl Drop for X11Input {
    fn drop(&mut self) {
        if let Err(error) = self.release_all() {
            // The guard process releases what is left; there is nobody here to tell.
            tracing::warn!(%error, "releasing keys and buttons");
        }
        let _ = self.display.conn.flush();
    }
}

/// A stroke and the group it is meant in.
#[derive(Debug, Clone, Copy)]
struct Placed {
    stroke: Stroke,
    group: u8,
}
