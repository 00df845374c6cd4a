//! The program from outside, and the rules its sources keep.

#![allow(
    clippy::expect_used,
    reason = "a test's helpers may fail the test as the test itself may"
)]

mod architecture;
mod cli;
mod rig;
