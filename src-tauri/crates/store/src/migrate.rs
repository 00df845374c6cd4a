//! The schema: append-only files, applied in order, each in a transaction.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::{Error, Result, connection};

struct Migration {
    schema: u32,
    /// The oldest schema a program must know to use the database afterwards: raised by a migration
    /// that breaks older programs, kept by one that only adds.
    min_compatible: u32,
    sql: &'static str,
}

/// In order; never edited, only appended to.
const MIGRATIONS: &[Migration] = &[
    Migration {
        schema: 1,
        min_compatible: 1,
        sql: include_str!("migrations/0001_first_tables.sql"),
    },
    Migration {
        schema: 2,
        min_compatible: 1,
        sql: include_str!("migrations/0002_ui_state.sql"),
    },
    Migration {
        schema: 3,
        min_compatible: 1,
        sql: include_str!("migrations/0003_edited_commands.sql"),
    },
    Migration {
        schema: 4,
        min_compatible: 1,
        sql: include_str!("migrations/0004_clients.sql"),
    },
    Migration {
        schema: 5,
        min_compatible: 1,
        sql: include_str!("migrations/0005_answered_runs.sql"),
    },
];

/// The first bytes of every SQLite database (sqlite.org/fileformat2.html, section 1.3).
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

fn newest() -> u32 {
    MIGRATIONS.last().map_or(0, |migration| migration.schema)
}

/// Refuses a file that is not ours to write, through a connection that cannot change it.
pub(crate) fn inspect(path: &Path) -> Result<()> {
    let head = read_head(path)?;
    if head.is_empty() {
        return Ok(());
    }
    let not_ours = || Error::NotADatabase {
        path: path.to_owned(),
    };
    if head != MAGIC {
        return Err(not_ours());
    }
    let connection = connection::reader(path)?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if tables == 0 {
        return Ok(());
    }
    let (schema, min_compatible) = versions(&connection)?.ok_or_else(not_ours)?;
    let ours = newest();
    if min_compatible > ours {
        return Err(Error::TooNew {
            path: path.to_owned(),
            schema,
            min_compatible,
            ours,
        });
    }
    Ok(())
}

fn read_head(path: &Path) -> Result<Vec<u8>> {
    use std::io::Read;

    let mut head = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(MAGIC.len() as u64).read_to_end(&mut head))
        .map_err(Error::file("read", path))?;
    Ok(head)
}

/// `schema` and `min_compatible`, or none where the database is not ours.
fn versions(connection: &Connection) -> Result<Option<(u32, u32)>> {
    let known = connection
        .query_row(
            "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'openspace_schema'",
            [],
            |_| Ok(()),
        )
        .optional()?;
    if known.is_none() {
        return Ok(None);
    }
    Ok(connection
        .query_row(
            "SELECT schema, min_compatible FROM openspace_schema",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?)
}

/// Brings the database to the newest schema this program knows.
pub(crate) fn migrate(connection: &mut Connection) -> Result<()> {
    let current = versions(connection)?.map_or(0, |(schema, _)| schema);
    for migration in MIGRATIONS
        .iter()
        .filter(|migration| migration.schema > current)
    {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(
            "CREATE TABLE IF NOT EXISTS openspace_schema (
               only           INTEGER PRIMARY KEY CHECK (only = 1),
               schema         INTEGER NOT NULL,
               min_compatible INTEGER NOT NULL
             ) STRICT",
        )?;
        transaction.execute_batch(migration.sql)?;
        transaction.execute(
            "INSERT INTO openspace_schema (only, schema, min_compatible) VALUES (1, ?1, ?2)
             ON CONFLICT (only) DO UPDATE SET schema = ?1, min_compatible = ?2",
            params![migration.schema, migration.min_compatible],
        )?;
        transaction.commit()?;
    }
    Ok(())
}
