//! A child that runs.

use std::pin::Pin;

use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Error, Killed, Tree};

/// What a child writes.
pub type OutputStream = Pin<Box<dyn AsyncRead + Send>>;
/// What a child reads.
pub type Input = Pin<Box<dyn AsyncWrite + Send>>;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code; 0 is success.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Exit {
    /// It ended by itself with code 0.
    pub fn success(self) -> bool {
        self == Self::Code(0)
    }

    /// The exit code, where there is one.
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(_) => None,
        }
    }

    pub(crate) fn from_status(status: std::process::ExitStatus) -> Self {
        #[cfg(unix)]
        if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
            return Self::Signal(signal);
        }
        Self::Code(status.code().unwrap_or(-1))
    }
}

/// A child that runs. Dropping it ends its whole tree, unless it was [released](Child::release).
pub struct Child {
    /// What it reads, with [`crate::Stdin::Piped`].
    pub input: Option<Input>,
    /// Its output, as [`crate::Capture`] says.
    pub output: Option<OutputStream>,
    /// Its standard error, as [`crate::Capture`] says.
    pub errors: Option<OutputStream>,
    pub(crate) process: tokio::process::Child,
    pub(crate) tree: Tree,
    pub(crate) finished: bool,
}

impl Child {
    /// Its process id, which is also the id of its process group and session.
    pub fn id(&self) -> u32 {
        self.tree.root()
    }

    /// Everything that comes out of it; may be kept and ended after the child is gone.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Waits until the child itself has ended; what it started may still run.
    pub async fn wait(&mut self) -> Result<Exit, Error> {
        let status = self.process.wait().await.map_err(Error::Wait)?;
        self.finished = true;
        Ok(Exit::from_status(status))
    }

    /// How it ended, if it has.
    pub fn try_wait(&mut self) -> Result<Option<Exit>, Error> {
        let status = self.process.try_wait().map_err(Error::Wait)?;
        self.finished |= status.is_some();
        Ok(status.map(Exit::from_status))
    }

    /// Ends it and everything that came out of it; see [`Tree::kill`].
    pub async fn kill_tree(&mut self) -> Result<Killed, Error> {
        self.tree.terminate();
        let tree = self.tree.clone();
        // The leader is reaped here, at once, so that the scan does not meet it as a zombie.
        let (result, status) = tokio::join!(tree.kill(), self.process.wait());
        self.finished = status.is_ok();
        self.tree.reap();
        result
    }

    /// Lets it live on when this value is dropped.
    pub fn release(mut self) -> Tree {
        self.finished = true;
        self.tree.clone()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        if !self.finished {
            self.tree.kill_in_background();
        }
    }
}

impl std::fmt::Debug for Child {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Child")
            .field("tree", &self.tree)
            .field("finished", &self.finished)
            .finish_non_exhaustive()
    }
}
