//! Composition and use cases: settings, runs, approvals, runner, guard, diagnostics.
//!
//! [`App`] opens everything for a surface. A surface queues runs ([`App::enqueue`]) and watches them
//! through the store; whoever claims one executes it ([`App::execute`], [`App::serve_runs`]) with a
//! [`GuardPipe`] that cleans up should the process die.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod agents;
mod app;
mod approve;
mod attachments;
mod catalogue;
mod click_test;
mod control;
mod control_frame;
mod conversation;
mod delegate;
pub mod demo;
pub mod desk;
mod display;
mod doctor;
mod ending;
mod execute;
mod export;
mod failure;
pub mod guard;
pub mod hosts;
mod inhibit;
mod keys;
mod lock;
mod log;
mod model;
pub mod notices;
mod ours;
mod own_runs;
mod protected;
mod redact;
pub mod rpc;
mod runner;
mod settings;
mod spec;
mod start;
mod stop;
mod upkeep;
mod workspace;

pub use agents::TOKEN_FILE;
pub use app::{App, Configuration, Flag, Surface, paths, refuse_runs};
pub use catalogue::{Catalogue, Language};
pub use control::{COUNTDOWN, DisplayLock, holders};
pub use control_frame::{CONTROL_TITLE, ControlFrame};
pub use delegate::{CallReport, Delegation, HostCaller, TaskReport, TaskState, host_name};
pub use display::MARKER;
pub use doctor::{CHECKS, Check, Health};
pub use export::Exported;
pub use failure::{Code, Failure, Result};
pub use guard::GuardPipe;
pub use keys::{Keep, KeptIn, KeptKey, Keys, ProviderKey};
pub use log::{LogFile, log_file, log_levels};
pub use model::KeySource;
pub use openspace_agent::{Limit, Limits, Outcome, Pause, Reason, Used, changed_files};
pub use openspace_config::{Environment, Secret, SettingsFile, secrets::Protect};
pub use openspace_grounding::{
    Access, Action, Evidence,
    policy::{Grant, Question, Risk, Subject},
};
pub use openspace_process::{become_subreaper, give_back_start};
pub use openspace_store::{
    Approval, ApprovalId, ApprovalState, CommandKind, Decision, Enqueued, Event as RunEvent, Fence,
    InstanceKind, Run, RunFilter, RunId, RunStatus, Store,
};
pub use ours::ours;
pub use runner::{GuardSeat, IDLE};
pub use settings::{SCHEMA, Settings};
pub use spec::{Display, RunRequest, RunSpec, SpecAttendance};
pub use start::{BACKENDS, Words};
