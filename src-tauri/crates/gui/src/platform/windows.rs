//! [`Input`] on Windows by our own SendInput: enigo 0.6.1 scales absolute positions by the primary
//! screen only, so clicks on other screens would miss.
//!
//! It was type-checked for Windows but never run: no Windows machine was at hand. The binaries
//! must be per-monitor aware, or Windows scales every coordinate behind our back.

use crate::{
    Announcer, Button, Held, Input, InputError, InputPoint, Key, ScreenError, TellHeld, TypeOptions,
};

use super::Options;

mod user32;

use user32::{
    Event, KEY_EXTENDED, KEY_UNICODE, KEY_UP, MOUSE_ABSOLUTE, MOUSE_MOVE, MOUSE_VIRTUAL_DESK,
};

/// One notch of a wheel.
const NOTCH: i32 = 120;

/// What can be pressed on Windows.
#[derive(Debug, Default)]
pub(crate) struct WindowsInput {
    keys: Vec<Key>,
    buttons: Vec<Button>,
    announcer: Announcer,
}

impl WindowsInput {
    /// Needs no connection; a locked desktop refuses the first event.
    ///
    /// # Errors
    /// None yet.
    pub(crate) fn open(_options: &Options) -> Result<Self, ScreenError> {
        Ok(Self::default())
    }

    fn ask(&mut self, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        if may_act() {
            return Ok(());
        }
        self.release_all()?;
        Err(InputError::Halted)
    }
}

fn send(event: Event) -> Result<(), InputError> {
    if user32::send(event) {
        return Ok(());
    }
    Err(InputError::NotPermitted(
        "Windows refused the input; the screen is locked, or the window in front runs as \
         administrator"
            .into(),
    ))
}

fn button_flags(button: Button, down: bool) -> u32 {
    let button = match button {
        Button::Left if user32::buttons_are_swapped() => Button::Right,
        Button::Right if user32::buttons_are_swapped() => Button::Left,
        button => button,
    };
    let pressed = match button {
        Button::Left => 0x02,
        Button::Right => 0x08,
        Button::Middle => 0x20,
    };
    if down { pressed } else { pressed << 1 }
}

/// The virtual key of a symbol, and whether it is one of the "extended" keys.
fn virtual_key(key: Key) -> Option<(u16, bool)> {
    Some(match key.0 {
        0xff08 => (0x08, false),
        0xff09 => (0x09, false),
        0xff0d => (0x0d, false),
        0xff8d => (0x0d, true),
        0xff13 => (0x13, false),
        0xff14 => (0x91, false),
        0xff1b => (0x1b, false),
        0xff50 => (0x24, true),
        0xff51 => (0x25, true),
        0xff52 => (0x26, true),
        0xff53 => (0x27, true),
        0xff54 => (0x28, true),
        0xff55 => (0x21, true),
        0xff56 => (0x22, true),
        0xff57 => (0x23, true),
        0xff61 => (0x2c, true),
        0xff63 => (0x2d, true),
        0xff67 => (0x5d, true),
        0xff7f => (0x90, true),
        0xffaa => (0x6a, false),
        0xffab => (0x6b, false),
        0xffad => (0x6d, false),
        0xffae => (0x6e, false),
        0xffaf => (0x6f, true),
        digit @ 0xffb0..=0xffb9 => ((digit - 0xffb0) as u16 + 0x60, false),
        function @ 0xffbe..=0xffd5 => ((function - 0xffbe) as u16 + 0x70, false),
        0xffe1 => (0xa0, false),
        0xffe2 => (0xa1, false),
        0xffe3 => (0xa2, false),
        0xffe4 => (0xa3, true),
        0xffe5 => (0x14, false),
        0xffe9 => (0xa4, false),
        0xfe03 | 0xffea => (0xa5, true),
        0xffe7 | 0xffeb => (0x5b, true),
        0xffe8 | 0xffec => (0x5c, true),
        0xffff => (0x2e, true),
        _ => {
            let point = if key.0 > 0x0100_0000 {
                key.0 - 0x0100_0000
            } else {
                key.0
            };
            (user32::key_of(char::from_u32(point)?)?, false)
        }
    })
}

fn key_event(key: Key, down: bool) -> Result<Event, InputError> {
    let (code, extended) = virtual_key(key).ok_or(InputError::NoSuchKey(key.0))?;
    let flags = if extended { KEY_EXTENDED } else { 0 } | if down { 0 } else { KEY_UP };
    Ok(Event::Key {
        code,
        unit: 0,
        flags,
    })
}

impl Input for WindowsInput {
    fn move_to(&mut self, point: InputPoint, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        self.ask(may_act)?;
        let desk = user32::virtual_desk();
        if !desk.contains(point) {
            return Err(InputError::NotPermitted(format!(
                "{}, {} is off the screen",
                point.x, point.y
            )));
        }
        // Windows takes 65,536ths of the whole desk and rounds down, so we round up.
        let part = |offset: i32, length: u32| {
            let length = i64::from(length);
            ((i64::from(offset) * 65_536 + length - 1) / length) as i32
        };
        send(Event::Mouse {
            x: part(point.x - desk.x, desk.width),
            y: part(point.y - desk.y, desk.height),
            data: 0,
            flags: MOUSE_MOVE | MOUSE_ABSOLUTE | MOUSE_VIRTUAL_DESK,
        })?;
        match user32::pointer() {
            Some(reached) if reached == point => Ok(()),
            reached => Err(InputError::NotPermitted(format!(
                "the pointer stays at {reached:?} instead of {}, {}",
                point.x, point.y
            ))),
        }
    }

    fn button(
        &mut self,
        button: Button,
        down: bool,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        self.ask(may_act)?;
        self.buttons.retain(|held| *held != button);
        if down {
            self.buttons.push(button);
            let held = self.held();
            self.announcer.announce(held);
        }
        send(Event::Mouse {
            x: 0,
            y: 0,
            data: 0,
            flags: button_flags(button, down),
        })
    }

    fn scroll(
        &mut self,
        right: i32,
        down: i32,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        // Up is positive on the upright wheel, right on the other.
        for (amount, notch, flags) in [(down, -NOTCH, 0x0800), (right, NOTCH, 0x1000)] {
            for _ in 0..amount.unsigned_abs() {
                self.ask(may_act)?;
                send(Event::Mouse {
                    x: 0,
                    y: 0,
                    data: notch * amount.signum(),
                    flags,
                })?;
            }
        }
        Ok(())
    }

    fn key(&mut self, key: Key, down: bool, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        let event = key_event(key, down)?;
        self.ask(may_act)?;
        self.keys.retain(|held| *held != key);
        if down {
            self.keys.push(key);
            let held = self.held();
            self.announcer.announce(held);
        }
        send(event)
    }

    fn type_text(
        &mut self,
        text: &str,
        options: TypeOptions,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        let text = text.replace("\r\n", "\n");
        let refused = |it: &char| it.is_control() && !matches!(it, '\n' | '\r' | '\t');
        if let Some(untypable) = text.chars().find(refused) {
            return Err(InputError::Untypable(untypable));
        }
        for character in text.chars() {
            let pressed = match character {
                '\n' | '\r' => vec![Event::Key {
                    code: 0x0d,
                    unit: 0,
                    flags: 0,
                }],
                '\t' => vec![Event::Key {
                    code: 0x09,
                    unit: 0,
                    flags: 0,
                }],
                // A character of any layout; those beyond 16 bits are two units.
                character => character
                    .encode_utf16(&mut [0; 2])
                    .iter()
                    .map(|unit| Event::Key {
                        code: 0,
                        unit: *unit,
                        flags: KEY_UNICODE,
                    })
                    .collect(),
            };
            for event in pressed {
                self.ask(may_act)?;
                send(event)?;
                // Both halves of a key belong together; nothing may stay pressed.
                send(event.released())?;
            }
            if !options.delay.is_zero() {
                std::thread::sleep(options.delay);
            }
        }
        Ok(())
    }

    fn clipboard(&mut self) -> Result<Option<String>, InputError> {
        Ok(None)
    }

    fn set_clipboard(&mut self, _text: &str) -> Result<(), InputError> {
        Err(InputError::NotPermitted(
            "there is no clipboard here yet".into(),
        ))
    }

    fn held(&self) -> Held {
        Held {
            display: String::new(),
            keycodes: self.keys.iter().map(|key| key.0).collect(),
            buttons: self.buttons.clone(),
            remapped: Vec::new(),
            locks: None,
        }
    }

    fn report_to(&mut self, tell: Option<TellHeld>) {
        self.announcer.report_to(tell);
    }

    fn release_all(&mut self) -> Result<(), InputError> {
        while let Some(key) = self.keys.pop() {
            send(key_event(key, false)?)?;
        }
        while let Some(button) = self.buttons.pop() {
            send(Event::Mouse {
                x: 0,
                y: 0,
                data: 0,
                flags: button_flags(button, false),
            })?;
        }
        Ok(())
    }
}

impl Drop for WindowsInput {
    fn drop(&mut self) {
        if let Err(error) = self.release_all() {
            tracing::warn!(%error, "releasing keys and buttons");
        }
    }
}
