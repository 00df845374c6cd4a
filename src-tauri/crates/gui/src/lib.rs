//! The screen back end: look, click, type, and know whether it worked.
//!
//! [`screen`] and [`input`] are what a platform provides; [`platform`] holds the implementations.

#![warn(missing_docs)]

pub mod action;
pub mod backend;
pub mod capture_check;
pub mod change;
pub mod encode;
pub mod error;
#[cfg(test)]
mod fake;
pub mod geometry;
pub mod input;
pub mod key;
mod mask;
pub mod platform;
pub mod record;
mod region;
mod ring;
pub mod screen;
pub mod session;
pub mod settle;
pub mod target;
mod tool;
pub mod tree;

pub use backend::{GuiBackend, Options};
pub use error::GuiError;
pub(crate) use input::Announcer;
pub use input::{Button, Held, Input, InputError, Key, TellHeld, TypeOptions};
pub use mask::{IsOurs, MaskedScreen};
pub use ring::{DrawRing, IsWatched, TargetRing};
pub use screen::{
    Capture, Cover, InputPoint, InputRect, Monitor, Owner, Screen, ScreenError, ScreenState, Window,
};
pub use session::{GuiSession, SessionOptions, choose_monitor};
pub use target::OffLimits;
pub use tree::{Element, Elements, LOOKUP, Tree};
