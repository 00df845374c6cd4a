//! The files that processes log to.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

/// A log file that has grown beyond this is moved aside once, so at most twice as much is kept.
pub const MOST_LOG_BYTES: u64 = 5 * 1024 * 1024;

/// Opens `logs/NAME.log` in the data folder, to be appended to.
///
/// # Errors
/// When it cannot be written.
pub fn log_file(data: &Path, name: &str) -> io::Result<File> {
    let folder = data.join("logs");
    let path = folder.join(format!("{name}.log"));
    fs::create_dir_all(&folder)?;
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() > MOST_LOG_BYTES) {
        fs::rename(&path, path.with_extension("old.log"))?;
    }
    File::options().create(true).append(true).open(&path)
}
