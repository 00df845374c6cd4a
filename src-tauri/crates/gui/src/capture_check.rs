//! Captures that must not be taken for the screen: blank, tiny, frozen, of the wrong size.

use crate::{Capture, InputRect, Monitor, ScreenError, Window};

/// A file smaller than this holds no screen.
const SMALLEST_FILE: usize = 1024;
/// An edge shorter than this is no screen.
const SMALLEST_EDGE: u32 = 16;
/// So many single-coloured captures in a row under a window that fills the screen are no accident.
const BLANK_IN_A_ROW: u32 = 3;
/// So many times in a row a window may move without a pixel changing.
const FROZEN_IN_A_ROW: u32 = 2;

/// What there is to say about a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It shows something.
    Fine,
    /// It is one colour, and nothing speaks against that; worth telling.
    SingleColour(String),
    /// It is one colour although a window should be seen: worth a second look.
    Blank(String),
}

/// Remembers what a series of captures showed.
#[derive(Debug, Default)]
pub struct CaptureCheck {
    blank: u32,
    last: Option<(String, Option<(u64, InputRect)>)>,
    unmoved: u32,
}

impl CaptureCheck {
    /// Judges the pixels. `window` is the window a person would see, where there is one.
    pub fn pixels(
        &mut self,
        capture: &Capture,
        monitor: &Monitor,
        window: Option<&Window>,
    ) -> Result<Verdict, ScreenError> {
        let bytes = capture.width as usize * capture.height as usize * 4;
        if capture.bgrx.len() != bytes {
            return Err(ScreenError::BadCapture(format!(
                "{}x{} pixels are {bytes} bytes, but {} came",
                capture.width,
                capture.height,
                capture.bgrx.len()
            )));
        }
        if capture.width < SMALLEST_EDGE || capture.height < SMALLEST_EDGE {
            return Err(ScreenError::BadCapture(format!(
                "{}x{} pixels are too few for a screen",
                capture.width, capture.height
            )));
        }
        let expected = physical_size(monitor);
        let near = |is: u32, should: u32| is.abs_diff(should) <= 1 + should / 100;
        if !near(capture.width, expected.0) || !near(capture.height, expected.1) {
            return Err(ScreenError::BadCapture(format!(
                "the monitor `{}` has {}x{} pixels, but the capture has {}x{}",
                monitor.name, expected.0, expected.1, capture.width, capture.height
            )));
        }
        let Some(colour) = single_colour(capture) else {
            self.blank = 0;
            return Ok(Verdict::Fine);
        };
        if !capture.covered.is_empty() {
            // It is our paint: what is below was not looked at.
            self.blank = 0;
            return Ok(Verdict::Fine);
        }
        let Some(window) = window.filter(|window| overlaps(window.area, monitor.area)) else {
            return Ok(Verdict::SingleColour(colour));
        };
        self.blank += 1;
        if !covers(window.area, monitor.area) || self.blank >= BLANK_IN_A_ROW {
            return Ok(Verdict::Blank(format!(
                "it is nothing but {colour}, although the window `{}` should be seen; the screen may \
                 be switched off, protected against capture, or capture may not be allowed",
                window.title
            )));
        }
        Ok(Verdict::SingleColour(colour))
    }

    /// Judges against the captures before: a window that moved must have changed pixels.
    pub fn motion(&mut self, hash: &str, window: Option<&Window>) -> Result<(), ScreenError> {
        let seen = window.map(|window| (window.id, window.area));
        if let Some((last_hash, Some((id, area)))) = &self.last
            && let Some((now_id, now_area)) = seen
            && id == &now_id
            && area != &now_area
        {
            self.unmoved = if last_hash == hash {
                self.unmoved + 1
            } else {
                0
            };
        } else if self.last.as_ref().is_some_and(|(last, _)| last != hash) {
            self.unmoved = 0;
        }
        self.last = Some((hash.to_owned(), seen));
        if self.unmoved >= FROZEN_IN_A_ROW {
            return Err(ScreenError::BadCapture(
                "a window moved, but the picture stays the same: the capture is frozen".into(),
            ));
        }
        Ok(())
    }

    /// Judges the encoded file of a whole screen.
    pub fn file(length: usize) -> Result<(), ScreenError> {
        if length < SMALLEST_FILE {
            return Err(ScreenError::BadCapture(format!(
                "its file has {length} bytes, too few for a screen"
            )));
        }
        Ok(())
    }
}

/// Pixels a capture of the monitor should have.
pub(crate) fn physical_size(monitor: &Monitor) -> (u32, u32) {
    let pixels = |length: u32| ((f64::from(length) * monitor.scale).round() as u32).max(1);
    (pixels(monitor.area.width), pixels(monitor.area.height))
}

/// The colour, when there is only one. The unused byte does not count.
fn single_colour(capture: &Capture) -> Option<String> {
    let [blue, green, red, _] = *capture.bgrx.first_chunk::<4>()?;
    let same = capture
        .bgrx
        .chunks_exact(4)
        .all(|pixel| pixel[..3] == [blue, green, red]);
    same.then(|| format!("#{red:02x}{green:02x}{blue:02x}"))
}

fn edges(area: InputRect) -> (i64, i64, i64, i64) {
    let (x, y) = (i64::from(area.x), i64::from(area.y));
    (x, y, x + i64::from(area.width), y + i64::from(area.height))
}

fn overlaps(one: InputRect, other: InputRect) -> bool {
    let ((a0, b0, a1, b1), (c0, d0, c1, d1)) = (edges(one), edges(other));
    // A sliver at the edge may well be invisible.
    a1.min(c1) - a0.max(c0) > 8 && b1.min(d1) - b0.max(d0) > 8
}

fn covers(outer: InputRect, inner: InputRect) -> bool {
    let ((a0, b0, a1, b1), (c0, d0, c1, d1)) = (edges(outer), edges(inner));
    a0 <= c0 && b0 <= d0 && a1 >= c1 && b1 >= d1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monitor() -> Monitor {
        Monitor {
            name: "screen".into(),
            area: rect(0, 0, 640, 480),
            scale: 1.0,
            primary: true,
        }
    }

    fn rect(x: i32, y: i32, width: u32, height: u32) -> InputRect {
        InputRect {
            x,
            y,
            width,
            height,
        }
    }

    fn window(area: InputRect) -> Window {
        Window {
            id: 5,
            pid: None,
            class: "editor".into(),
            title: "Notes".into(),
            area,
        }
    }

    fn flat(width: u32, height: u32) -> Capture {
        Capture::new(
            width,
            height,
            [3, 2, 1, 0].repeat((width * height) as usize),
        )
    }

    /// A bare desktop of one colour is a screen; the colour is told.
    #[test]
    fn a_plain_desktop_is_fine() {
        let mut check = CaptureCheck::default();
        for _ in 0..5 {
            let verdict = check.pixels(&flat(640, 480), &monitor(), None);
            assert_eq!(verdict, Ok(Verdict::SingleColour("#010203".into())));
        }
    }

    /// One colour where a window should be seen is no screen.
    #[test]
    fn blank_despite_a_window() {
        let mut check = CaptureCheck::default();
        let window = window(rect(100, 100, 200, 200));
        let verdict = check.pixels(&flat(640, 480), &monitor(), Some(&window));
        assert!(matches!(verdict, Ok(Verdict::Blank(text)) if text.contains("Notes")));
    }

    /// A window of ours that fills the screen is no broken capture, whatever lies below it.
    #[test]
    fn covered_is_not_blank() {
        let mut check = CaptureCheck::default();
        let mut capture = flat(640, 480);
        capture.covered.push(crate::geometry::PhysicalRect {
            x: 0,
            y: 0,
            width: 640,
            height: 480,
        });
        let window = window(rect(100, 100, 200, 200));
        for _ in 0..5 {
            let verdict = check.pixels(&capture, &monitor(), Some(&window));
            assert_eq!(verdict, Ok(Verdict::Fine));
        }
    }

    /// A film may be black under a window that fills the screen, but not for ever.
    #[test]
    fn blank_under_a_full_window_is_tolerated_twice() {
        let mut check = CaptureCheck::default();
        let window = window(rect(0, 0, 640, 480));
        let mut verdict = || check.pixels(&flat(640, 480), &monitor(), Some(&window));
        assert!(matches!(verdict(), Ok(Verdict::SingleColour(_))));
        assert!(matches!(verdict(), Ok(Verdict::SingleColour(_))));
        assert!(matches!(verdict(), Ok(Verdict::Blank(_))));
    }

    /// Wrong sizes and cut buffers are refused with the numbers.
    #[test]
    fn wrong_sizes_are_refused() {
        let mut check = CaptureCheck::default();
        let mut cut = flat(640, 480);
        cut.bgrx.pop();
        for bad in [flat(320, 240), flat(4, 4), cut] {
            let refused = check.pixels(&bad, &monitor(), None);
            assert!(
                matches!(refused, Err(ScreenError::BadCapture(_))),
                "{bad:?}"
            );
        }
        assert!(CaptureCheck::file(800).is_err());
        assert!(CaptureCheck::file(20_000).is_ok());
    }

    /// The same picture again is normal; the same picture while a window moves twice is frozen.
    #[test]
    fn frozen_pictures_are_noticed() {
        let mut check = CaptureCheck::default();
        let still = window(rect(0, 0, 10, 10));
        for _ in 0..5 {
            assert!(check.motion("aa", Some(&still)).is_ok());
        }
        assert!(
            check
                .motion("aa", Some(&window(rect(5, 0, 10, 10))))
                .is_ok()
        );
        assert!(
            check
                .motion("aa", Some(&window(rect(9, 0, 10, 10))))
                .is_err()
        );
        assert!(
            check
                .motion("bb", Some(&window(rect(9, 9, 10, 10))))
                .is_ok()
        );
    }
}
