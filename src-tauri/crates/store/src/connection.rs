//! How a connection is opened and set up.

use std::{
    path::Path,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, OpenFlags};

use crate::Result;

/// How long a statement waits for a lock of another process before [`crate::Error::Busy`].
pub(crate) const BUSY_LIMIT: Duration = Duration::from_secs(10);

/// Prepared statements kept per connection; the crate has fewer.
const STATEMENTS: usize = 128;

/// The connection that writes.
pub(crate) fn writer(path: &Path) -> Result<Connection> {
    let connection = open(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    // WAL lets readers and one writer work at the same time. NORMAL survives a killed process; after a
    // power cut the newest transactions may be missing, never half there.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; PRAGMA journal_size_limit = 67108864;",
    )?;
    Ok(connection)
}

/// A connection that cannot write.
pub(crate) fn reader(path: &Path) -> Result<Connection> {
    open(path, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn open(path: &Path, flags: OpenFlags) -> Result<Connection> {
    // No URI flag: a folder's name must never be taken for parameters.
    let mut connection =
        Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // SQLite's own handler backs off to 100 ms, which would eat half of the time a stop may take.
    let mut since = Instant::now();
    connection.busy_handler(Some(move |attempt: i32| {
        if attempt == 0 {
            since = Instant::now();
        }
        if since.elapsed() > BUSY_LIMIT {
            return false;
        }
        thread::sleep(Duration::from_micros(if attempt < 20 {
            100
        } else {
            1_000
        }));
        true
    }))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

/// A number that changes when another connection, of any process, has committed.
pub(crate) fn data_version(connection: &Connection) -> Result<i64> {
    Ok(connection
        .prepare_cached("PRAGMA data_version")?
        .query_row([], |row| row.get(0))?)
}
