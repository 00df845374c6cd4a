//! Behaviour of the contract's own machinery, through its public surface.

mod commands;
mod hostile;
mod registry;
mod rules;
mod support;
mod table;
mod untrusted;
