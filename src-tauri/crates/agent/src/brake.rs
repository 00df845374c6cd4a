//! Stopping a run from within its own process, whatever the store does.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::flags::Flags;

/// Ends a run of this process. All clones are the same brake.
#[derive(Debug, Clone, Default)]
pub struct Brake {
    pub(crate) flags: Arc<Flags>,
    pulled: CancellationToken,
}

impl Brake {
    /// From now on the run presses nothing, and everything under way is cancelled. Waits for nobody.
    pub fn pull(&self) {
        self.flags.end();
        self.pulled.cancel();
    }

    /// Somebody pulled it.
    pub fn is_pulled(&self) -> bool {
        self.pulled.is_cancelled()
    }

    /// Waits until somebody pulls it.
    pub async fn pulled(&self) {
        self.pulled.cancelled().await;
    }

    /// Cancelled with it, at the latest.
    pub(crate) fn work(&self) -> CancellationToken {
        self.pulled.child_token()
    }
}
