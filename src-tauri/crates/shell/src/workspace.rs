//! Which files a command changed: a bounded look at the workspace before and after.

use std::{
    collections::BTreeMap,
    fs::Metadata,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ignore::WalkBuilder;
use openspace_grounding::ChangeKind;
use tokio_util::sync::CancellationToken;

/// Most files that are looked at.
const FILES: usize = 20_000;
/// Longest look.
const TIME: Duration = Duration::from_secs(2);
/// Folders whose content is generated: looking at it costs much and says nothing.
const SKIPPED: &[&str] = &[".git", "node_modules", "target"];

/// Size, times and identity of a file.
pub(crate) type Print = (u64, i128, i128, u64);

/// The files of a folder at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) files: BTreeMap<PathBuf, Print>,
    /// There were more files than are looked at.
    pub(crate) incomplete: bool,
}

impl Snapshot {
    /// Blocks for up to two seconds, and no longer than until it is cancelled.
    pub(crate) fn take(folder: &Path, cancel: &CancellationToken) -> Self {
        let mut snapshot = Self::default();
        let begin = Instant::now();
        let walk = WalkBuilder::new(folder)
            .standard_filters(false)
            .follow_links(false)
            .sort_by_file_name(Ord::cmp)
            .filter_entry(|entry| {
                entry.depth() == 0 || !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped)
            })
            .build();
        for entry in walk.flatten() {
            let is_spent = snapshot.files.len() >= FILES || begin.elapsed() > TIME;
            if is_spent || cancel.is_cancelled() {
                snapshot.incomplete = true;
                break;
            }
            if entry.file_type().is_none_or(|kind| kind.is_dir()) {
                continue;
            }
            if let Ok(metadata) = entry.metadata() {
                snapshot.files.insert(entry.into_path(), print(&metadata));
            }
        }
        snapshot
    }

    /// What is different in `later`. Nothing where either is incomplete: the order in which they
    /// were cut off would pass for changes.
    pub(crate) fn changes(&self, later: &Self) -> Vec<(PathBuf, ChangeKind)> {
        if self.incomplete || later.incomplete {
            return Vec::new();
        }
        let mut changes: Vec<_> = later
            .files
            .iter()
            .filter_map(|(path, now)| match self.files.get(path) {
                None => Some((path.clone(), ChangeKind::Created)),
                Some(before) if before != now => Some((path.clone(), ChangeKind::Modified)),
                Some(_) => None,
            })
            .collect();
        changes.extend(
            self.files
                .keys()
                .filter(|path| !later.files.contains_key(*path))
                .map(|path| (path.clone(), ChangeKind::Deleted)),
        );
        changes.sort_by(|one, other| one.0.cmp(&other.0));
        changes
    }
}

#[cfg(unix)]
pub(crate) fn print(metadata: &Metadata) -> Print {
    use std::os::unix::fs::MetadataExt;
    let time = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    (
        metadata.size(),
        time(metadata.mtime(), metadata.mtime_nsec()),
        // Cannot be set back by the program that changed the file.
        time(metadata.ctime(), metadata.ctime_nsec()),
        metadata.ino(),
    )
}

#[cfg(not(unix))]
pub(crate) fn print(metadata: &Metadata) -> Print {
    let modified = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok())
        .map_or(0, |time| time.as_nanos().cast_signed());
    (metadata.len(), modified, 0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever stops the run does not wait for a look that nobody wants any more.
    #[test]
    fn a_cancelled_look_ends_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["one", "two"] {
            std::fs::write(folder.path().join(name), name).expect("written");
        }
        let cancel = CancellationToken::new();
        let whole = Snapshot::take(folder.path(), &cancel);
        assert_eq!((whole.files.len(), whole.incomplete), (2, false));
        cancel.cancel();
        let cut = Snapshot::take(folder.path(), &cancel);
        assert_eq!((cut.files.len(), cut.incomplete), (0, true));
    }
}
