use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
    os::{
        fd::OwnedFd,
        unix::{ffi::OsStringExt, fs::MetadataExt},
    },
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, FileType, Gid, Mode, OFlags, Uid, mkdirat, openat, readlinkat, renameat, statat,
        symlinkat, unlinkat,
    },
    io::Errno,
};

use super::{Facts, Kind};

/// A name in an open folder.
#[derive(Debug)]
pub(crate) struct Place {
    folder: OwnedFd,
    name: OsString,
}

impl Place {
    /// Opens the folder of `path` (links resolved before) step by step, refusing every link on the
    /// way: there was none when the path was judged. With `create`, missing folders are made.
    pub(crate) fn open(path: &Path, create: bool) -> io::Result<Self> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::IsADirectory.into());
        };
        let mut folder = rustix::fs::open("/", folder_flags(), Mode::empty())?;
        for component in parent.components() {
            let Component::Normal(part) = component else {
                continue;
            };
            folder = match openat(&folder, part, folder_flags(), Mode::empty()) {
                Err(Errno::NOENT) if create => {
                    match mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    openat(&folder, part, folder_flags(), Mode::empty())?
                }
                other => other?,
            };
        }
        Ok(Self {
            folder,
            name: name.to_owned(),
        })
    }

    /// Opens the file for reading. Only regular files: a pipe would never end, a device not be one.
    pub(crate) fn read(&self) -> io::Result<(File, Facts)> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&self.folder, &self.name, flags, Mode::empty())?);
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::other(
                "no regular file (a pipe, socket or device)",
            ));
        }
        let facts = Facts {
            size: metadata.size(),
            mode: metadata.mode() & 0o7777,
            owner: (metadata.uid(), metadata.gid()),
        };
        Ok((file, facts))
    }

    /// Replaces the file's content in one step: readers see the old or the new one, never half of
    /// it. Mode and owner of an existing file are kept.
    pub(crate) fn replace(&self, content: &[u8], old: Option<Facts>) -> io::Result<()> {
        let temporary = temporary_name(&self.name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        // What is about to take over an owner and a mode must not be readable before it has them.
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let mut file = File::from(openat(
            &self.folder,
            &temporary,
            flags,
            Mode::from_raw_mode(mode),
        )?);
        let written = (|| {
            file.write_all(content)?;
            if let Some(old) = old {
                // Only root may give files away; for everybody else the owner is the same anyway.
                let _ = rustix::fs::fchown(
                    &file,
                    Some(Uid::from_raw(old.owner.0)),
                    Some(Gid::from_raw(old.owner.1)),
                );
                rustix::fs::fchmod(&file, Mode::from_raw_mode(old.mode))?;
            }
            file.sync_all()?;
            renameat(&self.folder, &temporary, &self.folder, &self.name)?;
            Ok(())
        })();
        if written.is_err() {
            let _ = unlinkat(&self.folder, &temporary, AtFlags::empty());
        }
        written
    }

    /// What the name stands for.
    pub(super) fn kind(&self) -> io::Result<Kind> {
        let status = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => {
                let target = readlinkat(&self.folder, &self.name, Vec::new())?;
                Kind::Link(PathBuf::from(OsString::from_vec(target.into_bytes())))
            }
            _ => Kind::Other,
        })
    }

    /// Removes a file or a link, never a folder.
    pub(crate) fn remove(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Puts a link here, in one step, in the place of a file or link.
    pub(crate) fn link(&self, target: &Path) -> io::Result<()> {
        let temporary = temporary_name(&self.name)?;
        symlinkat(target, &self.folder, &temporary)?;
        renameat(&self.folder, &temporary, &self.folder, &self.name)
            .inspect_err(|_| {
                let _ = unlinkat(&self.folder, &temporary, AtFlags::empty());
            })
            .map_err(Into::into)
    }

    /// Moves what is here to another place, which must be free.
    pub(crate) fn rename(&self, to: &Self) -> io::Result<()> {
        match to.kind() {
            Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(renameat(&self.folder, &self.name, &to.folder, &to.name)?)
    }
}

fn folder_flags() -> OFlags {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // Passing through a folder needs no right to list it.
    #[cfg(target_os = "linux")]
    let flags = flags | OFlags::PATH;
    flags
}

fn temporary_name(name: &OsStr) -> io::Result<OsString> {
    let random = getrandom::u64().map_err(io::Error::other)?;
    // Long names leave no room for an addition.
    let short: String = name.to_string_lossy().chars().take(40).collect();
    Ok(format!(".{short}.{random:016x}.new").into())
}
