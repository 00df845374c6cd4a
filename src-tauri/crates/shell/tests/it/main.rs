//! Behaviour of the shell tools, through the contract the agent uses.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod command;
mod files;
mod later;
mod program;
mod search;
mod world;
