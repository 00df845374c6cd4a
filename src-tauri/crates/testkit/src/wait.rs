//! Bounded waiting by polling, instead of sleeping and hoping.

use std::time::{Duration, Instant};

/// Polls every few milliseconds until `probe` gives a value or `limit` has passed.
pub fn poll<T>(limit: Duration, mut probe: impl FnMut() -> Option<T>) -> Option<T> {
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = probe() {
            return Some(value);
        }
        if Instant::now() >= end {
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until `holds` is true; false when it was not within `limit`.
pub fn wait_until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    poll(limit, || holds().then_some(())).is_some()
}
