//! What a platform lets us see.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::geometry::PhysicalRect;

/// A point in the operating system's input space: global, may be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputPoint {
    /// Units of the input API from the global origin, to the right.
    pub x: i32,
    /// Units of the input API from the global origin, downwards.
    pub y: i32,
}

/// A rectangle in the operating system's input space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputRect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Width, at least 1.
    pub width: u32,
    /// Height, at least 1.
    pub height: u32,
}

impl InputRect {
    /// Whether the point lies inside.
    pub fn contains(&self, point: InputPoint) -> bool {
        let (dx, dy) = (
            i64::from(point.x) - i64::from(self.x),
            i64::from(point.y) - i64::from(self.y),
        );
        (0..i64::from(self.width)).contains(&dx) && (0..i64::from(self.height)).contains(&dy)
    }
}

/// A monitor as the operating system lays it out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Monitor {
    /// Stable name: `HDMI-1`, `screen`, …
    pub name: String,
    /// Where it lies in input space.
    pub area: InputRect,
    /// Physical pixels per input unit; 1 on X11.
    pub scale: f64,
    /// The one a person calls the main screen.
    pub primary: bool,
}

/// A grabbed picture, one byte each of blue, green, red and an unused one per pixel.
#[derive(Clone, PartialEq, Eq)]
pub struct Capture {
    /// Physical width in pixels.
    pub width: u32,
    /// Physical height in pixels.
    pub height: u32,
    /// `width * height * 4` bytes, rows without padding.
    pub bgrx: Vec<u8>,
    /// Parts that were painted over, because a run is not to see what is there.
    pub covered: Vec<PhysicalRect>,
}

impl Capture {
    /// Pixels as they came.
    pub fn new(width: u32, height: u32, bgrx: Vec<u8>) -> Self {
        Self {
            width,
            height,
            bgrx,
            covered: Vec::new(),
        }
    }
}

impl std::fmt::Debug for Capture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Capture({}x{})", self.width, self.height)
    }
}

/// A window, as far as it can be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// The platform's id of the top-level window.
    pub id: u64,
    /// Process that owns it, where the platform says (on X11: asked of the server, not of the window).
    pub pid: Option<u32>,
    /// Class or application id, lower case.
    pub class: String,
    /// Title. Untrusted.
    pub title: String,
    /// Where it is in input space.
    pub area: InputRect,
}

/// Who shows a window, as far as that can be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner<'a> {
    /// [`Window::pid`]
    pub pid: Option<u32>,
    /// [`Window::class`]
    pub class: &'a str,
}

/// A window that somebody was asked about, and where it is seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cover {
    /// [`Window::id`]
    pub window: u64,
    /// The window with its frame.
    pub area: InputRect,
    /// What no window of others hides.
    pub seen: Vec<InputRect>,
}

/// Whether there is anything to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScreenState {
    /// As usual.
    Usable,
    /// The session is locked.
    Locked,
    /// The display is switched off.
    Off,
}

/// Longer than desktops take to open, close and minimise a window for the eye.
pub(crate) const LAG: Duration = Duration::from_millis(300);

/// Why the screen cannot be seen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScreenError {
    /// There is no display, or none that lets us in; says what to do.
    #[error("no screen: {0}")]
    NoDisplay(String),
    /// The monitor is not there any more: list them again.
    #[error("the monitor `{0}` is gone")]
    MonitorGone(String),
    /// The connection to the display broke.
    #[error("the connection to the display was lost: {0}")]
    Lost(String),
    /// The picture is blank, tiny or frozen and must not be taken for the screen.
    #[error("the capture cannot be trusted: {0}")]
    BadCapture(String),
    /// The operating system does not allow it yet; says where to allow it.
    #[error("screen capture is not allowed: {0}")]
    NotPermitted(String),
}

/// What can be seen. Calls block for milliseconds; callers run them off the async threads.
pub trait Screen: Send + Sync {
    /// All monitors, the primary one first.
    fn monitors(&self) -> Result<Vec<Monitor>, ScreenError>;

    /// A picture of one monitor, in physical pixels, without the pointer.
    fn capture(&self, monitor: &Monitor) -> Result<Capture, ScreenError>;

    /// The top-level window under a point that would receive a click there.
    fn window_at(&self, point: InputPoint) -> Result<Option<Window>, ScreenError>;

    /// The top-level window that would receive keys.
    fn focused(&self) -> Result<Option<Window>, ScreenError>;

    /// The top-level windows that are shown, in no order.
    fn windows(&self) -> Result<Vec<Window>, ScreenError>;

    /// The shown windows of which `asked` says so, the lowest first, each without what lies above it
    /// and belongs to others. Where a platform does not tell what lies above, each is whole.
    fn covers(&self, asked: &dyn Fn(Owner<'_>) -> bool) -> Result<Vec<Cover>, ScreenError> {
        let windows = self.windows()?.into_iter().filter(|window| {
            asked(Owner {
                pid: window.pid,
                class: &window.class,
            })
        });
        let cover = |window: Window| Cover {
            window: window.id,
            area: window.area,
            seen: vec![window.area],
        };
        Ok(windows.map(cover).collect())
    }

    /// How long pictures may still show a window where it was before: animations of the desktop.
    fn lag(&self) -> Result<Duration, ScreenError> {
        Ok(LAG)
    }

    /// Where the pointer is.
    fn pointer(&self) -> Result<InputPoint, ScreenError>;

    /// Locked, off or usable.
    fn state(&self) -> Result<ScreenState, ScreenError>;
}
