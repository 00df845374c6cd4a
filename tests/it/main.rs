//! The program from outside, and the rules its sources keep.

#![allow(
    clippy::expect_used,
    reason = "a test's helpers may fail the test as the test itself may"
)]

mod architecture;
mod attacker;
mod bad_input;
mod cases;
mod cli;
#[cfg(all(feature = "desktop", target_os = "linux"))]
mod desktop;
mod hosts;
mod keys;
mod mcp;
mod programs;
mod rig;
mod serve;
mod survival;
