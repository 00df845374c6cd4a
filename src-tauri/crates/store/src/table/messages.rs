//! What was said in a session, so that Continue and follow-ups can rebuild the conversation.

use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Db, Fence, NewEvent, Result, RunId, SessionId,
    sql::{self, Json, json},
    table::events,
};

/// One message of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MessageRow {
    /// Rises within a session; the order of the conversation.
    pub id: i64,
    /// The conversation.
    pub session: SessionId,
    /// The run that said or heard it, if one did.
    pub run: Option<RunId>,
    /// Who said it, in the words of whoever writes, such as `user` or `assistant`.
    pub role: String,
    /// What was said; the store does not look inside.
    pub content: Value,
    /// Unix milliseconds.
    pub at: i64,
}

/// The table of messages.
pub struct Messages<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    Ok(MessageRow {
        id: row.get("id")?,
        session: row.get("session")?,
        run: row.get("run")?,
        role: row.get("role")?,
        content: json(row, "content")?,
        at: row.get("at")?,
    })
}

impl Messages<'_> {
    /// The whole conversation in order.
    pub fn of_session(&self, session: &SessionId) -> Result<Vec<MessageRow>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM messages WHERE session = ?1 ORDER BY id",
            [session],
            read,
        )
    }

    /// What a run said and heard, in order.
    pub fn of_run(&self, run: &RunId) -> Result<Vec<MessageRow>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM messages
             WHERE session = (SELECT session FROM runs WHERE id = ?1) AND run = ?1 ORDER BY id",
            [run],
            read,
        )
    }

    /// A surface's message.
    pub fn append(
        &self,
        session: &SessionId,
        run: Option<&RunId>,
        role: &str,
        content: &Value,
    ) -> Result<i64> {
        let db = self.db;
        db.sessions().touch(session)?;
        sql::execute(
            db.connection,
            "INSERT INTO messages (session, run, role, content, at) VALUES (?1, ?2, ?3, ?4, ?5)",
            (session, run, role, Json(content), db.now),
        )?;
        let id = db.connection.last_insert_rowid();
        db.events().append(NewEvent {
            topic: events::SESSION.to_owned(),
            key: session.to_string(),
            kind: "session.message".to_owned(),
            v: 1,
            payload: serde_json::json!({ "message": id, "role": role, "run": run }),
        })?;
        Ok(id)
    }

    /// A runner's message, unless it lost the run.
    pub fn append_fenced(&self, fence: &Fence, role: &str, content: &Value) -> Result<i64> {
        self.db.check(fence)?;
        let session = self.db.runs().get(&fence.run)?.session;
        self.append(&session, Some(&fence.run), role, content)
    }
}
