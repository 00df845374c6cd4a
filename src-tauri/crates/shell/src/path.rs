//! From what a model writes to the file it means.

use std::{
    collections::VecDeque,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use openspace_grounding::{Folders, ToolError};

/// As many links as the kernel follows (path_resolution(7)).
const LINKS: usize = 40;

/// Absolute path of `text`: relative to the workspace, `~` for the home folder, links resolved as
/// far as they exist, so that a link is judged by where it leads.
pub fn resolve(text: &str, folders: &Folders, home: &Path) -> Result<PathBuf, ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::InvalidArguments("the path is empty".to_owned()));
    }
    if text.contains('\0') {
        return Err(ToolError::InvalidArguments(
            "the path contains a NUL character".to_owned(),
        ));
    }
    let path = match text.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
        Some(_) => {
            return Err(ToolError::InvalidArguments(format!(
                "`{text}`: other people's home folders are written as absolute paths (and a file \
                 whose name begins with ~ as `./~…`)"
            )));
        }
        None => folders.workspace.join(text),
    };
    follow(&path)
}

/// Resolves links and `..` the way the kernel does; what does not exist is taken literally.
pub fn follow(path: &Path) -> Result<PathBuf, ToolError> {
    let mut current = PathBuf::new();
    let mut rest: VecDeque<OsString> = VecDeque::new();
    queue(path, &mut current, &mut rest);
    let mut links = 0;
    while let Some(part) = rest.pop_front() {
        if part == ".." {
            current.pop();
            continue;
        }
        let next = current.join(&part);
        match fs::read_link(&next) {
            Ok(target) => {
                links += 1;
                if links > LINKS {
                    return Err(ToolError::InvalidArguments(format!(
                        "`{}` leads through too many links",
                        path.display()
                    )));
                }
                let mut parts = VecDeque::new();
                queue(&target, &mut current, &mut parts);
                parts.extend(rest);
                rest = parts;
            }
            // No link: a file, a folder, nothing at all, or not for us to see.
            Err(_) => current = next,
        }
    }
    Ok(current)
}

/// Appends the parts of `path`; an absolute path starts `current` afresh.
fn queue(path: &Path, current: &mut PathBuf, rest: &mut VecDeque<OsString>) {
    for component in path.components() {
        match component {
            Component::Prefix(_) => *current = PathBuf::from(component.as_os_str()),
            Component::RootDir => current.push(Component::RootDir),
            Component::CurDir => {}
            Component::ParentDir => rest.push_back("..".into()),
            Component::Normal(name) => rest.push_back(name.to_owned()),
        }
    }
}

/// Below one of the folders that belong to the run.
pub(crate) fn is_allowed(path: &Path, folders: &Folders) -> bool {
    path.starts_with(&folders.workspace)
        || path.starts_with(&folders.scratch)
        || folders
            .allowed
            .iter()
            .any(|folder| path.starts_with(folder))
}

/// Below something that is never shown.
pub(crate) fn is_protected(path: &Path, folders: &Folders) -> bool {
    folders
        .protected
        .iter()
        .any(|folder| path.starts_with(folder))
}

/// The path as the model writes it: relative inside the workspace.
pub(crate) fn shown(path: &Path, folders: &Folders) -> String {
    match path.strip_prefix(&folders.workspace) {
        Ok(relative) if relative.as_os_str().is_empty() => ".".to_owned(),
        Ok(relative) => relative.display().to_string(),
        Err(_) => path.display().to_string(),
    }
}
