//! The one database: every SQL statement, every file row, every event.
//!
//! [`Store`] opens a data folder; [`Store::call`] and [`Store::read`] give a [`Db`], whose handles are
//! one file per table under `table`. An [`Instance`] says that a process is alive, a [`Fence`] that it
//! still executes a run. [`Watch`] and [`CommandWatch`] notice what other processes wrote. Files that
//! rows point at are kept and read by methods of [`Store`] itself, because bytes are written before a
//! transaction begins.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod command_watch;
mod connection;
mod db;
mod delete;
mod error;
mod files;
pub mod id;
mod instance;
mod migrate;
mod sql;
mod store;
mod table;
mod undo;
mod watch;

pub use command_watch::CommandWatch;
pub use db::{Db, Fence};
pub use error::{Error, Result};
pub use files::{Prune, Pruned};
pub use id::{
    ApprovalId, ArtefactId, ChangeId, FrameId, InstanceId, InvalidId, RuleId, RunId, SessionId,
    TaskId,
};
pub use instance::Instance;
pub use store::{Clock, Store};
pub use table::{
    approvals::{Answer, Approval, ApprovalState, Approvals, Decision, NewApproval},
    artefacts::{Artefact, Artefacts, NewArtefact},
    changes::{Change, ChangeKind, Changes, Left, NewChange},
    clients::{Client, Clients},
    commands::{Command, CommandKind, Commands},
    events::{Event, Events, NewEvent},
    frames::{Frame, Frames, NewFrame},
    instances::{InstanceKind, InstanceRow, Instances, NewInstance, Windows},
    messages::{MessageRow, Messages},
    model_calls::{ModelCall, ModelCalls, NewModelCall, Usage},
    rules::{Rule, RuleDecision, Rules},
    runs::{Enqueued, NewRun, Run, RunFilter, RunStatus, Runs},
    sessions::{Session, Sessions},
    tasks::{Task, Tasks},
    ui_state::UiState,
};
pub use watch::Watch;
