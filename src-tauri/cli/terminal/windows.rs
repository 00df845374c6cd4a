//! The console of a Windows process. Not yet tried on such a machine.

use std::{
    fs::File,
    io::{self, Write},
    time::Duration,
};

use crossterm::{
    event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers},
    terminal::{disable_raw_mode, enable_raw_mode},
};

use super::{
    Heard,
    line::{Line, Typed},
};

/// What the person sees and types on, whatever standard input and output are connected to.
pub(crate) struct Terminal {
    screen: File,
    line: Line,
}

impl Terminal {
    /// The console, if there is one.
    pub(crate) fn open() -> Option<Self> {
        let open = |name| File::options().read(true).write(true).open(name).ok();
        open("CONIN$")?;
        Some(Self {
            screen: open("CONOUT$")?,
            line: Line::default(),
        })
    }

    /// Throws away what was typed so far.
    pub(super) fn forget_typed(&mut self) -> io::Result<()> {
        self.line = Line::default();
        while event::poll(Duration::ZERO)? {
            event::read()?;
        }
        Ok(())
    }

    /// Waits so long for the next key; a line is complete with its last. The console shows nothing of
    /// keys that are read one by one, so they are written here.
    pub(super) fn next_line(&mut self, wait: Duration) -> io::Result<Heard> {
        let Some(typed) = key(wait)? else {
            return Ok(Heard::Nothing);
        };
        for byte in typed.bytes() {
            match self.line.take(byte) {
                Typed::More => {}
                Typed::Done => {
                    writeln!(self.screen)?;
                    return Ok(Heard::Line(std::mem::take(&mut self.line).text()));
                }
                Typed::GivenUp => return Ok(Heard::End),
            }
        }
        match typed.as_str() {
            BACKSPACE => write!(self.screen, "\u{8} \u{8}")?,
            shown if shown.chars().any(char::is_control) => {}
            shown => write!(self.screen, "{shown}")?,
        }
        Ok(Heard::Nothing)
    }

    /// Asks for a line and shows nothing of it. `None` when the person gives up.
    pub(crate) fn secret(&mut self, prompt: &str) -> io::Result<Option<String>> {
        let _quiet = Quiet::begin()?;
        self.forget_typed()?;
        self.screen.write_all(prompt.as_bytes())?;
        loop {
            let Some(typed) = key(Duration::from_secs(1))? else {
                continue;
            };
            for byte in typed.bytes() {
                match self.line.take(byte) {
                    Typed::More => {}
                    Typed::Done => return Ok(Some(std::mem::take(&mut self.line).text())),
                    Typed::GivenUp => return Ok(None),
                }
            }
        }
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.screen.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.screen.flush()
    }
}

const BACKSPACE: &str = "\u{8}";

/// The next key that is pressed within this time, as a Unix terminal would send it.
fn key(wait: Duration) -> io::Result<Option<String>> {
    if !event::poll(wait)? {
        return Ok(None);
    }
    let Event::Key(KeyEvent {
        code,
        modifiers,
        kind: KeyEventKind::Press | KeyEventKind::Repeat,
        ..
    }) = event::read()?
    else {
        return Ok(None);
    };
    // AltGr is Ctrl with Alt, and types characters.
    let control =
        modifiers.contains(KeyModifiers::CONTROL) && !modifiers.contains(KeyModifiers::ALT);
    Ok(match code {
        KeyCode::Enter => Some("\r".to_owned()),
        KeyCode::Backspace => Some(BACKSPACE.to_owned()),
        KeyCode::Char(letter) if control && letter.is_ascii_alphabetic() => {
            Some(char::from(letter as u8 & 0x1f).to_string())
        }
        KeyCode::Char(character) if !control => Some(character.to_string()),
        _ => None,
    })
}

/// A console that does not interpret what is typed, until this is dropped. Keys that would end the
/// program are read as well.
struct Quiet;

impl Quiet {
    fn begin() -> io::Result<Self> {
        enable_raw_mode()?;
        Ok(Self)
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // A console that is gone needs nothing back.
        let _gone = disable_raw_mode();
    }
}
