//! What a platform lets us press.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use crate::InputPoint;

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Button {
    /// The main button.
    Left,
    /// The wheel pressed down.
    Middle,
    /// The menu button.
    Right,
}

/// A key, by what it produces, not by where it sits.
///
/// `Keysym` values are those of X11 (`X11/keysymdef.h`); Unicode characters outside Latin-1 are
/// `0x0100_0000 + code point`, as that document defines. Platforms other than X11 translate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Key(pub u32);

/// How text is typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeOptions {
    /// Pause after each character.
    pub delay: Duration,
}

/// All that is pressed or changed and has to be undone when a run ends, however it ends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Display it concerns, such as `:0`; empty where there is only one.
    pub display: String,
    /// Platform key codes that are down.
    pub keycodes: Vec<u32>,
    /// Buttons that are down.
    pub buttons: Vec<Button>,
    /// Key codes whose mapping was changed, with the keysyms they had before.
    pub remapped: Vec<(u32, Vec<u32>)>,
    /// Locked modifiers and the locked group as the person had them, while they are others.
    #[serde(default)]
    pub locks: Option<(u8, u8)>,
}

impl Held {
    /// Nothing has to be undone.
    pub fn is_empty(&self) -> bool {
        self.keycodes.is_empty()
            && self.buttons.is_empty()
            && self.remapped.is_empty()
            && self.locks.is_none()
    }
}

/// Told what has to be undone.
pub type TellHeld = Arc<dyn Fn(&Held) + Send + Sync>;

/// Says what will be pressed before it is: said afterwards, it comes too late when this process
/// dies in between.
#[derive(Default)]
pub(crate) struct Announcer {
    tell: Option<TellHeld>,
    told: Held,
}

impl std::fmt::Debug for Announcer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Announcer({:?})", self.told)
    }
}

impl Announcer {
    /// Whom to tell from now on.
    pub(crate) fn report_to(&mut self, tell: Option<TellHeld>) {
        *self = Self {
            tell,
            told: Held::default(),
        };
    }

    /// Before an event: what there is to undo after it. Told is only what is new, together with what
    /// was told before, so that a long text costs a line for each of its keys and not for each letter.
    pub(crate) fn announce(&mut self, held: Held) {
        let Some(tell) = &self.tell else { return };
        let told = &mut self.told;
        let before = told.clone();
        told.display = held.display;
        add(&mut told.keycodes, held.keycodes);
        add(&mut told.buttons, held.buttons);
        add(&mut told.remapped, held.remapped);
        told.locks = told.locks.or(held.locks);
        if *told != before {
            tell(told);
        }
    }
}

fn add<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// Why an input did not happen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// Whoever owns the run no longer allows input; whatever was pressed has been released.
    #[error("input was halted")]
    Halted,
    /// The character cannot be produced on this display.
    #[error("the character {0:?} cannot be typed here")]
    Untypable(char),
    /// The key is not on this keyboard and cannot be put there.
    #[error("the key {0:#x} cannot be pressed here")]
    NoSuchKey(u32),
    /// The connection to the display broke.
    #[error("the connection to the display was lost: {0}")]
    Lost(String),
    /// The operating system does not allow it yet; says where to allow it.
    #[error("controlling the screen is not allowed: {0}")]
    NotPermitted(String),
}

/// What can be pressed. Calls block for milliseconds. Every call asks `may_act` right before each
/// single event it injects and answers [`InputError::Halted`] as soon as it says no.
pub trait Input: Send {
    /// Puts the pointer on a point and confirms that it is there.
    fn move_to(&mut self, point: InputPoint, may_act: &dyn Fn() -> bool) -> Result<(), InputError>;

    /// Presses or releases a button where the pointer is.
    fn button(
        &mut self,
        button: Button,
        down: bool,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError>;

    /// Turns the wheel by notches: positive is right and down.
    fn scroll(
        &mut self,
        right: i32,
        down: i32,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError>;

    /// Presses or releases one key of a chord, whatever the layout.
    fn key(&mut self, key: Key, down: bool, may_act: &dyn Fn() -> bool) -> Result<(), InputError>;

    /// Types text exactly, whatever the layout. `\n` is Return, `\t` is Tab.
    fn type_text(
        &mut self,
        text: &str,
        options: TypeOptions,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError>;

    /// Text of the clipboard, if it holds text.
    fn clipboard(&mut self) -> Result<Option<String>, InputError>;

    /// Puts text on the clipboard; it stays there while this value lives.
    fn set_clipboard(&mut self, text: &str) -> Result<(), InputError>;

    /// As [`Input::set_clipboard`]; programs that keep a history of it are asked to leave this out,
    /// where there is a way to ask them.
    fn set_secret_clipboard(&mut self, text: &str) -> Result<(), InputError> {
        self.set_clipboard(text)
    }

    /// What has to be undone at the moment.
    fn held(&self) -> Held;

    /// Who is told what has to be undone, before each event that adds to it. What is told may name
    /// more than is down; [`Input::held`] is exact.
    fn report_to(&mut self, tell: Option<TellHeld>);

    /// Releases every key and button and restores every mapping, whatever state they are in.
    fn release_all(&mut self) -> Result<(), InputError>;
}
