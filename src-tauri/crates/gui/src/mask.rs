//! A screen whose pictures leave out what a model must not see: windows of ours.

use std::{
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Duration,
};

use crate::{
    Capture, Cover, InputPoint, InputRect, Monitor, Owner, Screen, ScreenError, ScreenState,
    TargetRing, Window, geometry::PhysicalRect,
};

/// Says whose windows are left out.
pub type IsOurs = Arc<dyn Fn(Owner<'_>) -> bool + Send + Sync>;

/// Paint over what is left out: middle grey.
const NEUTRAL: [u8; 4] = [0x80, 0x80, 0x80, 0xff];
/// A window as thin as this in one direction, pixels, is filled with what lies beside it.
const THIN: u32 = 8;

/// Another screen, with parts of its pictures painted over. Everything else is the other screen's.
pub struct MaskedScreen {
    screen: Arc<dyn Screen>,
    ours: IsOurs,
    ring: Option<Arc<TargetRing>>,
    /// Our windows when the last picture was taken.
    last: Mutex<Option<Vec<(u64, InputRect)>>>,
}

impl MaskedScreen {
    /// Leaves out of `screen` the windows of which `ours` says so.
    pub fn new(screen: Arc<dyn Screen>, ours: IsOurs) -> Self {
        Self {
            screen,
            ours,
            ring: None,
            last: Mutex::default(),
        }
    }

    /// Leaves out the ring of the run that takes the pictures, too.
    pub fn with_ring(self, ring: Option<Arc<TargetRing>>) -> Self {
        Self { ring, ..self }
    }

    /// Our windows, without the ring, which is left out by itself.
    fn ours(&self) -> Result<Vec<Cover>, ScreenError> {
        let ring = self.ring.as_ref().map(|ring| ring.window());
        let mut covers = self.screen.covers(&*self.ours)?;
        covers.retain(|cover| Some(cover.window) != ring);
        Ok(covers)
    }

    /// What is to be painted over, once no animation shows a window of ours where none is any more.
    fn come_to_rest(&self) -> Result<Vec<Cover>, ScreenError> {
        let covers = self.ours()?;
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = last.as_ref().is_some_and(|last| *last != places(&covers));
        drop(last);
        let lag = if moved {
            self.screen.lag()?
        } else {
            Duration::ZERO
        };
        if lag.is_zero() {
            return Ok(covers);
        }
        thread::sleep(lag);
        self.ours()
    }
}

fn places(covers: &[Cover]) -> Vec<(u64, InputRect)> {
    covers.iter().map(|it| (it.window, it.area)).collect()
}

impl Screen for MaskedScreen {
    fn monitors(&self) -> Result<Vec<Monitor>, ScreenError> {
        self.screen.monitors()
    }

    fn capture(&self, monitor: &Monitor) -> Result<Capture, ScreenError> {
        let mut covers = self.come_to_rest()?;
        let mut capture = self.screen.capture(monitor)?;
        // Asked again: nobody holds the windows still meanwhile.
        let after = self.ours()?;
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(places(&after));
        for cover in after {
            if !covers.contains(&cover) {
                covers.push(cover);
            }
        }
        paint(&mut capture, &covers, monitor);
        if let Some(ring) = &self.ring {
            ring.erase(monitor, &mut capture);
        }
        Ok(capture)
    }

    fn window_at(&self, point: InputPoint) -> Result<Option<Window>, ScreenError> {
        self.screen.window_at(point)
    }

    fn focused(&self) -> Result<Option<Window>, ScreenError> {
        self.screen.focused()
    }

    fn windows(&self) -> Result<Vec<Window>, ScreenError> {
        self.screen.windows()
    }

    fn covers(&self, asked: &dyn Fn(Owner<'_>) -> bool) -> Result<Vec<Cover>, ScreenError> {
        self.screen.covers(asked)
    }

    fn lag(&self) -> Result<Duration, ScreenError> {
        self.screen.lag()
    }

    fn pointer(&self) -> Result<InputPoint, ScreenError> {
        self.screen.pointer()
    }

    fn state(&self) -> Result<ScreenState, ScreenError> {
        self.screen.state()
    }
}

/// Paints windows over where they are seen.
fn paint(capture: &mut Capture, covers: &[Cover], monitor: &Monitor) {
    let is_thin = |cover: &&Cover| {
        let shorter = cover.area.width.min(cover.area.height);
        f64::from(shorter) * monitor.scale <= f64::from(THIN)
    };
    let (thin, broad): (Vec<_>, Vec<_>) = covers.iter().partition(is_thin);
    for part in broad.iter().flat_map(|cover| &cover.seen) {
        if let Some(area) = inside(part, monitor, capture) {
            cover(capture, area, false);
            capture.covered.push(area);
        }
    }
    // Last, so that nothing beside them is a window of ours that is still to be seen.
    for part in thin.iter().flat_map(|cover| &cover.seen) {
        if let Some(area) = inside(part, monitor, capture) {
            cover(capture, area, true);
        }
    }
}

/// The part of an area that a picture of the monitor shows, in pixels of the picture.
fn inside(area: &InputRect, monitor: &Monitor, capture: &Capture) -> Option<PhysicalRect> {
    let along = |at: i32, length: u32, from: i32, whole: u32| {
        let start = (f64::from(at) - f64::from(from)) * monitor.scale;
        let end = start + f64::from(length) * monitor.scale;
        let start = start.floor().clamp(0.0, f64::from(whole)) as u32;
        let end = end.ceil().clamp(0.0, f64::from(whole)) as u32;
        (end > start).then_some((start, end - start))
    };
    let (x, width) = along(area.x, area.width, monitor.area.x, capture.width)?;
    let (y, height) = along(area.y, area.height, monitor.area.y, capture.height)?;
    Some(PhysicalRect {
        x,
        y,
        width,
        height,
    })
}

/// Paints an area: grey, or what lies beside it where it is `thin`.
fn cover(capture: &mut Capture, area: PhysicalRect, thin: bool) {
    let (width, height) = (capture.width as usize, capture.height as usize);
    let (left, top) = (area.x as usize, area.y as usize);
    let (right, bottom) = (left + area.width as usize, top + area.height as usize);
    // The nearest pixel beside it, on the side where there is one.
    let beside = |start: usize, end: usize, whole: usize| {
        (end < whole).then_some(end).or(start.checked_sub(1))
    };
    let row = (thin && area.height <= THIN)
        .then(|| beside(top, bottom, height))
        .flatten();
    let column = (thin && area.width <= THIN)
        .then(|| beside(left, right, width))
        .flatten();
    let grey = NEUTRAL.repeat(right - left);
    for y in top..bottom {
        let place = |x: usize| (y * width + x) * 4;
        let source = |x: usize| match (row, column) {
            (Some(row), None) => Some((x, row)),
            (_, Some(column)) => Some((column, y)),
            (None, None) => None,
        };
        if row.or(column).is_none() {
            capture.bgrx[place(left)..place(right)].copy_from_slice(&grey);
            continue;
        }
        for x in left..right {
            if let Some((from, line)) = source(x) {
                let colour = pixel(capture, width, from, line);
                capture.bgrx[place(x)..place(x + 1)].copy_from_slice(&colour);
            }
        }
    }
}

fn pixel(capture: &Capture, width: usize, x: usize, y: usize) -> [u8; 4] {
    let at = (y * width + x) * 4;
    capture.bgrx[at..at + 4]
        .first_chunk::<4>()
        .copied()
        .unwrap_or(NEUTRAL)
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::fake::{Fake, State, window};

    fn picture(width: u32, height: u32) -> Capture {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x as u8, y as u8, 7, 0xff]));
        Capture::new(width, height, pixels.flatten().collect())
    }

    fn at(capture: &Capture, x: usize, y: usize) -> [u8; 4] {
        pixel(capture, capture.width as usize, x, y)
    }

    fn area(x: i32, y: i32, width: u32, height: u32) -> InputRect {
        InputRect {
            x,
            y,
            width,
            height,
        }
    }

    fn seen_whole(area: InputRect) -> Cover {
        Cover {
            window: 1,
            area,
            seen: vec![area],
        }
    }

    fn monitor(area: InputRect, scale: f64) -> Monitor {
        Monitor {
            name: "right".into(),
            area,
            scale,
            primary: false,
        }
    }

    /// A window is painted over where it is and nowhere else, on a scaled monitor beside another too.
    #[test]
    fn windows_are_painted_over_where_they_are() {
        let monitor = monitor(area(100, -50, 40, 30), 2.0);
        let mut capture = picture(80, 60);
        let covers = [area(110, -40, 10, 10), area(0, 0, 90, 90)].map(seen_whole);
        paint(&mut capture, &covers, &monitor);
        assert_eq!(at(&capture, 20, 20), NEUTRAL);
        assert_eq!(at(&capture, 39, 39), NEUTRAL);
        assert_eq!(at(&capture, 19, 20), [19, 20, 7, 0xff]);
        assert_eq!(at(&capture, 40, 39), [40, 39, 7, 0xff]);
        let painted = PhysicalRect {
            x: 20,
            y: 20,
            width: 20,
            height: 20,
        };
        assert_eq!(capture.covered, [painted]);
    }

    /// What is thin disappears: the picture looks as if it were not there. What remains of a window
    /// below others is grey, however thin.
    #[test]
    fn thin_windows_disappear() {
        let monitor = monitor(area(0, 0, 40, 30), 1.0);
        let mut capture = picture(40, 30);
        let mut sliver = seen_whole(area(30, 5, 10, 20));
        sliver.seen = vec![area(30, 5, 3, 20)];
        let edges = [area(0, 0, 4, 30), area(0, 26, 40, 4)].map(seen_whole);
        let [left, low] = edges;
        paint(&mut capture, &[left, sliver, low], &monitor);
        assert_eq!(at(&capture, 0, 10), [4, 10, 7, 0xff]);
        assert_eq!(at(&capture, 20, 29), [20, 25, 7, 0xff]);
        assert_eq!(at(&capture, 20, 25), [20, 25, 7, 0xff]);
        assert_eq!(at(&capture, 30, 10), NEUTRAL);
        assert_eq!(at(&capture, 33, 10), [33, 10, 7, 0xff]);
        assert_eq!(capture.covered.len(), 1, "{:?}", capture.covered);
    }

    fn masked(fake: &Fake) -> MaskedScreen {
        let ours = |owner: Owner<'_>| owner.class == "openspace";
        MaskedScreen::new(Arc::new(fake.clone()), Arc::new(ours))
    }

    /// A window that comes while the picture is taken is in none, and one that goes neither.
    #[test]
    fn what_moves_meanwhile_is_painted_over_too() {
        let fake = Fake::new();
        let screen = masked(&fake);
        let monitor = fake.monitors().expect("a monitor").remove(0);
        fake.open(window(1, "openspace", 0, 0, 100, 100));
        fake.open(window(2, "editor", 200, 0, 100, 100));
        let away = |state: &mut State| state.windows[0].area.x = 400;
        fake.with(|state| state.at_capture = Some(Box::new(away)));
        let capture = screen.capture(&monitor).expect("a picture");
        assert_eq!(at(&capture, 50, 50), NEUTRAL);
        assert_eq!(at(&capture, 450, 50), NEUTRAL);
        assert_ne!(at(&capture, 250, 50), NEUTRAL);
    }

    /// Where the desktop animates, nothing is looked at before a window of ours has arrived; a window
    /// that stays is not waited for.
    #[test]
    fn animations_are_waited_for() {
        let fake = Fake::new();
        let screen = masked(&fake);
        let monitor = fake.monitors().expect("a monitor").remove(0);
        fake.with(|state| state.lag = Duration::from_millis(80));
        let took = || {
            let begun = Instant::now();
            screen.capture(&monitor).expect("a picture");
            begun.elapsed() >= Duration::from_millis(80)
        };
        fake.open(window(1, "openspace", 0, 0, 100, 100));
        assert!(!took(), "nothing was seen before");
        assert!(!took(), "it stays");
        fake.with(|state| state.windows[0].area.x = 400);
        assert!(took(), "it moved");
        fake.open(window(2, "editor", 200, 0, 100, 100));
        assert!(!took(), "that one is not ours");
        fake.with(|state| state.windows.remove(0));
        assert!(took(), "it is gone");
    }
}
