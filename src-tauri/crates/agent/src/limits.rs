//! How far a run may go, and how far it has gone.

use openspace_llm::{Price, Usage};
use serde::{Deserialize, Serialize};

/// Bounds of a run. `None` means that this one does not bind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Limits {
    /// Turns of the model.
    pub steps: Option<u32>,
    /// Active milliseconds; waiting for a person or for the screen does not count.
    pub active_ms: Option<u64>,
    /// Tokens of all kinds.
    pub tokens: Option<u64>,
    /// US dollars; needs a model with a known price.
    pub cost: Option<f64>,
}

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Used {
    /// Turns of the model.
    pub steps: u32,
    /// Active milliseconds.
    pub active_ms: u64,
    /// Tokens and pictures.
    pub usage: Usage,
    /// US dollars, where the price is known.
    pub cost: Option<f64>,
}

/// The bound that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// [`Limits::steps`]
    Steps,
    /// [`Limits::active_ms`]
    Time,
    /// [`Limits::tokens`]
    Tokens,
    /// [`Limits::cost`]
    Cost,
}

impl Limits {
    /// The first bound that `used` has reached, so that nothing more may be started.
    pub fn reached(&self, used: &Used) -> Option<Limit> {
        let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used >= limit);
        if over(self.steps.map(u64::from), u64::from(used.steps)) {
            Some(Limit::Steps)
        } else if over(self.active_ms, used.active_ms) {
            Some(Limit::Time)
        } else if over(self.tokens, used.usage.total()) {
            Some(Limit::Tokens)
        } else if self
            .cost
            .zip(used.cost)
            .is_some_and(|(limit, used)| used >= limit)
        {
            Some(Limit::Cost)
        } else {
            None
        }
    }
}

/// US dollars of `usage` at `price` (which is per million tokens).
pub fn cost(usage: &Usage, price: &Price) -> f64 {
    let part = |tokens: u64, price: f64| tokens as f64 * price / 1_000_000.0;
    part(usage.input, price.input)
        + part(usage.output, price.output)
        + part(usage.cache_read, price.cache_read)
        + part(usage.cache_write, price.cache_write)
}

/// A clock that runs only while the run itself is at work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ActiveClock {
    spent_ms: u64,
    since: Option<u64>,
}

impl ActiveClock {
    pub(crate) fn already(spent_ms: u64) -> Self {
        Self {
            spent_ms,
            since: None,
        }
    }

    /// Brings the clock to `now`, and lets it run or rest from here on.
    pub(crate) fn turn(&mut self, now: u64, running: bool) {
        if let Some(since) = self.since.take() {
            self.spent_ms += now.saturating_sub(since);
        }
        self.since = running.then_some(now);
    }

    pub(crate) fn spent_ms(&self) -> u64 {
        self.spent_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_counts_each_kind_of_token_at_its_own_price() {
        let price = Price {
            input: 3.0,
            output: 15.0,
            cache_read: 0.3,
            cache_write: 3.75,
        };
        let usage = Usage {
            input: 1_000_000,
            output: 100_000,
            cache_read: 2_000_000,
            cache_write: 400_000,
            images: 7,
        };
        assert!((cost(&usage, &price) - (3.0 + 1.5 + 0.6 + 1.5)).abs() < 1e-9);
    }

    #[test]
    fn the_clock_rests_while_somebody_is_waited_for() {
        let mut clock = ActiveClock::default();
        clock.turn(100, true);
        clock.turn(400, false);
        clock.turn(9_000, true);
        clock.turn(9_050, true);
        assert_eq!(clock.spent_ms(), 350, "300 before the wait, 50 after it");
    }

    #[test]
    fn an_unknown_price_never_reaches_a_cost_limit() {
        let limits = Limits {
            cost: Some(0.01),
            ..Limits::default()
        };
        assert_eq!(limits.reached(&Used::default()), None);
        let used = Used {
            cost: Some(0.01),
            ..Used::default()
        };
        assert_eq!(limits.reached(&used), Some(Limit::Cost));
    }
}
