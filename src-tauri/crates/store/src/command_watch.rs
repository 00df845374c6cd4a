//! Commands for one run, cheap enough to be asked for between two input events.

use rusqlite::Connection;

use crate::{Command, Fence, Result, Store, connection, sql, table::commands};

/// A runner's view of the commands to its run, on a connection of its own. It blocks for the few
/// microseconds a look at the database header takes, so any thread may poll it every 10 ms.
pub struct CommandWatch {
    connection: Connection,
    fence: Fence,
    /// `data_version` at the last look; none before the first.
    seen: Option<i64>,
    cursor: i64,
}

impl CommandWatch {
    /// Begins with the oldest command that nobody has acknowledged.
    pub fn new(store: &Store, fence: &Fence) -> Result<Self> {
        let connection = connection::reader(&store.inner.folder.database())?;
        Ok(Self {
            connection,
            fence: fence.clone(),
            seen: None,
            cursor: 0,
        })
    }

    /// Commands given since the last call, oldest first; usually none.
    ///
    /// # Errors
    /// [`crate::Error::LostRun`] once the run is no longer the fence's: release inputs and end.
    pub fn poll(&mut self) -> Result<Vec<Command>> {
        let version = connection::data_version(&self.connection)?;
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
