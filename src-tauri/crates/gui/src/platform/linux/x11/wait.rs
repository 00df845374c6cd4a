//! Waiting for X events together with a pipe that wakes the waiting thread.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::connection::Connection as _;
use x11rb::errors::ConnectionError;
use x11rb::protocol::Event;

use super::connection::Conn;

/// The sending end that wakes a thread; dropping it wakes it for the last time.
pub(crate) struct Waker(OwnedFd);

/// The waiting end.
pub(crate) struct Wake(OwnedFd);

/// What ended a wait.
pub(crate) enum Woken {
    /// An X event arrived.
    Event(Event),
    /// [`Waker::wake`] was called.
    Called,
    /// The waker is gone.
    Dropped,
}

/// A connected pair.
pub(crate) fn waker() -> std::io::Result<(Waker, Wake)> {
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
    Ok((Waker(write), Wake(read)))
}

impl Waker {
    /// Wakes the waiting thread.
    pub(crate) fn wake(&self) {
        // It can only fail when the thread is gone, and then nobody has to be woken.
        let _ = rustix::io::write(&self.0, &[1]);
    }
}

impl Wake {
    /// Waits for an event or for the waker.
    pub(crate) fn wait(&self, conn: &Conn) -> Result<Woken, ConnectionError> {
        loop {
            if let Some(event) = conn.poll_for_event()? {
                return Ok(Woken::Event(event));
            }
            conn.flush()?;
            let mut fds = [
                PollFd::from_borrowed_fd(conn.stream().as_fd(), PollFlags::IN),
                PollFd::new(&self.0, PollFlags::IN),
            ];
            let _ = poll(&mut fds, None);
            let mine = fds[1].revents();
            if mine.contains(PollFlags::IN) {
                let mut byte = [0];
                let _ = rustix::io::read(&self.0, &mut byte);
                return Ok(Woken::Called);
            }
            if mine.intersects(PollFlags::HUP | PollFlags::ERR) {
                return Ok(Woken::Dropped);
            }
        }
    }
}

/// The next event, or `None` at `deadline`.
pub(crate) fn event_until(
    conn: &Conn,
    deadline: Instant,
) -> Result<Option<Event>, ConnectionError> {
    loop {
        if let Some(event) = conn.poll_for_event()? {
            return Ok(Some(event));
        }
        conn.flush()?;
        let left = deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Ok(None);
        }
        let timeout = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        let mut fds = [PollFd::from_borrowed_fd(
            conn.stream().as_fd(),
            PollFlags::IN,
        )];
        let _ = poll(&mut fds, Some(&timeout));
    }
}
