//! The files that processes log to.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// A log file that has grown beyond this is moved aside once, so at most twice as much is kept.
const MOST_LOG_BYTES: u64 = 5 * 1024 * 1024;

/// What a log is to hold: a level such as `info`, or more of them for parts of the program,
/// `warn,openspace_gui=debug`. None where it says something else.
pub fn log_levels(text: &str) -> Option<Targets> {
    let is_level = |part: &str| {
        let level = part.rsplit_once('=').map_or(part, |(_, level)| level);
        level.trim().parse::<LevelFilter>().is_ok()
    };
    if text.split(',').all(is_level) {
        text.parse().ok()
    } else {
        None
    }
}

/// Opens `logs/NAME.log` in the data folder, to be appended to.
///
/// # Errors
/// When it cannot be written.
pub fn log_file(data: &Path, name: &str) -> io::Result<LogFile> {
    let mut file = LogFile::later(data, name);
    file.open()?;
    Ok(file)
}

/// A file that is begun anew when it has grown, however long a process goes: the one before is kept.
pub struct LogFile {
    path: PathBuf,
    file: Option<(File, u64)>,
}

impl LogFile {
    /// `logs/NAME.log` in the data folder, made with the first line.
    pub fn later(data: &Path, name: &str) -> Self {
        Self {
            path: data.join("logs").join(format!("{name}.log")),
            file: None,
        }
    }

    fn open(&mut self) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            openspace_config::paths::create_private(folder)?;
        }
        if fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() > MOST_LOG_BYTES) {
            fs::rename(&self.path, self.path.with_extension("old.log"))?;
        }
        let file = File::options().create(true).append(true).open(&self.path)?;
        let length = file.metadata()?.len();
        self.file = Some((file, length));
        Ok(())
    }
}

impl Write for LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let has_grown = |(_, length): &(File, u64)| *length > MOST_LOG_BYTES;
        if self.file.as_ref().is_none_or(has_grown) {
            self.open()?;
        }
        if let Some((file, length)) = &mut self.file {
            file.write_all(line)?;
            *length += line.len() as u64;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn levels_are_levels() {
        let enabled = |text: &str, target: &str, level: Level| {
            log_levels(text).map(|levels| levels.would_enable(target, &level))
        };
        assert_eq!(enabled("info", "openspace_gui", Level::INFO), Some(true));
        assert_eq!(enabled("info", "openspace_gui", Level::DEBUG), Some(false));
        let parts = "warn,openspace_gui=debug";
        assert_eq!(
            enabled(parts, "openspace_gui::tool", Level::DEBUG),
            Some(true)
        );
        assert_eq!(enabled(parts, "openspace_app", Level::INFO), Some(false));
        for wrong in ["(", "loud", "openspace_gui", "info,openspace_gui=loud"] {
            assert_eq!(log_levels(wrong), None, "{wrong}");
        }
    }

    /// A file that has grown is kept once, and the next line begins another, in the process that
    /// opened it too.
    #[test]
    fn a_file_that_has_grown_is_begun_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("logs/mcp.log");
        let later = LogFile::later(folder.path(), "mcp");
        assert!(!path.exists(), "made with the first line");
        let line = vec![b'x'; 1024 * 1024];
        let length = |path: &Path| fs::metadata(path).expect("there").len();
        let now = log_file(folder.path(), "desktop").expect("opened");
        for (name, mut file) in [("mcp", later), ("desktop", now)] {
            for _ in 0..7 {
                file.write_all(&line).expect("written");
            }
            let path = folder.path().join(format!("logs/{name}.log"));
            assert_eq!(length(&path), 1024 * 1024, "{name}");
            assert_eq!(length(&path.with_extension("old.log")), 6 * 1024 * 1024);
        }
    }
}
