//! Behaviour of the store through its public surface, with real files and real processes.

mod bus;
mod child;
mod files;
mod home;
mod opening;
mod people;
mod runs;
