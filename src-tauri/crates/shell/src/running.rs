//! A command that runs, with somebody waiting for it or not.

use std::time::{Duration, Instant};

use openspace_process::{Child, Exit, Tree};
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::capture::Capture;

/// How long output may come after the command has ended. What still holds the pipe then is a
/// process in the background, and would hold it for as long as it lives.
const LATE: Duration = Duration::from_millis(250);

/// A command that runs. Dropping it ends its tree, unless it has ended by itself.
pub(crate) struct Running {
    pub(crate) tree: Tree,
    pub(crate) capture: Capture,
    pub(crate) begun: Instant,
    exit: watch::Receiver<Option<Exit>>,
    stop: CancellationToken,
    guard: DropGuard,
    released: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) fn start(mut child: Child) -> Self {
        let tree = child.tree().clone();
        let capture = Capture::start(child.output.take().or_else(|| child.errors.take()));
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let released = CancellationToken::new();
        let letting_go = released.clone();
        let (ended, exit) = watch::channel(None);
        let task = tokio::spawn(async move {
            let exit = tokio::select! {
                exit = child.wait() => exit.ok(),
                () = letting_go.cancelled() => {
                    child.release();
                    return;
                }
                () = stopped.cancelled() => {
                    if let Err(error) = child.kill_tree().await {
                        tracing::warn!(%error, "ending a command");
                    }
                    child.try_wait().ok().flatten()
                }
            };
            // Nine is what it would have been killed with, where nothing else can be told.
            let _ = ended.send(Some(exit.unwrap_or(Exit::Signal(9))));
        });
        Self {
            tree,
            capture,
            begun: Instant::now(),
            exit,
            guard: stop.clone().drop_guard(),
            stop,
            released,
            task,
        }
    }

    /// How it ended, if it has.
    pub(crate) fn exit(&self) -> Option<Exit> {
        *self.exit.borrow()
    }

    /// Waits for its end.
    pub(crate) async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await {
            Ok(exit) => exit.unwrap_or(Exit::Signal(9)),
            Err(_) => Exit::Signal(9),
        }
    }

    /// Waits for what it still has to say.
    pub(crate) async fn settle(&self) {
        let _ = tokio::time::timeout(LATE, self.capture.ended()).await;
    }

    /// Lets it live on without this value, and without this process; whoever knows the tree ends it.
    pub(crate) async fn release(self) {
        self.guard.disarm();
        self.released.cancel();
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "letting go of a program");
        }
    }

    /// Ends its whole tree and waits until that is done.
    pub(crate) async fn stop(&self) {
        if self.exit().is_none() {
            self.tree.terminate();
            self.stop.cancel();
            self.wait().await;
        }
        // The command is gone, perhaps because it did as it was asked; what it left behind, in
        // sessions of its own, was not asked.
        if let Err(error) = self.tree.kill().await {
            tracing::warn!(%error, "ending what a command left behind");
        }
    }
}
