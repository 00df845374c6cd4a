//! A ring around the place of the next click, for the person at the screen; no model sees it.
//!
//! The click does not wait for the ring, so pictures are taken while it stays. In them its few pixels
//! are those that were below it. Once the screen has changed around it nobody knows these any more: then
//! it has to go before the next picture ([`TargetRing::is_disturbed`]).

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{Capture, InputPoint, Monitor};

/// How long the ring stays.
pub(crate) const STAY: Duration = Duration::from_millis(250);
/// What a program may take to paint again what the ring covered.
pub(crate) const REPAINT: Duration = Duration::from_millis(30);

/// Outer radius and breadth, pixels.
const RADIUS: i32 = 24;
const BREADTH: i32 = 5;

/// What puts the ring on the screen.
pub trait DrawRing: Send {
    /// Shows it around a point for a quarter of a second. Returns at once.
    fn show(&mut self, at: InputPoint);

    /// Takes it away. Returns once it is gone.
    fn hide(&mut self);

    /// The platform's id of its window.
    fn window(&self) -> u64;
}

/// Asked before each click: whether there is anybody to see a ring.
pub type IsWatched = Box<dyn Fn() -> bool + Send + Sync>;

/// The ring of one run.
pub struct TargetRing {
    draw: Mutex<Box<dyn DrawRing>>,
    watched: IsWatched,
    shown: Mutex<Vec<Shown>>,
}

/// A ring that may still be on the screen.
struct Shown {
    monitor: String,
    /// Left upper corner of its square in the monitor's pixels; may lie outside.
    corner: (i32, i32),
    /// The square without the ring; none where it is outside the picture.
    below: Vec<Option<[u8; 4]>>,
    /// From then on the screen below it has been painted again.
    until: Instant,
}

impl TargetRing {
    /// A ring that is shown where `watched` says so.
    pub fn new(draw: Box<dyn DrawRing>, watched: IsWatched) -> Self {
        Self {
            draw: Mutex::new(draw),
            watched,
            shown: Mutex::default(),
        }
    }

    /// The platform's id of its window.
    pub fn window(&self) -> u64 {
        locked(&self.draw).window()
    }

    /// Shows it around a point of a monitor, which looks like `now` without it.
    pub(crate) fn show(&self, at: InputPoint, monitor: &Monitor, now: &Capture) {
        if !(self.watched)() {
            return;
        }
        let began = Instant::now();
        let along = |at: i32, from: i32| (f64::from(at - from) * monitor.scale) as i32 - RADIUS;
        let corner = (along(at.x, monitor.area.x), along(at.y, monitor.area.y));
        {
            let mut shown = locked(&self.shown);
            shown.retain(|ring| ring.until > began);
            for before in shown.iter_mut() {
                // It moves away from there.
                before.until = before.until.min(began + REPAINT);
            }
            shown.push(Shown {
                monitor: monitor.name.clone(),
                corner,
                below: square(corner).map(|at| pixel(now, at)).collect(),
                until: began + STAY + REPAINT,
            });
        }
        locked(&self.draw).show(at);
    }

    /// Puts what was below the ring into a picture of a monitor.
    pub(crate) fn erase(&self, monitor: &Monitor, picture: &mut Capture) {
        let now = Instant::now();
        let shown = locked(&self.shown);
        // The newest first: what an older one covered is known from before that.
        for ring in shown.iter().rev().filter(|ring| ring.is_on(monitor, now)) {
            for (at, below) in square(ring.corner).zip(&ring.below) {
                if is_ring(at, ring.corner)
                    && let (Some(index), Some(below)) = (index(picture, at), below)
                {
                    picture.bgrx[index..index + 4].copy_from_slice(below);
                }
            }
        }
    }

    /// The screen around a ring that is still there is not what it was, so what is below it is not
    /// known. `picture` was [erased](Self::erase).
    pub(crate) fn is_disturbed(&self, monitor: &Monitor, picture: &Capture) -> bool {
        let now = Instant::now();
        let shown = locked(&self.shown);
        let mut here = shown.iter().filter(|ring| ring.is_on(monitor, now));
        here.any(|ring| {
            let mut pixels = square(ring.corner).zip(&ring.below);
            pixels.any(|(at, below)| !is_ring(at, ring.corner) && pixel(picture, at) != *below)
        })
    }

    /// Takes it away.
    pub(crate) fn hide(&self) {
        locked(&self.draw).hide();
        locked(&self.shown).clear();
    }
}

impl Shown {
    fn is_on(&self, monitor: &Monitor, now: Instant) -> bool {
        self.monitor == monitor.name && now < self.until
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The pixels of the square around a ring, row by row.
fn square((left, top): (i32, i32)) -> impl Iterator<Item = (i32, i32)> {
    (0..=2 * RADIUS).flat_map(move |y| (0..=2 * RADIUS).map(move |x| (left + x, top + y)))
}

fn is_ring((x, y): (i32, i32), (left, top): (i32, i32)) -> bool {
    let (x, y) = (x - left - RADIUS, y - top - RADIUS);
    let inner = RADIUS - BREADTH;
    (inner * inner + 1..=RADIUS * RADIUS).contains(&(x * x + y * y))
}

fn index(picture: &Capture, (x, y): (i32, i32)) -> Option<usize> {
    let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
    let inside = x < picture.width && y < picture.height;
    inside.then(|| (y as usize * picture.width as usize + x as usize) * 4)
}

fn pixel(picture: &Capture, at: (i32, i32)) -> Option<[u8; 4]> {
    let index = index(picture, at)?;
    picture.bgrx[index..].first_chunk().copied()
}

/// The ring as horizontal lines: left end, row, length, from the corner of its square.
#[cfg(target_os = "linux")]
pub(crate) fn lines() -> Vec<(i16, i16, u16)> {
    let mut lines: Vec<(i16, i16, u16)> = Vec::new();
    for at in square((0, 0)).filter(|at| is_ring(*at, (0, 0))) {
        let (x, y) = (at.0 as i16, at.1 as i16);
        match lines.last_mut() {
            Some((left, row, length)) if *row == y && *left + *length as i16 == x => *length += 1,
            _ => lines.push((x, y, 1)),
        }
    }
    lines
}

/// Edge of the ring's square, and from its corner to the middle, pixels.
#[cfg(target_os = "linux")]
pub(crate) const SQUARE: (u32, i32) = (2 * RADIUS as u32 + 1, RADIUS);

#[cfg(test)]
mod tests;
