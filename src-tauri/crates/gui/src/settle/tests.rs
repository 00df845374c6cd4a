use super::*;

/// Shows one picture after the other, the last one for ever, on a clock of its own.
struct Script {
    pictures: Vec<Capture>,
    looks: usize,
    now: Duration,
    stop_at: Duration,
}

impl Script {
    fn new(pictures: Vec<Capture>) -> Self {
        Self {
            pictures,
            looks: 0,
            now: Duration::ZERO,
            stop_at: Duration::MAX,
        }
    }
}

impl Pace for Script {
    fn elapsed(&self) -> Duration {
        self.now
    }

    fn pause(&mut self, length: Duration) -> bool {
        self.now += length;
        self.now < self.stop_at
    }

    fn look(&mut self) -> Result<Capture, GuiError> {
        let index = self.looks.min(self.pictures.len() - 1);
        self.looks += 1;
        self.now += Duration::from_millis(3);
        Ok(self.pictures[index].clone())
    }
}

fn screen(shade: u8, caret: bool) -> Capture {
    let mut bgrx = vec![shade; 640 * 480 * 4];
    if caret {
        bgrx[..4].fill(255);
    }
    Capture::new(640, 480, bgrx)
}

/// A screen that changed at once and then stands still costs two looks.
#[test]
fn a_still_screen_costs_two_looks() {
    let mut script = Script::new(vec![screen(1, false)]);
    let settled = settle(
        SettleOptions::default(),
        Some(&screen(0, false)),
        &mut script,
    )
    .unwrap();
    assert!(settled.still);
    assert_eq!(script.looks, 2);
    assert!(
        settled.waited <= Duration::from_millis(80),
        "{:?}",
        settled.waited
    );
}

/// An animation is waited for until it ends.
#[test]
fn an_animation_is_waited_for() {
    let frames = (1..8).map(|shade| screen(shade * 9, false)).collect();
    let mut script = Script::new(frames);
    let settled = settle(
        SettleOptions::default(),
        Some(&screen(0, false)),
        &mut script,
    )
    .unwrap();
    assert!(settled.still);
    assert_eq!(settled.capture.bgrx[0], 63);
}

/// A program that reacts after a moment is not taken for one that does not react.
#[test]
fn a_late_reaction_is_seen() {
    let old = screen(0, false);
    let mut script = Script::new(vec![old.clone(), old.clone(), screen(5, false)]);
    let settled = settle(SettleOptions::default(), Some(&old), &mut script).unwrap();
    assert_eq!(settled.capture.bgrx[0], 5);
}

/// A blinking caret or a spinner does not block.
#[test]
fn small_motion_does_not_block() {
    let frames = (0..100).map(|n| screen(1, n % 2 == 0)).collect();
    let mut script = Script::new(frames);
    let settled = settle(
        SettleOptions::default(),
        Some(&screen(0, false)),
        &mut script,
    )
    .unwrap();
    assert!(settled.still);
    assert!(
        settled.waited < Duration::from_millis(300),
        "{:?}",
        settled.waited
    );
}

/// A film never settles: the limit ends the waiting and the answer says so.
#[test]
fn the_waiting_is_bounded() {
    let frames = (0..200).map(|shade| screen(shade, false)).collect();
    let mut script = Script::new(frames);
    let settled = settle(SettleOptions::default(), None, &mut script).unwrap();
    assert!(!settled.still);
    assert!(
        settled.waited < Duration::from_millis(1600),
        "{:?}",
        settled.waited
    );
}

/// A stop ends the waiting.
#[test]
fn d11_a_stop_ends_the_waiting() {
    let frames = (0..200).map(|shade| screen(shade, false)).collect();
    let mut script = Script::new(frames);
    script.stop_at = Duration::from_millis(200);
    let ended = settle(SettleOptions::default(), None, &mut script);
    assert_eq!(ended.unwrap_err(), GuiError::Cancelled);
}

/// After keys a screen that has not changed yet is given longer than after a click, but never so long
/// that it counts as moving.
#[test]
fn text_is_given_time_to_show() {
    let late = |at: usize| -> Vec<Capture> {
        (0..100).map(|n| screen(u8::from(n >= at), false)).collect()
    };
    let options = SettleOptions::default();
    let before = screen(0, false);
    let mut script = Script::new(late(8));
    let settled = settle(options.after_keys(), Some(&before), &mut script).unwrap();
    assert_eq!(
        settled.capture,
        screen(1, false),
        "drawn after 350 ms, and seen"
    );
    let mut script = Script::new(late(100));
    let settled = settle(options.after_keys(), Some(&before), &mut script).unwrap();
    assert!(
        settled.still && settled.waited < Duration::from_millis(700),
        "{:?}",
        settled.waited
    );
}
