//! Everything that came out of a command, and the way to end all of it.

use std::time::Duration;

use crate::{Error, Mark, platform};

/// What ending a tree took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Killed {
    /// Most processes seen alive at once.
    pub processes: usize,
    /// Some did not end when asked to and were killed.
    pub forced: bool,
    /// How long it took.
    pub took: Duration,
}

/// A command and all its descendants, also those that left its process group, its session or its
/// parent. Cheap to clone; stays usable after the child itself has ended.
#[derive(Debug, Clone)]
pub struct Tree {
    pub(crate) mark: Mark,
    pub(crate) root: u32,
    /// When the root started, in the kernel's ticks: tells it from a later process with the same id.
    #[cfg(target_os = "linux")]
    pub(crate) started: u64,
    #[cfg(windows)]
    pub(crate) job: std::sync::Arc<platform::Job>,
}

impl Tree {
    /// Process id of the command, also the id of its group and session.
    pub fn root(&self) -> u32 {
        self.root
    }

    /// The mark its processes carry.
    pub fn mark(&self) -> Mark {
        self.mark
    }

    /// Ids of the processes that are alive now. Reads the process table: some milliseconds.
    pub fn members(&self) -> Vec<u32> {
        platform::members(self)
    }

    /// Asks the process group to end, at once and without waiting.
    pub fn terminate(&self) {
        platform::terminate(self);
    }

    /// Ends all of it: asks at once, kills what is left after 400 ms, and answers when nothing is
    /// left. Goes on when the future is dropped.
    ///
    /// # Errors
    /// [`Error::Survivors`] when processes are left after 5 s (stuck in the kernel, or another user's).
    pub async fn kill(&self) -> Result<Killed, Error> {
        self.terminate();
        let tree = self.clone();
        match tokio::task::spawn_blocking(move || platform::end(&tree)).await {
            Ok(result) => result,
            // The runtime shuts down: there is no task to wait on any more, the thread does it.
            Err(_) => self.kill_blocking(),
        }
    }

    /// [`Tree::kill`] for callers without a runtime.
    pub fn kill_blocking(&self) -> Result<Killed, Error> {
        self.terminate();
        platform::end(self)
    }

    /// Collects what ended and was left to this process by its parent; see
    /// [`crate::become_subreaper`].
    pub fn reap(&self) {
        platform::reap(self);
    }

    pub(crate) fn kill_in_background(&self) {
        self.terminate();
        let tree = self.clone();
        let thread = std::thread::Builder::new().name("end-processes".to_owned());
        let started = thread.spawn(move || {
            if let Err(error) = platform::end(&tree) {
                tracing::warn!(%error, "ending a dropped command");
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "no thread to end a dropped command; ending it here");
            let _ = platform::end(self);
        }
    }
}

/// Ends every process of a run, whoever started it: for the guard, after the runner was killed.
/// Finds them by their mark and by `OPENSPACE_RUN_ID` in their environment. Blocks up to 5 s.
///
/// The calling process and its parents are spared, whatever they carry.
pub fn kill_marked(run: &str) -> Result<Killed, Error> {
    platform::end_run(run)
}
