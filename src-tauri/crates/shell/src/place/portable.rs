//! Where folders cannot be opened and walked through: by path. Could not be tried where this was
//! written.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use super::{Facts, Kind};

#[derive(Debug)]
pub(crate) struct Place {
    path: PathBuf,
}

impl Place {
    pub(crate) fn open(path: &Path, create: bool) -> io::Result<Self> {
        if let Some(parent) = path.parent().filter(|_| create) {
            fs::create_dir_all(parent)?;
        }
        Ok(Self {
            path: path.to_owned(),
        })
    }

    pub(crate) fn read(&self) -> io::Result<(File, Facts)> {
        let metadata = fs::symlink_metadata(&self.path)?;
        if metadata.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !metadata.is_file() {
            return Err(io::Error::other("no regular file"));
        }
        let facts = Facts {
            size: metadata.len(),
        };
        Ok((File::open(&self.path)?, facts))
    }

    pub(crate) fn replace(&self, content: &[u8], _old: Option<Facts>) -> io::Result<()> {
        let random = getrandom::u64().map_err(io::Error::other)?;
        let temporary = self.path.with_extension(format!("{random:016x}.new"));
        fs::write(&temporary, content)?;
        fs::rename(&temporary, &self.path).inspect_err(|_| {
            let _ = fs::remove_file(&temporary);
        })
    }

    pub(super) fn kind(&self) -> io::Result<Kind> {
        let kind = fs::symlink_metadata(&self.path)?.file_type();
        Ok(if kind.is_symlink() {
            Kind::Link(fs::read_link(&self.path)?)
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File
        } else {
            Kind::Other
        })
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }

    /// Links need a privilege there, and whoever removed one could not have made it.
    pub(crate) fn link(&self, _target: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn rename(&self, to: &Self) -> io::Result<()> {
        if to.path.symlink_metadata().is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        fs::rename(&self.path, &to.path)
    }
}
