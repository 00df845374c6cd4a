//! Finding things in a picture by what is visible in it, as a model does.
//!
//! Positions are in pixels of the picture that is searched, which is what a model answers with.

mod colour;
mod ocr;
mod template;
mod text;

pub use colour::{Area, colour, colours};
pub use ocr::{Word, words};
pub use template::template;
pub use text::{read_text, text, texts};

/// A position in a picture, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Point {
    /// From the left edge.
    pub x: i32,
    /// From the top edge.
    pub y: i32,
}
