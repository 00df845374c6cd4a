//! Behaviour of the contract's own machinery, through its public surface.

#![allow(clippy::expect_used, reason = "tests fail by panicking")]

mod commands;
mod disk;
mod hostile;
mod registry;
mod rules;
mod support;
mod table;
mod table_screen;
mod untrusted;
