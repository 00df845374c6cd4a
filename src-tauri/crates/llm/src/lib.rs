//! Chat models over their vendors' wire formats, with images, hosted tools and typed errors.
//!
//! [`message`] is what the rest of the program speaks; [`ChatModel`] is what it speaks to;
//! [`profile`] holds the facts about each model as data.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod error;
pub mod message;
pub mod model;
pub mod profile;

pub use error::{Error, Result};
pub use message::{
    Content, Hosted, Image, MediaType, Message, Role, ToolCall, ToolDefinition, ToolResult,
};
pub use model::{ChatModel, Delta, Reply, Request, StopReason, Usage};
pub use profile::{Coordinates, ImageLimits, Price, Profile};
