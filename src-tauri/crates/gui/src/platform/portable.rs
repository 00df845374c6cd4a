//! xcap and enigo: the implementation on macOS and Windows, and a fallback on Linux.
//!
//! Slower than our own path on X11 (a 1080p grab takes 80 to 100 ms there), and enigo cannot tell
//! where a character is on the layout, so text that it refuses is pasted by whoever calls.
//! On macOS and Windows nothing of this could be tried; it only uses the two crates' public API.

use std::sync::Arc;

use crate::ScreenError;

use super::{Options, Platform};

mod input;
mod keys;
mod screen;

pub use input::PortableInput;
pub use screen::PortableScreen;

/// Opens the screen the operating system gives to this process.
///
/// # Errors
/// [`ScreenError::NoDisplay`] without a screen and [`ScreenError::NotPermitted`] where the system
/// has to allow it first.
pub fn open(options: &Options) -> Result<Platform, ScreenError> {
    let screen = PortableScreen::open()?;
    #[cfg(target_os = "windows")]
    let input = Box::new(super::windows::WindowsInput::open(options)?);
    #[cfg(not(target_os = "windows"))]
    let input = Box::new(PortableInput::open(options)?);
    Ok(Platform {
        screen: Arc::new(screen),
        input,
        tree: None,
        display_name: options.display.clone().unwrap_or_default(),
    })
}
