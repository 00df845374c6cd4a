//! [`Input`] by enigo.

use enigo::{Axis, Coordinate, Direction, Enigo, Keyboard as _, Mouse as _, NewConError, Settings};

use crate::platform::Options;
use crate::{
    Announcer, Button, Held, Input, InputError, InputPoint, Key, ScreenError, TellHeld, TypeOptions,
};

use super::keys::translated;

/// What can be pressed through enigo.
pub struct PortableInput {
    enigo: Enigo,
    display: String,
    keys: Vec<Key>,
    buttons: Vec<Button>,
    announcer: Announcer,
}

impl std::fmt::Debug for PortableInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PortableInput({})", self.display)
    }
}

impl PortableInput {
    /// Connects to the system's input.
    ///
    /// # Errors
    /// [`ScreenError::NotPermitted`] where the system has to allow it first, and
    /// [`ScreenError::NoDisplay`] where there is nothing to control.
    pub fn open(options: &Options) -> Result<Self, ScreenError> {
        let settings = Settings {
            release_keys_when_dropped: true,
            x11_display: options.display.clone(),
            ..Settings::default()
        };
        let enigo = Enigo::new(&settings).map_err(|error| match error {
            NewConError::NoPermission => ScreenError::NotPermitted(
                "allow it under System Settings, Privacy & Security, Accessibility".into(),
            ),
            error => ScreenError::NoDisplay(error.to_string()),
        })?;
        Ok(Self {
            enigo,
            display: options.display.clone().unwrap_or_default(),
            keys: Vec::new(),
            buttons: Vec::new(),
            announcer: Announcer::default(),
        })
    }

    fn ask(&mut self, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        if may_act() {
            return Ok(());
        }
        self.release_all()?;
        Err(InputError::Halted)
    }
}

fn lost(error: &enigo::InputError) -> InputError {
    InputError::Lost(error.to_string())
}

fn translated_button(button: Button) -> enigo::Button {
    match button {
        Button::Left => enigo::Button::Left,
        Button::Middle => enigo::Button::Middle,
        Button::Right => enigo::Button::Right,
    }
}

fn direction(down: bool) -> Direction {
    if down {
        Direction::Press
    } else {
        Direction::Release
    }
}

impl Input for PortableInput {
    fn move_to(&mut self, point: InputPoint, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        self.ask(may_act)?;
        self.enigo
            .move_mouse(point.x, point.y, Coordinate::Abs)
            .map_err(|error| lost(&error))?;
        let (x, y) = self.enigo.location().map_err(|error| lost(&error))?;
        // macOS and scaled screens round to half points.
        if x.abs_diff(point.x) > 1 || y.abs_diff(point.y) > 1 {
            return Err(InputError::NotPermitted(format!(
                "the pointer stays at {x}, {y} instead of {}, {}",
                point.x, point.y
            )));
        }
        Ok(())
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
        self.enigo
            .button(translated_button(button), direction(down))
            .map_err(|error| lost(&error))
    }

    fn scroll(
        &mut self,
        right: i32,
        down: i32,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        for (amount, axis) in [(down, Axis::Vertical), (right, Axis::Horizontal)] {
            for _ in 0..amount.unsigned_abs() {
                self.ask(may_act)?;
                self.enigo
                    .scroll(amount.signum(), axis)
                    .map_err(|error| lost(&error))?;
            }
        }
        Ok(())
    }

    fn key(&mut self, key: Key, down: bool, may_act: &dyn Fn() -> bool) -> Result<(), InputError> {
        let known = translated(key).ok_or(InputError::NoSuchKey(key.0))?;
        self.ask(may_act)?;
        self.keys.retain(|held| *held != key);
        if down {
            self.keys.push(key);
            let held = self.held();
            self.announcer.announce(held);
        }
        self.enigo
            .key(known, direction(down))
            .map_err(|error| lost(&error))
    }

    fn type_text(
        &mut self,
        text: &str,
        options: TypeOptions,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        for character in text.replace("\r\n", "\n").chars() {
            self.ask(may_act)?;
            let typed = match character {
                '\n' | '\r' => self.enigo.key(enigo::Key::Return, Direction::Click),
                '\t' => self.enigo.key(enigo::Key::Tab, Direction::Click),
                _ if character.is_control() => return Err(InputError::Untypable(character)),
                _ => self.enigo.text(character.encode_utf8(&mut [0; 4])),
            };
            typed.map_err(|_| InputError::Untypable(character))?;
            if !options.delay.is_zero() {
                std::thread::sleep(options.delay);
            }
        }
        Ok(())
    }

    fn clipboard(&mut self) -> Result<Option<String>, InputError> {
        // Neither crate has one.
        Ok(None)
    }

    fn set_clipboard(&mut self, _text: &str) -> Result<(), InputError> {
        Err(InputError::NotPermitted(
            "there is no clipboard here yet".into(),
        ))
    }

    fn held(&self) -> Held {
        Held {
            display: self.display.clone(),
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
            if let Some(known) = translated(key) {
                self.enigo
                    .key(known, Direction::Release)
                    .map_err(|error| lost(&error))?;
            }
        }
        while let Some(button) = self.buttons.pop() {
            let button = translated_button(button);
            self.enigo
                .button(button, Direction::Release)
                .map_err(|error| lost(&error))?;
        }
        Ok(())
    }
}
