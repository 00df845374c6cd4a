//! Waiting until the screen is still after an action.

use std::time::{Duration, Instant};

use crate::{Capture, GuiError, change::Change};

/// How long to wait for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettleOptions {
    /// Before the first look: what most programs need to react.
    pub first: Duration,
    /// Between two looks; two equal ones mean still.
    pub interval: Duration,
    /// How long a screen that has not changed at all is given before it counts as unmoved.
    pub react: Duration,
    /// The end of all waiting.
    pub limit: Duration,
}

impl Default for SettleOptions {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(30),
            interval: Duration::from_millis(40),
            react: Duration::from_millis(100),
            limit: Duration::from_millis(1500),
        }
    }
}

impl SettleOptions {
    /// After keys and text, which nearly always show: programs draw them later than they draw what a
    /// click does, and text that is told to have had no effect is typed again.
    pub fn after_keys(self) -> Self {
        Self {
            react: (self.react * 6).min(self.limit / 2),
            ..self
        }
    }

    /// For the steps between the first and the last of a batch: the next action must meet a drawn
    /// screen, but nobody looks at it.
    pub fn between_actions(self) -> Self {
        Self {
            react: Duration::ZERO,
            limit: self.limit.min(Duration::from_millis(400)),
            ..self
        }
    }
}

/// Looks in a row with only small differences after which the rest counts as still.
const SMALL_IN_A_ROW: u32 = 3;

/// Time and sight, so that the waiting can be tested without either.
pub trait Pace {
    /// Time since the action.
    fn elapsed(&self) -> Duration;
    /// Waits; answers false when the run ends meanwhile.
    fn pause(&mut self, length: Duration) -> bool;
    /// Looks.
    fn look(&mut self) -> Result<Capture, GuiError>;
}

/// What the screen came to.
#[derive(Debug)]
pub struct Settled {
    /// The last look.
    pub capture: Capture,
    /// Nothing moved any more, small regions aside; false when the limit ran out first.
    pub still: bool,
    /// How long it took.
    pub waited: Duration,
}

/// Waits until two looks in a row are equal, or only small regions keep moving, or time is up.
/// `before` is the screen as it was when the action began.
pub fn settle(
    options: SettleOptions,
    before: Option<&Capture>,
    pace: &mut dyn Pace,
) -> Result<Settled, GuiError> {
    let pause = |pace: &mut dyn Pace, length| {
        if pace.pause(length) {
            Ok(())
        } else {
            Err(GuiError::Cancelled)
        }
    };
    pause(pace, options.first)?;
    let mut last = pace.look()?;
    let mut small = 0;
    let mut wait = options.interval;
    loop {
        if pace.elapsed() >= options.limit {
            return Ok(Settled {
                capture: last,
                still: false,
                waited: pace.elapsed(),
            });
        }
        pause(pace, wait)?;
        let next = pace.look()?;
        let change = Change::between(&last, &next);
        let still = if change.is_empty() {
            small = 0;
            true
        } else if change.is_small() {
            small += 1;
            small >= SMALL_IN_A_ROW
        } else {
            small = 0;
            false
        };
        last = next;
        wait = options.interval;
        if !still {
            continue;
        }
        let left = options.react.saturating_sub(pace.elapsed());
        let unmoved = || before.is_some_and(|before| Change::between(before, &last).is_empty());
        if left.is_zero() || !unmoved() {
            return Ok(Settled {
                capture: last,
                still: true,
                waited: pace.elapsed(),
            });
        }
        // Nothing has happened yet: one more look once the time for that is up.
        wait = wait.min(left);
    }
}

/// The real thing: a clock, sleep in short pieces, and a way to look.
pub(crate) struct RealPace<'a> {
    pub(crate) since: Instant,
    pub(crate) may_go_on: &'a dyn Fn() -> bool,
    pub(crate) look: &'a mut dyn FnMut() -> Result<Capture, GuiError>,
}

impl Pace for RealPace<'_> {
    fn elapsed(&self) -> Duration {
        self.since.elapsed()
    }

    fn pause(&mut self, length: Duration) -> bool {
        sleep(length, self.may_go_on)
    }

    fn look(&mut self) -> Result<Capture, GuiError> {
        (self.look)()
    }
}

/// Sleeps in pieces short enough for a stop to be felt; answers false when it was.
pub(crate) fn sleep(length: Duration, may_go_on: &dyn Fn() -> bool) -> bool {
    const PIECE: Duration = Duration::from_millis(10);
    let end = Instant::now() + length;
    loop {
        if !may_go_on() {
            return false;
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(PIECE));
    }
}

#[cfg(test)]
mod tests;
