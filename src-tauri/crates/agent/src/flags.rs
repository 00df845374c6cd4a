//! What threads that inject input look at right before each event.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

/// How long it counts that the run was seen to be ours: many looks for commands, and less than it
/// takes anybody else to notice a suspended process, call it dead and continue its run.
const FRESH: Duration = Duration::from_millis(100);
/// How long a thread waits for the next look before it counts as halted.
const PATIENCE: Duration = Duration::from_secs(2);
/// Pause while waiting for it.
const PAUSE: Duration = Duration::from_millis(1);

/// Whether a run may act at this very moment. Set from the thread that hears commands, read by the
/// thread that injects.
///
/// A suspended process goes on in the middle of whatever it did, and by then its run may belong to
/// somebody else. So an event also needs that the run was seen to be ours a moment ago; otherwise it
/// waits for the next look.
#[derive(Debug, Default)]
pub(crate) struct Flags {
    ended: AtomicBool,
    halted: AtomicBool,
    /// When the last look began that found the run to be ours; none where nobody looks.
    seen: Mutex<Option<Instant>>,
}

impl Flags {
    /// Nothing may act any more: stopped, finished, or the run belongs to somebody else.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    pub(crate) fn halt(&self, halted: bool) {
        self.halted.store(halted, Ordering::SeqCst);
    }

    /// A look for commands that began at `began` found the run to be ours.
    pub(crate) fn is_ours(&self, began: Instant) {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(began);
    }

    /// At once, unless the last look is too long ago.
    pub(crate) fn may_act(&self) -> bool {
        let asked = Instant::now();
        loop {
            if self.has_ended() || self.halted.load(Ordering::SeqCst) {
                return false;
            }
            if self.is_fresh() {
                return true;
            }
            if asked.elapsed() > PATIENCE {
                tracing::warn!("commands have not been heard for long, so nothing is pressed");
                return false;
            }
            std::thread::sleep(PAUSE);
        }
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::SeqCst)
    }

    fn is_fresh(&self) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.is_none_or(|began| began.elapsed() < FRESH)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// Whoever was suspended waits until somebody has looked whether the run is still ours.
    #[test]
    fn after_a_gap_the_next_look_decides() {
        for lost in [false, true] {
            let flags = Arc::new(Flags::default());
            assert!(flags.may_act(), "nobody looks yet");
            let began = Instant::now();
            let long_ago = began.checked_sub(FRESH * 2).unwrap_or(began);
            flags.is_ours(long_ago);
            let asking = std::thread::spawn({
                let flags = Arc::clone(&flags);
                move || flags.may_act()
            });
            if lost {
                flags.end();
            } else {
                flags.is_ours(Instant::now());
            }
            assert_eq!(asking.join().expect("it answers"), !lost);
        }
    }
}
