//! Bringing back what a file held before a run changed it.

use std::{fs, io, path::Path};

use crate::{
    Change, ChangeId, ChangeKind, Error, Left, Result, Store,
    files::{left, remove, sync_folder, write_new},
};

impl Store {
    /// Brings back what a file held before a change, in one step: the file is either as before or as
    /// the run left it. A change that was undone already stays undone. Blocks.
    ///
    /// # Errors
    /// [`Error::ChangedSince`] when the file is not as the run left it, and [`Error::NothingKept`] when
    /// there is nothing to bring back; both leave it alone.
    pub fn undo(&self, id: &ChangeId) -> Result<()> {
        let change = self.read_blocking(|db| db.changes().get(id))?;
        if change.undone_at.is_some() {
            return Ok(());
        }
        let before = match (change.kind, &change.before_hash) {
            (ChangeKind::Created, _) => Left::Absent,
            (ChangeKind::Modified | ChangeKind::Deleted, Some(hash)) => Left::Holding(hash.clone()),
            (ChangeKind::Modified | ChangeKind::Deleted, None) => {
                return Err(Error::NothingKept { path: change.path });
            }
        };
        let now = left(&change.path)?;
        // A run that died before its change left everything as it was.
        if now.as_ref() != Some(&before) {
            if now.is_none() || now != change.left {
                return Err(Error::ChangedSince { path: change.path });
            }
            self.restore(&change)?;
        }
        self.call_blocking(|db| db.changes().mark_undone(&change))
    }

    fn restore(&self, change: &Change) -> Result<()> {
        let path = &change.path;
        let Some(before) = self.read_before(&change.id)? else {
            return fs::remove_file(path).map_err(Error::file("remove", path));
        };
        let folder = path.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(Error::file("create", folder))?;
        // Beside the file, because only a rename within one volume is one step.
        let staged = folder.join(format!(".openspace-undo-{}", change.id));
        remove(&staged);
        let restored = stage(&staged, &before, change.before_mode)
            .map_err(Error::file("write", &staged))
            .and_then(|()| {
                // Again, because staging a large file takes time.
                if left(path)? == change.left {
                    fs::rename(&staged, path).map_err(Error::file("replace", path))
                } else {
                    Err(Error::ChangedSince { path: path.clone() })
                }
            });
        if restored.is_err() {
            remove(&staged);
        } else {
            sync_folder(path);
        }
        restored
    }
}

fn stage(path: &Path, data: &[u8], mode: Option<u32>) -> io::Result<()> {
    let file = write_new(path, data)?;
    #[cfg(unix)]
    if let Some(mode) = mode {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = mode;
    file.sync_all()
}
