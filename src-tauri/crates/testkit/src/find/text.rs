//! Phrases in a picture.

use anyhow::Result;
use image::RgbImage;

use super::Point;
use super::ocr::{Pass, Word, words_by};

/// The middle of the best place where `phrase` can be read; `None` when it cannot.
///
/// Case counts first and is ignored if nothing matches with it; words of five letters and more
/// may be misread in one letter. Fails only when Tesseract cannot be run.
pub fn text(image: &RgbImage, phrase: &str) -> Result<Option<Point>> {
    Ok(texts(image, phrase)?.first().copied())
}

/// All places of a phrase, the best reading first.
pub fn texts(image: &RgbImage, phrase: &str) -> Result<Vec<Point>> {
    let wanted: Vec<&str> = phrase.split_whitespace().collect();
    for pass in Pass::ALL {
        let words = words_by(image, pass)?;
        let mut found = matches(&words, &wanted);
        if !found.is_empty() {
            found.sort_by(|a, b| a.0.total_cmp(&b.0));
            return Ok(found.into_iter().map(|(_, point)| point).collect());
        }
    }
    Ok(Vec::new())
}

/// Everything that can be read, in lines; what to answer a question about the screen from.
pub fn read_text(image: &RgbImage) -> Result<String> {
    let mut text = String::new();
    let mut line = None;
    for word in words_by(image, Pass::Scattered)? {
        if line.is_some() {
            text.push(if line == Some(word.line) { ' ' } else { '\n' });
        }
        line = Some(word.line);
        text.push_str(&word.text);
    }
    Ok(text)
}

/// Places with their costs: 0 is letter for letter.
fn matches(words: &[Word], wanted: &[&str]) -> Vec<(f64, Point)> {
    if wanted.is_empty() || words.len() < wanted.len() {
        return Vec::new();
    }
    words
        .windows(wanted.len())
        .filter_map(|window| {
            let follows = window.windows(2).all(|pair| adjacent(&pair[0], &pair[1]));
            let cost: Option<f64> = window
                .iter()
                .zip(wanted)
                .map(|(word, wanted)| cost(&word.text, wanted))
                .sum();
            let cost = cost.filter(|_| follows)?;
            Some((cost, middle(window)))
        })
        .collect()
}

/// Whether the second word stands right of the first in the same line of text.
fn adjacent(first: &Word, second: &Word) -> bool {
    let height = first.height.max(second.height);
    let gap = second.left - (first.left + first.width);
    let drop = (first.top + first.height / 2.0) - (second.top + second.height / 2.0);
    (-0.5 * height..2.5 * height).contains(&gap) && drop.abs() < 0.7 * height
}

fn middle(words: &[Word]) -> Point {
    let left = words.iter().map(|word| word.left).fold(f64::MAX, f64::min);
    let top = words.iter().map(|word| word.top).fold(f64::MAX, f64::min);
    let right = words
        .iter()
        .map(|word| word.left + word.width)
        .fold(f64::MIN, f64::max);
    let bottom = words
        .iter()
        .map(|word| word.top + word.height)
        .fold(f64::MIN, f64::max);
    Point {
        x: f64::midpoint(left, right).floor() as i32,
        y: f64::midpoint(top, bottom).floor() as i32,
    }
}

fn cost(read: &str, wanted: &str) -> Option<f64> {
    if read == wanted {
        return Some(0.0);
    }
    let (read, wanted) = (bare(read), bare(wanted));
    if read == wanted {
        return Some(0.1);
    }
    let (read, wanted) = (read.to_lowercase(), wanted.to_lowercase());
    if read == wanted {
        return Some(0.5);
    }
    (wanted.chars().count() >= 5 && distance(&read, &wanted) == 1).then_some(1.0)
}

/// Without the punctuation around a word, in which frames and cursors are often read.
fn bare(word: &str) -> String {
    let trimmed = word.trim_matches(|c: char| !c.is_alphanumeric());
    if trimmed.is_empty() { word } else { trimmed }.to_owned()
}

/// Edit distance (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
