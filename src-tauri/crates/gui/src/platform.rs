//! The implementations of [`Screen`](crate::Screen), [`Input`](crate::Input) and
//! [`Tree`](crate::Tree), and the choice between them.
//!
//! `linux/x11` is our own path on X11. `portable` (xcap and enigo) is what macOS and Windows use,
//! and a fallback on Linux behind the feature of that name.

// The only place in this crate where the operating system is called without a safe wrapper:
// shared memory for captures, the death signal of a private display, SendInput.
#![allow(unsafe_code)]

use std::path::PathBuf;
use std::sync::Arc;

use crate::{Input, Screen, ScreenError, Tree};

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(feature = "portable", not(target_os = "linux")))]
pub mod portable;
#[cfg(target_os = "windows")]
mod windows;

#[cfg(target_os = "linux")]
pub use linux::{
    private::PrivateDisplay,
    x11::{
        frame::EdgeFrame,
        guard::{release_held, release_held_with},
        human::{HumanInput, HumanWatch},
        ring::RingWindow,
    },
};

/// Whether an input device is one that programs inject through, by the name the window system gives it.
/// The X server has two such devices for each pair of pointer and keyboard.
pub fn injects(device: &str) -> bool {
    device.contains("XTEST")
}

/// Releases what a process that died had pressed: on X11 only. Elsewhere another process cannot tell
/// its keys from the person's.
///
/// # Errors
/// Always, unless nothing was pressed.
#[cfg(not(target_os = "linux"))]
pub fn release_held_with(
    held: &crate::Held,
    _authority: Option<&std::path::Path>,
) -> Result<(), ScreenError> {
    if held.is_empty() {
        return Ok(());
    }
    Err(ScreenError::NotPermitted(
        "what a process that died had pressed cannot be released here; press and release these keys \
         once yourself"
            .into(),
    ))
}

/// Whether text can be put on a clipboard here, given a display.
pub const HAS_CLIPBOARD: bool = cfg!(target_os = "linux");

/// Which screen to open. Nothing here reads the environment: the caller found these values.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The X display, such as `:0`. Ignored on macOS and Windows.
    pub display: Option<String>,
    /// The X authority file, where it is not the one `XAUTHORITY` or the home folder gives.
    pub authority: Option<PathBuf>,
    /// Whether the session is a Wayland session: then an X display shows only some windows.
    pub wayland: bool,
    /// Address of the session's message bus, for the accessibility tree; `None` asks the
    /// environment as every D-Bus client does.
    pub session_bus: Option<String>,
}

/// An opened screen.
pub struct Platform {
    /// What can be seen.
    pub screen: Arc<dyn Screen>,
    /// What can be pressed.
    pub input: Box<dyn Input>,
    /// What accessible applications tell about themselves, where there is such a thing.
    pub tree: Option<Arc<dyn Tree>>,
    /// The display, as [`Held::display`](crate::Held::display) names it; empty where there is one.
    pub display_name: String,
}

impl std::fmt::Debug for Platform {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Platform")
            .field("display_name", &self.display_name)
            .field("tree", &self.tree.is_some())
            .finish_non_exhaustive()
    }
}

/// Opens the screen of this session.
///
/// # Errors
/// [`ScreenError::NoDisplay`] with what to do when there is none, when it refuses us, or when it is
/// a Wayland session, and [`ScreenError::NotPermitted`] where the system has to allow it first.
pub fn open(options: &Options) -> Result<Platform, ScreenError> {
    #[cfg(target_os = "linux")]
    return linux::open(options);
    #[cfg(not(target_os = "linux"))]
    return portable::open(options);
}
