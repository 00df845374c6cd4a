//! The three pixel spaces and the ways between them.
//!
//! A point names a pixel, and a pixel is the square to the lower right of its number, so every way
//! goes through pixel centres: `floor((from + 1/2) * to_size / from_size)`, in whole numbers.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{InputPoint, InputRect, Monitor};
use openspace_grounding::Coordinates;

/// Width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Size {
    /// Pixels to the right, at least 1.
    pub width: u32,
    /// Pixels down, at least 1.
    pub height: u32,
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// A pixel of the captured image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhysicalPoint {
    /// Pixels from the left edge of the capture.
    pub x: u32,
    /// Pixels from its top edge.
    pub y: u32,
}

/// A rectangle of the captured image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhysicalRect {
    /// Left edge.
    pub x: u32,
    /// Top edge.
    pub y: u32,
    /// Width, at least 1.
    pub width: u32,
    /// Height, at least 1.
    pub height: u32,
}

impl PhysicalRect {
    /// A square of up to `side` pixels around a point, moved and cut so that it lies on the picture.
    pub fn around(point: PhysicalPoint, side: u32, picture: Size) -> Self {
        let span = |at: u32, length: u32| {
            let extent = side.clamp(1, length.max(1));
            let start = at
                .saturating_sub(extent / 2)
                .min(length.saturating_sub(extent));
            (start, extent)
        };
        let (x, width) = span(point.x, picture.width);
        let (y, height) = span(point.y, picture.height);
        Self {
            x,
            y,
            width,
            height,
        }
    }
}

/// A pixel of the picture the model saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentPoint {
    /// Pixels from the left edge of the picture.
    pub x: u32,
    /// Pixels from its top edge.
    pub y: u32,
    /// [`FrameGeometry::generation`] of the frame it belongs to.
    pub generation: u64,
}

/// A rectangle of the picture the model saw; `x1` and `y1` are the first pixels outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentRect {
    /// Left edge.
    pub x0: u32,
    /// Top edge.
    pub y0: u32,
    /// Right edge, beyond the last pixel.
    pub x1: u32,
    /// Bottom edge, beyond the last pixel.
    pub y1: u32,
}

/// Why a position cannot be used. Nothing is ever moved to the nearest possible one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PointError {
    /// It is not written as a position.
    #[error("a position is written as {expected}, not as {found}")]
    Form {
        /// How it is written, with the range.
        expected: String,
        /// What came, shortened.
        found: String,
    },
    /// It lies outside.
    #[error("({x}, {y}) lies outside the picture: x is 0 to {max_x}, y is 0 to {max_y}")]
    Outside {
        /// What came.
        x: i64,
        /// What came.
        y: i64,
        /// Largest x there is.
        max_x: u32,
        /// Largest y there is.
        max_y: u32,
    },
    /// It belongs to a frame that is no longer the one at hand.
    #[error("the position belongs to frame {found}, the current frame is {current}")]
    OtherFrame {
        /// Frame of the point.
        found: u64,
        /// Frame at hand.
        current: u64,
    },
}

/// How the pixels of one frame lie in the three spaces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrameGeometry {
    /// Counts the frames of a session, from 1.
    pub generation: u64,
    /// The monitor it shows.
    pub monitor: Monitor,
    /// Size of the captured image.
    pub physical: Size,
    /// Size of the picture as sent.
    pub sent: Size,
    /// [`layout`] of all monitors when it was captured.
    pub layout: String,
}

/// The centre of pixel `at` of `from`, as a pixel of `to`.
fn scale(at: u32, from: u32, to: u32) -> u32 {
    let from = u64::from(from.max(1));
    let scaled = (2 * u64::from(at) + 1) * u64::from(to) / (2 * from);
    u32::try_from(scaled).unwrap_or(u32::MAX)
}

fn offset(origin: i32, by: u32) -> i32 {
    i32::try_from(i64::from(origin) + i64::from(by)).unwrap_or(i32::MAX)
}

impl FrameGeometry {
    /// A sent point with this frame's number, or the range it misses.
    pub fn sent(&self, x: i64, y: i64) -> Result<SentPoint, PointError> {
        let inside = |at: i64, size: u32| u32::try_from(at).ok().filter(|at| *at < size);
        match (inside(x, self.sent.width), inside(y, self.sent.height)) {
            (Some(x), Some(y)) => Ok(SentPoint {
                x,
                y,
                generation: self.generation,
            }),
            _ => Err(PointError::Outside {
                x,
                y,
                max_x: self.sent.width.saturating_sub(1),
                max_y: self.sent.height.saturating_sub(1),
            }),
        }
    }

    fn check(&self, point: SentPoint) -> Result<(), PointError> {
        if point.generation != self.generation {
            return Err(PointError::OtherFrame {
                found: point.generation,
                current: self.generation,
            });
        }
        self.sent(point.x.into(), point.y.into()).map(drop)
    }

    /// The captured pixel a sent pixel shows the middle of.
    pub fn sent_to_physical(&self, point: SentPoint) -> Result<PhysicalPoint, PointError> {
        self.check(point)?;
        Ok(PhysicalPoint {
            x: scale(point.x, self.sent.width, self.physical.width),
            y: scale(point.y, self.sent.height, self.physical.height),
        })
    }

    /// Where the operating system has to be told to click for a sent pixel.
    pub fn sent_to_input(&self, point: SentPoint) -> Result<InputPoint, PointError> {
        self.check(point)?;
        let area = self.monitor.area;
        Ok(InputPoint {
            x: offset(area.x, scale(point.x, self.sent.width, area.width)),
            y: offset(area.y, scale(point.y, self.sent.height, area.height)),
        })
    }

    /// The captured pixel at a point of input space; none when it is on another monitor.
    pub fn input_to_physical(&self, point: InputPoint) -> Option<PhysicalPoint> {
        let (x, y) = self.within(point)?;
        let area = self.monitor.area;
        Some(PhysicalPoint {
            x: scale(x, area.width, self.physical.width),
            y: scale(y, area.height, self.physical.height),
        })
    }

    /// The sent pixel at a point of input space; none when it is on another monitor.
    pub fn input_to_sent(&self, point: InputPoint) -> Option<SentPoint> {
        let (x, y) = self.within(point)?;
        let area = self.monitor.area;
        Some(SentPoint {
            x: scale(x, area.width, self.sent.width),
            y: scale(y, area.height, self.sent.height),
            generation: self.generation,
        })
    }

    /// The sent pixel that shows a captured pixel.
    pub fn physical_to_sent(&self, point: PhysicalPoint) -> SentPoint {
        SentPoint {
            x: scale(point.x, self.physical.width, self.sent.width),
            y: scale(point.y, self.physical.height, self.sent.height),
            generation: self.generation,
        }
    }

    fn within(&self, point: InputPoint) -> Option<(u32, u32)> {
        let area = self.monitor.area;
        let from = |at: i32, origin: i32| u32::try_from(i64::from(at) - i64::from(origin)).ok();
        if area.contains(point) {
            from(point.x, area.x).zip(from(point.y, area.y))
        } else {
            None
        }
    }

    /// The captured pixels that a region of the sent picture shows, partly shown ones included.
    pub fn region(&self, region: SentRect) -> Result<PhysicalRect, PointError> {
        let Size { width, height } = self.sent;
        let fits = |low: u32, high: u32, size: u32| low < high && high <= size;
        if !fits(region.x0, region.x1, width) || !fits(region.y0, region.y1, height) {
            return Err(PointError::Form {
                expected: format!(
                    "[x0, y0, x1, y1] with 0 <= x0 < x1 <= {width} and 0 <= y0 < y1 <= {height}"
                ),
                found: format!(
                    "[{}, {}, {}, {}]",
                    region.x0, region.y0, region.x1, region.y1
                ),
            });
        }
        let span = |low: u32, high: u32, sent: u32, physical: u32| {
            let (sent, physical) = (u64::from(sent), u64::from(physical));
            let start = u64::from(low) * physical / sent;
            let end = (u64::from(high) * physical).div_ceil(sent);
            let as_pixels = |at: u64| u32::try_from(at).unwrap_or(u32::MAX);
            (as_pixels(start), as_pixels(end - start))
        };
        let (x, width) = span(region.x0, region.x1, width, self.physical.width);
        let (y, height) = span(region.y0, region.y1, height, self.physical.height);
        Ok(PhysicalRect {
            x,
            y,
            width,
            height,
        })
    }

    /// The captured pixels a rectangle of input space covers; none when it is on another monitor.
    pub fn covered(&self, area: InputRect) -> Option<PhysicalRect> {
        let monitor = self.monitor.area;
        let span = |start: i32, length: u32, origin: i32, limit: u32, physical: u32| {
            let low = (i64::from(start) - i64::from(origin)).clamp(0, i64::from(limit));
            let high = (i64::from(start) - i64::from(origin) + i64::from(length))
                .clamp(0, i64::from(limit));
            let (limit, physical) = (i64::from(limit.max(1)), i64::from(physical));
            let from = low * physical / limit;
            let to = (high * physical + limit - 1) / limit;
            (to > from)
                .then(|| u32::try_from(from).ok().zip(u32::try_from(to - from).ok()))
                .flatten()
        };
        let (x, width) = span(
            area.x,
            area.width,
            monitor.x,
            monitor.width,
            self.physical.width,
        )?;
        let (y, height) = span(
            area.y,
            area.height,
            monitor.y,
            monitor.height,
            self.physical.height,
        )?;
        Some(PhysicalRect {
            x,
            y,
            width,
            height,
        })
    }

    /// Reads a position as the model writes it. Normalised ones only where the model's profile says so.
    pub fn read(&self, value: &Value, coordinates: Coordinates) -> Result<SentPoint, PointError> {
        let steps = match coordinates {
            Coordinates::Pixels => None,
            Coordinates::Thousandths => Some(1000),
            Coordinates::Permille => Some(999),
        };
        let (max_x, max_y) = match steps {
            None => (self.sent.width - 1, self.sent.height - 1),
            Some(last) => (last, last),
        };
        let malformed = || PointError::Form {
            expected: format!(
                "[x, y], two whole numbers, x from 0 to {max_x} and y from 0 to {max_y}"
            ),
            found: shortened(value),
        };
        let [x, y] = value
            .as_array()
            .map(Vec::as_slice)
            .and_then(|pair| <&[Value; 2]>::try_from(pair).ok())
            .ok_or_else(malformed)?;
        let x = x.as_i64().ok_or_else(malformed)?;
        let y = y.as_i64().ok_or_else(malformed)?;
        if steps.is_none() {
            return self.sent(x, y);
        }
        let within = |at: i64, last: u32| u32::try_from(at).ok().filter(|at| *at <= last);
        let (Some(x), Some(y)) = (within(x, max_x), within(y, max_y)) else {
            return Err(PointError::Outside { x, y, max_x, max_y });
        };
        Ok(SentPoint {
            x: denormalised(x, coordinates, self.sent.width),
            y: denormalised(y, coordinates, self.sent.height),
            generation: self.generation,
        })
    }
}

/// `0..=1000` are the marks of a ruler whose ends are the picture's edges; `0..=999` are 1000 fields.
fn denormalised(at: u32, coordinates: Coordinates, size: u32) -> u32 {
    if coordinates == Coordinates::Permille {
        return scale(at, 1000, size);
    }
    let pixel = u64::from(at) * u64::from(size) / 1000;
    // The last mark is the edge itself, which belongs to the last pixel.
    u32::try_from(pixel)
        .unwrap_or(u32::MAX)
        .min(size.saturating_sub(1))
}

/// A value as the model wrote it, at most 60 characters of it.
pub(crate) fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// All monitors in one line: equal exactly when nothing was moved, resized, added or removed.
pub fn layout(monitors: &[Monitor]) -> String {
    let mut lines: Vec<String> = monitors
        .iter()
        .map(|monitor| {
            let InputRect {
                x,
                y,
                width,
                height,
            } = monitor.area;
            format!(
                "{}:{width}x{height}{x:+}{y:+}@{}",
                monitor.name, monitor.scale
            )
        })
        .collect();
    lines.sort();
    lines.join(";")
}

#[cfg(test)]
mod tests;
