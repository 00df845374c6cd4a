//! A file of a host: read with everything that tells whether it changed since, and replaced at once.

pub(crate) mod backup;
pub(crate) mod lock;
pub(crate) mod real;

use std::{
    fs::{self, File, Metadata},
    io::{self, Write as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use crate::Error;

const BYTE_ORDER_MARK: char = '\u{feff}';
/// Larger is no configuration.
const LARGEST: u64 = 64 * 1024 * 1024;

/// What tells one state of a file from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    hash: blake3::Hash,
}

/// A file as it was read.
#[derive(Debug, Clone)]
pub(crate) struct Contents {
    /// Where it was asked for.
    pub(crate) path: PathBuf,
    /// Where it really is, links followed.
    pub(crate) target: PathBuf,
    /// What it says, without the mark that some editors put in front.
    pub(crate) text: String,
    mark: bool,
    /// None where there is no file.
    stamp: Option<Stamp>,
}

impl Contents {
    /// Reads a file; one that is not there says nothing.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let path = path.to_owned();
        let unreadable = |source| Error::Unreadable {
            path: path.clone(),
            source,
        };
        let target = match fs::canonicalize(&path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.is_symlink() {
                    return Err(Error::DanglingLink { path });
                }
                return Ok(Self {
                    target: path.clone(),
                    path,
                    text: String::new(),
                    mark: false,
                    stamp: None,
                });
            }
            Err(source) => return Err(unreadable(source)),
        };
        let metadata = fs::metadata(&target).map_err(unreadable)?;
        if !metadata.is_file() {
            return Err(Error::NotAFile { path });
        }
        if metadata.len() > LARGEST {
            return Err(Error::TooLarge { path });
        }
        let bytes = fs::read(&target).map_err(unreadable)?;
        let stamp = Stamp {
            modified: metadata.modified().ok(),
            size: metadata.len(),
            hash: blake3::hash(&bytes),
        };
        let Ok(text) = String::from_utf8(bytes) else {
            return Err(Error::NotText { path });
        };
        let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest.to_owned()),
            None => (false, text),
        };
        Ok(Self {
            path,
            target,
            text,
            mark,
            stamp: Some(stamp),
        })
    }

    /// There is a file.
    pub(crate) fn exists(&self) -> bool {
        self.stamp.is_some()
    }

    /// What tells these bytes from others; none where there is no file.
    pub(crate) fn hash(&self) -> Option<String> {
        self.stamp
            .as_ref()
            .map(|stamp| stamp.hash.to_hex().to_string())
    }

    /// The same for the bytes that the file would have with another text.
    pub(crate) fn hash_with(&self, text: &str) -> String {
        blake3::hash(&self.bytes(text)).to_hex().to_string()
    }

    /// With the mark in front that `other` has, or without.
    pub(crate) fn marked_as(self, other: &Self) -> Self {
        Self {
            mark: other.mark,
            ..self
        }
    }

    /// The file with this text would say this, byte for byte.
    fn bytes(&self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len() + 3);
        if self.mark {
            bytes.extend(BYTE_ORDER_MARK.to_string().bytes());
        }
        bytes.extend(text.bytes());
        bytes
    }

    /// Puts another text in the place of the file. Whoever reads it meets the old or the new one,
    /// never a part. A link stays a link, and who may read it stays as it was; a new file is for
    /// this user only where `private`.
    ///
    /// # Errors
    /// [`Error::Changed`] when it is not what was read any more, or was changed again meanwhile.
    pub(crate) fn replace(&self, text: &str, private: bool) -> Result<(), Error> {
        self.refuse_protected()?;
        let unwritable = |source| Error::Unwritable {
            path: self.path.clone(),
            source,
        };
        let folder = self.target.parent().unwrap_or(Path::new("."));
        if private {
            openspace_config::paths::create_private(folder).map_err(unwritable)?;
        } else {
            fs::create_dir_all(folder).map_err(unwritable)?;
        }
        let bytes = self.bytes(text);
        let staged = stage(folder, &bytes, self.mode(private)).map_err(unwritable)?;
        self.refuse_changed()?;
        if self.exists() {
            staged
                .persist(&self.target)
                .map_err(|error| unwritable(error.error))?;
        } else {
            staged
                .persist_noclobber(&self.target)
                .map_err(|error| match error.error.kind() {
                    io::ErrorKind::AlreadyExists => self.changed(),
                    _ => unwritable(error.error),
                })?;
        }
        sync(folder);
        // A program that had the old file open may have written over ours by now.
        match fs::read(&self.target) {
            Ok(written) if written == bytes => Ok(()),
            Ok(_) | Err(_) => Err(self.changed()),
        }
    }

    /// Removes the file.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        self.refuse_protected()?;
        self.refuse_changed()?;
        fs::remove_file(&self.target).map_err(|source| Error::Unwritable {
            path: self.path.clone(),
            source,
        })
    }

    /// Refuses what cannot be replaced without taking it from somebody.
    pub(crate) fn refuse_protected(&self) -> Result<(), Error> {
        let Ok(metadata) = fs::metadata(&self.target) else {
            return Ok(());
        };
        let path = self.path.clone();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            if metadata.uid() != rustix::process::geteuid().as_raw() {
                return Err(Error::OtherOwner { path });
            }
            if metadata.mode() & 0o200 == 0 {
                return Err(Error::ReadOnly { path });
            }
        }
        #[cfg(not(unix))]
        if metadata.permissions().readonly() {
            return Err(Error::ReadOnly { path });
        }
        Ok(())
    }

    fn refuse_changed(&self) -> Result<(), Error> {
        let now = Self::read(&self.path).map_err(|_| self.changed())?;
        if now.stamp == self.stamp && now.target == self.target {
            Ok(())
        } else {
            Err(self.changed())
        }
    }

    /// Another program was faster.
    pub(crate) fn changed(&self) -> Error {
        Error::Changed {
            path: self.path.clone(),
        }
    }

    /// Who may read it.
    fn mode(&self, private: bool) -> Mode {
        match fs::metadata(&self.target) {
            Ok(metadata) if self.exists() => Mode::As(metadata),
            _ if private => Mode::Private,
            _ => Mode::Usual,
        }
    }
}

/// Who may read a file that is written.
pub(crate) enum Mode {
    As(Metadata),
    Private,
    Usual,
}

/// A file beside its later place, complete and on the disk.
pub(crate) fn stage(
    folder: &Path,
    bytes: &[u8],
    mode: Mode,
) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".openspace-").suffix(".tmp");
    #[cfg(unix)]
    if matches!(mode, Mode::Usual) {
        let usual = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        builder.permissions(usual);
    }
    let mut staged = builder.tempfile_in(folder)?;
    staged.write_all(bytes)?;
    if let Mode::As(metadata) = mode {
        staged.as_file().set_permissions(metadata.permissions())?;
    }
    staged.as_file().sync_all()?;
    Ok(staged)
}

/// Makes a rename durable, where folders can be synchronised at all.
pub(crate) fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests;
