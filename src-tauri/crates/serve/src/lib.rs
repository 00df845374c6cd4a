//! Surfaces over a port: the windows' calls, events and pictures for a browser on this machine.
//!
//! [`http`] listens on loopback and answers four kinds of request: the pages themselves, calls of
//! [`openspace_app::rpc::Rpc`], the stream of events, and bytes of pictures and files. [`guard`]
//! stands before all of them and lets through only who is meant: the right host name, the right
//! origin, and, for everything but the pages, the [`token`]. [`mcp`] is what other agents on this
//! machine talk to, on standard streams or behind the same guard with a token of its own.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

#[cfg(test)]
mod double;
mod error;
mod events;
mod guard;
mod http;
pub mod mcp;
mod pages;
mod token;

pub use error::Error;
pub use http::{Listening, Options, listen};
pub use pages::Pages;
pub use token::Token;
