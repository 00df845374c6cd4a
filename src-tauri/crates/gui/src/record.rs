//! What is kept of a step, so that it can be done again without a model.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Capture, Element, InputPoint, InputRect, Window, encode,
    geometry::{FrameGeometry, PhysicalPoint, PhysicalRect, SentPoint, Size},
};

/// Edge of the crop around a target, in captured pixels.
pub const CROP: u32 = 128;

/// A whole call: what [`openspace_grounding::Output::record`] holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// Version of this form.
    pub version: u32,
    /// Its steps in order.
    pub steps: Vec<StepRecord>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRecord {
    /// The arguments of the `computer` tool that do it.
    pub action: Value,
    /// The frame its positions refer to.
    pub geometry: Option<FrameGeometry>,
    /// Where it happened.
    pub target: Option<Target>,
    /// Where a drag began or ended beside `target`.
    pub other_end: Option<Target>,
    /// The element that had the focus, for keys and text.
    pub focus: Option<Element>,
    /// The window it reached.
    pub window: Option<TargetWindow>,
    /// The text typed; none when it went into a password field.
    pub typed: Option<String>,
    /// It was typed into a password field, so `action` and `typed` hold no text.
    #[serde(default)]
    pub secret: bool,
    /// BLAKE3 of the captured pixels before.
    pub hash_before: Option<String>,
    /// BLAKE3 of the captured pixels after.
    pub hash_after: Option<String>,
    /// What differed, in captured pixels.
    pub changed: Option<PhysicalRect>,
    /// Milliseconds from the action until the screen was still.
    pub settled_ms: u64,
}

/// A place on the screen in all three spaces, and how it is found again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// In the picture the model saw.
    pub sent: Option<SentPoint>,
    /// In the captured image.
    pub physical: Option<PhysicalPoint>,
    /// In input space.
    pub input: InputPoint,
    /// The accessibility element there.
    pub element: Option<Element>,
    /// What it looked like before.
    pub crop: Option<Crop>,
}

/// A part of a captured image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Crop {
    /// Where it was.
    pub area: PhysicalRect,
    /// JPEG in base64, not scaled.
    pub jpeg: String,
}

impl Crop {
    /// Cuts the surroundings of a point out of a capture.
    pub fn around(capture: &Capture, point: PhysicalPoint) -> Option<Self> {
        let picture = Size {
            width: capture.width,
            height: capture.height,
        };
        let area = PhysicalRect::around(point, CROP, picture);
        let size = Size {
            width: area.width,
            height: area.height,
        };
        let image = encode::encode(capture, area, size).ok()?;
        Some(Self {
            area,
            jpeg: STANDARD.encode(&image.data),
        })
    }
}

/// A window, by what stays the same when it is opened again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetWindow {
    /// Class or application id.
    pub app: String,
    /// Title. Untrusted.
    pub title: String,
    /// Where it was in input space.
    pub area: InputRect,
}

impl From<&Window> for TargetWindow {
    fn from(window: &Window) -> Self {
        Self {
            app: window.class.clone(),
            title: window.title.clone(),
            area: window.area,
        }
    }
}
