//! What a call sees: one transaction with a handle per table.

use std::cell::Cell;

use rusqlite::Connection;

use crate::{
    Approvals, Artefacts, Changes, Clients, Commands, Error, Events, Frames, InstanceId, Instances,
    Messages, ModelCalls, Result, Rules, RunId, Runs, Sessions, Tasks, UiState, sql, store::Folder,
};

/// One transaction. Handles borrow it; everything they write is committed together, or not at all
/// when the call answers with an error.
pub struct Db<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) folder: &'a Folder,
    /// Time of the transaction.
    pub(crate) now: i64,
    /// Whether it wrote an event, so that this process's watches look once it is committed.
    pub(crate) appended: Cell<bool>,
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident: $handle:ident,)*) => {
        impl Db<'_> {$(
            $(#[$doc])*
            pub fn $name(&self) -> $handle<'_> {
                $handle { db: self }
            }
        )*}
    };
}

handles! {
    /// Processes of ours.
    instances: Instances,
    /// Conversation threads.
    sessions: Sessions,
    /// What was asked for.
    tasks: Tasks,
    /// Executions of tasks.
    runs: Runs,
    /// What was said in sessions.
    messages: Messages,
    /// What happened.
    events: Events,
    /// What runs were told to do.
    commands: Commands,
    /// Questions to the person.
    approvals: Approvals,
    /// Screenshots.
    frames: Frames,
    /// Files that runs produced.
    artefacts: Artefacts,
    /// Files that runs changed.
    changes: Changes,
    /// Programs that connected to our MCP server.
    clients: Clients,
    /// Calls of models and what they cost.
    model_calls: ModelCalls,
    /// Standing permissions and prohibitions.
    rules: Rules,
    /// What windows want to find again.
    ui_state: UiState,
}

impl Db<'_> {
    /// Time of this transaction, Unix milliseconds.
    pub fn now(&self) -> i64 {
        self.now
    }

    /// The proof that `owner` executes a run, for the process of theirs that no longer has it.
    pub fn fence(&self, run: &RunId, owner: &InstanceId) -> Result<Option<Fence>> {
        let row = self.runs().get(run)?;
        Ok((row.owner.as_ref() == Some(owner)).then(|| Fence {
            run: run.clone(),
            owner: owner.clone(),
            claims: row.claims,
        }))
    }

    /// The run is still the fence's: otherwise [`Error::LostRun`]. In a writing call it stays so until
    /// the end of the call.
    pub fn check(&self, fence: &Fence) -> Result<()> {
        sql::first(
            self.connection,
            "SELECT 1 FROM runs WHERE id = ?1 AND owner = ?2 AND claims = ?3",
            (&fence.run, &fence.owner, fence.claims),
            |_| Ok(()),
        )?
        .ok_or_else(|| fence.lost())
    }

    /// The next `number` of a table that is listed in the order of insertion.
    pub(crate) fn next_number(&self, table: &'static str) -> Result<i64> {
        let highest = sql::first(
            self.connection,
            &format!("SELECT coalesce(max(number), 0) FROM {table}"),
            [],
            |row| row.get::<_, i64>(0),
        )?;
        Ok(highest.unwrap_or(0) + 1)
    }
}

/// Proof that an instance claimed a run. Every write of a runner names it, and fails with
/// [`Error::LostRun`] once the run belongs to somebody else, to nobody, or to a later claim of the
/// same instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    pub(crate) run: RunId,
    pub(crate) owner: InstanceId,
    pub(crate) claims: i64,
}

impl Fence {
    /// The claimed run.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The instance that claimed it.
    pub fn owner(&self) -> &InstanceId {
        &self.owner
    }

    /// How often the run had been claimed by then, this time included: tells one execution of it from
    /// the next.
    pub fn claims(&self) -> i64 {
        self.claims
    }

    pub(crate) fn lost(&self) -> Error {
        Error::LostRun {
            run: self.run.clone(),
        }
    }
}
