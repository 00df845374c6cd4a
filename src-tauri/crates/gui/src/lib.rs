//! The screen back end: look, click, type, and know whether it worked.
//!
//! [`screen`] and [`input`] are what a platform provides; [`platform`] holds the implementations.

#![warn(missing_docs)]

pub mod input;
pub mod screen;
pub mod tree;

pub use input::{Button, Held, Input, InputError, Key, TypeOptions};
pub use screen::{
    Capture, InputPoint, InputRect, Monitor, Screen, ScreenError, ScreenState, Window,
};
pub use tree::{Element, Elements, LOOKUP, Tree};
