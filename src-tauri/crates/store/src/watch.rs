//! Events of every process, in order, as they happen.
//!
//! Ids are given out by the one writer SQLite allows at a time, so they become visible in order:
//! reading everything above a cursor misses nothing. What remains is to know when to read. A commit of
//! this process raises a [`Signal`]; for other processes a thread compares `PRAGMA data_version`, which
//! costs a hundred times the look at a file that says whether it can have changed.

mod glance;

use std::{
    collections::VecDeque,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use tokio::sync::watch;

use self::glance::Glance;
use crate::{Error, Event, Result, Store, connection, store::lock};

/// How often other processes' writes are looked for.
const INTERVAL: Duration = Duration::from_millis(25);

/// Events read at once.
const BATCH: u32 = 256;

/// Says that there may be something new to read.
pub(crate) struct Signal(watch::Sender<u64>);

impl Default for Signal {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl Signal {
    pub(crate) fn raise(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// The thread that notices other processes; it ends when the last watch is dropped.
pub(crate) struct Poll {
    /// Dropped with the last watch, which ends the thread.
    _ends: mpsc::Sender<()>,
}

fn poll(store: &Store) -> Result<Arc<Poll>> {
    let mut shared = lock(&store.inner.poll);
    if let Some(running) = shared.upgrade() {
        return Ok(running);
    }
    let database = store.inner.folder.database();
    let connection = connection::reader(&database)?;
    let mut glance = Glance::new(&database);
    let mut seen = connection::data_version(&connection)?;
    let (sender, ended) = mpsc::channel();
    // Weak: a watch keeps the store alive, the thread must not.
    let inner = Arc::downgrade(&store.inner);
    thread::Builder::new()
        .name("store-watch".to_owned())
        .spawn(move || {
            let mut trouble = Trouble::default();
            while ended.recv_timeout(INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                let Some(inner) = inner.upgrade() else { return };
                if !glance.changed() {
                    continue;
                }
                let version = connection::data_version(&connection);
                let is_new = trouble.begins(version.is_err());
                match version {
                    Ok(version) if version == seen => {}
                    Ok(version) => {
                        seen = version;
                        inner.signal.raise();
                    }
                    // Reading the events will meet the same trouble and report it to the caller.
                    Err(error) => {
                        if is_new {
                            tracing::warn!(%error, "looking for other processes' events");
                        }
                        inner.signal.raise();
                    }
                }
            }
        })
        .map_err(Error::file("start a thread for", store.folder()))?;
    let poll = Arc::new(Poll { _ends: sender });
    *shared = Arc::downgrade(&poll);
    Ok(poll)
}

/// Something that goes wrong again and again is told once, until it goes right again.
#[derive(Default)]
struct Trouble(bool);

impl Trouble {
    /// It goes wrong now and did not before.
    fn begins(&mut self, wrong: bool) -> bool {
        let before = std::mem::replace(&mut self.0, wrong);
        wrong && !before
    }
}

/// A position in the events of all processes.
pub struct Watch {
    store: Store,
    cursor: i64,
    read: VecDeque<Event>,
    raised: watch::Receiver<u64>,
    _poll: Arc<Poll>,
}

impl Watch {
    pub(crate) fn new(store: &Store, cursor: i64) -> Result<Self> {
        Ok(Self {
            store: store.clone(),
            cursor,
            read: VecDeque::new(),
            raised: store.inner.signal.0.subscribe(),
            _poll: poll(store)?,
        })
    }

    /// The id of the event that [`Watch::next`] gave last.
    pub fn cursor(&self) -> i64 {
        self.cursor
    }

    /// The next event, waiting until there is one. May be dropped while it waits: nothing is lost.
    pub async fn next(&mut self) -> Result<Event> {
        loop {
            if let Some(event) = self.read.pop_front() {
                self.cursor = event.id;
                return Ok(event);
            }
            // Marked as seen before reading, so that a commit in between is noticed below.
            self.raised.borrow_and_update();
            let cursor = self.cursor;
            let events = self
                .store
                .read(move |db| db.events().after(cursor, BATCH))
                .await?;
            self.read = events.into();
            if self.read.is_empty() && self.raised.changed().await.is_err() {
                return Err(Error::ShuttingDown);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trouble that lasts is told when it begins, and again when it comes back.
    #[test]
    fn lasting_trouble_is_told_once() {
        let mut trouble = Trouble::default();
        let told = [true, true, false, false, true, true].map(|wrong| trouble.begins(wrong));
        assert_eq!(told, [true, false, false, false, true, false]);
    }
}
