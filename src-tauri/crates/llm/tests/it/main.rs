//! Behaviour of the crate through its public surface, against servers on this machine.

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
