//! Coloured areas, also after shrinking and JPEG.

use image::{Rgb, RgbImage};

use super::Point;

/// A connected area of about one colour.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Centre of gravity with edge pixels counted by how much they are covered, so that it is
    /// right to a fraction of a pixel. Pixel `n` spans `n..n + 1`.
    pub centre: (f64, f64),
    /// Left edge of the pixels that match.
    pub left: u32,
    /// Top edge of the pixels that match.
    pub top: u32,
    /// Width of the pixels that match.
    pub width: u32,
    /// Height of the pixels that match.
    pub height: u32,
    /// How many pixels match.
    pub pixels: u32,
}

impl Area {
    /// The pixel the centre lies in.
    pub fn point(&self) -> Point {
        Point {
            x: self.centre.0.floor() as i32,
            y: self.centre.1.floor() as i32,
        }
    }
}

/// The largest area whose channels all differ from `wanted` by at most `tolerance`.
///
/// Small saturated targets lose colour when a picture is shrunk and compressed; 60 to 90 finds
/// them on grey without confusing the colours of `Window::with_probes`.
pub fn colour(image: &RgbImage, wanted: [u8; 3], tolerance: u8) -> Option<Area> {
    colours(image, wanted, tolerance).into_iter().next()
}

/// All areas of about that colour, the largest first.
pub fn colours(image: &RgbImage, wanted: [u8; 3], tolerance: u8) -> Vec<Area> {
    let (width, height) = image.dimensions();
    let mut matching: Vec<bool> = image
        .pixels()
        .map(|pixel| difference(*pixel, wanted) <= tolerance)
        .collect();
    let mut areas = Vec::new();
    for start in 0..matching.len() {
        if matching[start] {
            let area = fill(&mut matching, start as u32, width, height);
            areas.push(Area {
                centre: weigh(image, wanted, &area),
                ..area
            });
        }
    }
    areas.sort_by_key(|area| std::cmp::Reverse(area.pixels));
    areas
}

fn difference(Rgb(pixel): Rgb<u8>, wanted: [u8; 3]) -> u8 {
    pixel
        .into_iter()
        .zip(wanted)
        .map(|(a, b)| a.abs_diff(b))
        .max()
        .unwrap_or(0)
}

/// Takes one connected area (with diagonals) out of the map.
fn fill(matching: &mut [bool], start: u32, width: u32, height: u32) -> Area {
    let (mut left, mut top, mut right, mut bottom) = (u32::MAX, u32::MAX, 0, 0);
    let mut pixels = 0;
    let mut open = vec![start];
    matching[start as usize] = false;
    while let Some(index) = open.pop() {
        let (x, y) = (index % width, index / width);
        pixels += 1;
        left = left.min(x);
        right = right.max(x);
        top = top.min(y);
        bottom = bottom.max(y);
        for near_y in y.saturating_sub(1)..=(y + 1).min(height - 1) {
            for near_x in x.saturating_sub(1)..=(x + 1).min(width - 1) {
                let near = near_y * width + near_x;
                if std::mem::take(&mut matching[near as usize]) {
                    open.push(near);
                }
            }
        }
    }
    Area {
        centre: (0.0, 0.0),
        left,
        top,
        width: right - left + 1,
        height: bottom - top + 1,
        pixels,
    }
}

/// The centre, each pixel weighing as much of it as is covered by the colour, which is measured
/// between the colour and the surrounding as it is a few pixels away.
fn weigh(image: &RgbImage, wanted: [u8; 3], area: &Area) -> (f64, f64) {
    const BORDER: u32 = 2;
    let (left, top) = (
        area.left.saturating_sub(BORDER),
        area.top.saturating_sub(BORDER),
    );
    let right = (area.left + area.width + BORDER).min(image.width());
    let bottom = (area.top + area.height + BORDER).min(image.height());
    let around = surrounding(image, left, top, right, bottom);
    let direction: Vec<f64> = (0..3).map(|i| f64::from(wanted[i]) - around[i]).collect();
    let length: f64 = direction.iter().map(|part| part * part).sum();
    let (mut sum, mut sum_x, mut sum_y) = (0.0, 0.0, 0.0);
    for y in top..bottom {
        for x in left..right {
            let pixel = image.get_pixel(x, y).0;
            let along: f64 = (0..3)
                .map(|i| (f64::from(pixel[i]) - around[i]) * direction[i])
                .sum();
            let covered = (along / length.max(1.0)).clamp(0.0, 1.0);
            // Compression leaves faint traces around an edge; they are no coverage.
            if covered > 0.12 {
                sum += covered;
                sum_x += covered * (f64::from(x) + 0.5);
                sum_y += covered * (f64::from(y) + 0.5);
            }
        }
    }
    if sum == 0.0 {
        return (
            f64::from(area.left) + f64::from(area.width) / 2.0,
            f64::from(area.top) + f64::from(area.height) / 2.0,
        );
    }
    (sum_x / sum, sum_y / sum)
}

/// The median colour of the frame around a box.
fn surrounding(image: &RgbImage, left: u32, top: u32, right: u32, bottom: u32) -> [f64; 3] {
    let mut frame: Vec<[u8; 3]> = Vec::new();
    for y in top..bottom {
        for x in left..right {
            if x == left || y == top || x + 1 == right || y + 1 == bottom {
                frame.push(image.get_pixel(x, y).0);
            }
        }
    }
    let mut median = [0.0; 3];
    for (channel, value) in median.iter_mut().enumerate() {
        let mut values: Vec<u8> = frame.iter().map(|pixel| pixel[channel]).collect();
        values.sort_unstable();
        *value = values.get(values.len() / 2).copied().map_or(0.0, f64::from);
    }
    median
}
