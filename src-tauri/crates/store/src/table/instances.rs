//! Processes of ours. Whether one is alive is decided by its lock file, never by a row or a clock.

use std::{
    fs::{self, File, TryLockError},
    io,
};

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::{
    Db, Error, InstanceId, Result,
    sql::{self, Json, json, text_enum},
};

text_enum! {
    /// What a process of ours is.
    InstanceKind {
        /// The app with its window.
        Desktop = "desktop",
        /// The process that executes runs while no desktop app is alive.
        Runner = "runner",
        /// A command in a terminal.
        Cli = "cli",
        /// An MCP server a host started.
        Mcp = "mcp",
        /// The HTTP surface.
        Serve = "serve",
        /// The chat channels.
        Gateway = "gateway",
        /// What releases inputs when a runner dies.
        Guard = "guard",
    }
}

/// Windows a run must not click or type into, because this process is behind them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// The window system's ids, of own windows and of the terminal that waits for an answer.
    pub ids: Vec<u64>,
    /// Processes whose windows count as well, such as the terminal program.
    pub pids: Vec<u32>,
}

/// A process that begins to use the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewInstance {
    /// What it is.
    pub kind: InstanceKind,
    /// The operating system's id of it.
    pub pid: u32,
    /// It claims queued runs by itself, so nobody has to start a runner.
    pub claims_runs: bool,
    /// Version of the program.
    pub version: String,
    /// The display it belongs to, such as `:0`.
    pub display: Option<String>,
    /// What is off limits for clicks and keys.
    pub windows: Windows,
}

/// A process that uses, or used, the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstanceRow {
    /// Its id.
    pub id: InstanceId,
    /// What it is.
    pub kind: InstanceKind,
    /// The operating system's id of it.
    pub pid: u32,
    /// It claims queued runs by itself.
    pub claims_runs: bool,
    /// Version of the program.
    pub version: String,
    /// The display it belongs to.
    pub display: Option<String>,
    /// What is off limits for clicks and keys.
    pub windows: Windows,
    /// Unix milliseconds.
    pub started_at: i64,
    /// When somebody noticed that it is gone, Unix milliseconds.
    pub gone_at: Option<i64>,
}

/// The table of instances.
pub struct Instances<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<InstanceRow> {
    Ok(InstanceRow {
        id: row.get("id")?,
        kind: row.get("kind")?,
        pid: row.get("pid")?,
        claims_runs: row.get("claims_runs")?,
        version: row.get("version")?,
        display: row.get("display")?,
        windows: Windows {
            ids: json(row, "windows")?,
            pids: json(row, "pids")?,
        },
        started_at: row.get("started_at")?,
        gone_at: row.get("gone_at")?,
    })
}

impl Instances<'_> {
    /// One instance.
    pub fn get(&self, id: &InstanceId) -> Result<InstanceRow> {
        sql::first(
            self.db.connection,
            "SELECT * FROM instances WHERE id = ?1",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("instance", id))
    }

    /// Every process that is alive now, oldest first.
    pub fn alive(&self) -> Result<Vec<InstanceRow>> {
        let mut rows = sql::all(
            self.db.connection,
            "SELECT * FROM instances WHERE gone_at IS NULL ORDER BY started_at, rowid",
            [],
            read,
        )?;
        let mut failure = None;
        rows.retain(|row| {
            self.is_alive(&row.id).unwrap_or_else(|error| {
                failure = Some(error);
                true
            })
        });
        failure.map_or(Ok(rows), Err)
    }

    /// Somebody alive claims queued runs by itself.
    pub fn claimer_alive(&self) -> Result<bool> {
        Ok(self.alive()?.iter().any(|row| row.claims_runs))
    }

    /// The process holds its lock. Asked with a shared lock, so that two who ask do not take each other
    /// for the process. Ids are never used twice, so one that is gone stays gone.
    pub fn is_alive(&self, id: &InstanceId) -> Result<bool> {
        let path = self.db.folder.instances().join(format!("{id}.lock"));
        let file = match File::options().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::file("open", path)(error)),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(Error::file("lock", path)(error)),
        }
    }

    /// Marks the rows of processes that are gone and removes their lock files.
    pub fn sweep(&self) -> Result<()> {
        let unmarked: Vec<InstanceId> = sql::all(
            self.db.connection,
            "SELECT id FROM instances WHERE gone_at IS NULL",
            [],
            |row| row.get(0),
        )?;
        for id in unmarked {
            if !self.is_alive(&id)? {
                self.mark_gone(&id)?;
            }
        }
        Ok(())
    }

    /// The process claims no runs any more, unless one is queued: then false, and nothing changed.
    /// In one transaction, so that whoever queues a run either is served by this process or sees
    /// that it no longer claims any.
    pub fn retire(&self, id: &InstanceId) -> Result<bool> {
        if self.db.runs().any_queued()? {
            return Ok(false);
        }
        sql::execute(
            self.db.connection,
            "UPDATE instances SET claims_runs = 0 WHERE id = ?1",
            [id],
        )?;
        Ok(true)
    }

    /// Replaces what is off limits for clicks and keys because of this process.
    pub fn set_windows(&self, id: &InstanceId, windows: &Windows) -> Result<()> {
        sql::execute(
            self.db.connection,
            "UPDATE instances SET windows = ?2, pids = ?3 WHERE id = ?1",
            (id, Json(&windows.ids), Json(&windows.pids)),
        )
        .map(drop)
    }

    pub(crate) fn insert(&self, id: &InstanceId, new: &NewInstance) -> Result<()> {
        sql::execute(
            self.db.connection,
            "INSERT INTO instances
               (id, kind, pid, claims_runs, version, display, windows, pids, started_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            (
                id,
                new.kind,
                new.pid,
                new.claims_runs,
                &new.version,
                &new.display,
                Json(&new.windows.ids),
                Json(&new.windows.pids),
                self.db.now,
            ),
        )
        .map(drop)
    }

    pub(crate) fn mark_gone(&self, id: &InstanceId) -> Result<()> {
        sql::execute(
            self.db.connection,
            "UPDATE instances SET gone_at = ?2 WHERE id = ?1 AND gone_at IS NULL",
            (id, self.db.now),
        )?;
        let path = self.db.folder.instances().join(format!("{id}.lock"));
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // A file left behind can be locked by nobody any more: it only takes a name.
                tracing::warn!(%error, path = %path.display(), "removing a lock file");
            }
            Ok(()) | Err(_) => {}
        }
        Ok(())
    }
}
