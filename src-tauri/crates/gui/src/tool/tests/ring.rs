//! The ring shows a person where a click goes, and nothing else notices it.

use std::sync::{Arc, Mutex};

use super::*;
use crate::{
    Capture, DrawRing, MaskedScreen, TargetRing,
    fake::State,
    ring::{SQUARE, lines},
};

/// A ring that is really in the picture of a [`Fake`], as one on the screen is.
struct Painted {
    fake: Fake,
    /// What lies below it, as the window system knows.
    below: Arc<Mutex<Capture>>,
    at: Option<InputPoint>,
}

fn pixels(at: InputPoint, state: &State) -> Vec<usize> {
    let (_, middle) = SQUARE;
    let (left, top) = (at.x - middle, at.y - middle);
    let pixels = lines().into_iter().flat_map(move |(x, y, length)| {
        (0..i32::from(length)).map(move |step| (left + i32::from(x) + step, top + i32::from(y)))
    });
    let width = state.picture.width as i32;
    pixels
        .map(|(x, y)| ((y * width + x) * 4) as usize)
        .collect()
}

impl DrawRing for Painted {
    fn show(&mut self, at: InputPoint) {
        self.hide();
        self.at = Some(at);
        self.fake.with(|state| {
            for at in pixels(at, state) {
                state.picture.bgrx[at..at + 4].copy_from_slice(&[9, 9, 9, 9]);
            }
        });
    }

    fn hide(&mut self) {
        let Some(at) = self.at.take() else { return };
        let below = self.below.lock().unwrap();
        self.fake.with(|state| {
            for at in pixels(at, state) {
                state.picture.bgrx[at..at + 4].copy_from_slice(&below.bgrx[at..at + 4]);
            }
        });
    }

    fn window(&self) -> u64 {
        1
    }
}

fn ringed() -> (Bench, Arc<Mutex<Capture>>) {
    let fake = Fake::new();
    let below = Arc::new(Mutex::new(fake.with(|state| state.picture.clone())));
    let painted = Painted {
        fake: fake.clone(),
        below: Arc::clone(&below),
        at: None,
    };
    let ring = Arc::new(TargetRing::new(Box::new(painted), Box::new(|| true)));
    let mut options = options(&fake);
    let masked = MaskedScreen::new(Arc::new(fake.clone()), Arc::new(|_| false));
    options.screen = Arc::new(masked.with_ring(Some(Arc::clone(&ring))));
    options.ring = Some(ring);
    let bench = Bench {
        backend: Arc::new(GuiBackend::new(options)),
        fake,
        around: surroundings(),
    };
    (bench, below)
}

/// A click without effect has none with a ring on the screen either, and the picture is the old one.
#[tokio::test]
async fn a_ring_is_no_change() {
    let (bench, below) = ringed();
    bench.look().await;
    let click = json!({"action": "left_click", "coordinate": [100, 80]});
    let output = bench.computer(click).await.unwrap();
    assert!(
        text(&output).contains("No visible change"),
        "{}",
        text(&output)
    );
    let shown = bench.fake.with(|state| state.picture.clone());
    assert_ne!(shown, *below.lock().unwrap(), "the ring is still there");
    let record: CallRecord = serde_json::from_value(output.record.unwrap()).unwrap();
    assert_eq!(record.steps[0].hash_before, record.steps[0].hash_after);
}

/// What a click changes below the ring is in the picture as it really is.
#[tokio::test]
async fn what_changes_below_the_ring_is_seen() {
    let (bench, below) = ringed();
    let changed = Arc::clone(&below);
    bench.fake.react(move |state, what| {
        if what == "Left up" {
            // A window paints everything but what the ring covers.
            let mut painted = changed.lock().unwrap();
            let ring = pixels(InputPoint { x: 100, y: 80 }, state);
            for y in 32..128_usize {
                for x in 64..160_usize {
                    let at = (y * painted.width as usize + x) * 4;
                    painted.bgrx[at..at + 3].fill(255);
                    if !ring.contains(&at) {
                        state.picture.bgrx[at..at + 3].fill(255);
                    }
                }
            }
        }
    });
    bench.look().await;
    let click = json!({"action": "left_click", "coordinate": [100, 80]});
    let output = bench.computer(click).await.unwrap();
    assert!(
        text(&output).contains("Changed: x 64 to 159, y 32 to 127"),
        "{}",
        text(&output)
    );
    let record: CallRecord = serde_json::from_value(output.record.unwrap()).unwrap();
    let truth = crate::encode::hash(&below.lock().unwrap());
    assert_eq!(record.steps[0].hash_after.as_ref(), Some(&truth));
}

/// Scrolling and moving show no ring: only what presses something does.
#[tokio::test]
async fn only_presses_are_pointed_out() {
    let (bench, below) = ringed();
    bench.look().await;
    for action in [
        json!({"action": "mouse_move", "coordinate": [100, 80]}),
        json!({"action": "scroll", "coordinate": [100, 80], "scroll_direction": "down", "scroll_amount": 1}),
    ] {
        bench.computer(action).await.unwrap();
        let shown = bench.fake.with(|state| state.picture.clone());
        assert_eq!(shown, *below.lock().unwrap());
    }
}
