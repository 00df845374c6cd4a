//! The lock of a host that writes its file all the time.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

/// As `proper-lockfile` has it: whoever holds a lock touches it more often than this.
const STALE: Duration = Duration::from_secs(10);
/// How long is waited for a host that holds it.
const PATIENCE: Duration = Duration::from_secs(5);

/// A folder beside a file whose presence means that the file is being written. Removed on drop.
#[derive(Debug)]
pub(crate) struct FolderLock(PathBuf);

impl FolderLock {
    /// Takes the lock of a file; none when somebody else keeps it.
    pub(crate) fn take(file: &Path) -> io::Result<Option<Self>> {
        let mut name = file.file_name().unwrap_or_default().to_owned();
        name.push(".lock");
        let folder = file.with_file_name(name);
        let begun = Instant::now();
        loop {
            match fs::create_dir(&folder) {
                Ok(()) => return Ok(Some(Self(folder))),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    if is_stale(&folder) {
                        let _taken_by_another = fs::remove_dir(&folder);
                    } else if begun.elapsed() > PATIENCE {
                        return Ok(None);
                    } else {
                        sleep(pause());
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let _gone = fs::remove_dir(&self.0);
    }
}

fn is_stale(folder: &Path) -> bool {
    let modified = fs::metadata(folder).and_then(|metadata| metadata.modified());
    let age = modified.map(|modified| modified.elapsed());
    matches!(age, Ok(Ok(age)) if age > STALE)
}

/// A pause of no fixed length, so that two who wait do not meet again and again.
pub(crate) fn pause() -> Duration {
    let mut seed = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(&Instant::now(), &mut seed);
    Duration::from_millis(20 + std::hash::Hasher::finish(&seed) % 60)
}
