//! The size of what a person installs.

use std::{fs, path::Path};

use anyhow::Result;

use crate::figure::{Report, missing};

const FIGURE: &str = "deb_size_mb";

/// The newest Debian package beside this program, if one was made.
pub(crate) fn measure(report: &mut Report) -> Result<()> {
    let folder = std::env::current_exe()?
        .with_file_name("bundle")
        .join("deb");
    match newest_size(&folder) {
        Some(bytes) => report.add_of(FIGURE, bytes as f64 / 1e6, "MB", 1),
        None => missing(FIGURE, "there is no package yet: cargo xtask package"),
    }
    Ok(())
}

fn newest_size(folder: &Path) -> Option<u64> {
    let files = fs::read_dir(folder).ok()?.flatten();
    files
        .filter(|file| file.path().extension().is_some_and(|kind| kind == "deb"))
        .filter_map(|file| file.metadata().ok())
        .max_by_key(|file| file.modified().ok())
        .map(|file| file.len())
}
