//! Time and chance as parameters, so that waiting can be tested without waiting.

use std::time::{Duration, SystemTime};

use async_trait::async_trait;

/// What retrying needs of the world.
#[async_trait]
pub trait Timing: Send + Sync {
    /// Waits.
    async fn sleep(&self, duration: Duration);

    /// The time of day, to which a `Retry-After` date is compared.
    fn now(&self) -> SystemTime;

    /// A random number in `0.0..1.0`.
    fn random(&self) -> f64;
}

/// The real clock and the system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemTiming;

#[async_trait]
impl Timing for SystemTiming {
    async fn sleep(&self, duration: Duration) {
        tokio::time::sleep(duration).await;
    }

    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn random(&self) -> f64 {
        // 53 bits fill the mantissa. Without randomness the longest wait is the safe one.
        getrandom::u64().map_or(1.0 - f64::EPSILON, |bits| {
            (bits >> 11) as f64 / (1_u64 << 53) as f64
        })
    }
}
