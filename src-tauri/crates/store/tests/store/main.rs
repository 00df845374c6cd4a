//! Behaviour of the store through its public surface, with real files and real processes.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy allows these in test functions, not in what they share"
)]

mod bus;
mod child;
mod clients;
mod deleting;
mod files;
mod home;
mod lookup;
mod opening;
mod people;
mod runs;
