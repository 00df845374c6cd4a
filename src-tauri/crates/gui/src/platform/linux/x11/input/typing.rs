//! Text, exactly, whatever the layout.

use std::collections::{HashMap, HashSet};

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::{InputError, TypeOptions};

use super::super::keyboard::State;
use super::super::layout::{Layout, Stroke, symbol_of};
use super::X11Input;
use super::chord::regroup;

impl X11Input {
    /// Types the text, or nothing of it when one of its characters cannot be typed at all.
    pub(super) fn write(
        &mut self,
        text: &str,
        options: TypeOptions,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        // One line end is one Return, however it is written.
        let text: Vec<char> = text.replace("\r\n", "\n").chars().collect();
        if let Some(untypable) = text.iter().find(|it| symbol_of(**it).is_none()) {
            return Err(InputError::Untypable(*untypable));
        }
        if text.is_empty() {
            return Ok(());
        }
        self.ask(may_act)?;
        let layout = self.layout()?;
        let interrupted = self.clear_modifiers(&layout, may_act)?;
        let state = State::read(&self.display)?;
        let (group, known) = best_group(&layout, state, &text);
        self.ask(may_act)?;
        self.lock(
            state,
            state.locked & layout.num_lock(),
            regroup(state, group),
        )?;
        let room = self.keyboard.room(&layout);
        let mut rest = text.as_slice();
        while !rest.is_empty() {
            let (now, later, wanted) = take_round(rest, &known, room)?;
            self.lend(&layout, &wanted)?;
            self.write_round(now, &known, &layout, options, may_act)?;
            rest = later;
        }
        self.unlock()?;
        for keycode in interrupted {
            self.press_key(keycode, may_act)?;
        }
        self.display.sync()?;
        Ok(())
    }

    /// Types characters that all have a stroke now.
    fn write_round(
        &mut self,
        text: &[char],
        known: &HashMap<char, Stroke>,
        layout: &Layout,
        options: TypeOptions,
        may_act: &dyn Fn() -> bool,
    ) -> Result<(), InputError> {
        let mut holding = 0;
        for character in text {
            let lent = || self.keyboard.stroke(symbol_of(*character)?);
            let stroke = known.get(character).copied().or_else(lent);
            let stroke = stroke.ok_or(InputError::Untypable(*character))?;
            holding = self.hold(holding, stroke.modifiers, layout, may_act)?;
            self.press_key(stroke.keycode, may_act)?;
            self.release_key(stroke.keycode, may_act)?;
            // The answer keeps us from running ahead: nothing is still on its way when we stop.
            self.display.sync()?;
            if !options.delay.is_zero() {
                std::thread::sleep(options.delay);
            }
        }
        self.hold(holding, 0, layout, may_act)?;
        self.display.sync()?;
        Ok(())
    }

    /// Changes which modifiers are down, with as few events as that takes.
    fn hold(
        &mut self,
        now: u8,
        wanted: u8,
        layout: &Layout,
        may_act: &dyn Fn() -> bool,
    ) -> Result<u8, InputError> {
        for bit in (0..8)
            .map(|bit| 1u8 << bit)
            .filter(|bit| (now ^ wanted) & bit != 0)
        {
            let Some(keycode) = layout.key_of_modifier(bit) else {
                continue;
            };
            if wanted & bit == 0 {
                self.release_key(keycode, may_act)?;
            } else {
                self.press_key(keycode, may_act)?;
            }
        }
        Ok(wanted)
    }

    /// Releases every modifier that is down and returns those that we had pressed.
    ///
    /// Those a person holds cannot be released for them, and a run pauses anyway then; those that
    /// an earlier program left behind can.
    fn clear_modifiers(
        &mut self,
        layout: &Layout,
        may_act: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, InputError> {
        let down = self.display.conn.query_keymap()?.reply()?.keys;
        let is_down = |keycode: &u8| down[usize::from(keycode / 8)] & (1 << (keycode % 8)) != 0;
        let modifiers: Vec<u8> = (8..=u8::MAX)
            .filter(is_down)
            .filter(|keycode| layout.modifiers_of(*keycode) != 0)
            .collect();
        let mut ours = Vec::new();
        for keycode in modifiers {
            if self.down.contains(&keycode) {
                ours.push(keycode);
            }
            self.release_key(keycode, may_act)?;
        }
        self.display.conn.flush()?;
        Ok(ours)
    }
}

/// The group in which most of the text has keys, and its keys; the active one unless another is
/// better.
fn best_group(layout: &Layout, state: State, text: &[char]) -> (u8, HashMap<char, Stroke>) {
    let distinct: HashSet<char> = text.iter().copied().collect();
    let mut best = with_keys(layout, state.group);
    let missing = |known: &HashMap<char, Stroke>| {
        distinct
            .iter()
            .filter(|it| !known.contains_key(*it))
            .count()
    };
    let (mut group, mut fewest) = (state.group, missing(&best));
    for candidate in (0..layout.groups()).filter(|it| *it != state.group) {
        let known = with_keys(layout, candidate);
        if missing(&known) < fewest {
            (group, fewest, best) = (candidate, missing(&known), known);
        }
    }
    (group, best)
}

fn with_keys(layout: &Layout, group: u8) -> HashMap<char, Stroke> {
    let mut known = layout.characters(group);
    for character in ['\n', '\r', '\t'] {
        if let Some(stroke) = symbol_of(character).and_then(|it| layout.stroke(it, group)) {
            known.insert(character, stroke);
        }
    }
    // A stroke is of use only if its modifiers can be pressed.
    known.retain(|_, stroke| {
        (0..8)
            .map(|bit| 1u8 << bit)
            .filter(|bit| stroke.modifiers & bit != 0)
            .all(|bit| layout.key_of_modifier(bit).is_some())
    });
    known
}

/// As much of the text as can be typed with `room` lent keys, the rest, and the symbols to lend.
type Round<'a> = (&'a [char], &'a [char], Vec<u32>);

fn take_round<'a>(
    text: &'a [char],
    known: &HashMap<char, Stroke>,
    room: usize,
) -> Result<Round<'a>, InputError> {
    let mut wanted: Vec<u32> = Vec::new();
    for (index, character) in text.iter().enumerate() {
        if known.contains_key(character) {
            continue;
        }
        let symbol = symbol_of(*character).ok_or(InputError::Untypable(*character))?;
        if wanted.contains(&symbol) {
            continue;
        }
        if wanted.len() == room {
            if index == 0 || room == 0 {
                return Err(InputError::Untypable(*character));
            }
            return Ok((&text[..index], &text[index..], wanted));
        }
        wanted.push(symbol);
    }
    Ok((text, &[], wanted))
}
