//! Which files a run may use without asking, and which never.

use std::path::{Path, PathBuf};

use openspace_config::Paths;

/// What no run may read or write, besides the built-in credential paths: our own data, settings,
/// locks and programs.
pub(crate) fn protected_paths(paths: &Paths, more: &[PathBuf]) -> Vec<PathBuf> {
    let mut protected = vec![
        paths.data.clone(),
        paths.config.clone(),
        paths.cache.clone(),
        paths.runtime.clone(),
    ];
    if let Some(folder) = paths.config.parent()
        && folder.ends_with("openspace")
    {
        protected.push(folder.to_owned());
    }
    if let Ok(program) = std::env::current_exe() {
        protected.push(program);
    }
    protected.extend(more.iter().map(|path| expand(&paths.home, path)));
    resolved(protected)
}

/// Folders that need no question besides the workspace: those of the settings, and what was attached.
pub(crate) fn allowed_folders(settings: &[PathBuf], attachments: &[PathBuf]) -> Vec<PathBuf> {
    resolved(settings.iter().chain(attachments).cloned().collect())
}

/// `~/x` as a person writes it in the settings.
fn expand(home: &Path, path: &Path) -> PathBuf {
    path.strip_prefix("~")
        .map_or_else(|_| path.to_owned(), |rest| home.join(rest))
}

/// Each path with its links resolved where it exists, and as it was written too.
fn resolved(paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = paths
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    all.extend(paths);
    all.sort();
    all.dedup();
    all
}
