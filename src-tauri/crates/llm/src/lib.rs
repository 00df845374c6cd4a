//! Chat models over their vendors' wire formats, with images, hosted tools and typed errors.
//!
//! [`message`] is what the rest of the program speaks; [`ChatModel`] is what it speaks to;
//! [`profile`] holds the facts about each model as data, [`provider`] those about who serves them.
//! [`connect`] makes a model. [`preflight`] is what a conversation must fulfil to be sent, [`history`]
//! what keeps it so.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod anthropic;
mod check;
mod client;
mod connect;
pub mod error;
mod failure;
pub mod history;
pub mod message;
pub mod model;
mod openai;
pub mod preflight;
pub mod profile;
pub mod provider;
pub mod recorded;
mod retry;
pub mod sse;
mod timing;
mod wire;

pub use client::Timeouts;
pub use connect::{HostedTool, Key, Options, connect};
pub use error::{Error, Result};
pub use message::{
    Content, Hosted, Image, MediaType, Message, Role, ToolCall, ToolDefinition, ToolResult,
};
pub use model::{ChatModel, Delta, Reply, Request, StopReason, Usage};
pub use profile::{Coordinates, HostedOverride, ImageLimits, Overrides, Price, Profile};
pub use provider::{ModelName, Provider};
pub use retry::RetryPolicy;
pub use timing::{SystemTiming, Timing};
