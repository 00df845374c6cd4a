//! Behaviour of folders, sessions, variables and settings through the public surface.

#![allow(
    clippy::expect_used,
    reason = "a test's helpers may fail the test as the test itself may"
)]

mod env_vars;
mod paths;
mod secrets;
mod session;
mod settings;
mod settings_file;
