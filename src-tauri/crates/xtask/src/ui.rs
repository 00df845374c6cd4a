//! The window's part: its packages from npm, its build, its tests. Each is quick when nothing changed.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::SystemTime,
};

use anyhow::{Context as _, Result};

use crate::run::{root, run, which};

/// What the build is made from, below `ui`.
const SOURCES: [&str; 8] = [
    "src",
    "messages",
    "public",
    "scripts",
    "index.html",
    "package-lock.json",
    "vite.config.ts",
    "svelte.config.js",
];

/// Where it lies.
pub(crate) fn folder() -> Result<PathBuf> {
    Ok(root()?.join("ui"))
}

/// `npm` in its folder.
pub(crate) fn npm(arguments: &[&str]) -> Result<Command> {
    let npm = which("npm").context("npm was not found: install Node.js 20 or newer with npm")?;
    let mut command = Command::new(npm);
    command
        .args(arguments)
        .current_dir(folder()?)
        .stdin(Stdio::null());
    Ok(command)
}

/// Installs the packages that the lock file names, unless they are there.
pub(crate) fn install() -> Result<()> {
    let folder = folder()?;
    let wanted = changed(&folder.join("package-lock.json"));
    // npm writes this file last.
    let installed = changed(&folder.join("node_modules/.package-lock.json"));
    if installed.is_some() && installed >= wanted {
        return Ok(());
    }
    run(
        "ui packages",
        &mut npm(&["ci", "--no-audit", "--no-fund", "--loglevel=error"])?,
    )
}

/// Builds the pages into `ui/dist`, unless they are newer than everything they are made from.
pub(crate) fn build() -> Result<()> {
    install()?;
    let folder = folder()?;
    let built = changed(&folder.join("dist/index.html"));
    let sources = SOURCES
        .iter()
        .filter_map(|source| newest(&folder.join(source)))
        .max();
    if built.is_some() && built >= sources {
        return Ok(());
    }
    run("ui build", &mut npm(&["run", "--silent", "build"])?)
}

fn changed(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).ok()?.modified().ok()
}

/// The newest change in a file or below a folder.
fn newest(path: &Path) -> Option<SystemTime> {
    if !path.is_dir() {
        return changed(path);
    }
    fs::read_dir(path)
        .ok()?
        .flatten()
        .filter_map(|entry| newest(&entry.path()))
        .max()
}
