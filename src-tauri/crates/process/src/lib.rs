//! Child processes that die as a whole tree, run in a sandbox and inherit only what is allowed.
//!
//! [`Command`] describes a child, [`Child`] is one that runs, [`Tree`] everything that came out of
//! it and the way to end all of that. [`sandbox`] says what a child may touch, [`ancestry`] whether
//! the calling process itself came out of a run. Everything the operating system has to do lies in
//! `platform`, the only module with `unsafe`.

#![warn(missing_docs)]

pub mod ancestry;
pub mod child;
pub mod command;
pub mod environment;
pub mod error;
mod kill;
pub mod mark;
#[allow(unsafe_code)]
mod platform;
pub mod sandbox;
pub mod tree;

pub use child::{Child, Exit, Input, OutputStream};
pub use command::{Capture, Command, Stdin};
pub use environment::Environment;
pub use error::Error;
pub use kill::{kill_group, kill_process};
pub use mark::Mark;
pub use platform::{become_subreaper, give_back_start};
pub use sandbox::{Sandbox, Support};
pub use tree::{Killed, Tree, kill_marked};
