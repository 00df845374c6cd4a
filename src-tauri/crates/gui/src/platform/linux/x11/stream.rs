//! A connection that waits for a server, but not for ever: a frozen one accepts everybody and answers
//! nobody.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use x11rb::reexports::x11rb_protocol::parse_display::ParsedDisplay;
use x11rb::reexports::x11rb_protocol::xauth::Family;
use x11rb::rust_connection::{DefaultStream, PollMode, Stream};
use x11rb::utils::RawFdContainer;

/// How long a server may take to accept a connection and to answer what is asked first.
pub(crate) const FIRST: Duration = Duration::from_secs(5);
/// How long it may take to answer later. Another program may hold it meanwhile.
const LATER: Duration = Duration::from_secs(30);

/// A stream whose waiting ends.
pub(crate) struct Bounded {
    stream: DefaultStream,
    /// Milliseconds.
    patience: AtomicU64,
}

/// Who is at the other end, in the form that authority files are searched by.
type Peer = (Family, Vec<u8>);

impl Bounded {
    /// Connects to a display.
    pub(crate) fn connect(display: &ParsedDisplay) -> Result<(Self, Peer)> {
        let (tell, told) = sync_channel(1);
        let display = display.clone();
        // A full queue and a silent network hold whoever connects; this thread stays with them.
        std::thread::Builder::new()
            .name("x11-connect".into())
            .spawn(move || {
                let mut connected = Err(Error::other("it has no address"));
                for address in display.connect_instruction() {
                    connected = DefaultStream::connect(&address);
                    if connected.is_ok() {
                        break;
                    }
                }
                let _nobody_waits = tell.send(connected);
            })?;
        let (stream, peer) = told.recv_timeout(FIRST).unwrap_or_else(|_| Err(silent()))?;
        let patience = AtomicU64::new(FIRST.as_millis() as u64);
        Ok((Self { stream, patience }, peer))
    }

    /// The server has answered, so it may take longer from now on.
    pub(crate) fn be_patient(&self) {
        let later = LATER.as_millis() as u64;
        self.patience.store(later, Ordering::Relaxed);
    }
}

impl AsFd for Bounded {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }
}

impl Stream for Bounded {
    fn poll(&self, mode: PollMode) -> Result<()> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, mode.readable());
        flags.set(PollFlags::OUT, mode.writable());
        let patience = self.patience.load(Ordering::Relaxed);
        let timeout = Timespec {
            tv_sec: (patience / 1_000) as i64,
            tv_nsec: (patience % 1_000 * 1_000_000) as i64,
        };
        loop {
            match poll(&mut [PollFd::new(self, flags)], Some(&timeout)) {
                Ok(0) => return Err(silent()),
                // Errors of the connection show when it is read or written.
                Ok(_) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn read(&self, buffer: &mut [u8], descriptors: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.stream.read(buffer, descriptors)
    }

    fn write(&self, buffer: &[u8], descriptors: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.stream.write(buffer, descriptors)
    }

    fn write_vectored(
        &self,
        buffers: &[IoSlice<'_>],
        descriptors: &mut Vec<RawFdContainer>,
    ) -> Result<usize> {
        self.stream.write_vectored(buffers, descriptors)
    }
}

fn silent() -> Error {
    Error::new(ErrorKind::TimedOut, "it does not answer")
}
