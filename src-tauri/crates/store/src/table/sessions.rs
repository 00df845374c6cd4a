//! Conversation threads.

use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Db, Error, Result, SessionId,
    sql::{self, Json, json},
};

/// A conversation thread: the app's composer, a host's messages or a chat channel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// What a person sees in a list.
    pub title: String,
    /// Where it came from, such as `app`, `cli` or `mcp:claude-code`.
    pub origin: String,
    /// What its surface wants to remember.
    pub metadata: Value,
    /// Unix milliseconds.
    pub created_at: i64,
    /// Unix milliseconds of the newest message or run.
    pub updated_at: i64,
}

/// The table of sessions.
pub struct Sessions<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: row.get("id")?,
        title: row.get("title")?,
        origin: row.get("origin")?,
        metadata: json(row, "metadata")?,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
    })
}

impl Sessions<'_> {
    /// Begins a session.
    pub fn create(&self, title: &str, origin: &str, metadata: &Value) -> Result<SessionId> {
        let id = SessionId::random();
        sql::execute(
            self.db.connection,
            "INSERT INTO sessions (id, title, origin, metadata, created_at, updated_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
            (&id, title, origin, Json(metadata), self.db.now),
        )?;
        Ok(id)
    }

    /// One session.
    pub fn get(&self, id: &SessionId) -> Result<Session> {
        sql::first(
            self.db.connection,
            "SELECT * FROM sessions WHERE id = ?1",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("session", id))
    }

    /// The session whose id begins like this.
    pub fn find(&self, prefix: &str) -> Result<Session> {
        let id = sql::unique_id(self.db.connection, "sessions", "session", prefix)?;
        self.get(
            &id.parse()
                .map_err(|_| Error::not_found("session", prefix))?,
        )
    }

    /// The sessions used last, newest first.
    pub fn recent(&self, limit: u32) -> Result<Vec<Session>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM sessions ORDER BY updated_at DESC, id LIMIT ?1",
            [limit],
            read,
        )
    }

    /// Gives it another title.
    pub fn rename(&self, id: &SessionId, title: &str) -> Result<()> {
        sql::found(
            "session",
            id,
            sql::execute(
                self.db.connection,
                "UPDATE sessions SET title = ?2 WHERE id = ?1",
                (id, title),
            )?,
        )
    }

    /// Replaces what its surface remembers.
    pub fn set_metadata(&self, id: &SessionId, metadata: &Value) -> Result<()> {
        sql::found(
            "session",
            id,
            sql::execute(
                self.db.connection,
                "UPDATE sessions SET metadata = ?2 WHERE id = ?1",
                (id, Json(metadata)),
            )?,
        )
    }

    /// It was used now.
    pub(crate) fn touch(&self, id: &SessionId) -> Result<()> {
        sql::found(
            "session",
            id,
            sql::execute(
                self.db.connection,
                "UPDATE sessions SET updated_at = max(updated_at, ?2) WHERE id = ?1",
                (id, self.db.now),
            )?,
        )
    }
}
