//! The MCP server through which other agents on this machine hand over tasks.
//!
//! [`Server`] answers requests, whatever transport they come by: [`serve_stdio`] on the standard
//! streams of a process that a host started, [`listen`] over HTTP (`/mcp`) and its predecessor
//! (`/sse`), [`while_wanted`] the same in the app, as the settings say. It opens no screen, no
//! keychain and no model: it queues runs and watches them, so that a host that goes away ends the
//! server and never a run.

mod arguments;
mod asking;
mod call;
mod cancellations;
#[cfg(feature = "conformance")]
pub mod conformance;
mod http;
mod introduced;
mod open_questions;
mod opening;
mod progress;
mod reply;
mod server;
mod sessions;
mod sse;
mod stdio;
mod tasks;
mod tools;
mod waiting;
mod wanted;

pub use http::{Listen, listen};
pub use opening::Opening;
pub use server::Server;
pub use stdio::{Streams, serve_stdio};
pub use wanted::while_wanted;
