//! Where the log goes: standard error, or a file for processes nobody watches.

mod background;

use std::{
    fs,
    io::{self, IsTerminal as _},
    path::Path,
    sync::Mutex,
};

use openspace_app::{Code, Failure};
use tracing_subscriber::{EnvFilter, fmt as format};

pub(crate) use background::in_background;

/// A log file that has grown beyond this is moved aside once, so at most twice as much is kept.
const MOST_BYTES: u64 = 5 * 1024 * 1024;

fn filter(level: &str) -> Result<EnvFilter, Failure> {
    EnvFilter::try_new(level).map_err(|error| {
        Failure::new(
            Code::Configuration,
            format!("the setting `log.level` is `{level}`: {error}"),
        )
        .hint("write error, warn, info, debug or trace")
    })
}

/// Logs to standard error.
pub(crate) fn to_stderr(level: &str) -> Result<(), Failure> {
    let subscriber = format()
        .with_env_filter(filter(level)?)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal())
        .without_time()
        .finish();
    // A second call in one process keeps the first.
    let _already = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}

/// Logs to `logs/NAME.log` in the data folder.
pub(crate) fn to_file(level: &str, data: &Path, name: &str) -> Result<(), Failure> {
    let folder = data.join("logs");
    let path = folder.join(format!("{name}.log"));
    let failed = |error: io::Error| {
        Failure::new(
            Code::Store,
            format!("cannot write `{}`: {error}", path.display()),
        )
    };
    fs::create_dir_all(&folder).map_err(failed)?;
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() > MOST_BYTES) {
        fs::rename(&path, path.with_extension("old.log")).map_err(failed)?;
    }
    let file = fs::File::options()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(failed)?;
    let subscriber = format()
        .with_env_filter(filter(level)?)
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .finish();
    let _already = tracing::subscriber::set_global_default(subscriber);
    Ok(())
}
