//! The keyboard as the server has it: which key with which modifiers gives which symbol.
//!
//! Read through XKB (X Keyboard Extension protocol, `GetMap`), because the core protocol knows
//! neither groups beyond two nor which modifiers choose a level.

use std::collections::HashMap;

use x11rb::errors::ReplyError;
use x11rb::protocol::xkb::{self, ConnectionExt as _, KeySymMap, KeyType, MapPart};
use x11rb::protocol::xproto::Keysym;

use super::connection::Display;

/// The keyboard all keyboards act through.
pub(crate) const CORE_KEYBOARD: xkb::DeviceSpec = 0x100;

/// The Shift bit of the core protocol; it is the same on every keyboard.
pub(crate) const SHIFT: u8 = 1;
/// The Lock bit, which Caps Lock sets.
pub(crate) const LOCK: u8 = 2;

const LEVEL3_SHIFT: Keysym = xkeysym::key::ISO_Level3_Shift;
const NUM_LOCK: Keysym = xkeysym::key::Num_Lock;

/// A key and the modifiers to hold with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stroke {
    /// Key code.
    pub(crate) keycode: u8,
    /// Modifier bits that have to be down, and no other of Shift and the third-level shift.
    pub(crate) modifiers: u8,
}

/// A snapshot of the keyboard.
pub(crate) struct Layout {
    first: u8,
    keys: Vec<KeySymMap>,
    types: Vec<KeyType>,
    /// Real modifier bits each key sets.
    modifiers: HashMap<u8, u8>,
    /// The third-level shift, when the layout has one: its key and its bit.
    level3: Option<(u8, u8)>,
    shift: Option<u8>,
    num_lock: u8,
}

impl Layout {
    /// Asks the server.
    pub(crate) fn read(display: &Display) -> Result<Self, ReplyError> {
        let parts = MapPart::KEY_TYPES
            | MapPart::KEY_SYMS
            | MapPart::MODIFIER_MAP
            | MapPart::VIRTUAL_MODS
            | MapPart::VIRTUAL_MOD_MAP;
        let none = MapPart::from(0u8);
        let reply = display
            .conn
            .xkb_get_map(
                CORE_KEYBOARD,
                parts,
                none,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                xkb::VMod::from(0u16),
                0,
                0,
                0,
                0,
                0,
                0,
            )?
            .reply()?;
        let map = reply.map;
        let vmods = u16::from(reply.virtual_mods);
        let mut real = [0u8; 16];
        let bound = map.vmods_rtrn.unwrap_or_default();
        for (bit, mask) in (0..16).filter(|bit| vmods & (1 << bit) != 0).zip(bound) {
            real[bit] = u16::from(mask) as u8;
        }
        let mut modifiers: HashMap<u8, u8> = HashMap::new();
        for entry in map.modmap_rtrn.unwrap_or_default() {
            *modifiers.entry(entry.keycode).or_default() |= u16::from(entry.mods) as u8;
        }
        for entry in map.vmodmap_rtrn.unwrap_or_default() {
            let mask = u16::from(entry.vmods);
            let set = (0..16)
                .filter(|bit| mask & (1 << bit) != 0)
                .fold(0, |all, bit| all | real[bit]);
            *modifiers.entry(entry.keycode).or_default() |= set;
        }
        let mut layout = Self {
            first: reply.first_key_sym,
            keys: map.syms_rtrn.unwrap_or_default(),
            types: map.types_rtrn.unwrap_or_default(),
            modifiers,
            level3: None,
            shift: None,
            num_lock: 0,
        };
        let setting = |sym| {
            layout
                .with_first_symbol(sym)
                .into_iter()
                .find_map(|keycode| {
                    let mask = *layout.modifiers.get(&keycode)?;
                    (mask != 0).then_some((keycode, mask))
                })
        };
        let level3 = setting(LEVEL3_SHIFT);
        let shift = setting(xkeysym::key::Shift_L).or_else(|| setting(xkeysym::key::Shift_R));
        let num_lock = setting(NUM_LOCK).map_or(0, |(_, mask)| mask);
        layout.level3 = level3.filter(|(_, mask)| mask & (SHIFT | LOCK | 0x0c) == 0);
        layout.shift = shift.map(|(keycode, _)| keycode);
        layout.num_lock = num_lock;
        Ok(layout)
    }

    /// The bit that Num Lock sets.
    pub(crate) fn num_lock(&self) -> u8 {
        self.num_lock
    }

    /// The key that holds a modifier of a [`Stroke`] down.
    pub(crate) fn key_of_modifier(&self, bit: u8) -> Option<u8> {
        if bit == SHIFT {
            return self.shift;
        }
        self.level3
            .filter(|(_, mask)| *mask == bit)
            .map(|(keycode, _)| keycode)
    }

    /// The bits a [`Stroke`] may ask for.
    pub(crate) fn chooser_bits(&self) -> u8 {
        SHIFT | self.level3.map_or(0, |(_, mask)| mask)
    }

    /// Real modifier bits a key sets.
    pub(crate) fn modifiers_of(&self, keycode: u8) -> u8 {
        self.modifiers.get(&keycode).copied().unwrap_or(0)
    }

    /// How many groups any key has.
    pub(crate) fn groups(&self) -> u8 {
        self.keys
            .iter()
            .map(|key| key.group_info & 0x0f)
            .max()
            .unwrap_or(0)
            .max(1)
    }

    /// The first symbol of a key in its first group, zero when it has none.
    pub(crate) fn first_symbol(&self, keycode: u8) -> Keysym {
        self.key(keycode)
            .and_then(|key| key.syms.first().copied())
            .unwrap_or(0)
    }

    /// Keys that mean nothing, on no level and in no group.
    pub(crate) fn spare(&self) -> Vec<u8> {
        // Key code 8 stands for no key at all on Linux, and some programs drop it.
        let blank = |key: &KeySymMap| key.syms.iter().all(|symbol| *symbol == 0);
        (self.first..=u8::MAX)
            .zip(&self.keys)
            .filter(|(keycode, key)| *keycode > 8 && blank(key) && self.modifiers_of(*keycode) == 0)
            .map(|(keycode, _)| keycode)
            .collect()
    }

    /// Every character that a key gives in a group, with the easiest stroke.
    pub(crate) fn characters(&self, group: u8) -> HashMap<char, Stroke> {
        let mut found: HashMap<char, Stroke> = HashMap::new();
        self.each(group, |symbol, stroke| {
            let Some(character) = character_of(symbol) else {
                return;
            };
            let effort = |stroke: &Stroke| stroke.modifiers.count_ones();
            match found.entry(character) {
                std::collections::hash_map::Entry::Occupied(mut known) => {
                    if effort(&stroke) < effort(known.get()) {
                        known.insert(stroke);
                    }
                }
                std::collections::hash_map::Entry::Vacant(free) => {
                    free.insert(stroke);
                }
            }
        });
        found
    }

    /// The easiest stroke for a symbol in a group.
    pub(crate) fn stroke(&self, symbol: Keysym, group: u8) -> Option<Stroke> {
        let mut best: Option<Stroke> = None;
        self.each(group, |candidate, stroke| {
            let easier =
                best.is_none_or(|it| stroke.modifiers.count_ones() < it.modifiers.count_ones());
            if candidate == symbol && easier {
                best = Some(stroke);
            }
        });
        best
    }

    /// The first key that has a symbol anywhere, for keys that mean the same on every level.
    pub(crate) fn key_with(&self, symbol: Keysym) -> Option<u8> {
        let at_first = self.with_first_symbol(symbol).into_iter().next();
        at_first.or_else(|| {
            (self.first..=u8::MAX)
                .zip(&self.keys)
                .find(|(_, key)| key.syms.contains(&symbol))
                .map(|(keycode, _)| keycode)
        })
    }

    fn with_first_symbol(&self, symbol: Keysym) -> Vec<u8> {
        (self.first..=u8::MAX)
            .zip(&self.keys)
            .filter(|(_, key)| key.syms.first() == Some(&symbol))
            .map(|(keycode, _)| keycode)
            .collect()
    }

    fn key(&self, keycode: u8) -> Option<&KeySymMap> {
        self.keys.get(usize::from(keycode.checked_sub(self.first)?))
    }

    /// Every symbol that Shift and the third-level shift alone can reach in a group.
    fn each(&self, group: u8, mut found: impl FnMut(Keysym, Stroke)) {
        for (keycode, key) in (self.first..=u8::MAX).zip(&self.keys) {
            let Some(group) = group_of(key.group_info, group) else {
                continue;
            };
            let Some(kind) = self
                .types
                .get(usize::from(key.kt_index[usize::from(group)]))
            else {
                continue;
            };
            // Num Lock stays as the person has it, so keys it changes are left alone.
            if u16::from(kind.mods_mask) as u8 & self.num_lock != 0 {
                continue;
            }
            for level in 0..kind.num_levels {
                let index = usize::from(group) * usize::from(key.width) + usize::from(level);
                let symbol = key.syms.get(index).copied().unwrap_or(0);
                if let Some(modifiers) = self.modifiers_for(kind, level)
                    && symbol != 0
                {
                    found(symbol, Stroke { keycode, modifiers });
                }
            }
        }
    }

    fn modifiers_for(&self, kind: &KeyType, level: u8) -> Option<u8> {
        if level == 0 {
            return Some(0);
        }
        kind.map
            .iter()
            .filter(|entry| entry.active && entry.level == level)
            .map(|entry| u16::from(entry.mods_mask) as u8)
            .filter(|mask| mask & !self.chooser_bits() == 0)
            .min_by_key(|mask| mask.count_ones())
    }
}

/// The group a key uses when the keyboard's is `group` (XKB protocol, "Key symbol map").
fn group_of(info: u8, group: u8) -> Option<u8> {
    let count = info & 0x0f;
    if count == 0 {
        return None;
    }
    if group < count {
        return Some(group);
    }
    Some(match info & 0xc0 {
        0x80 => {
            let redirected = (info >> 4) & 0x03;
            if redirected < count { redirected } else { 0 }
        }
        0x40 => count - 1,
        _ => group % count,
    })
}

/// The character a symbol types; keypad, function and dead keys type none here.
fn character_of(symbol: Keysym) -> Option<char> {
    match symbol {
        0x20..=0x7e | 0xa0..=0xff => char::from_u32(symbol),
        0x0100_0100..=0x0110_ffff => char::from_u32(symbol - 0x0100_0000),
        0x0100..=0xfdff => xkeysym::Keysym::from(symbol).key_char(),
        _ => None,
    }
}

/// The symbol that stands for a character, or for the key that gives it.
pub(crate) fn symbol_of(character: char) -> Option<Keysym> {
    match character {
        '\n' | '\r' => Some(xkeysym::key::Return),
        '\t' => Some(xkeysym::key::Tab),
        ' '..='~' | '\u{a0}'..='\u{ff}' => Some(character.into()),
        _ if character.is_control() => None,
        _ => Some(0x0100_0000 + u32::from(character)),
    }
}
