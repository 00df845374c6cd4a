//! X11 key symbols in enigo's words.

use enigo::Key as Known;

use crate::Key;

/// The key, where every platform has it.
pub(crate) fn translated(key: Key) -> Option<Known> {
    Some(match key.0 {
        0x20..=0x7e | 0xa0..=0xff => Known::Unicode(char::from_u32(key.0)?),
        0x0100_0000..=0x0110_ffff => Known::Unicode(char::from_u32(key.0 - 0x0100_0000)?),
        0xff08 => Known::Backspace,
        0xff09 => Known::Tab,
        0xff0d | 0xff8d => Known::Return,
        0xff1b => Known::Escape,
        0xff50 => Known::Home,
        0xff51 => Known::LeftArrow,
        0xff52 => Known::UpArrow,
        0xff53 => Known::RightArrow,
        0xff54 => Known::DownArrow,
        0xff55 => Known::PageUp,
        0xff56 => Known::PageDown,
        0xff57 => Known::End,
        0xffbe => Known::F1,
        0xffbf => Known::F2,
        0xffc0 => Known::F3,
        0xffc1 => Known::F4,
        0xffc2 => Known::F5,
        0xffc3 => Known::F6,
        0xffc4 => Known::F7,
        0xffc5 => Known::F8,
        0xffc6 => Known::F9,
        0xffc7 => Known::F10,
        0xffc8 => Known::F11,
        0xffc9 => Known::F12,
        0xffe1 | 0xffe2 => Known::Shift,
        0xffe3 | 0xffe4 => Known::Control,
        0xffe5 => Known::CapsLock,
        0xffe9 | 0xffea => Known::Alt,
        0xffe7 | 0xffe8 | 0xffeb | 0xffec => Known::Meta,
        0xffff => Known::Delete,
        _ => return None,
    })
}
