//! What the process says to the one that started it.

use std::process::ExitCode;

use openspace_app::{Code, Failure, RunStatus};

/// Exit codes, as the help of `openspace run` lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0
    Done,
    /// 1
    Failed,
    /// 2
    Usage,
    /// 3
    Stopped,
    /// 4
    NeedsPerson,
}

impl Exit {
    pub(crate) fn of_status(status: RunStatus) -> Self {
        match status {
            RunStatus::Done => Self::Done,
            RunStatus::Stopped | RunStatus::LimitReached => Self::Stopped,
            RunStatus::NeedsYou | RunStatus::NeedsApproval => Self::NeedsPerson,
            RunStatus::Failed
            | RunStatus::Interrupted
            | RunStatus::Queued
            | RunStatus::Planning
            | RunStatus::Running
            | RunStatus::Paused
            | RunStatus::Stopping => Self::Failed,
        }
    }

    pub(crate) fn of_failure(failure: &Failure) -> Self {
        match failure.code {
            Code::InvalidRequest | Code::Configuration | Code::Credentials | Code::NotFound => {
                Self::Usage
            }
            Code::Model
            | Code::WrongState
            | Code::StillStopping
            | Code::Forbidden
            | Code::Unavailable
            | Code::Store
            | Code::Internal => Self::Failed,
        }
    }

    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Stopped => 3,
            Self::NeedsPerson => 4,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
