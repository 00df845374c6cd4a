//! Typing something that must not be seen.

use std::{
    fs::File,
    io::{Read as _, Write as _},
};

use openspace_app::{Code, Failure, Secret};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use crate::terminal;

/// Whether there is a terminal to ask on.
pub(crate) fn can_ask() -> bool {
    terminal::open().is_some()
}

/// Asks on the terminal and shows nothing of the answer. `None` when the person gives up with Ctrl-C
/// or Ctrl-D, or the terminal is closed.
pub(crate) async fn ask(prompt: String) -> Result<Option<Secret<String>>, Failure> {
    let asked = tokio::task::spawn_blocking(move || ask_here(&prompt)).await;
    asked
        .map_err(std::io::Error::other)
        .and_then(std::convert::identity)
        .map_err(|error| {
            Failure::new(
                Code::InvalidRequest,
                format!("the terminal cannot be read: {error}"),
            )
        })
}

fn ask_here(prompt: &str) -> std::io::Result<Option<Secret<String>>> {
    let Some(opened) = terminal::open() else {
        return Ok(None);
    };
    let quiet = Quiet::begin(&opened)?;
    let mut terminal = &opened;
    write!(terminal, "{prompt}: ")?;
    terminal.flush()?;
    let mut line = Line::default();
    let mut byte = [0];
    let typed = loop {
        match terminal.read(&mut byte) {
            Ok(1..) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // The terminal is gone.
            Ok(0) | Err(_) => break None,
        }
        match line.take(byte[0]) {
            Typed::More => {}
            Typed::Done => break Some(line.text()),
            Typed::GivenUp => break None,
        }
    };
    drop(quiet);
    writeln!(terminal)?;
    Ok(typed.map(Secret::new))
}

/// A terminal that neither shows nor interprets what is typed, until this is dropped. Keys that would
/// end the program are read as well, so that it never leaves a terminal without echo behind.
struct Quiet<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Quiet<'a> {
    fn begin(terminal: &'a File) -> std::io::Result<Quiet<'a>> {
        let before = tcgetattr(terminal)?;
        let mut quiet = before.clone();
        quiet
            .local_modes
            .remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON | LocalModes::ISIG);
        quiet.special_codes[SpecialCodeIndex::VMIN] = 1;
        quiet.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed before the question is no answer to it.
        tcsetattr(terminal, OptionalActions::Flush, &quiet)?;
        Ok(Self { terminal, before })
    }
}

impl Drop for Quiet<'_> {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing back.
        let _gone = tcsetattr(self.terminal, OptionalActions::Now, &self.before);
    }
}

/// What has been typed so far.
#[derive(Default)]
struct Line(Vec<u8>);

enum Typed {
    More,
    Done,
    GivenUp,
}

impl Line {
    fn take(&mut self, byte: u8) -> Typed {
        const CTRL_C: u8 = 3;
        const CTRL_D: u8 = 4;
        const CTRL_U: u8 = 21;
        match byte {
            b'\r' | b'\n' => return Typed::Done,
            CTRL_C => return Typed::GivenUp,
            CTRL_D if self.0.is_empty() => return Typed::GivenUp,
            CTRL_D => return Typed::Done,
            CTRL_U => self.0.clear(),
            0x08 | 0x7f => {
                // A character may be several bytes.
                while self.0.pop().is_some_and(|last| last & 0xc0 == 0x80) {}
            }
            other => self.0.push(other),
        }
        Typed::More
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(bytes: &[u8]) -> Option<String> {
        let mut line = Line::default();
        for byte in bytes {
            match line.take(*byte) {
                Typed::More => {}
                Typed::Done => return Some(line.text()),
                Typed::GivenUp => return None,
            }
        }
        panic!("no end in {bytes:?}")
    }

    /// Mistakes can be taken back, whole characters at a time.
    #[test]
    fn what_is_typed_can_be_corrected() {
        assert_eq!(typed(b"abd\x7fc\n").as_deref(), Some("abc"));
        assert_eq!(typed("aé\u{8}b\r".as_bytes()).as_deref(), Some("ab"));
        assert_eq!(typed(b"wrong\x15right\n").as_deref(), Some("right"));
        assert_eq!(typed(b"\x7f\x7fx\n").as_deref(), Some("x"));
    }

    /// Ctrl-C gives up at any time, Ctrl-D before anything was typed.
    #[test]
    fn giving_up_is_no_answer() {
        assert_eq!(typed(b"abc\x03"), None);
        assert_eq!(typed(b"\x04"), None);
        assert_eq!(typed(b"abc\x04").as_deref(), Some("abc"));
    }
}
