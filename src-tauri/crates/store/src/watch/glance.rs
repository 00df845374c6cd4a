//! Whether it is worth asking the database for changes: one look at the file that every commit writes to.

use std::{
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Looks without a question, however quiet it seems; then it is asked all the same. File systems there
/// are whose times say nothing.
const QUIET: u32 = 10;

/// What the log of the database (`-wal`) looked like.
pub(super) struct Glance {
    log: PathBuf,
    seen: Option<(SystemTime, u64)>,
    /// Looks since it changed, or since the database was asked.
    quiet: u32,
}

impl Glance {
    pub(super) fn new(database: &Path) -> Self {
        let mut log = database.as_os_str().to_owned();
        log.push("-wal");
        Self {
            log: log.into(),
            seen: None,
            quiet: 0,
        }
    }

    /// Something may have been committed since the last look. After a change this holds for the next
    /// look, too: another commit in the same tick of the file system's clock leaves the same time.
    pub(super) fn changed(&mut self) -> bool {
        if cfg!(windows) {
            // The time of a file that is open elsewhere is brought up to date when it suits the system.
            return true;
        }
        let metadata = self.log.metadata().ok();
        let now = metadata.and_then(|it| Some((it.modified().ok()?, it.len())));
        if now.is_none() || now != self.seen {
            self.seen = now;
            self.quiet = 0;
            return true;
        }
        self.quiet += 1;
        let ask = self.quiet == 1 || self.quiet > QUIET;
        if self.quiet > QUIET {
            self.quiet = 1;
        }
        ask
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn a_change_is_seen_and_quiet_is_not_trusted_for_ever() {
        let folder = tempfile::tempdir().expect("a folder");
        let database = folder.path().join("a.db");
        let mut glance = Glance::new(&database);
        assert!(glance.changed(), "there is no log yet");
        assert!(glance.changed(), "nor now");
        let log = folder.path().join("a.db-wal");
        fs::write(&log, "1").expect("written");
        assert!(glance.changed());
        assert!(
            glance.changed(),
            "another one may have come in the same tick"
        );
        let quiet = (0..QUIET - 1).filter(|_| glance.changed()).count();
        assert_eq!(quiet, 0);
        assert!(glance.changed(), "asked all the same");
        let quiet = (0..QUIET - 1).filter(|_| glance.changed()).count();
        assert_eq!(quiet, 0);
        let later = SystemTime::now() + std::time::Duration::from_secs(1);
        let file = File::options().write(true).open(&log).expect("open");
        file.set_modified(later).expect("set");
        assert!(glance.changed(), "the same length at another time");
        assert!(glance.changed());
        assert!(!glance.changed());
    }
}
