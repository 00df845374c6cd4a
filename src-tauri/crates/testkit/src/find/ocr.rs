//! Words and their places, by Tesseract.

use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::{LazyLock, Mutex, PoisonError};

use anyhow::{Context, Result, ensure};
use image::imageops::{self, FilterType};
use image::{GrayImage, RgbImage};

use super::Point;

/// A word as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Word {
    /// Its letters.
    pub text: String,
    /// Left edge in pixels of the picture.
    pub left: f64,
    /// Top edge in pixels of the picture.
    pub top: f64,
    /// Width in pixels of the picture.
    pub width: f64,
    /// Height in pixels of the picture.
    pub height: f64,
    /// 0 to 100.
    pub confidence: f64,
    /// Words with the same number stand in one line, in reading order.
    pub line: u32,
}

impl Word {
    /// The middle of its box.
    pub fn point(&self) -> Point {
        Point {
            x: (self.left + self.width / 2.0).floor() as i32,
            y: (self.top + self.height / 2.0).floor() as i32,
        }
    }
}

/// How a picture is prepared. Screens mix dark text on light and light on dark in small sizes, and
/// no single setting reads all of it; these are in the order of how much they read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Pass {
    /// Twice the size, scattered text.
    Scattered,
    /// Three times the size, one block of text.
    Block,
    /// Twice the size, scattered text, light and dark exchanged.
    Inverted,
    /// Three times the size, scattered text.
    Large,
}

impl Pass {
    pub(super) const ALL: [Self; 4] = [Self::Scattered, Self::Block, Self::Inverted, Self::Large];

    fn scale(self) -> u32 {
        match self {
            Self::Scattered | Self::Inverted => 2,
            Self::Block | Self::Large => 3,
        }
    }

    /// Tesseract's page segmentation mode and way to tell ink from paper: 2 (Sauvola) looks at
    /// the surrounding of each pixel, which a light dialog on a dark desktop needs; 0 (Otsu) has
    /// one threshold for all.
    fn settings(self) -> (&'static str, &'static str) {
        match self {
            Self::Scattered | Self::Inverted | Self::Large => ("11", "2"),
            Self::Block => ("6", "0"),
        }
    }
}

/// The words per picture and pass: a script looks at the same picture several times.
static READ: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);

type Known = HashMap<(blake3::Hash, Pass), Vec<Word>>;

/// All words of the first pass, in reading order.
pub fn words(image: &RgbImage) -> Result<Vec<Word>> {
    words_by(image, Pass::Scattered)
}

pub(super) fn words_by(image: &RgbImage, pass: Pass) -> Result<Vec<Word>> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&image.width().to_le_bytes());
    hasher.update(image.as_raw());
    let key = (hasher.finalize(), pass);
    let known = READ
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(&key)
        .cloned();
    if let Some(words) = known {
        return Ok(words);
    }
    let words = recognise(image, pass)?;
    READ.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(key, words.clone());
    Ok(words)
}

fn recognise(image: &RgbImage, pass: Pass) -> Result<Vec<Word>> {
    let Some((left, top, width, height)) = interesting(image) else {
        return Ok(Vec::new());
    };
    let scale = pass.scale();
    let part = imageops::crop_imm(image, left, top, width, height).to_image();
    let mut grey = imageops::grayscale(&part);
    if pass == Pass::Inverted {
        imageops::invert(&mut grey);
    }
    let large = imageops::resize(&grey, width * scale, height * scale, FilterType::CatmullRom);
    let table = tesseract(&large, pass.settings())?;
    let mut words = parse(&table, f64::from(scale));
    for word in &mut words {
        word.left += f64::from(left);
        word.top += f64::from(top);
    }
    Ok(words)
}

/// The part of a picture that is not plain desktop, as left, top, width and height. Reading takes
/// time in proportion to the area, and most of a test's screen is empty.
fn interesting(image: &RgbImage) -> Option<(u32, u32, u32, u32)> {
    /// Compression moves plain pixels by less.
    const NOISE: u8 = 24;
    /// Letters at the very edge of a picture are read badly.
    const MARGIN: u32 = 12;
    let plain = image.get_pixel_checked(0, 0)?.0;
    let (mut left, mut top, mut right, mut bottom) = (u32::MAX, u32::MAX, 0, 0);
    for (x, y, pixel) in image.enumerate_pixels() {
        if pixel
            .0
            .iter()
            .zip(plain)
            .any(|(a, b)| a.abs_diff(b) > NOISE)
        {
            left = left.min(x);
            right = right.max(x);
            top = top.min(y);
            bottom = bottom.max(y);
        }
    }
    if left > right {
        return None;
    }
    let (left, top) = (left.saturating_sub(MARGIN), top.saturating_sub(MARGIN));
    let right = (right + MARGIN).min(image.width() - 1);
    let bottom = (bottom + MARGIN).min(image.height() - 1);
    Some((left, top, right - left + 1, bottom - top + 1))
}

fn tesseract(image: &GrayImage, (segmentation, threshold): (&str, &str)) -> Result<String> {
    let mut child = Command::new("tesseract")
        .args(["stdin", "stdout", "-l", "eng", "--psm", segmentation])
        .args(["--dpi", "150", "-c", "tessedit_create_tsv=1"])
        .args(["-c", &format!("thresholding_method={threshold}")])
        // Its own threads are slower than none on pictures of this size.
        .env("OMP_THREAD_LIMIT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("starting `tesseract`; install tesseract-ocr and tesseract-ocr-eng")?;
    let mut file = format!("P5\n{} {}\n255\n", image.width(), image.height()).into_bytes();
    file.extend_from_slice(image.as_raw());
    // It reads everything before it writes, so one thread is enough.
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&file).ok();
    }
    let output = child.wait_with_output()?;
    ensure!(
        output.status.success(),
        "`tesseract` failed: {}",
        output.status
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads Tesseract's table: level, page, block, paragraph, line, word, left, top, width, height,
/// confidence, text; level 5 is a word.
fn parse(table: &str, scale: f64) -> Vec<Word> {
    let mut words = Vec::new();
    let mut lines: Vec<[u32; 3]> = Vec::new();
    for row in table.lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [
            level,
            _,
            block,
            paragraph,
            line,
            _,
            left,
            top,
            width,
            height,
            confidence,
            text,
        ] = fields[..]
        else {
            continue;
        };
        let text = text.trim();
        if level != "5" || text.is_empty() {
            continue;
        }
        let number = |field: &str| field.parse::<f64>().unwrap_or(0.0);
        let place = [block, paragraph, line].map(|field| field.parse().unwrap_or(0));
        if lines.last() != Some(&place) {
            lines.push(place);
        }
        words.push(Word {
            text: text.to_owned(),
            left: number(left) / scale,
            top: number(top) / scale,
            width: number(width) / scale,
            height: number(height) / scale,
            confidence: number(confidence),
            line: lines.len() as u32,
        });
    }
    words
}
