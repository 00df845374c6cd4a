//! What runs were told to do, by any surface.

use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Db, Error, Fence, NewEvent, Result, RunId, RunStatus,
    sql::{self, Json, text_enum},
};

text_enum! {
    /// What a run can be told.
    CommandKind {
        /// End, at once.
        Stop = "stop",
        /// Wait.
        Pause = "pause",
        /// Go on.
        Resume = "resume",
        /// The person takes mouse and keyboard.
        TakeOver = "take_over",
        /// The person gives them back.
        HandBack = "hand_back",
        /// Something said to the run while it works.
        Message = "message",
        /// The answer to the run's question.
        Answer = "answer",
    }
}

impl CommandKind {
    /// Words for the model. They wait for a run that nobody executes.
    pub fn is_said(self) -> bool {
        matches!(self, Self::Message | Self::Answer)
    }
}

/// Something a run was told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Command {
    /// Rises with every command.
    pub id: i64,
    /// The run.
    pub run: RunId,
    /// What to do.
    pub kind: CommandKind,
    /// Parameters.
    pub payload: Value,
    /// Who said so, such as `app` or `cli`.
    pub given_by: String,
    /// Unix milliseconds.
    pub given_at: i64,
    /// When the runner had acted on it, Unix milliseconds.
    pub acknowledged_at: Option<i64>,
}

/// The table of commands.
pub struct Commands<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Command> {
    Ok(Command {
        id: row.get("id")?,
        run: row.get("run")?,
        kind: row.get("kind")?,
        payload: sql::json(row, "payload")?,
        given_by: row.get("given_by")?,
        given_at: row.get("given_at")?,
        acknowledged_at: row.get("acknowledged_at")?,
    })
}

/// Commands nobody has acknowledged, above an id.
pub(crate) fn open_after(connection: &Connection, run: &RunId, id: i64) -> Result<Vec<Command>> {
    sql::all(
        connection,
        "SELECT * FROM commands WHERE run = ?1 AND id > ?2 AND acknowledged_at IS NULL ORDER BY id",
        (run, id),
        read,
    )
}

impl Commands<'_> {
    /// Tells a run something. A run that nobody executes is stopped here and now; a message or an
    /// answer to one is kept until it is continued.
    ///
    /// # Errors
    /// [`Error::WrongStatus`] when the run has ended, and [`Error::Answered`] for words to one that is
    /// done, or about to be: nobody would ever hear them.
    pub fn give(&self, run: &RunId, kind: CommandKind, payload: &Value, from: &str) -> Result<i64> {
        let db = self.db;
        let row = db.runs().get(run)?;
        if kind.is_said() && (row.status == RunStatus::Done || db.runs().has_answered(run)?) {
            return Err(Error::Answered { run: run.clone() });
        }
        if row.status.is_final() && !kind.is_said() {
            return Err(Error::WrongStatus {
                run: run.clone(),
                status: row.status,
                what: "be told anything but messages",
            });
        }
        sql::execute(
            db.connection,
            "INSERT INTO commands (run, kind, payload, given_by, given_at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
            (run, kind, Json(payload), from, db.now),
        )?;
        let id = db.connection.last_insert_rowid();
        let told = json!({ "command": id, "kind": kind, "by": from });
        db.events()
            .append(NewEvent::of_run(run, "run.command", told))?;
        if kind == CommandKind::Stop && row.owner.is_none() {
            self.mark(run, id)?;
            db.runs().stop_unowned(run)?;
        }
        Ok(id)
    }

    /// Takes words back that were said to a run, unless they are in the conversation already. The
    /// words, or none when it is too late.
    pub fn withdraw(&self, id: i64) -> Result<Option<String>> {
        let command = self.get(id)?;
        if !command.kind.is_said() || command.acknowledged_at.is_some() {
            return Ok(None);
        }
        sql::execute(
            self.db.connection,
            "UPDATE commands SET acknowledged_at = ?2,
               payload = json_set(payload, '$.withdrawn', json('true'))
             WHERE id = ?1",
            (id, self.db.now),
        )?;
        let told = json!({ "command": id, "kind": "withdrawn" });
        self.db
            .events()
            .append(NewEvent::of_run(&command.run, "run.command", told))?;
        let text = command.payload.get("text").and_then(Value::as_str);
        Ok(text.map(str::to_owned))
    }

    /// Those of some commands whose words were taken back.
    pub fn withdrawn(&self, ids: &[i64]) -> Result<Vec<Command>> {
        let mut commands = Vec::new();
        for id in ids {
            let command = self.get(*id)?;
            if command.payload.get("withdrawn") == Some(&Value::Bool(true)) {
                commands.push(command);
            }
        }
        Ok(commands)
    }

    /// Commands to the fence's run above an id that it has not acknowledged, oldest first.
    pub fn take(&self, fence: &Fence, after_id: i64) -> Result<Vec<Command>> {
        self.db.check(fence)?;
        open_after(self.db.connection, &fence.run, after_id)
    }

    /// Says that a command was acted on.
    pub fn acknowledge(&self, fence: &Fence, id: i64) -> Result<()> {
        self.db.check(fence)?;
        self.mark(&fence.run, id)
    }

    /// Commands to a run that nobody has acknowledged, oldest first.
    pub fn open(&self, run: &RunId) -> Result<Vec<Command>> {
        open_after(self.db.connection, run, 0)
    }

    /// The answer that was given from here under this name of the giver's own.
    pub fn by_key(&self, from: &str, key: &str) -> Result<Option<Command>> {
        sql::first(
            self.db.connection,
            "SELECT * FROM commands
             WHERE given_by = ?1 AND kind = ?2 AND json_extract(payload, '$.key') = ?3
             ORDER BY id LIMIT 1",
            (from, CommandKind::Answer, key),
            read,
        )
    }

    /// One command.
    pub fn get(&self, id: i64) -> Result<Command> {
        sql::first(
            self.db.connection,
            "SELECT * FROM commands WHERE id = ?1",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("command", &id))
    }

    fn mark(&self, run: &RunId, id: i64) -> Result<()> {
        sql::execute(
            self.db.connection,
            "UPDATE commands SET acknowledged_at = ?3
             WHERE run = ?1 AND id = ?2 AND acknowledged_at IS NULL",
            (run, id, self.db.now),
        )
        .map(drop)
    }

    /// A stop or pause of an earlier execution must not hit the next one.
    pub(crate) fn drop_stale(&self, run: &RunId) -> Result<()> {
        sql::execute(
            self.db.connection,
            "UPDATE commands SET acknowledged_at = ?2
             WHERE run = ?1 AND acknowledged_at IS NULL AND kind NOT IN (?3, ?4)",
            (run, self.db.now, CommandKind::Message, CommandKind::Answer),
        )
        .map(drop)
    }
}
