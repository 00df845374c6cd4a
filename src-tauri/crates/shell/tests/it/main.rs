//! Behaviour of the shell tools, through the contract the agent uses.
#![cfg(target_os = "linux")]

mod command;
mod files;
mod program;
mod search;
mod world;
