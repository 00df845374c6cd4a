//! What the sources must and must not contain. The map for people is `src-tauri/README.md`.

mod edges;
#[cfg(target_os = "linux")]
mod linking;
mod sources;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A source file, its path from the root with `/` between the parts.
struct Source {
    path: String,
    text: String,
}

impl Source {
    /// Lines that are no comments, with their numbers. A block comment does not count as one: there
    /// are none.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines
            .map(|(index, line)| (index + 1, line))
            .filter(|(_, line)| !line.trim_start().starts_with("//"))
    }
}

/// Every Rust file under a folder of the repository.
fn sources(folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("reading a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("reading a source");
                sources.push(Source {
                    path: shown(&path),
                    text,
                });
            }
        }
    }
    sources.sort_by(|left, right| left.path.cmp(&right.path));
    assert!(!sources.is_empty(), "there are sources in `{folder}`");
    sources
}

/// A path from the root, the same on every platform.
fn shown(path: &Path) -> String {
    let inside: PathBuf = path.strip_prefix(root()).unwrap_or(path).to_owned();
    inside.to_string_lossy().replace('\\', "/")
}

/// Fails with everything that was found, so that one round tells all.
fn assert_nothing(rule: &str, found: &[String]) {
    assert!(found.is_empty(), "{rule}:\n  {}", found.join("\n  "));
}
