//! The shell back end: commands, files, search, opening programs.
//!
//! [`Shell`] is the back end of one run. Each tool has its file below `tools`; what they share lies
//! beside it: [`path`] turns what a model writes into the file it means, `place` reads and replaces
//! that file without following a link that appeared meanwhile, `processes` knows everything that
//! still runs, `capture` and `render` make output fit for a model, `workspace` tells which files a
//! command changed, `later` keeps those as they are that something runs later.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod arguments;
mod capture;
mod complaints;
pub mod desktop;
mod later;
pub mod path;
mod place;
mod processes;
mod render;
mod running;
pub mod shell;
mod tools;
mod workspace;

pub use shell::{Options, Shell};
