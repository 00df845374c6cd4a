//! Where a run stands.

use crate::sql::text_enum;

text_enum! {
    /// Where a run stands.
    RunStatus {
        /// Waits for somebody to execute it.
        Queued = "queued",
        /// Claimed; the model decides how to go about it.
        Planning = "planning",
        /// Acts.
        Running = "running",
        /// Waits for the answer to an approval.
        NeedsApproval = "needs_approval",
        /// Waits for the person's answer to a question.
        NeedsYou = "needs_you",
        /// Waits until somebody resumes it.
        Paused = "paused",
        /// Told to stop, not yet at rest.
        Stopping = "stopping",
        /// Ended because somebody said so.
        Stopped = "stopped",
        /// Ended with an answer.
        Done = "done",
        /// Ended with an error.
        Failed = "failed",
        /// Ended because steps, time, tokens or money ran out.
        LimitReached = "limit_reached",
        /// Its process is gone; it can be continued.
        Interrupted = "interrupted",
    }
}

impl RunStatus {
    /// Ended: nothing more happens unless somebody continues it.
    pub fn is_final(self) -> bool {
        match self {
            Self::Stopped | Self::Done | Self::Failed | Self::LimitReached => true,
            Self::Queued
            | Self::Planning
            | Self::Running
            | Self::NeedsApproval
            | Self::NeedsYou
            | Self::Paused
            | Self::Stopping
            | Self::Interrupted => false,
        }
    }

    /// Somebody executes it, or holds it while a person decides.
    pub fn is_active(self) -> bool {
        match self {
            Self::Planning
            | Self::Running
            | Self::NeedsApproval
            | Self::NeedsYou
            | Self::Paused
            | Self::Stopping => true,
            Self::Queued
            | Self::Stopped
            | Self::Done
            | Self::Failed
            | Self::LimitReached
            | Self::Interrupted => false,
        }
    }

    /// What a runner may end with: the final ones, a question, and giving the run up.
    pub(super) fn is_end(self) -> bool {
        self.is_final() || matches!(self, Self::NeedsYou | Self::Interrupted)
    }
}
