//! The controlling terminal of a Unix process.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Read as _, Write},
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    termios::{
        LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
        tcsetattr,
    },
};

use super::{
    Heard,
    line::{Line, Typed},
};

/// What the person sees and types on, whatever standard input and output are connected to.
pub(crate) struct Terminal {
    file: File,
    lines: BufReader<File>,
}

impl Terminal {
    /// The controlling terminal, if there is one.
    pub(crate) fn open() -> Option<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .open("/dev/tty")
            .ok()?;
        let lines = BufReader::new(file.try_clone().ok()?);
        Some(Self { file, lines })
    }

    /// Throws away what was typed so far.
    pub(super) fn forget_typed(&mut self) -> io::Result<()> {
        Ok(tcflush(&self.file, QueueSelector::IFlush)?)
    }

    /// Waits so long for a line.
    pub(super) fn next_line(&mut self, wait: Duration) -> io::Result<Heard> {
        let ready = {
            let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
            poll(&mut fds, Timespec::try_from(wait).ok().as_ref())?;
            fds[0].revents()
        };
        if ready.intersects(PollFlags::HUP | PollFlags::ERR) {
            return Ok(Heard::Gone);
        }
        if ready.is_empty() {
            return Ok(Heard::Nothing);
        }
        let mut line = String::new();
        Ok(match self.lines.read_line(&mut line)? {
            0 => Heard::End,
            _ => Heard::Line(line),
        })
    }

    /// Asks for a line and shows nothing of it. `None` when the person gives up or the terminal is
    /// gone.
    pub(crate) fn secret(&mut self, prompt: &str) -> io::Result<Option<String>> {
        let _quiet = Quiet::begin(&self.file)?;
        let mut terminal = &self.file;
        terminal.write_all(prompt.as_bytes())?;
        let mut line = Line::default();
        let mut byte = [0];
        loop {
            match terminal.read(&mut byte) {
                Ok(1..) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // The terminal is gone.
                Ok(0) | Err(_) => return Ok(None),
            }
            match line.take(byte[0]) {
                Typed::More => {}
                Typed::Done => return Ok(Some(line.text())),
                Typed::GivenUp => return Ok(None),
            }
        }
    }
}

impl Write for Terminal {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A terminal that neither shows nor interprets what is typed, until this is dropped. Keys that would
/// end the program are read as well, so that it never leaves a terminal without echo behind.
struct Quiet<'a> {
    terminal: &'a File,
    before: Termios,
}

impl<'a> Quiet<'a> {
    fn begin(terminal: &'a File) -> io::Result<Quiet<'a>> {
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
