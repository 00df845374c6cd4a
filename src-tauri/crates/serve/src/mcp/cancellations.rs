//! Why calls were cancelled.
//!
//! A client that has waited long enough sends the same notification as one whose person pressed
//! Escape; only the reason tells them apart. The library cancels the call's token first and hands the
//! notification over afterwards, so a call that was cancelled waits a moment for the reason.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::model::RequestId;
use tokio::sync::watch;

/// How long the reason may take to follow. One whose connection broke has none.
const FOLLOWS: Duration = Duration::from_millis(500);

/// What a client said about a call it no longer wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cancelled {
    /// Somebody wants it to end.
    Wanted,
    /// The client waited long enough; the work is still wanted.
    TimedOut,
    /// Nothing was said: the connection is gone.
    Lost,
}

type Reasons = HashMap<RequestId, watch::Sender<Option<Cancelled>>>;

/// The calls of one connection that are being answered.
#[derive(Clone, Default)]
pub(super) struct Cancellations(Arc<Mutex<Reasons>>);

/// A call that is being answered.
pub(super) struct Answering {
    calls: Cancellations,
    id: RequestId,
    reason: watch::Receiver<Option<Cancelled>>,
}

impl Cancellations {
    pub(super) fn begin(&self, id: RequestId) -> Answering {
        let (sender, reason) = watch::channel(None);
        self.reasons().insert(id.clone(), sender);
        Answering {
            calls: self.clone(),
            id,
            reason,
        }
    }

    /// A client sent `notifications/cancelled`.
    pub(super) fn cancelled(&self, id: &RequestId, reason: Option<&str>) {
        let why = if reason.is_some_and(is_timeout) {
            Cancelled::TimedOut
        } else {
            Cancelled::Wanted
        };
        if let Some(call) = self.reasons().get(id) {
            call.send_replace(Some(why));
        }
    }

    fn reasons(&self) -> std::sync::MutexGuard<'_, Reasons> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answering {
    /// Why it was cancelled, once it is known that it was.
    pub(super) async fn why(&mut self) -> Cancelled {
        let told = self.reason.wait_for(Option::is_some);
        match tokio::time::timeout(FOLLOWS, told).await {
            Ok(Ok(why)) => why.clone().unwrap_or(Cancelled::Lost),
            Ok(Err(_)) | Err(_) => Cancelled::Lost,
        }
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.calls.reasons().remove(&self.id);
    }
}

/// The words of clients that waited long enough: "Request timed out" (the TypeScript and C# ones,
/// with the code -32001), "request timeout" (Rust), "deadline exceeded" (Go).
fn is_timeout(reason: &str) -> bool {
    let reason = reason.to_lowercase();
    [
        "timeout",
        "timed out",
        "time out",
        "timed-out",
        "deadline",
        "-32001",
    ]
    .iter()
    .any(|words| reason.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_told_from_a_person() {
        for reason in [
            "McpError: MCP error -32001: Request timed out",
            "request timeout",
            "Timed out while waiting for response to ClientRequest. Waited 60.0 seconds.",
            "context deadline exceeded",
            "Tool call TIMEOUT",
        ] {
            assert!(is_timeout(reason), "{reason}");
        }
        for reason in [
            "AbortError: This operation was aborted",
            "User cancelled",
            "",
            "the user pressed escape",
        ] {
            assert!(!is_timeout(reason), "{reason}");
        }
    }

    /// The reason is heard whether it comes before or after anybody asks, and only for its own call.
    #[tokio::test]
    async fn the_reason_follows_the_token() {
        let calls = Cancellations::default();
        let (first, second) = (RequestId::Number(1), RequestId::Number(2));
        let mut answering = calls.begin(first.clone());
        let mut other = calls.begin(second);
        let (why, ()) = tokio::join!(answering.why(), async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            calls.cancelled(&first, Some("user"));
        });
        assert_eq!(why, Cancelled::Wanted);
        assert_eq!(other.why().await, Cancelled::Lost);
        drop(answering);
        calls.cancelled(&first, None);
        assert_eq!(calls.reasons().len(), 1);
    }
}
