//! Single keys, as parts of chords.

use crate::{InputError, Key};

use super::super::keyboard::State;
use super::super::layout::{LOCK, Layout, Stroke};
use super::{Placed, X11Input};

/// A key of a chord that is down.
pub(super) struct Pressed {
    key: Key,
    keycode: u8,
    /// Modifier keys that were pressed for it alone.
    with: Vec<u8>,
    /// The group was changed for it.
    regrouped: bool,
}

/// Symbols of modifiers: Shift_L to Hyper_R, Num_Lock, and the ISO shifts.
fn is_modifier(symbol: u32) -> bool {
    matches!(symbol, 0xffe1..=0xffee | 0xff7f | 0xfe01..=0xfe13 | 0xff7e)
}

impl X11Input {
    pub(super) fn chord_press(
        &mut self,
        key: Key,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        let layout = self.layout()?;
        let state = State::read(&self.display)?;
        let symbol = plain(key.0);
        let placed = self.place(symbol, &layout, state)?;
        let regrouped = placed.group != state.group;
        if regrouped {
            let locked = regroup(state, placed.group);
            self.ask(may_act)?;
            self.lock(state, state.locked, locked)?;
        }
        let mut with = Vec::new();
        let missing = placed.stroke.modifiers & !(state.down | state.locked & !LOCK);
        for bit in (0..8).map(|bit| 1 << bit).filter(|bit| missing & bit != 0) {
            if let Some(keycode) = layout.key_of_modifier(bit) {
                self.press_key(keycode, may_act)?;
                with.push(keycode);
            }
        }
        let keycode = placed.stroke.keycode;
        self.press_key(keycode, may_act)?;
        self.display.sync()?;
        self.pressed.retain(|pressed| pressed.key != key);
        self.pressed.push(Pressed {
            key,
            keycode,
            with,
            regrouped,
        });
        Ok(())
    }

    pub(super) fn chord_release(
        &mut self,
        key: Key,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        self.ask(may_act)?;
        let Some(index) = self.pressed.iter().position(|pressed| pressed.key == key) else {
            // Not ours: nothing to undo, and somebody else's key is not ours to release.
            return Ok(());
        };
        let pressed = self.pressed.remove(index);
        self.release_key(pressed.keycode, may_act)?;
        for keycode in pressed.with.into_iter().rev() {
            let shared = self
                .pressed
                .iter()
                .any(|other| other.with.contains(&keycode));
            if !shared {
                self.release_key(keycode, may_act)?;
            }
        }
        if pressed.regrouped && !self.pressed.iter().any(|other| other.regrouped) {
            self.unlock()?;
        }
        self.display.sync()?;
        Ok(())
    }

    /// Where a symbol is: in this group, in another one, or on a key that means nothing yet.
    fn place(&mut self, symbol: u32, layout: &Layout, state: State) -> Result<Placed, InputError> {
        let here = |stroke| Placed {
            stroke,
            group: state.group,
        };
        if is_modifier(symbol)
            && let Some(keycode) = layout.key_with(symbol)
        {
            return Ok(here(Stroke {
                keycode,
                modifiers: 0,
            }));
        }
        if let Some(stroke) = layout.stroke(symbol, state.group) {
            return Ok(here(stroke));
        }
        for group in (0..layout.groups()).filter(|group| *group != state.group) {
            if let Some(stroke) = layout.stroke(symbol, group) {
                return Ok(Placed { stroke, group });
            }
        }
        // Keypad keys and the like, whose levels Num Lock chooses.
        if let Some(keycode) = layout.key_with(symbol) {
            return Ok(here(Stroke {
                keycode,
                modifiers: 0,
            }));
        }
        self.lend(layout, &[symbol])?;
        self.keyboard
            .stroke(symbol)
            .map(here)
            .ok_or(InputError::NoSuchKey(symbol))
    }
}

/// The locked group that makes `wanted` the effective one.
pub(super) fn regroup(state: State, wanted: u8) -> u8 {
    // The effective group is the sum of the locked group and what keys that are down add.
    let added = state.group.wrapping_sub(state.locked_group);
    wanted.wrapping_sub(added) & 3
}

/// Latin-1 characters have a symbol of their own, which is what keyboards carry.
fn plain(symbol: u32) -> u32 {
    match symbol {
        0x0100_0020..=0x0100_007e | 0x0100_00a0..=0x0100_00ff => symbol - 0x0100_0000,
        symbol => symbol,
    }
}
