//! Who moves the mouse: one run for each display at a time, across all processes of the machine's user.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Seek as _, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use openspace_store::RunId;

use crate::inhibit::Inhibition;

const PREFIX: &str = "control-";
/// Between "taking the mouse" and taking it, for a person to object (ui.md 2.13.4).
pub const COUNTDOWN: std::time::Duration = std::time::Duration::from_millis(1_500);

/// An operating system's lock named after a display. It lies in the runtime folder, so two
/// installations with different data folders respect each other too. Its content names the run that
/// holds it, for whoever is told to wait.
///
/// A paused run keeps it, however long the pause: whoever paused it finds the screen as the run left it,
/// and no other run begins to move the mouse meanwhile. Whoever wants the screen for another run stops
/// the paused one; it can be continued later.
pub struct DisplayLock {
    path: PathBuf,
    run: RunId,
    held: Mutex<Option<Held>>,
}

struct Held {
    _file: File,
    _awake: Option<Inhibition>,
}

impl DisplayLock {
    /// The lock of `display` for `run`; nothing is taken yet.
    pub fn new(runtime: &Path, display: &str, run: RunId) -> Self {
        Self {
            path: path(runtime, display),
            run,
            held: Mutex::new(None),
        }
    }

    fn held(&self) -> MutexGuard<'_, Option<Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl openspace_agent::Control for DisplayLock {
    fn try_acquire(&self) -> io::Result<bool> {
        let mut held = self.held();
        if held.is_some() {
            return Ok(true);
        }
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut file = open(&self.path)?;
        match file.try_lock() {
            Ok(()) => {
                file.set_len(0)?;
                file.rewind()?;
                write!(file, "{}", self.run)?;
                // The screen stays on while somebody uses it.
                *held = Some(Held {
                    _file: file,
                    _awake: Inhibition::take(),
                });
                Ok(true)
            }
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn release(&self) {
        // Closing the file gives the lock back.
        *self.held() = None;
    }
}

/// The lock of a display for something else than a run, which nobody is told of; none while it is taken.
/// Given back by closing the file.
pub(crate) fn claim(runtime: &Path, display: &str) -> io::Result<Option<File>> {
    std::fs::create_dir_all(runtime)?;
    let file = open(&path(runtime, display))?;
    match file.try_lock() {
        Ok(()) => {
            // Whose it was before.
            file.set_len(0)?;
            Ok(Some(file))
        }
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn path(runtime: &Path, display: &str) -> PathBuf {
    let plain = |character: char| character.is_ascii_alphanumeric() || character == '.';
    let name: String = display
        .chars()
        .map(|c| if plain(c) { c } else { '_' })
        .collect();
    runtime.join(format!("{PREFIX}{name}.lock"))
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(path)
}

/// The runs that move a mouse of this user now.
pub fn holders(runtime: &Path) -> Vec<RunId> {
    let Ok(entries) = std::fs::read_dir(runtime) else {
        return Vec::new();
    };
    let locks = entries.flatten().filter(|entry| {
        entry
            .file_name()
            .to_str()
            .is_some_and(|name| name.starts_with(PREFIX))
    });
    locks.filter_map(|entry| holder(&entry.path())).collect()
}

/// The run that moves the mouse of a display now.
pub(crate) fn controller(runtime: &Path, display: &str) -> Option<RunId> {
    holder(&path(runtime, display))
}

fn holder(path: &Path) -> Option<RunId> {
    let file = File::open(path).ok()?;
    // Shared: two who look must not take each other for a holder.
    let busy = matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock));
    busy.then(|| std::fs::read_to_string(path).ok())
        .flatten()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use openspace_agent::Control as _;

    use super::*;

    #[test]
    fn one_display_has_one_holder_and_others_are_free() {
        let folder = tempfile::tempdir().expect("folder");
        let lock = |display: &str| DisplayLock::new(folder.path(), display, RunId::random());
        let (first, second) = (lock(":7"), lock(":7"));
        assert!(first.try_acquire().expect("lock") && first.try_acquire().expect("again"));
        assert!(!second.try_acquire().expect("busy"));
        assert_eq!(holders(folder.path()), std::slice::from_ref(&first.run));
        assert_eq!(controller(folder.path(), ":7"), Some(first.run.clone()));
        assert_eq!(controller(folder.path(), ":8"), None);
        assert!(lock(":8").try_acquire().expect("another display"));
        first.release();
        assert_eq!(holders(folder.path()), []);
        assert!(second.try_acquire().expect("free now"));
    }
}
