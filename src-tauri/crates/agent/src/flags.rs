//! What threads that inject input look at right before each event.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a run may act at this very moment. Set from the thread that hears the command, read by the
/// thread that injects, without waiting for each other or for anything else.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    ended: AtomicBool,
    halted: AtomicBool,
}

impl Flags {
    /// Nothing may act any more: stopped, finished, or the run belongs to somebody else.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    pub(crate) fn halt(&self, halted: bool) {
        self.halted.store(halted, Ordering::SeqCst);
    }

    pub(crate) fn may_act(&self) -> bool {
        !self.ended.load(Ordering::SeqCst) && !self.halted.load(Ordering::SeqCst)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }
}
