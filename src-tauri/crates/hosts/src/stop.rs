//! Ending what is being waited for.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Asks whatever waits for a program of a host to end it and give up. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks for it.
    pub fn now(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
