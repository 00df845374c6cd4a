//! What a platform's accessibility tree tells: elements with role, name and rectangle.
//!
//! Its absence is normal: every answer may be empty, and nothing waits longer than it is told to.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::{InputPoint, InputRect, Window};

/// How long a single lookup may take.
pub const LOOKUP: Duration = Duration::from_millis(30);

/// One thing in a window that can be named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Element {
    /// Role in the platform's words, lower case: `push button`, `entry`, `link`.
    pub role: String,
    /// Accessible name. Untrusted.
    pub name: String,
    /// Text or value, shortened to 200 characters; never given for a password. Untrusted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where it is in input space.
    pub area: InputRect,
    /// How deep below its window.
    pub depth: u32,
    /// It has the keyboard focus.
    #[serde(default)]
    pub focused: bool,
    /// It reacts now; a greyed-out button does not.
    #[serde(default)]
    pub enabled: bool,
    /// What is typed into it is secret.
    #[serde(default)]
    pub password: bool,
}

impl Element {
    /// The point a person would click.
    pub fn centre(&self) -> InputPoint {
        let half = |length: u32| i32::try_from(length / 2).unwrap_or(0);
        InputPoint {
            x: self.area.x.saturating_add(half(self.area.width)),
            y: self.area.y.saturating_add(half(self.area.height)),
        }
    }
}

/// The elements of a window.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elements {
    /// Visible elements in reading order of the tree, parents before children.
    pub elements: Vec<Element>,
    /// Nothing was left out for lack of time or room.
    pub complete: bool,
}

/// A source of elements. Calls block, but answer before `until` with what they have by then.
pub trait Tree: Send + Sync {
    /// The innermost element under a point.
    fn element_at(&self, point: InputPoint, until: Instant) -> Option<Element>;

    /// The element that has the keyboard focus.
    fn focused(&self, until: Instant) -> Option<Element>;

    /// The visible elements of a window, at most a few hundred.
    fn elements(&self, window: &Window, until: Instant) -> Elements;

    /// Rectangles of visible password fields, to be covered in pictures.
    fn passwords(&self, until: Instant) -> Vec<InputRect>;
}
