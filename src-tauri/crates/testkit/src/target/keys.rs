//! From key codes to the names on the keys, for readable logs.

use anyhow::Result;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::ConnectionExt;
use x11rb::rust_connection::RustConnection;

/// The keyboard's map as it was when it was read.
pub(super) struct Keys {
    first: u8,
    per_code: usize,
    symbols: Vec<u32>,
}

impl Keys {
    pub(super) fn read(connection: &RustConnection) -> Result<Self> {
        let first = connection.setup().min_keycode;
        let count = connection.setup().max_keycode - first + 1;
        let reply = connection.get_keyboard_mapping(first, count)?.reply()?;
        Ok(Self {
            first,
            per_code: reply.keysyms_per_keycode.into(),
            symbols: reply.keysyms,
        })
    }

    /// The symbol of a key under a state: bits 13 and 14 choose the layout, Shift the level,
    /// Lock the capital letter.
    pub(super) fn symbol(&self, code: u8, state: u16) -> u32 {
        let Some(row) = code.checked_sub(self.first).and_then(|index| {
            self.symbols
                .get(usize::from(index) * self.per_code..)
                .map(|rest| &rest[..self.per_code.min(rest.len())])
        }) else {
            return 0;
        };
        let at = |index: usize| row.get(index).copied().unwrap_or(0);
        let group = usize::from(state >> 13 & 3);
        let base = if group > 0 && at(2 * group) != 0 {
            2 * group
        } else {
            0
        };
        let plain = at(base);
        let letter = character(plain).is_some_and(char::is_alphabetic);
        let shifted = (state & 1 != 0) ^ (state & 2 != 0 && letter);
        // Level three lies behind the first two groups' pairs (Mod5 is AltGr by convention).
        let level_three = if state & 0x80 != 0 { at(4) } else { 0 };
        match (level_three, shifted, at(base + 1)) {
            (0, true, 0) => character(plain)
                .and_then(|plain| plain.to_uppercase().next())
                .map_or(plain, |upper| upper as u32),
            (0, true, second) => second,
            (0, false, _) => plain,
            (third, ..) => third,
        }
    }
}

/// The character of a key symbol, for Latin-1 and Unicode symbols (X11 protocol, appendix A).
pub(super) fn character(symbol: u32) -> Option<char> {
    match symbol {
        0x20..=0x7E | 0xA0..=0xFF => char::from_u32(symbol),
        0x0100_0100..=0x0110_FFFF => char::from_u32(symbol - 0x0100_0000),
        _ => None,
    }
}

/// A readable name for the symbols tests ask about; hexadecimal for the others.
pub(super) fn name(symbol: u32) -> String {
    if let Some(character) = character(symbol) {
        return character.to_string();
    }
    let known = match symbol {
        0 => "none",
        0xFF08 => "BackSpace",
        0xFF09 => "Tab",
        0xFF0D => "Return",
        0xFF1B => "Escape",
        0xFF50 => "Home",
        0xFF51 => "Left",
        0xFF52 => "Up",
        0xFF53 => "Right",
        0xFF54 => "Down",
        0xFF55 => "Page_Up",
        0xFF56 => "Page_Down",
        0xFF57 => "End",
        0xFF61 => "Print",
        0xFF63 => "Insert",
        0xFF67 => "Menu",
        0xFF8D => "KP_Enter",
        0xFFBE..=0xFFC9 => return format!("F{}", symbol - 0xFFBD),
        0xFFE1 => "Shift_L",
        0xFFE2 => "Shift_R",
        0xFFE3 => "Control_L",
        0xFFE4 => "Control_R",
        0xFFE5 => "Caps_Lock",
        0xFFE7 => "Meta_L",
        0xFFE9 => "Alt_L",
        0xFFEA => "Alt_R",
        0xFFEB => "Super_L",
        0xFFEC => "Super_R",
        0xFE03 => "ISO_Level3_Shift",
        0xFE20 => "ISO_Left_Tab",
        0xFFFF => "Delete",
        _ => return format!("{symbol:#x}"),
    };
    known.to_owned()
}
