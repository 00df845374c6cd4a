//! Commands for one run, cheap enough to be asked for between two input events.

use std::path::PathBuf;

use rusqlite::Connection;

use crate::{Command, Fence, Result, Store, connection, sql, table::commands};

/// Looks between two at whether the database is still the one in the folder: about once a second of
/// a runner that polls every 20 ms.
const LOOKS: u32 = 50;

/// A runner's view of the commands to its run, on a connection of its own. It blocks for the few
/// microseconds a look at the database header takes, so any thread may poll it every 10 ms.
pub struct CommandWatch {
    connection: Connection,
    fence: Fence,
    /// `data_version` at the last look; none before the first.
    seen: Option<i64>,
    cursor: i64,
    /// The database file, and what it was when the watch began.
    path: PathBuf,
    file: Option<Identity>,
    looks: u32,
}

impl CommandWatch {
    /// Begins with the oldest command that nobody has acknowledged.
    pub fn new(store: &Store, fence: &Fence) -> Result<Self> {
        let path = store.inner.folder.database();
        let connection = connection::reader(&path)?;
        Ok(Self {
            connection,
            fence: fence.clone(),
            seen: None,
            cursor: 0,
            file: identity(&path),
            path,
            looks: 0,
        })
    }

    /// Commands given since the last call, oldest first; usually none.
    ///
    /// # Errors
    /// [`crate::Error::LostRun`] once the run is no longer the fence's, or the folder was removed or
    /// exchanged, so that nobody could stop it any more: release inputs and end.
    pub fn poll(&mut self) -> Result<Vec<Command>> {
        let version = connection::data_version(&self.connection)?;
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(LOOKS) && identity(&self.path) != self.file {
            return Err(self.fence.lost());
        }
        if self.seen == Some(version) {
            return Ok(Vec::new());
        }
        // One transaction: a command and the loss of the run are seen as of one moment.
        let transaction = self.connection.unchecked_transaction()?;
        let owned = sql::first(
            &transaction,
            "SELECT 1 FROM runs WHERE id = ?1 AND owner = ?2 AND claims = ?3",
            (&self.fence.run, &self.fence.owner, self.fence.claims),
            |_| Ok(()),
        )?;
        if owned.is_none() {
            return Err(self.fence.lost());
        }
        let commands = commands::open_after(&transaction, &self.fence.run, self.cursor)?;
        drop(transaction);
        // Set only now: an error above is met again by the next call.
        self.seen = Some(version);
        if let Some(last) = commands.last() {
            self.cursor = last.id;
        }
        Ok(commands)
    }
}

/// What stays the same as long as a file is the same.
type Identity = (u64, u64);

/// None when there is no such file.
#[cfg(unix)]
fn identity(path: &std::path::Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;

    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.dev(), metadata.ino()))
}

/// Elsewhere an open database cannot be removed.
#[cfg(not(unix))]
fn identity(_path: &std::path::Path) -> Option<Identity> {
    None
}
