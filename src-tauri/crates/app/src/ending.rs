//! How the end of a run is stored, whatever the store does meanwhile.

use std::time::Duration;

use openspace_agent::{Outcome, Reason, Used};
use openspace_store::{Error, Fence, RunStatus};

use crate::{App, Code, Failure};

/// How soon it is tried again to store an end, and how seldom at last.
const SOON: Duration = Duration::from_millis(250);
const SELDOM: Duration = Duration::from_secs(5);

/// A run that ended before its first step, or without being asked.
pub(crate) fn ended(status: RunStatus, reason: Option<Reason>) -> Outcome {
    Outcome {
        status,
        reason,
        answer: String::new(),
        evidence: Vec::new(),
        used: Used::default(),
    }
}

/// A run that ended because of this.
pub(crate) fn failed(failure: &Failure) -> Outcome {
    let message = failure.to_string();
    let reason = match failure.code {
        Code::Store | Code::Internal => Reason::Internal { message },
        Code::Model => Reason::Model {
            message,
            retryable: failure.retryable,
        },
        _ => Reason::NotStarted { message },
    };
    ended(RunStatus::Failed, Some(reason))
}

impl App {
    /// Stores how a run ended, unless that is stored already.
    ///
    /// # Errors
    /// What the store says. [`Error::LostRun`] is none: then it is stored, or somebody else's by now.
    pub(crate) async fn store_end(
        &self,
        fence: &Fence,
        outcome: &Outcome,
    ) -> openspace_store::Result<()> {
        match self.finish(fence, outcome).await {
            Ok(()) | Err(Error::LostRun { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Stores how a run ended.
    pub(crate) async fn finish(
        &self,
        fence: &Fence,
        outcome: &Outcome,
    ) -> openspace_store::Result<()> {
        let fence = fence.clone();
        let (status, value) = (outcome.status, serde_json::to_value(outcome).ok());
        let reason = outcome.reason.as_ref().map(serde_json::to_string);
        let reason = reason.and_then(std::result::Result::ok);
        self.store
            .call(move |db| {
                db.runs()
                    .finish(&fence, status, reason.as_deref(), value.as_ref())
            })
            .await
    }

    /// Tries until it is stored: as long as this process lives nobody else can end the run.
    pub(crate) async fn store_end_at_last(&self, fence: &Fence, outcome: &Outcome) {
        let mut pause = SOON;
        while let Err(error) = self.store_end(fence, outcome).await {
            tracing::warn!(%error, run = %fence.run(), "how a run ended is not stored yet");
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(SELDOM);
        }
    }
}
