//! Why a call did not happen. All texts are read by the model.

use crate::Denied;

/// A call that could not be made or finished.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit: correct them and call again.
    #[error("invalid arguments: {0}")]
    InvalidArguments(String),
    /// What the call refers to is not there.
    #[error("not found: {0}")]
    NotFound(String),
    /// The policy or the person said no.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// The back end cannot work here or now, and why.
    #[error("not available: {0}")]
    Unavailable(String),
    /// The world is no longer as the caller saw it: look again, then decide.
    #[error("out of date: {0}")]
    Stale(String),
    /// It took too long.
    #[error("timed out: {0}")]
    Timeout(String),
    /// It was tried and did not work.
    #[error("{0}")]
    Failed(String),
    /// The run stops.
    #[error("cancelled")]
    Cancelled,
}
