//! Files that rows point at.
//!
//! Artefacts and before-copies must survive whatever happens: the file is staged and synced to disk,
//! its row is written as `pending`, the file is renamed into place, the row becomes `active`.
//! [`recover`] completes what was cut short, and pruning removes files whose row was deleted and that
//! outlived it. A frame is worth less and comes several times per second:
//! it is written in place without a sync, then its row; at worst a crash leaves a picture without a
//! row, which pruning removes, or a power cut leaves a row whose picture cannot be read.

use std::{
    collections::HashSet,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use bytes::Bytes;

use crate::{
    Artefact, ArtefactId, ChangeId, Db, Error, Fence, Frame, FrameId, Left, NewArtefact, NewChange,
    NewFrame, Result, RunId, Store, sql,
    store::{Folder, create_private},
};

/// Files without a row are left alone for so long: their row may be about to be written.
const ABANDONED: Duration = Duration::from_secs(60 * 60);

/// Rows pruned per transaction, so that writers do not wait long.
const BATCH: u32 = 200;

/// Which pictures to remove.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prune {
    /// Older ones, in milliseconds.
    pub max_age: i64,
    /// The oldest ones above this size of all together, in bytes.
    pub max_bytes: u64,
}

impl Default for Prune {
    fn default() -> Self {
        Self {
            max_age: 30 * 24 * 60 * 60 * 1_000,
            max_bytes: 5_000_000_000,
        }
    }
}

/// What pruning removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Number of pictures.
    pub frames: u64,
    /// Their size.
    pub bytes: u64,
}

/// A table whose files are staged. The names are part of the layout on disk.
#[derive(Clone, Copy)]
enum Staged {
    Artefacts,
    Changes,
}

impl Staged {
    fn table(self) -> &'static str {
        match self {
            Self::Artefacts => "artefacts",
            Self::Changes => "changes",
        }
    }

    fn staging(self, folder: &Folder, id: &str) -> PathBuf {
        folder.staging().join(format!("{}-{id}", self.table()))
    }

    fn folder(self, folder: &Folder) -> PathBuf {
        match self {
            Self::Artefacts => folder.artefacts(),
            Self::Changes => folder.changes(),
        }
    }

    fn place(self, folder: &Folder, id: &str) -> PathBuf {
        self.folder(folder).join(id)
    }

    fn is_id(self, name: &str) -> bool {
        match self {
            Self::Artefacts => name.parse::<ArtefactId>().is_ok(),
            Self::Changes => name.parse::<ChangeId>().is_ok(),
        }
    }
}

fn frame_path(folder: &Folder, run: &RunId, id: &FrameId, media_type: &str) -> PathBuf {
    let extension = match media_type {
        "image/jpeg" => "jpg",
        "image/png" => "png",
        _ => "bin",
    };
    folder
        .frames()
        .join(run.as_str())
        .join(format!("{id}.{extension}"))
}

/// These block: call them within [`Store::spawn`].
impl Store {
    /// Keeps a screenshot.
    pub fn keep_frame(&self, fence: &Fence, new: &NewFrame) -> Result<FrameId> {
        let id = FrameId::random();
        let path = frame_path(&self.inner.folder, &fence.run, &id, &new.media_type);
        let written = write_new(&path, &new.data).or_else(|error| {
            if error.kind() != io::ErrorKind::NotFound {
                return Err(error);
            }
            // The first frame of the run.
            create_private(path.parent().unwrap_or(&path)).map_err(io::Error::other)?;
            write_new(&path, &new.data)
        });
        let kept = written
            .map(drop)
            .map_err(Error::file("write", &path))
            .and_then(|()| self.call_blocking(|db| db.frames().insert(fence, &id, new)));
        match kept {
            Ok(()) => Ok(id),
            Err(error) => {
                remove(&path);
                Err(error)
            }
        }
    }

    /// A frame and its picture.
    pub fn read_frame(&self, id: &FrameId) -> Result<(Frame, Bytes)> {
        let frame = self.read_blocking(|db| db.frames().get(id))?;
        if frame.pruned {
            return Err(Error::Pruned { id: id.to_string() });
        }
        let path = frame_path(&self.inner.folder, &frame.run, id, &frame.media_type);
        let data = fs::read(&path).map_err(Error::file("read", &path))?;
        Ok((frame, data.into()))
    }

    /// Removes pictures that are too old or too many, and whatever no row points at. Rows remain.
    /// Pictures of pinned runs, and of runs that somebody executes now, stay.
    pub fn prune_frames(&self, limits: &Prune) -> Result<Pruned> {
        let mut pruned = Pruned::default();
        loop {
            let batch = self.call_blocking(|db| prune_batch(db, limits))?;
            if batch.is_empty() {
                break;
            }
            for frame in batch {
                remove(&frame_path(
                    &self.inner.folder,
                    &frame.run,
                    &frame.id,
                    &frame.media_type,
                ));
                pruned.frames += 1;
                pruned.bytes += frame.bytes;
            }
        }
        self.sweep_frames()?;
        self.sweep(Staged::Artefacts)?;
        self.sweep(Staged::Changes)?;
        Ok(pruned)
    }

    /// Removes pictures without a row and folders without pictures.
    fn sweep_frames(&self) -> Result<()> {
        for run in list(&self.inner.folder.frames())? {
            for picture in list(&run)? {
                let id = picture.file_stem().and_then(|stem| stem.to_str());
                let id = id.and_then(|stem| stem.parse::<FrameId>().ok());
                if let Some(id) = id
                    && is_abandoned(&picture)
                    && !self.read_blocking(|db| db.frames().has_picture(&id))?
                {
                    remove(&picture);
                }
            }
            // Fails while there are pictures, which is right.
            let _occupied = fs::remove_dir(&run);
        }
        Ok(())
    }

    /// Removes kept files without a row: copies of the person's files that should have gone with their
    /// run. A file has its row before it is in its place, so none of these is about to get one.
    fn sweep(&self, kind: Staged) -> Result<()> {
        // In this order: what comes into its place after the list is not looked at.
        let mut left = list(&kind.folder(&self.inner.folder))?;
        left.retain(|path| is_abandoned(path));
        if left.is_empty() {
            return Ok(());
        }
        let select = format!("SELECT id FROM {}", kind.table());
        let ids: Vec<String> =
            self.read_blocking(|db| sql::all(db.connection, &select, [], |row| row.get(0)))?;
        let known: HashSet<String> = ids.into_iter().collect();
        for path in left {
            // Whatever else somebody put there is not ours to remove.
            let id = path.file_name().and_then(|name| name.to_str());
            if id.is_some_and(|id| kind.is_id(id) && !known.contains(id)) {
                remove(&path);
            }
        }
        Ok(())
    }

    /// Keeps a file whole.
    pub fn keep_artefact(&self, fence: &Fence, new: &NewArtefact) -> Result<ArtefactId> {
        let id = ArtefactId::random();
        self.keep_staged(Staged::Artefacts, id.as_str(), &new.data, |db| {
            db.artefacts().insert(fence, &id, new)
        })?;
        Ok(id)
    }

    /// Part of an artefact: fewer bytes than asked for at its end, none behind it.
    pub fn read_artefact(&self, id: &ArtefactId, offset: u64, length: u64) -> Result<Bytes> {
        let (_, path) = self.artefact(id)?;
        let mut data = Vec::new();
        File::open(&path)
            .and_then(|mut file| {
                file.seek(SeekFrom::Start(offset))?;
                file.take(length).read_to_end(&mut data)
            })
            .map_err(Error::file("read", &path))?;
        Ok(data.into())
    }

    /// An artefact's row and its file, which must not be written.
    pub fn artefact(&self, id: &ArtefactId) -> Result<(Artefact, PathBuf)> {
        let row = self.read_blocking(|db| db.artefacts().get(id))?;
        Ok((row, self.artefact_file(id)))
    }

    /// Where an artefact is kept, whether it is there or not.
    pub fn artefact_file(&self, id: &ArtefactId) -> PathBuf {
        Staged::Artefacts.place(&self.inner.folder, id.as_str())
    }

    /// Keeps what a file holds before it is changed. Call it before the change, and
    /// [`Store::note_left`] after it.
    pub fn keep_change(&self, fence: &Fence, new: &NewChange) -> Result<ChangeId> {
        let id = ChangeId::random();
        let mode = mode(&new.path);
        match &new.before {
            Some(before) => self.keep_staged(Staged::Changes, id.as_str(), before, |db| {
                db.changes().insert(fence, &id, new, mode)
            })?,
            None => self.call_blocking(|db| db.changes().insert(fence, &id, new, mode))?,
        }
        Ok(id)
    }

    /// Notes how the run left a changed file, by reading it now.
    pub fn note_left(&self, fence: &Fence, id: &ChangeId) -> Result<Left> {
        let path = self.read_blocking(|db| db.changes().get(id))?.path;
        let left = left(&path)?.ok_or_else(|| Error::ChangedSince { path })?;
        self.call_blocking(|db| db.changes().set_left(fence, id, &left))?;
        Ok(left)
    }

    /// What a changed file held before, when it was kept.
    pub fn read_before(&self, id: &ChangeId) -> Result<Option<Bytes>> {
        let change = self.read_blocking(|db| db.changes().get(id))?;
        let Some(hash) = change.before_hash else {
            return Ok(None);
        };
        let path = Staged::Changes.place(&self.inner.folder, id.as_str());
        let data = fs::read(&path).map_err(Error::file("read", &path))?;
        if blake3::hash(&data).to_hex().as_str() != hash {
            return Err(Error::Damaged {
                message: format!("`{}` is not what was kept", path.display()),
            });
        }
        Ok(Some(data.into()))
    }

    fn keep_staged(
        &self,
        kind: Staged,
        id: &str,
        data: &[u8],
        insert: impl FnOnce(&Db<'_>) -> Result<()>,
    ) -> Result<()> {
        let folder = &self.inner.folder;
        let staged = kind.staging(folder, id);
        let inserted = write_new(&staged, data)
            .and_then(|file| file.sync_all())
            .map_err(Error::file("write", &staged))
            .and_then(|()| self.call_blocking(insert));
        if let Err(error) = inserted {
            remove(&staged);
            return Err(error);
        }
        // From here on a crash is completed by `recover`.
        complete(kind, folder, id)?;
        self.call_blocking(|db| activate(db, kind, id))
    }
}

fn prune_batch(db: &Db<'_>, limits: &Prune) -> Result<Vec<Frame>> {
    let mut total = db.frames().total_bytes()?;
    let mut batch = Vec::new();
    for frame in db.frames().prunable(BATCH)? {
        if frame.at >= db.now.saturating_sub(limits.max_age) && total <= limits.max_bytes {
            break;
        }
        db.frames().mark_pruned(&frame.id)?;
        total = total.saturating_sub(frame.bytes);
        batch.push(frame);
    }
    Ok(batch)
}

/// Moves a staged file into place. Another process that opened the store may have been faster.
fn complete(kind: Staged, folder: &Folder, id: &str) -> Result<bool> {
    let staged = kind.staging(folder, id);
    let place = kind.place(folder, id);
    match fs::rename(&staged, &place) {
        Ok(()) => {
            sync_folder(&place);
            Ok(true)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(place.exists()),
        Err(error) => Err(Error::file("rename", staged)(error)),
    }
}

fn activate(db: &Db<'_>, kind: Staged, id: &str) -> Result<()> {
    let sql = format!("UPDATE {} SET state = 'active' WHERE id = ?1", kind.table());
    sql::execute(db.connection, &sql, [id]).map(drop)
}

/// Completes or rolls back what a killed process left between a file and its row.
pub(crate) fn recover(store: &Store) -> Result<()> {
    let folder = &store.inner.folder;
    for kind in [Staged::Artefacts, Staged::Changes] {
        let select = format!("SELECT id FROM {} WHERE state = 'pending'", kind.table());
        let pending: Vec<String> =
            store.read_blocking(|db| sql::all(db.connection, &select, [], |row| row.get(0)))?;
        for id in pending {
            let complete = complete(kind, folder, &id)?;
            store.call_blocking(|db| {
                if complete {
                    return activate(db, kind, &id);
                }
                let delete = format!(
                    "DELETE FROM {} WHERE id = ?1 AND state = 'pending'",
                    kind.table()
                );
                sql::execute(db.connection, &delete, [&id]).map(drop)
            })?;
        }
    }
    for staged in list(&folder.staging())? {
        if is_abandoned(&staged) {
            remove(&staged);
        }
    }
    Ok(())
}

/// How a file is now; none when there is something that is not a file.
pub(crate) fn left(path: &Path) -> Result<Option<Left>> {
    let metadata = match fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(Left::Absent)),
        Err(error) => return Err(Error::file("look at", path)(error)),
    };
    if !metadata.is_file() {
        return Ok(None);
    }
    let mut hasher = blake3::Hasher::new();
    File::open(path)
        .and_then(|file| hasher.update_reader(file).map(drop))
        .map_err(Error::file("read", path))?;
    Ok(Some(Left::Holding(hasher.finalize().to_hex().to_string())))
}

/// Creates a file that must not exist yet, for its owner only.
pub(crate) fn write_new(path: &Path, data: &[u8]) -> io::Result<File> {
    let mut options = File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(data)?;
    Ok(file)
}

/// Makes a rename durable, where the system lets one sync a folder.
pub(crate) fn sync_folder(file: &Path) {
    #[cfg(unix)]
    if let Some(folder) = file.parent()
        && let Err(error) = File::open(folder).and_then(|folder| folder.sync_all())
    {
        // The rename has happened; only a power cut within seconds could undo it.
        tracing::warn!(%error, folder = %folder.display(), "syncing a folder");
    }
    #[cfg(not(unix))]
    let _ = file;
}

pub(crate) fn remove(path: &Path) {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            // The next pruning or opening tries again.
            tracing::warn!(%error, path = %path.display(), "removing a file");
        }
        Ok(()) | Err(_) => {}
    }
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // Another process removed it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::file("list", folder)(error)),
    };
    entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()
        .map_err(Error::file("list", folder))
}

fn is_abandoned(path: &Path) -> bool {
    fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|modified| SystemTime::now().duration_since(modified).ok())
        .is_some_and(|age| age > ABANDONED)
}

fn mode(path: &Path) -> Option<u32> {
    #[cfg(unix)]
    return fs::metadata(path)
        .ok()
        .map(|metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777);
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}
