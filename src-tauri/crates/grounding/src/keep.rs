//! Keeping what calls leave behind, in the store.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use openspace_store::{ArtefactId, ChangeId, Fence, FrameId, NewArtefact, Store};
use serde_json::Value;

use crate::{ChangeKind, Keep, NewChange, NewFrame, ToolError};

/// Whoever has to be told what a run holds, so that it can be undone when the runner dies.
pub trait GuardLink: Send + Sync {
    /// A process group was started.
    fn group_started(&self, pid: u32);
    /// It ended, or may outlive the run.
    fn group_ended(&self, pid: u32);
    /// What is pressed or changed from now on; `Null` when nothing.
    fn held(&self, state: &Value);
}

/// The [`Keep`] of one call.
pub struct StoreKeep {
    store: Store,
    fence: Fence,
    step: u32,
    guard: Arc<dyn GuardLink>,
}

impl StoreKeep {
    /// Keeps for a call of `step`.
    pub fn new(store: Store, fence: Fence, step: u32, guard: Arc<dyn GuardLink>) -> Self {
        Self {
            store,
            fence,
            step,
            guard,
        }
    }
}

fn failed(error: &openspace_store::Error) -> ToolError {
    match error {
        openspace_store::Error::LostRun { .. } => ToolError::Cancelled,
        openspace_store::Error::NotFound { .. } | openspace_store::Error::Pruned { .. } => {
            ToolError::NotFound(error.to_string())
        }
        _ => ToolError::Failed(format!("the result could not be kept: {error}")),
    }
}

#[async_trait]
impl Keep for StoreKeep {
    async fn frame(&self, frame: NewFrame) -> Result<FrameId, ToolError> {
        let (fence, step) = (self.fence.clone(), self.step);
        let keep = move |store: &Store| {
            let new = openspace_store::NewFrame {
                step,
                media_type: frame.image.media_type.as_str().to_owned(),
                data: frame.image.data,
                width: frame.image.width,
                height: frame.image.height,
                display: frame.display,
                geometry: frame.geometry,
                hash: frame.hash,
            };
            store.keep_frame(&fence, &new)
        };
        self.store.spawn(keep).await.map_err(|error| failed(&error))
    }

    async fn artefact(
        &self,
        name: &str,
        media_type: &str,
        data: Bytes,
    ) -> Result<ArtefactId, ToolError> {
        let new = NewArtefact {
            step: self.step,
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            data,
        };
        let fence = self.fence.clone();
        self.store
            .spawn(move |store| store.keep_artefact(&fence, &new))
            .await
            .map_err(|error| failed(&error))
    }

    async fn read_artefact(
        &self,
        id: &ArtefactId,
        offset: u64,
        length: u64,
    ) -> Result<Bytes, ToolError> {
        let (id, run) = (id.clone(), self.fence.run().clone());
        let read = move |store: &Store| {
            // Another run's files are none of this one's business.
            let artefact = store.read_blocking(|db| db.artefacts().get(&id))?;
            if artefact.run != run {
                return Err(openspace_store::Error::NotFound {
                    what: "artefact",
                    id: id.to_string(),
                });
            }
            store.read_artefact(&id, offset, length)
        };
        self.store.spawn(read).await.map_err(|error| failed(&error))
    }

    async fn change(&self, change: NewChange) -> Result<ChangeId, ToolError> {
        let kind = match change.kind {
            ChangeKind::Created => openspace_store::ChangeKind::Created,
            ChangeKind::Modified => openspace_store::ChangeKind::Modified,
            ChangeKind::Deleted => openspace_store::ChangeKind::Deleted,
        };
        let new = openspace_store::NewChange {
            step: self.step,
            path: change.path,
            kind,
            before: change.before,
        };
        let fence = self.fence.clone();
        self.store
            .spawn(move |store| store.keep_change(&fence, &new))
            .await
            .map_err(|error| failed(&error))
    }

    async fn group_started(&self, pid: u32) -> Result<(), ToolError> {
        self.guard.group_started(pid);
        Ok(())
    }

    async fn group_ended(&self, pid: u32) {
        self.guard.group_ended(pid);
    }

    fn held(&self, state: &Value) {
        self.guard.held(state);
    }
}
