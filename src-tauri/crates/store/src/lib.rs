//! The one database: every SQL statement, every file row, every event.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod id;

pub use id::{
    ApprovalId, ArtefactId, ChangeId, FrameId, InstanceId, InvalidId, RuleId, RunId, SessionId,
    TaskId,
};
