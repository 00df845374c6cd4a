//! What to start, and how.

use std::{ffi::OsString, path::PathBuf};

use crate::{Child, Environment, Error, Mark, Sandbox, platform};

/// What the child reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Stdin {
    /// Nothing: a program that asks gets end of file instead of waiting for ever.
    #[default]
    Null,
    /// [`Child::input`].
    Piped,
}

/// Where the child's output goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Capture {
    /// Nowhere.
    #[default]
    Null,
    /// Standard output and standard error through one pipe, in the order they were written:
    /// [`Child::output`].
    Merged,
    /// [`Child::output`] and [`Child::errors`].
    Separate,
    /// Standard error only: [`Child::errors`].
    Errors,
}

/// A child to be started: leader of its own session, marked as part of a run, without any
/// descriptor of ours but the three standard ones.
#[derive(Debug, Clone)]
pub struct Command {
    /// The executable, looked up in `PATH` of [`Command::environment`] when it has no slash.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Where it runs.
    pub folder: PathBuf,
    /// Its variables; those of this process are not inherited.
    pub environment: Environment,
    /// The run it belongs to.
    pub run: String,
    /// What it reads.
    pub stdin: Stdin,
    /// Where its output goes.
    pub capture: Capture,
    /// Takes standard error, whatever `capture` says: what outlives us must not write into a pipe,
    /// whose reader would be gone.
    pub errors: Option<std::sync::Arc<std::fs::File>>,
    /// What it may touch; without one, everything the person may.
    pub sandbox: Option<Sandbox>,
}

impl Command {
    /// A program without arguments, input, output or sandbox.
    pub fn new(
        program: impl Into<OsString>,
        folder: impl Into<PathBuf>,
        run: impl Into<String>,
        environment: Environment,
    ) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            folder: folder.into(),
            environment,
            run: run.into(),
            stdin: Stdin::Null,
            capture: Capture::Null,
            errors: None,
            sandbox: None,
        }
    }

    /// Starts it. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// [`Error::SandboxUnavailable`] when a sandbox was asked for that this system cannot enforce:
    /// nothing ever runs with less protection than asked for.
    pub fn spawn(&self) -> Result<Child, Error> {
        if !self.folder.is_dir() {
            return Err(Error::NoFolder {
                folder: self.folder.clone(),
            });
        }
        platform::spawn(self, Mark::random(&self.run))
    }
}
