//! Whole runs: a scripted model, a tool that asks, and a person.

#![expect(
    clippy::expect_used,
    reason = "a test's helpers may fail the test as the test itself may"
)]

mod asking;
mod edited;
mod ending;
mod world;
