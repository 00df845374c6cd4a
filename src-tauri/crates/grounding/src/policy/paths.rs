//! Paths as the policy compares them: links resolved, detours removed.

use std::{
    ffi::OsString,
    path::{Component, Path, PathBuf},
};

/// How many links one path may lead through, as in the kernel (`ELOOP`).
const LINKS: usize = 40;

/// What the policy has to know about the file system, so that it stays a function of its inputs.
pub trait Paths: Send + Sync {
    /// The path with every link resolved as far as it exists. `path` is absolute.
    fn resolve(&self, path: &Path) -> PathBuf;

    /// Something is there.
    fn exists(&self, path: &Path) -> bool;

    /// A folder is there.
    fn is_folder(&self, path: &Path) -> bool;
}

/// The real file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct DiskPaths;

impl Paths for DiskPaths {
    fn resolve(&self, path: &Path) -> PathBuf {
        // Not `canonicalize`: that fails for what does not exist yet, which is what writes are about.
        let mut resolved = PathBuf::new();
        let mut left: Vec<OsString> = reversed(path);
        let mut links = 0;
        while let Some(part) = left.pop() {
            if part == ".." {
                resolved.pop();
                continue;
            }
            resolved.push(&part);
            let Ok(target) = std::fs::read_link(&resolved) else {
                continue;
            };
            links += 1;
            if links > LINKS {
                break;
            }
            resolved.pop();
            if target.is_absolute() {
                resolved = PathBuf::new();
            }
            left.extend(reversed(&target));
        }
        resolved
    }

    fn exists(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok()
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }
}

fn reversed(path: &Path) -> Vec<OsString> {
    path.components()
        .filter(|part| !matches!(part, Component::CurDir))
        .map(|part| part.as_os_str().to_owned())
        .rev()
        .collect()
}

/// An absolute path without `.`, `..` and without the detours through `/proc/<pid>/root` and `cwd`,
/// by its text alone: what a path means must not depend on whether a process exists just now.
pub(crate) fn plain(path: &Path, folder: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => plain.push(part),
        }
        plain = without_detour(plain, folder);
    }
    plain
}

fn without_detour(path: PathBuf, folder: &Path) -> PathBuf {
    let parts: Vec<_> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => name.to_str(),
            _ => None,
        })
        .collect();
    match parts.as_slice() {
        ["proc", _, "root"] | ["proc", _, "task", _, "root"] => PathBuf::from("/"),
        ["proc", _, "cwd"] | ["proc", _, "task", _, "cwd"] => folder.to_path_buf(),
        _ => path,
    }
}

/// Components for comparing, upper and lower case folded: for what is forbidden a match too many
/// costs nothing, while a volume that ignores case can be mounted on any system.
pub(crate) fn folded(path: &Path) -> Vec<String> {
    path.components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(fold(&name.to_string_lossy())),
            Component::Prefix(prefix) => Some(fold(&prefix.as_os_str().to_string_lossy())),
            Component::RootDir | Component::CurDir | Component::ParentDir => None,
        })
        .collect()
}

fn fold(name: &str) -> String {
    let name = name.to_lowercase();
    if cfg!(windows) {
        // Windows ignores trailing dots and spaces, and `name:stream` is another view of `name`.
        let name = name.split(':').next().unwrap_or_default();
        name.trim_end_matches(['.', ' ']).to_owned()
    } else {
        name
    }
}

/// `path` is `folder` or lies below it. For what is allowed, so case counts where the system says so.
pub(crate) fn contains(folder: &Path, path: &Path) -> bool {
    if cfg!(any(windows, target_os = "macos")) {
        folded(path).starts_with(&folded(folder))
    } else {
        path.starts_with(folder)
    }
}
