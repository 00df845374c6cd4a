//! Files that runs changed, with what they held before. Written by [`crate::Store::keep_change`].

use std::path::PathBuf;

use rusqlite::{
    Row, ToSql,
    types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef},
};

use crate::{
    ChangeId, Db, Error, Fence, NewEvent, Result, RunId,
    sql::{self, text_enum},
};

text_enum! {
    /// What happened to a file.
    ChangeKind {
        /// It did not exist before.
        Created = "created",
        /// Its content changed.
        Modified = "modified",
        /// It no longer exists.
        Deleted = "deleted",
    }
}

/// How a run left a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Left {
    /// There is no file.
    Absent,
    /// A file whose BLAKE3, hexadecimal, is this.
    Holding(String),
}

const ABSENT: &str = "absent";

impl ToSql for Left {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Absent => ABSENT.into(),
            Self::Holding(hash) => hash.as_str().into(),
        })
    }
}

impl FromSql for Left {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(match value.as_str()? {
            ABSENT => Self::Absent,
            hash => Self::Holding(hash.to_owned()),
        })
    }
}

/// A file that a run changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its id.
    pub id: ChangeId,
    /// The run.
    pub run: RunId,
    /// Number of the step.
    pub step: u32,
    /// The file.
    pub path: PathBuf,
    /// What happened to it.
    pub kind: ChangeKind,
    /// BLAKE3 of the old content, hexadecimal; none when it was not kept.
    pub before_hash: Option<String>,
    /// Unix permission bits before.
    pub before_mode: Option<u32>,
    /// How the run left it; none while it is being changed, or when the run died doing so.
    pub left: Option<Left>,
    /// Unix milliseconds.
    pub at: i64,
    /// When the old content was brought back, Unix milliseconds.
    pub undone_at: Option<i64>,
}

/// A change about to happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChange {
    /// Number of the step.
    pub step: u32,
    /// The file, absolute.
    pub path: PathBuf,
    /// What is going to happen to it.
    pub kind: ChangeKind,
    /// The content before, where there is one and it is kept.
    pub before: Option<bytes::Bytes>,
}

/// The table of changes.
pub struct Changes<'a> {
    pub(crate) db: &'a Db<'a>,
}

/// A path as its bytes, because not every path is text.
struct PathColumn(PathBuf);

impl ToSql for PathColumn {
    #[cfg(unix)]
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        use std::os::unix::ffi::OsStrExt;

        Ok(self.0.as_os_str().as_bytes().into())
    }

    #[cfg(not(unix))]
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = self
            .0
            .to_str()
            .ok_or_else(|| rusqlite::Error::InvalidPath(self.0.clone()))?;
        Ok(text.as_bytes().into())
    }
}

impl FromSql for PathColumn {
    #[cfg(unix)]
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        use std::os::unix::ffi::OsStrExt;

        Ok(Self(PathBuf::from(std::ffi::OsStr::from_bytes(
            value.as_blob()?,
        ))))
    }

    #[cfg(not(unix))]
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = std::str::from_utf8(value.as_blob()?)
            .map_err(|error| rusqlite::types::FromSqlError::Other(Box::new(error)))?;
        Ok(Self(PathBuf::from(text)))
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<Change> {
    Ok(Change {
        id: row.get("id")?,
        run: row.get("run")?,
        step: row.get("step")?,
        path: row.get::<_, PathColumn>("path")?.0,
        kind: row.get("kind")?,
        before_hash: row.get("before_hash")?,
        before_mode: row.get("before_mode")?,
        left: row.get("after")?,
        at: row.get("at")?,
        undone_at: row.get("undone_at")?,
    })
}

impl Changes<'_> {
    /// One change.
    pub fn get(&self, id: &ChangeId) -> Result<Change> {
        sql::first(
            self.db.connection,
            "SELECT * FROM changes WHERE id = ?1 AND state = 'active'",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("change", id))
    }

    /// The change whose id begins like this.
    pub fn find(&self, prefix: &str) -> Result<Change> {
        let id = sql::unique_id(self.db.connection, "changes", "change", prefix)?;
        self.get(&id.parse().map_err(|_| Error::not_found("change", prefix))?)
    }

    /// Changes of a run, oldest first. To undo them all, begin with the last.
    pub fn of_run(&self, run: &RunId) -> Result<Vec<Change>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM changes WHERE run = ?1 AND state = 'active' ORDER BY number",
            [run],
            read,
        )
    }

    /// Says how the run left the file, which is what undo compares with.
    pub fn set_left(&self, fence: &Fence, id: &ChangeId, left: &Left) -> Result<()> {
        self.db.check(fence)?;
        let rows = sql::execute(
            self.db.connection,
            "UPDATE changes SET after = ?3 WHERE id = ?1 AND run = ?2",
            (id, &fence.run, left),
        )?;
        sql::found("change", id, rows)
    }

    pub(crate) fn insert(
        &self,
        fence: &Fence,
        id: &ChangeId,
        new: &NewChange,
        mode: Option<u32>,
    ) -> Result<()> {
        let db = self.db;
        db.check(fence)?;
        let hash = new
            .before
            .as_ref()
            .map(|before| blake3::hash(before).to_hex().to_string());
        // Without a file there is nothing that could be pending.
        let state = if hash.is_some() { "pending" } else { "active" };
        sql::execute(
            db.connection,
            "INSERT INTO changes
               (id, number, run, step, path, kind, before_hash, before_mode, state, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
            (
                id,
                db.next_number("changes")?,
                &fence.run,
                new.step,
                PathColumn(new.path.clone()),
                new.kind,
                hash,
                mode,
                state,
                db.now,
            ),
        )
        .map(drop)
    }

    pub(crate) fn mark_undone(&self, change: &Change) -> Result<()> {
        sql::execute(
            self.db.connection,
            "UPDATE changes SET undone_at = ?2 WHERE id = ?1",
            (&change.id, self.db.now),
        )?;
        let told = serde_json::json!({ "change": change.id });
        self.db
            .events()
            .append(NewEvent::of_run(&change.run, "run.change_undone", told))
            .map(drop)
    }
}
