//! A small picture inside a large one.

use image::{GrayImage, RgbImage, imageops};

use super::Point;

/// Correlation from which on a place counts as a match.
const ENOUGH: f64 = 0.8;

/// The centre of the place that looks most like `wanted`, which must have been cut at the same
/// scale; `None` when nothing resembles it. Brightness and contrast may differ.
pub fn template(image: &RgbImage, wanted: &RgbImage) -> Option<Point> {
    let (whole, part) = (imageops::grayscale(image), imageops::grayscale(wanted));
    if part.width() < 3
        || part.height() < 3
        || part.width() > whole.width()
        || part.height() > whole.height()
    {
        return None;
    }
    // A quarter of the pixels decides where to look closely.
    let step = if part.width().min(part.height()) >= 16 {
        2
    } else {
        1
    };
    let mut best = (f64::MIN, 0, 0);
    for y in (0..=whole.height() - part.height()).step_by(step) {
        for x in (0..=whole.width() - part.width()).step_by(step) {
            let score = correlation(&whole, &part, x, y, step * 2);
            if score > best.0 {
                best = (score, x, y);
            }
        }
    }
    let around = step as u32 * 2;
    let (_, x0, y0) = best;
    let mut exact = (f64::MIN, 0, 0);
    for y in y0.saturating_sub(around)..=(y0 + around).min(whole.height() - part.height()) {
        for x in x0.saturating_sub(around)..=(x0 + around).min(whole.width() - part.width()) {
            let score = correlation(&whole, &part, x, y, 1);
            if score > exact.0 {
                exact = (score, x, y);
            }
        }
    }
    (exact.0 >= ENOUGH).then(|| Point {
        x: (exact.1 + part.width() / 2) as i32,
        y: (exact.2 + part.height() / 2) as i32,
    })
}

/// Normalised cross-correlation at one place, looking at every `step`th pixel each way.
fn correlation(whole: &GrayImage, part: &GrayImage, left: u32, top: u32, step: usize) -> f64 {
    let (mut count, mut sum_a, mut sum_b) = (0.0, 0.0, 0.0);
    let (mut squares_a, mut squares_b, mut products) = (0.0, 0.0, 0.0);
    for y in (0..part.height()).step_by(step) {
        for x in (0..part.width()).step_by(step) {
            let a = f64::from(whole.get_pixel(left + x, top + y).0[0]);
            let b = f64::from(part.get_pixel(x, y).0[0]);
            count += 1.0;
            sum_a += a;
            sum_b += b;
            squares_a += a * a;
            squares_b += b * b;
            products += a * b;
        }
    }
    let spread = (count * squares_a - sum_a * sum_a) * (count * squares_b - sum_b * sum_b);
    if spread <= 0.0 {
        return 0.0;
    }
    (count * products - sum_a * sum_b) / spread.sqrt()
}
