//! Whether the window shows anything: with some graphics drivers the web view of Linux stays empty.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

/// Longest load of a page; and longest wait for its first paint, as ui.md 4.6 says.
const LOAD: Duration = Duration::from_secs(10);
const PAINT: Duration = Duration::from_secs(5);

/// How far the window has come.
#[derive(Debug)]
pub struct FirstPaint {
    started: Instant,
    loaded: Notify,
    seen: Notify,
    told: AtomicBool,
}

impl FirstPaint {
    /// Nothing yet, of a process that started then.
    pub fn new(started: Instant) -> Self {
        Self {
            started,
            loaded: Notify::new(),
            seen: Notify::new(),
            told: AtomicBool::new(false),
        }
    }

    /// The page says that it can be seen.
    pub fn painted(&self) {
        if !self.told.swap(true, Ordering::Relaxed) {
            let milliseconds = self.started.elapsed().as_millis();
            tracing::info!(milliseconds = %milliseconds, "first paint");
            self.seen.notify_one();
        }
    }

    /// The page is loaded and the window is shown.
    pub fn shown(&self) {
        self.loaded.notify_one();
    }

    /// Waits for the first paint; false when it does not come.
    pub async fn comes(&self) -> bool {
        self.comes_within(LOAD, PAINT).await
    }

    async fn comes_within(&self, load: Duration, paint: Duration) -> bool {
        let _late = tokio::time::timeout(load, self.loaded.notified()).await;
        let seen = tokio::time::timeout(paint, self.seen.notified()).await;
        if seen.is_err() {
            tracing::warn!("nothing was painted within {} s", paint.as_secs());
        }
        seen.is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window that paints is left alone, whichever is told first; one that does not is noticed.
    #[tokio::test]
    async fn a_window_that_stays_empty_is_noticed() {
        let painted = FirstPaint::new(Instant::now());
        painted.painted();
        painted.painted();
        painted.shown();
        assert!(painted.comes().await);
        let empty = FirstPaint::new(Instant::now());
        empty.shown();
        let (asked, paint) = (Instant::now(), Duration::from_millis(60));
        assert!(!empty.comes_within(LOAD, paint).await);
        assert!((paint..LOAD).contains(&asked.elapsed()));
    }
}
