//! A file by the folder it lies in: what was judged is what is read and replaced, even when a link
//! was put in its way meanwhile.

use std::{io, path::Path};

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::Place;

#[cfg(not(unix))]
mod portable;
#[cfg(not(unix))]
pub(crate) use portable::Place;

/// What is known about an existing file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) size: u64,
    #[cfg(unix)]
    mode: u32,
    #[cfg(unix)]
    owner: (u32, u32),
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
