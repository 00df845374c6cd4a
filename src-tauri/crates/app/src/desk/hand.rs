//! Whether a person's hand was at a window: the window system names the device that each press came
//! from, and what runs inject comes from devices of its own.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use openspace_gui::platform::injects;

/// How long a press counts. A page calls at once, but the machine may be busy.
const COUNTS: Duration = Duration::from_secs(3);

/// What the last input of a window says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
    /// A person pressed something there just now.
    Hand,
    /// Nobody did, or something else pressed as well.
    NoHand,
    /// This cannot be told here.
    Untold,
}

/// The presses of all windows.
#[derive(Debug, Default)]
pub struct Hands(Mutex<HashMap<String, Presses>>);

#[derive(Debug, Default, Clone, Copy)]
struct Presses {
    by_hand: Option<Instant>,
    injected: Option<Instant>,
}

impl Hands {
    /// From now on the presses of a window are told.
    pub fn watch(&self, window: &str) {
        self.locked().insert(window.to_owned(), Presses::default());
    }

    /// Something was pressed in a window, on a device of this name; none for what comes from no device.
    pub fn pressed(&self, window: &str, device: Option<&str>) {
        let by_hand = device.is_some_and(|device| !injects(device));
        self.pressed_at(window, by_hand, Instant::now());
    }

    fn pressed_at(&self, window: &str, by_hand: bool, at: Instant) {
        let mut windows = self.locked();
        let presses = windows.entry(window.to_owned()).or_default();
        let last = if by_hand {
            &mut presses.by_hand
        } else {
            &mut presses.injected
        };
        *last = Some(at);
    }

    /// Who touched a window just now. An injected press spoils those around it: nobody knows which of
    /// them the page answers to.
    pub fn touch(&self, window: &str, now: Instant) -> Touch {
        let Some(presses) = self.locked().get(window).copied() else {
            return Touch::Untold;
        };
        let recent =
            |at: Option<Instant>| at.is_some_and(|at| now.saturating_duration_since(at) < COUNTS);
        if recent(presses.by_hand) && !recent(presses.injected) {
            Touch::Hand
        } else {
            Touch::NoHand
        }
    }

    /// Presses at a window are told.
    pub fn are_told(&self, window: &str) -> bool {
        self.locked().contains_key(window)
    }

    /// The press was answered to: the next answer needs another one.
    pub fn answered(&self, window: &str) {
        if let Some(presses) = self.locked().get_mut(window) {
            presses.by_hand = None;
        }
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<String, Presses>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(begin: Instant, milliseconds: u64) -> Instant {
        begin + Duration::from_millis(milliseconds)
    }

    /// Only a person's press that is fresh, alone and not used up counts, and only at its own window.
    #[test]
    fn a_press_counts_once_and_not_for_long() {
        let (hands, begin) = (Hands::default(), Instant::now());
        hands.watch("hud");
        hands.watch("main");
        assert_eq!(hands.touch("hud", begin), Touch::NoHand);
        hands.pressed_at("hud", true, begin);
        assert_eq!(hands.touch("hud", after(begin, 50)), Touch::Hand);
        assert_eq!(hands.touch("main", after(begin, 50)), Touch::NoHand);
        assert_eq!(hands.touch("hud", after(begin, 3_000)), Touch::NoHand);
        hands.pressed_at("hud", true, after(begin, 4_000));
        hands.answered("hud");
        assert_eq!(hands.touch("hud", after(begin, 4_000)), Touch::NoHand);
    }

    /// The device tells a hand from what is injected; what has none is no hand.
    #[test]
    fn devices_tell_a_hand() {
        for (device, touch) in [
            (Some("Logitech USB Mouse"), Touch::Hand),
            (Some("Virtual core XTEST pointer"), Touch::NoHand),
            (None, Touch::NoHand),
        ] {
            let hands = Hands::default();
            hands.pressed("hud", device);
            assert_eq!(hands.touch("hud", Instant::now()), touch, "{device:?}");
        }
    }

    /// What was injected before or after a person's press spoils it.
    #[test]
    fn injected_presses_spoil_those_around_them() {
        for [hand, injected] in [[0, 40], [40, 0], [20, 20]] {
            let (hands, begin) = (Hands::default(), Instant::now());
            hands.pressed_at("hud", true, after(begin, hand));
            hands.pressed_at("hud", false, after(begin, injected));
            assert_eq!(hands.touch("hud", after(begin, 50)), Touch::NoHand);
            hands.pressed_at("hud", true, after(begin, 5_000));
            assert_eq!(hands.touch("hud", after(begin, 5_001)), Touch::Hand);
        }
    }

    /// Where the window system tells no devices nothing is claimed.
    #[test]
    fn what_is_not_watched_is_not_told() {
        let hands = Hands::default();
        assert_eq!(hands.touch("hud", Instant::now()), Touch::Untold);
        assert!(!hands.are_told("hud"));
        hands.watch("hud");
        assert!(hands.are_told("hud"));
    }
}
