//! Key names and chords, as models write them.
//!
//! Names of xdotool, of the DOM and the usual aliases go through one [`table`]. What is not in it is
//! an error with the nearest names; nothing is ever typed literally instead.

mod table;

use crate::Key;

pub(crate) use table::CONTROL;
#[cfg(test)]
use table::{SHIFT, SUPER};

/// A chord that cannot be pressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// There is no such key.
    #[error("there is no key `{name}`{}", suggestion(nearest))]
    Unknown {
        /// What was asked for, shortened.
        name: String,
        /// Names that look alike, best first.
        nearest: Vec<&'static str>,
    },
    /// The text names no key.
    #[error("`{0}` names no key; write one like `Return` or `ctrl+shift+t`")]
    Empty(String),
    /// A click can be combined with modifiers only.
    #[error("`{0}` is no modifier: use ctrl, shift, alt or super here")]
    NotModifier(String),
}

fn suggestion(nearest: &[&'static str]) -> String {
    if nearest.is_empty() {
        return "; use names like `Return`, `Escape`, `Page_Down`, `F5` or a single character"
            .into();
    }
    format!("; did you mean {}?", nearest.join(", "))
}

/// Keys pressed together: down in order, up in reverse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chord {
    /// Modifiers, without repetition.
    pub modifiers: Vec<Key>,
    /// The other keys.
    pub keys: Vec<Key>,
}

impl Chord {
    /// All keys in the order they go down.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = Key> + '_ {
        self.modifiers.iter().chain(&self.keys).copied()
    }

    /// Everything in `other` would be down while this chord is, whichever side of the keyboard.
    pub fn includes(&self, other: &[Key]) -> bool {
        !other.is_empty()
            && other
                .iter()
                .all(|wanted| self.all().any(|key| sideless(key) == sideless(*wanted)))
    }
}

/// How names are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KeyOptions {
    /// `cmd` means the control key, for models that think of another system. Otherwise it is super.
    pub cmd_is_ctrl: bool,
}

/// Reads a chord: `ctrl+c`, `Return`, `ctrl++`, `"+"`, `alt + F4`.
pub fn parse_chord(text: &str, options: KeyOptions) -> Result<Chord, KeyError> {
    let mut chord = Chord {
        modifiers: Vec::new(),
        keys: Vec::new(),
    };
    for name in split(text)? {
        let key = lookup(&name, options)?;
        let list = if is_modifier(key) {
            &mut chord.modifiers
        } else {
            &mut chord.keys
        };
        if !list.contains(&key) {
            list.push(key);
        }
    }
    Ok(chord)
}

/// Reads modifiers held during a click, such as `ctrl+shift`.
pub fn parse_modifiers(text: &str, options: KeyOptions) -> Result<Vec<Key>, KeyError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let chord = parse_chord(text, options)?;
    if chord.keys.is_empty() {
        Ok(chord.modifiers)
    } else {
        Err(KeyError::NotModifier(brief(text)))
    }
}

/// The key a character stands for: Latin-1 by its own number, `0x0100_0000 + code point` otherwise.
pub fn of_char(character: char) -> Key {
    match character {
        '\n' | '\r' => Key(0xff0d),
        '\t' => Key(0xff09),
        '\u{8}' => Key(0xff08),
        '\u{1b}' => Key(0xff1b),
        '\u{7f}' => Key(0xffff),
        ' '..='~' | '\u{a0}'..='\u{ff}' => Key(character as u32),
        _ => Key(0x0100_0000 + character as u32),
    }
}

/// The character a key types by itself, where it types one.
pub fn to_char(key: Key) -> Option<char> {
    match key.0 {
        0x20..=0x7e | 0xa0..=0xff => char::from_u32(key.0),
        0x0100_0000..=0x0110_ffff => char::from_u32(key.0 - 0x0100_0000),
        0xff0d | 0xff8d => Some('\n'),
        0xff09 => Some('\t'),
        // The number block: its characters start 0xff80 above ASCII.
        0xffaa..=0xffb9 => char::from_u32(key.0 - 0xff80),
        _ => None,
    }
}

/// A name [`parse_chord`] reads back as this key.
pub fn name(key: Key) -> String {
    table::name(key)
        .map(str::to_owned)
        .or_else(|| {
            (0xffb0..=0xffb9)
                .contains(&key.0)
                .then(|| format!("KP_{}", key.0 - 0xffb0))
        })
        .or_else(|| to_char(key).map(|character| character.to_string()))
        .or_else(|| {
            (0xffbe..=0xffe0)
                .contains(&key.0)
                .then(|| format!("F{}", key.0 - 0xffbd))
        })
        .unwrap_or_else(|| format!("{:#x}", key.0))
}

/// Whether the key changes what others do.
pub fn is_modifier(key: Key) -> bool {
    // Shift_L..=Hyper_R with the locks in between, and ISO_Level3_Shift.
    matches!(key.0, 0xffe1..=0xffee | 0xfe03) && !matches!(key.0, 0xffe5 | 0xffe6)
}

/// The left twin of a right-hand modifier, the capital of a letter: what a stop chord is compared by.
fn sideless(key: Key) -> Key {
    match key.0 {
        0xffe2 => Key(0xffe1),
        0xffe4 => Key(0xffe3),
        0xffe8 => Key(0xffe7),
        0xffea => Key(0xffe9),
        0xffec => Key(0xffeb),
        0x61..=0x7a => Key(key.0 - 0x20),
        _ => key,
    }
}

/// Cuts a chord at its plus signs; a plus at the end, alone or in quotes is the key itself.
fn split(text: &str) -> Result<Vec<String>, KeyError> {
    // A single space is a key; around names spaces mean nothing.
    let trimmed = if text == " " { text } else { text.trim() };
    if trimmed.is_empty() {
        return Err(KeyError::Empty(brief(text)));
    }
    let mut names = Vec::new();
    let mut rest = trimmed;
    loop {
        let (name, after) = first_name(rest);
        if name.is_empty() {
            return Err(KeyError::Empty(brief(text)));
        }
        names.push(name.to_owned());
        let after = after.trim_start();
        match after.strip_prefix('+') {
            _ if after.is_empty() => return Ok(names),
            Some(next) if !next.trim().is_empty() => rest = next.trim_start(),
            Some(_) | None => return Err(KeyError::Empty(brief(text))),
        }
    }
}

/// The first name and what follows it.
fn first_name(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        let quoted = text.strip_prefix(quote).and_then(|t| t.split_once(quote));
        if let Some((inside, after)) = quoted
            && !inside.is_empty()
        {
            return (inside, after);
        }
    }
    if text.starts_with('+') {
        return text.split_at(1);
    }
    match text.find('+') {
        Some(end) => (text[..end].trim_end_matches([' ', '\t']), &text[end..]),
        None if text == " " => (text, ""),
        None => (text.trim_end(), ""),
    }
}

fn lookup(name: &str, options: KeyOptions) -> Result<Key, KeyError> {
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        if !only.is_control() || matches!(only, '\n' | '\r' | '\t') {
            return Ok(of_char(only));
        }
        return Err(unknown(name));
    }
    if options.cmd_is_ctrl && table::is_command(name) {
        return Ok(CONTROL);
    }
    table::find(name).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> KeyError {
    KeyError::Unknown {
        name: brief(name),
        nearest: table::nearest(name),
    }
}

fn brief(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests;
