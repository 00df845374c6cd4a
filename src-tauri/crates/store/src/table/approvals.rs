//! Questions to the person: stored before they are shown, answered once, never expiring.

use rusqlite::Row;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    ApprovalId, Db, Error, Fence, NewEvent, Result, RunId,
    sql::{self, Json, text_enum},
};

text_enum! {
    /// Where a question stands.
    ApprovalState {
        /// Waits for an answer, for as long as it takes.
        Open = "open",
        /// Allowed this time.
        AllowedOnce = "allowed_once",
        /// Allowed for the rest of the run.
        AllowedForRun = "allowed_for_run",
        /// Not allowed.
        Denied = "denied",
        /// The run ended before an answer came.
        Withdrawn = "withdrawn",
    }
}

text_enum! {
    /// What a person can answer.
    Decision {
        /// This time.
        AllowOnce = "allow_once",
        /// For the rest of the run.
        AllowForRun = "allow_for_run",
        /// No.
        Deny = "deny",
    }
}

/// A question about one action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approval {
    /// Its id.
    pub id: ApprovalId,
    /// The run that asks.
    pub run: RunId,
    /// Number of the step.
    pub step: u32,
    /// The model's id of the call.
    pub call: String,
    /// The exact action, as whoever asks writes it.
    pub question: Value,
    /// How risky, in the words of whoever asks.
    pub risk: String,
    /// Cannot be brought back.
    pub irreversible: bool,
    /// Its command may be changed before it is allowed.
    pub editable: bool,
    /// Where it stands.
    pub state: ApprovalState,
    /// The command the person allowed in place of the one that was asked about.
    pub edited: Option<String>,
    /// What the person added.
    pub note: Option<String>,
    /// Who answered, such as `app` or `terminal`.
    pub answered_by: Option<String>,
    /// Unix milliseconds.
    pub asked_at: i64,
    /// Unix milliseconds.
    pub answered_at: Option<i64>,
}

/// A question to be asked.
#[derive(Debug, Clone, PartialEq)]
pub struct NewApproval {
    /// Number of the step.
    pub step: u32,
    /// The model's id of the call.
    pub call: String,
    /// The exact action, as whoever asks writes it.
    pub question: Value,
    /// How risky, in the words of whoever asks.
    pub risk: String,
    /// Cannot be brought back.
    pub irreversible: bool,
    /// Whoever asks runs what the person writes instead of the command.
    pub editable: bool,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What the person decided.
    pub decision: Decision,
    /// The command to be run instead; only for [`Decision::AllowOnce`] of an editable question.
    pub edited: Option<String>,
    /// What the person added; goes to the model.
    pub note: Option<String>,
}

/// The table of approvals.
pub struct Approvals<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Approval> {
    Ok(Approval {
        id: row.get("id")?,
        run: row.get("run")?,
        step: row.get("step")?,
        call: row.get("call")?,
        question: sql::json(row, "question")?,
        risk: row.get("risk")?,
        irreversible: row.get("irreversible")?,
        editable: row.get("editable")?,
        state: row.get("state")?,
        edited: row.get("edited")?,
        note: row.get("note")?,
        answered_by: row.get("answered_by")?,
        asked_at: row.get("asked_at")?,
        answered_at: row.get("answered_at")?,
    })
}

impl Approvals<'_> {
    /// One question.
    pub fn get(&self, id: &ApprovalId) -> Result<Approval> {
        sql::first(
            self.db.connection,
            "SELECT * FROM approvals WHERE id = ?1",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("approval", id))
    }

    /// The question whose id begins like this.
    pub fn find(&self, prefix: &str) -> Result<Approval> {
        let id = sql::unique_id(self.db.connection, "approvals", "approval", prefix)?;
        self.get(
            &id.parse()
                .map_err(|_| Error::not_found("approval", prefix))?,
        )
    }

    /// Every open question, oldest first.
    pub fn pending(&self) -> Result<Vec<Approval>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM approvals WHERE state = 'open' ORDER BY number",
            [],
            read,
        )
    }

    /// The newest questions, answered ones too, newest first.
    pub fn recent(&self, limit: u32) -> Result<Vec<Approval>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM approvals ORDER BY number DESC LIMIT ?1",
            [limit],
            read,
        )
    }

    /// Every question of a run, oldest first.
    pub fn of_run(&self, run: &RunId) -> Result<Vec<Approval>> {
        sql::all(
            self.db.connection,
            "SELECT * FROM approvals WHERE run = ?1 ORDER BY number",
            [run],
            read,
        )
    }

    /// Asks. The event that tells surfaces is written in the same transaction.
    pub fn ask(&self, fence: &Fence, new: &NewApproval) -> Result<ApprovalId> {
        let db = self.db;
        db.check(fence)?;
        let id = ApprovalId::random();
        sql::execute(
            db.connection,
            "INSERT INTO approvals
               (id, number, run, step, call, question, risk, irreversible, editable, state, asked_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 'open', ?10)",
            (
                &id,
                db.next_number("approvals")?,
                &fence.run,
                new.step,
                &new.call,
                Json(&new.question),
                &new.risk,
                new.irreversible,
                new.editable,
                db.now,
            ),
        )?;
        let told = json!({ "approval": id });
        db.events()
            .append(NewEvent::of_run(&fence.run, "run.approval_asked", told))?;
        Ok(id)
    }

    /// Answers. True for the first answer only; a later one, or one after the run ended, changes
    /// nothing.
    ///
    /// # Errors
    /// [`Error::NotEditable`] where nobody would run the command of the answer.
    pub fn answer(&self, id: &ApprovalId, answer: &Answer, by: &str) -> Result<bool> {
        let state = match answer.decision {
            Decision::AllowOnce => ApprovalState::AllowedOnce,
            Decision::AllowForRun => ApprovalState::AllowedForRun,
            Decision::Deny => ApprovalState::Denied,
        };
        let asked = self.get(id)?;
        let runs_edited = asked.editable && answer.decision == Decision::AllowOnce;
        if answer.edited.is_some() && !runs_edited {
            return Err(Error::NotEditable {
                approval: id.clone(),
            });
        }
        let rows = sql::execute(
            self.db.connection,
            "UPDATE approvals SET state = ?2, edited = ?3, note = ?4, answered_by = ?5, answered_at = ?6
             WHERE id = ?1 AND state = 'open'",
            (id, state, &answer.edited, &answer.note, by, self.db.now),
        )?;
        if rows == 0 {
            return Ok(false);
        }
        self.tell(&asked.run, id, state)?;
        Ok(true)
    }

    /// The run ended: its open questions are void.
    pub(crate) fn withdraw(&self, run: &RunId) -> Result<()> {
        let withdrawn: Vec<ApprovalId> = sql::all(
            self.db.connection,
            "UPDATE approvals SET state = 'withdrawn', answered_at = ?2
             WHERE run = ?1 AND state = 'open' RETURNING id",
            (run, self.db.now),
            |row| row.get(0),
        )?;
        for id in withdrawn {
            self.tell(run, &id, ApprovalState::Withdrawn)?;
        }
        Ok(())
    }

    fn tell(&self, run: &RunId, id: &ApprovalId, state: ApprovalState) -> Result<()> {
        let told = json!({ "approval": id, "state": state });
        self.db
            .events()
            .append(NewEvent::of_run(run, "run.approval_answered", told))
            .map(drop)
    }
}
