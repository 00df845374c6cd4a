//! What a tool is given besides its arguments.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use openspace_store::{ArtefactId, ChangeId, FrameId, RunId};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{Action, ChangeKind, Image, ToolError};

/// Surroundings of one call.
#[derive(Clone)]
pub struct CallContext {
    /// The run it belongs to.
    pub run: RunId,
    /// Number of the step, from 1.
    pub step: u32,
    /// The model's id of the call.
    pub call: String,
    /// Cancelled when the run stops or the call is no longer wanted: return at once.
    pub cancel: CancellationToken,
    /// Where permission is asked for.
    pub gate: Arc<dyn Gate>,
    /// Where frames, big outputs and before-copies are kept.
    pub keep: Arc<dyn Keep>,
    /// Where files may be.
    pub folders: Arc<Folders>,
}

/// Folders of a run, absolute, links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Where relative paths start and commands run.
    pub workspace: PathBuf,
    /// Further folders that may be read and written without asking.
    pub allowed: Vec<PathBuf>,
    /// Never readable or writable: our data folder, settings, tokens, credentials, hosts' settings.
    pub protected: Vec<PathBuf>,
    /// A folder only this run uses, for what is thrown away afterwards.
    pub scratch: PathBuf,
}

/// How a permission was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// At once, by policy.
    Immediate,
    /// A person was asked, and meanwhile the world may have changed.
    AfterWait,
}

/// A permission that was not given. The text goes to the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not allowed: {reason}")]
pub struct Denied {
    /// Why, and what would be allowed instead.
    pub reason: String,
}

/// Where a tool asks before it acts.
#[async_trait]
pub trait Gate: Send + Sync {
    /// Returns once the policy, or a person, has allowed all of `actions`.
    async fn permit(&self, actions: &[Action]) -> Result<Permit, Denied>;

    /// The run still owns the machine: called right before each input event or command, it is
    /// cheap (well below a millisecond) and answers false once the run was stopped, paused or lost.
    fn may_act(&self) -> bool;

    /// Returns once the run may move the mouse, or with the reason why it may not.
    async fn acquire_control(&self) -> Result<(), ToolError>;
}

/// A screenshot to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewFrame {
    /// The picture as sent to the model.
    pub image: Image,
    /// Name of the display or monitor.
    pub display: String,
    /// The three pixel spaces of the frame, as the gui back end writes them.
    pub geometry: Value,
    /// BLAKE3 of the unscaled pixels, hexadecimal.
    pub hash: String,
}

/// A file change to be kept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChange {
    /// The file.
    pub path: PathBuf,
    /// What happened to it.
    pub kind: ChangeKind,
    /// The content before, where it was kept.
    pub before: Option<Bytes>,
}

/// Where calls keep what outlives them.
#[async_trait]
pub trait Keep: Send + Sync {
    /// Keeps a screenshot.
    async fn frame(&self, frame: NewFrame) -> Result<FrameId, ToolError>;

    /// Keeps a file whole, under a name a person can read.
    async fn artefact(
        &self,
        name: &str,
        media_type: &str,
        data: Bytes,
    ) -> Result<ArtefactId, ToolError>;

    /// Reads part of an artefact of the same run.
    async fn read_artefact(
        &self,
        id: &ArtefactId,
        offset: u64,
        length: u64,
    ) -> Result<Bytes, ToolError>;

    /// Keeps what a file held before it was changed. Called before the change happens.
    async fn change(&self, change: NewChange) -> Result<ChangeId, ToolError>;

    /// Tells the guard about a process group of this run, so that it dies with the run even when
    /// the runner is killed.
    async fn group_started(&self, pid: u32) -> Result<(), ToolError>;

    /// The group is gone, or may outlive the run from now on.
    async fn group_ended(&self, pid: u32);

    /// Tells the guard what has to be released should the runner be killed: the gui back end's own
    /// description of pressed keys, buttons and changed keyboard maps. `Null` when nothing is held.
    fn held(&self, state: &Value);
}
