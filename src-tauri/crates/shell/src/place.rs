//! A file by the folder it lies in: what was judged is what is read and replaced, even when a link
//! was put in its way meanwhile.

use std::{
    io,
    path::{Path, PathBuf},
};

use bytes::Bytes;

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::Place;

#[cfg(not(unix))]
mod portable;
#[cfg(not(unix))]
pub(crate) use portable::Place;

/// What is known about an existing file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) size: u64,
    #[cfg(unix)]
    mode: u32,
    #[cfg(unix)]
    owner: (u32, u32),
}

impl Facts {
    /// The same rights, whatever the size.
    pub(crate) fn same_rights(&self, other: &Self) -> bool {
        #[cfg(unix)]
        return (self.mode, self.owner) == (other.mode, other.owner);
        #[cfg(not(unix))]
        {
            // Rights are no part of the facts there.
            let _ = other;
            true
        }
    }
}

/// What is found at a place, without following a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Thing {
    File {
        /// None where there is more than was asked for.
        content: Option<Bytes>,
        facts: Facts,
    },
    Link(PathBuf),
    Folder,
    /// A pipe, a socket, a device.
    Other,
}

impl Place {
    /// Looks without following a link. Of a file up to `limit` bytes are read.
    pub(crate) fn thing(&self, limit: u64) -> io::Result<Thing> {
        use io::Read as _;
        match self.kind()? {
            Kind::Link(target) => return Ok(Thing::Link(target)),
            Kind::Folder => return Ok(Thing::Folder),
            Kind::Other => return Ok(Thing::Other),
            Kind::File => {}
        }
        let (file, facts) = self.read()?;
        let mut content = Vec::new();
        if facts.size <= limit {
            file.take(limit + 1).read_to_end(&mut content)?;
        }
        let whole = facts.size <= limit && content.len() as u64 <= limit;
        Ok(Thing::File {
            content: whole.then(|| content.into()),
            facts,
        })
    }
}

/// What a name stands for.
enum Kind {
    File,
    Link(PathBuf),
    Folder,
    Other,
}

/// An error that names the file, in words for the model.
pub(crate) fn describe(path: &Path, error: &io::Error) -> openspace_grounding::ToolError {
    use openspace_grounding::ToolError;
    let path = path.display();
    #[cfg(unix)]
    if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
        return ToolError::Stale(format!(
            "`{path}` was replaced by a link while it was being opened; look again"
        ));
    }
    match error.kind() {
        io::ErrorKind::NotFound => ToolError::NotFound(format!("`{path}` does not exist")),
        io::ErrorKind::PermissionDenied => {
            ToolError::Failed(format!("`{path}`: the system refuses access"))
        }
        io::ErrorKind::IsADirectory => {
            ToolError::InvalidArguments(format!("`{path}` is a folder; list it with list_dir"))
        }
        io::ErrorKind::NotADirectory => {
            ToolError::InvalidArguments(format!("`{path}`: a part of the path is no folder"))
        }
        io::ErrorKind::InvalidFilename => {
            ToolError::InvalidArguments(format!("`{path}`: the name is too long or invalid"))
        }
        _ => ToolError::Failed(format!("`{path}`: {error}")),
    }
}
