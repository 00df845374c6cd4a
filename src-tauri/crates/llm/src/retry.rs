//! When and after how long a request is sent again.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// Exponential backoff with full jitter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, the first one included.
    pub attempts: u32,
    /// Upper bound of the first wait; doubles with every attempt.
    pub base: Duration,
    /// Upper bound of any wait that the provider did not ask for.
    pub cap: Duration,
    /// A provider that asks for more than this is not waited for.
    pub patience: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            attempts: 5,
            base: Duration::from_millis(500),
            cap: Duration::from_secs(30),
            patience: Duration::from_secs(5 * 60),
        }
    }
}

impl RetryPolicy {
    /// How long to wait after `failed` failed attempts; `random` is in `0.0..1.0`. What the
    /// provider asked for is a lower bound, with up to `base` added so that not everybody comes
    /// back in the same moment. `None` when it asks for more than our patience.
    pub fn delay(&self, failed: u32, asked: Option<Duration>, random: f64) -> Option<Duration> {
        if let Some(asked) = asked {
            return (asked <= self.patience).then(|| asked + self.base.mul_f64(random));
        }
        let doublings = failed.saturating_sub(1).min(16);
        let bound = self.base.saturating_mul(1 << doublings).min(self.cap);
        Some(bound.mul_f64(random))
    }
}

/// What the headers ask to wait: `retry-after-ms` (milliseconds), else `Retry-After` in seconds or
/// as a date (RFC 9110, 10.2.3). A date in the past is no wait; what cannot be read is ignored.
pub(crate) fn asked_to_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let number = |text: &str, unit: f64| {
        let number: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(number * unit).ok()
    };
    if let Some(wait) = text("retry-after-ms").and_then(|text| number(text, 0.001)) {
        return Some(wait);
    }
    let text = text(RETRY_AFTER.as_str())?;
    number(text, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(text).ok()?;
        Some(date.duration_since(now).unwrap_or_default())
    })
}
