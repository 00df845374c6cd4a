//! What happened, in one order for the machine and without gaps per subject.

use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Db, Fence, Result, RunId,
    sql::{self, Json, json},
};

/// Topic of everything about a run; the key is the run's id.
pub(crate) const RUN: &str = "run";
/// Topic of everything about a session; the key is the session's id.
pub(crate) const SESSION: &str = "session";

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The global cursor: rises with every event of every process.
    pub id: i64,
    /// Kind of subject, such as `run`.
    pub topic: String,
    /// The subject, such as a run's id.
    pub key: String,
    /// Counts from 1 without gaps per topic and key.
    pub seq: i64,
    /// When, Unix milliseconds.
    pub at: i64,
    /// What happened, such as `run.status`.
    pub kind: String,
    /// Version of the payload's shape.
    pub v: u32,
    /// Parameters, not sentences.
    pub payload: Value,
}

/// An event to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEvent {
    /// Kind of subject, such as `run`.
    pub topic: String,
    /// The subject, such as a run's id.
    pub key: String,
    /// What happened, such as `run.status`.
    pub kind: String,
    /// Version of the payload's shape.
    pub v: u32,
    /// Parameters, not sentences.
    pub payload: Value,
}

impl NewEvent {
    /// An event about a run, in version 1 of its kind.
    pub fn of_run(run: &RunId, kind: impl Into<String>, payload: Value) -> Self {
        Self {
            topic: RUN.to_owned(),
            key: run.to_string(),
            kind: kind.into(),
            v: 1,
            payload,
        }
    }
}

/// The table of events. The store itself writes, all in version 1: `run.status {status, reason}`,
/// `run.command {command, kind, by}`, `run.approval_asked {approval}`, `run.approval_answered
/// {approval, state}` and, under the topic `session`, `session.message {message, role, run}`.
pub struct Events<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Event> {
    Ok(Event {
        id: row.get("id")?,
        topic: row.get("topic")?,
        key: row.get("key")?,
        seq: row.get("seq")?,
        at: row.get("at")?,
        kind: row.get("kind")?,
        v: row.get("v")?,
        payload: json(row, "payload")?,
    })
}

impl Events<'_> {
    /// Events of all subjects above a cursor, in the order of ids.
    pub fn after(&self, id: i64, limit: u32) -> Result<Vec<Event>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM events WHERE id > ?1 ORDER BY id LIMIT ?2",
            (id, limit),
            read,
        )
    }

    /// Events of one subject with a greater `seq`, in order.
    pub fn of(&self, topic: &str, key: &str, after_seq: i64, limit: u32) -> Result<Vec<Event>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM events WHERE topic = ?1 AND key = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4",
            (topic, key, after_seq, limit),
            read,
        )
    }

    /// How often something happened to a run, and what belonged to it the first times.
    pub fn count(&self, run: &RunId, kind: &str, first: u32) -> Result<(u64, Vec<Value>)> {
        let count = sql::first(
            self.db.connection,
            "SELECT count(*) FROM events WHERE topic = ?1 AND key = ?2 AND kind = ?3",
            (RUN, run, kind),
            |row| row.get::<_, i64>(0),
        )?;
        let payloads = sql::all(
            self.db.connection,
            "SELECT payload FROM events WHERE topic = ?1 AND key = ?2 AND kind = ?3
             ORDER BY seq LIMIT ?4",
            (RUN, run, kind, first),
            |row| json(row, "payload"),
        )?;
        Ok((count.unwrap_or(0).max(0) as u64, payloads))
    }

    /// The id of the newest event, 0 where there is none: where a new watch begins.
    pub fn last_id(&self) -> Result<i64> {
        let id = sql::first(
            self.db.connection,
            "SELECT coalesce(max(id), 0) FROM events",
            [],
            |row| row.get(0),
        )?;
        Ok(id.unwrap_or(0))
    }

    /// Writes an event of anybody.
    pub fn append(&self, new: NewEvent) -> Result<Event> {
        let db = self.db;
        // The one writer at a time makes reading the last number and using the next one safe.
        let seq: i64 = sql::first(
            db.connection,
            "SELECT coalesce(max(seq), 0) + 1 FROM events WHERE topic = ?1 AND key = ?2",
            (&new.topic, &new.key),
            |row| row.get(0),
        )?
        .unwrap_or(1);
        sql::execute(
            db.connection,
            "INSERT INTO events (topic, key, seq, at, kind, v, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                &new.topic,
                &new.key,
                seq,
                db.now,
                &new.kind,
                new.v,
                Json(&new.payload),
            ),
        )?;
        db.appended.set(true);
        Ok(Event {
            id: db.connection.last_insert_rowid(),
            topic: new.topic,
            key: new.key,
            seq,
            at: db.now,
            kind: new.kind,
            v: new.v,
            payload: new.payload,
        })
    }

    /// Writes an event of a runner, unless it lost the run.
    pub fn append_fenced(&self, fence: &Fence, new: NewEvent) -> Result<Event> {
        self.db.check(fence)?;
        self.append(new)
    }
}
