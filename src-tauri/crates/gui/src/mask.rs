//! A screen whose pictures leave out what must not be seen by a model, such as our own pill.

use std::sync::Arc;

use crate::{
    Capture, InputPoint, InputRect, Monitor, Screen, ScreenError, ScreenState, TargetRing, Window,
    geometry::PhysicalRect,
};

/// Says which parts of the screen are left out now, in input space.
pub type Masks = Arc<dyn Fn(&dyn Screen) -> Vec<InputRect> + Send + Sync>;

/// Paint over what is masked: middle grey.
const NEUTRAL: [u8; 4] = [0x80, 0x80, 0x80, 0xff];
/// A mask as thin as this in one direction, pixels, is filled with what lies beside it.
const THIN: u32 = 8;

/// Another screen, with parts of its pictures painted over. Everything else is the other screen's.
pub struct MaskedScreen {
    screen: Arc<dyn Screen>,
    masks: Masks,
    ring: Option<Arc<TargetRing>>,
}

impl MaskedScreen {
    /// Leaves out of `screen` what `masks` says.
    pub fn new(screen: Arc<dyn Screen>, masks: Masks) -> Self {
        Self {
            screen,
            masks,
            ring: None,
        }
    }

    /// Leaves out the ring of the run that takes the pictures, too.
    pub fn with_ring(self, ring: Option<Arc<TargetRing>>) -> Self {
        Self { ring, ..self }
    }
}

impl Screen for MaskedScreen {
    fn monitors(&self) -> Result<Vec<Monitor>, ScreenError> {
        self.screen.monitors()
    }

    fn capture(&self, monitor: &Monitor) -> Result<Capture, ScreenError> {
        let masks = (self.masks)(self.screen.as_ref());
        let mut capture = self.screen.capture(monitor)?;
        for mask in masks {
            if let Some(area) = inside(&mask, monitor, &capture) {
                cover(&mut capture, area);
            }
        }
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

    fn pointer(&self) -> Result<InputPoint, ScreenError> {
        self.screen.pointer()
    }

    fn state(&self) -> Result<ScreenState, ScreenError> {
        self.screen.state()
    }
}

/// The part of a mask that a picture of the monitor shows, in pixels of the picture.
fn inside(mask: &InputRect, monitor: &Monitor, capture: &Capture) -> Option<PhysicalRect> {
    let along = |at: i32, length: u32, from: i32, whole: u32| {
        let start = (f64::from(at) - f64::from(from)) * monitor.scale;
        let end = start + f64::from(length) * monitor.scale;
        let start = start.floor().clamp(0.0, f64::from(whole)) as u32;
        let end = end.ceil().clamp(0.0, f64::from(whole)) as u32;
        (end > start).then_some((start, end - start))
    };
    let (x, width) = along(mask.x, mask.width, monitor.area.x, capture.width)?;
    let (y, height) = along(mask.y, mask.height, monitor.area.y, capture.height)?;
    Some(PhysicalRect {
        x,
        y,
        width,
        height,
    })
}

fn cover(capture: &mut Capture, area: PhysicalRect) {
    let (width, height) = (capture.width as usize, capture.height as usize);
    let (left, top) = (area.x as usize, area.y as usize);
    let (right, bottom) = (left + area.width as usize, top + area.height as usize);
    // The nearest pixel beside a thin mask, on the side where there is one.
    let beside = |start: usize, end: usize, whole: usize| {
        (end < whole).then_some(end).or(start.checked_sub(1))
    };
    let row = (area.height <= THIN)
        .then(|| beside(top, bottom, height))
        .flatten();
    let column = (area.width <= THIN)
        .then(|| beside(left, right, width))
        .flatten();
    for y in top..bottom {
        for x in left..right {
            let from = match (row, column) {
                (Some(row), None) => Some((x, row)),
                (_, Some(column)) => Some((column, y)),
                (None, None) => None,
            };
            let colour = match from {
                Some((x, y)) => pixel(capture, width, x, y),
                None => NEUTRAL,
            };
            let at = (y * width + x) * 4;
            capture.bgrx[at..at + 4].copy_from_slice(&colour);
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
    use super::*;

    fn picture(width: u32, height: u32) -> Capture {
        let pixels = (0..height).flat_map(|y| (0..width).map(move |x| [x as u8, y as u8, 7, 0xff]));
        Capture {
            width,
            height,
            bgrx: pixels.flatten().collect(),
        }
    }

    fn at(capture: &Capture, x: usize, y: usize) -> [u8; 4] {
        pixel(capture, capture.width as usize, x, y)
    }

    /// A mask covers its pixels and no other, on a scaled monitor beside another too.
    #[test]
    fn masks_cover_their_place_only() {
        let monitor = Monitor {
            name: "right".into(),
            area: InputRect {
                x: 100,
                y: -50,
                width: 40,
                height: 30,
            },
            scale: 2.0,
            primary: false,
        };
        let mut capture = picture(80, 60);
        let mask = InputRect {
            x: 110,
            y: -40,
            width: 10,
            height: 10,
        };
        let area = inside(&mask, &monitor, &capture).expect("it is on the monitor");
        cover(&mut capture, area);
        assert_eq!(at(&capture, 20, 20), NEUTRAL);
        assert_eq!(at(&capture, 39, 39), NEUTRAL);
        assert_eq!(at(&capture, 19, 20), [19, 20, 7, 0xff]);
        assert_eq!(at(&capture, 40, 39), [40, 39, 7, 0xff]);
        let elsewhere = InputRect {
            x: 0,
            y: 0,
            width: 90,
            height: 90,
        };
        assert_eq!(inside(&elsewhere, &monitor, &capture), None);
    }

    /// What is thin disappears: the picture looks as if it were not there.
    #[test]
    fn thin_masks_disappear() {
        let mut capture = picture(40, 30);
        cover(
            &mut capture,
            PhysicalRect {
                x: 0,
                y: 0,
                width: 4,
                height: 30,
            },
        );
        cover(
            &mut capture,
            PhysicalRect {
                x: 0,
                y: 26,
                width: 40,
                height: 4,
            },
        );
        assert_eq!(at(&capture, 0, 10), [4, 10, 7, 0xff]);
        assert_eq!(at(&capture, 20, 29), [20, 25, 7, 0xff]);
        assert_eq!(at(&capture, 20, 25), [20, 25, 7, 0xff]);
    }
}
