//! What was asked for.

use rusqlite::Row;
use serde::{Deserialize, Serialize};

use crate::{Db, Error, Result, SessionId, TaskId, sql};

/// What was asked for; it may have several runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// The words of whoever asked.
    pub text: String,
    /// Who asked, such as `app`, `cli` or `mcp:claude-code`.
    pub origin: String,
    /// The caller's own name of the request: repeating it does not repeat the task.
    pub idempotency_key: Option<String>,
    /// Unix milliseconds.
    pub created_at: i64,
}

/// The table of tasks; [`crate::Runs::enqueue`] writes it.
pub struct Tasks<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Task> {
    Ok(Task {
        id: row.get("id")?,
        session: row.get("session")?,
        text: row.get("text")?,
        origin: row.get("origin")?,
        idempotency_key: row.get("idempotency_key")?,
        created_at: row.get("created_at")?,
    })
}

impl Tasks<'_> {
    /// One task.
    pub fn get(&self, id: &TaskId) -> Result<Task> {
        sql::first(
            self.db.connection,
            "SELECT * FROM tasks WHERE id = ?1",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("task", id))
    }

    /// The task whose id begins like this.
    pub fn find(&self, prefix: &str) -> Result<Task> {
        let id = sql::unique_id(self.db.connection, "tasks", "task", prefix)?;
        self.get(&id.parse().map_err(|_| Error::not_found("task", prefix))?)
    }

    /// Tasks of a session, oldest first.
    pub fn of_session(&self, session: &SessionId) -> Result<Vec<Task>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM tasks WHERE session = ?1 ORDER BY created_at, rowid",
            [session],
            read,
        )
    }

    /// The task that `origin` asked for under this key.
    pub fn by_key(&self, origin: &str, key: &str) -> Result<Option<Task>> {
        sql::first(
            self.db.connection,
            "SELECT * FROM tasks WHERE origin = ?1 AND idempotency_key = ?2",
            (origin, key),
            read,
        )
    }

    pub(crate) fn insert(
        &self,
        session: &SessionId,
        text: &str,
        origin: &str,
        key: Option<&str>,
    ) -> Result<TaskId> {
        let id = TaskId::random();
        sql::execute(
            self.db.connection,
            "INSERT INTO tasks (id, session, text, origin, idempotency_key, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (&id, session, text, origin, key, self.db.now),
        )?;
        Ok(id)
    }
}
