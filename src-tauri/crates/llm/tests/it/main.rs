//! Behaviour of the crate through its public surface, against servers on this machine.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what a test is built from may fail it as the test itself may"
)]

mod anthropic;
mod check;
mod errors;
mod history;
mod names;
mod openai;
mod preflight;
mod profiles;
mod recorded;
mod retry;
mod server;
mod sse;
mod wire_bodies;
