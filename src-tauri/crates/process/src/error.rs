//! Why a process could not be started or ended.

use std::{io, path::PathBuf};

/// A process that could not be started or ended.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program: another name or path may exist.
    #[error("`{program}` was not found")]
    ProgramNotFound {
        /// The program as it was asked for.
        program: String,
    },
    /// The folder to run in is missing or no folder.
    #[error("`{}` is no folder to run in", folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// A sandbox was asked for and cannot be enforced here. Nothing was started.
    #[error("the sandbox cannot be enforced: {reason}")]
    SandboxUnavailable {
        /// What is missing.
        reason: String,
    },
    /// A variable may not be given to a child.
    #[error("the variable `{name}` is not given to child processes")]
    VariableRefused {
        /// Its name.
        name: String,
    },
    /// The operating system refused.
    #[error("starting `{program}` did not work: {source}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// Waiting for the process did not work.
    #[error("waiting for the process did not work: {0}")]
    Wait(#[source] io::Error),
    /// Some processes are still there although everything was tried.
    #[error("{} processes could not be ended: {pids:?}", pids.len())]
    Survivors {
        /// Their ids.
        pids: Vec<u32>,
    },
}
