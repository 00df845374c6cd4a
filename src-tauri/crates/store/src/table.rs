//! One file per table: the row, what is read, what is written.

pub(crate) mod approvals;
pub(crate) mod artefacts;
pub(crate) mod changes;
pub(crate) mod clients;
pub(crate) mod commands;
pub(crate) mod events;
pub(crate) mod frames;
pub(crate) mod instances;
pub(crate) mod messages;
pub(crate) mod model_calls;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod tasks;
pub(crate) mod ui_state;
