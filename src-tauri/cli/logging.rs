//! Where the log goes: standard error, or a file for processes nobody watches.

mod background;

use std::{
    io::{self, IsTerminal as _},
    path::Path,
    sync::Mutex,
};

use openspace_app::{Code, Failure, log_levels};
use tracing_subscriber::{filter::Targets, fmt as format, layer::SubscriberExt as _, registry};

pub(crate) use background::in_background;

fn filter(level: &str) -> Result<Targets, Failure> {
    log_levels(level).ok_or_else(|| {
        Failure::new(
            Code::Configuration,
            format!("the setting `log.level` is `{level}`, which is no level"),
        )
        .hint("write error, warn, info, debug or trace")
    })
}

/// Logs to standard error.
pub(crate) fn to_stderr(level: &str) -> Result<(), Failure> {
    let lines = format::layer()
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .without_time();
    let subscriber = registry().with(filter(level)?).with(lines);
    // A second call in one process keeps the first.
    let _already = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// Logs to `logs/NAME.log` in the data folder.
pub(crate) fn to_file(level: &str, data: &Path, name: &str) -> Result<(), Failure> {
    let file = openspace_app::log_file(data, name).map_err(|error| {
        let place = data.join("logs");
        Failure::new(
            Code::Store,
            format!("cannot write a log in `{}`: {error}", place.display()),
        )
    })?;
    let lines = format::layer()
        .with_ansi(false)
        .with_writer(Mutex::new(file));
    let subscriber = registry().with(filter(level)?).with(lines);
    let _already = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}
