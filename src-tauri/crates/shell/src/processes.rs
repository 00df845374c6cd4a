//! Everything a run started that may still be alive.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::future::join_all;
use openspace_grounding::{Keep, ToolError};
use openspace_process::Tree;

/// What becomes of a tree when the run ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Ends with the run.
    Command,
    /// Opened for the person: stays.
    Program,
}

struct Live {
    tree: Tree,
    kind: Kind,
    keep: Arc<dyn Keep>,
}

#[derive(Default)]
struct Inner {
    closed: bool,
    live: HashMap<u32, Live>,
}

/// The trees of a run.
#[derive(Default)]
pub(crate) struct Processes {
    inner: Mutex<Inner>,
}

impl Processes {
    /// Nothing may be started any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Takes note of a tree, here and at the guard. A tree that was started while everything is
    /// being ended is ended, too.
    pub(crate) async fn add(
        &self,
        tree: &Tree,
        kind: Kind,
        keep: &Arc<dyn Keep>,
    ) -> Result<(), ToolError> {
        let closed = {
            let mut inner = self.lock();
            let live = Live {
                tree: tree.clone(),
                kind,
                keep: Arc::clone(keep),
            };
            inner.live.insert(tree.root(), live);
            inner.closed
        };
        let noted = keep.group_started(tree.root()).await;
        if closed || noted.is_err() {
            end(tree).await;
            self.remove(tree).await;
            return Err(noted.err().unwrap_or(ToolError::Cancelled));
        }
        Ok(())
    }

    /// The tree is gone.
    pub(crate) async fn remove(&self, tree: &Tree) {
        let live = self.lock().live.remove(&tree.root());
        if let Some(live) = live {
            live.keep.group_ended(tree.root()).await;
        }
    }

    /// Lets every program live on.
    pub(crate) async fn release_programs(&self) {
        let released = self.take(|live| live.kind == Kind::Program);
        for live in released {
            live.keep.group_ended(live.tree.root()).await;
        }
    }

    /// Ends everything, all at once, for good.
    pub(crate) async fn close(&self) {
        self.lock().closed = true;
        let live = self.take(|_| true);
        // Everybody is asked before anybody is waited for.
        for live in &live {
            live.tree.terminate();
        }
        join_all(live.iter().map(|live| async {
            end(&live.tree).await;
            live.keep.group_ended(live.tree.root()).await;
        }))
        .await;
    }

    fn take(&self, wanted: impl Fn(&Live) -> bool) -> Vec<Live> {
        let mut inner = self.lock();
        let ids: Vec<u32> = inner
            .live
            .iter()
            .filter(|(_, live)| wanted(live))
            .map(|(id, _)| *id)
            .collect();
        ids.iter().filter_map(|id| inner.live.remove(id)).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn end(tree: &Tree) {
    if let Err(error) = tree.kill().await {
        tracing::warn!(%error, root = tree.root(), "ending a command");
    }
}
