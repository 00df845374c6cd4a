//! What tests cannot have for real: a model that checks its requests, a screen, a home, a target.
//!
//! Everything here judges the program from outside, so nothing here uses its crates. Calls block
//! and are bounded, whatever a caller starts is gone when the value is dropped, and nothing
//! touches the process environment: pass the maps of [`TestHome::environment`] and
//! `TestScreen::environment` to children.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod find;
pub mod home;
pub mod model;
pub mod wait;

#[cfg(target_os = "linux")]
pub mod cli;
#[cfg(target_os = "linux")]
pub mod driver;
#[cfg(target_os = "linux")]
pub mod leak;
#[cfg(target_os = "linux")]
pub mod screen;
#[cfg(target_os = "linux")]
pub mod spawn;
#[cfg(target_os = "linux")]
pub mod target;
#[cfg(target_os = "linux")]
pub mod watch;

pub use find::Point;
pub use home::{Mark, TestHome};
pub use model::{Call, ModelServer, Rules, Script, SeenRequest, Turn};
pub use wait::wait_until;

#[cfg(target_os = "linux")]
pub use cli::Program;
#[cfg(target_os = "linux")]
pub use driver::WebDriver;
#[cfg(target_os = "linux")]
pub use leak::LeakCheck;
#[cfg(target_os = "linux")]
pub use screen::{Options, TestScreen};
#[cfg(target_os = "linux")]
pub use target::{GtkTarget, RawTarget};
#[cfg(target_os = "linux")]
pub use watch::InputWatch;
