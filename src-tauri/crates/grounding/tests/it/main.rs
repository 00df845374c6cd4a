//! Behaviour of the contract's own machinery, through its public surface.

mod commands;
mod support;
mod table;
