//! Where a file really is that somebody named.

use std::path::{Component, Path, PathBuf};

/// The same place without links and without `..`, also where nothing is there yet: as far as its
/// folders are there, they are followed, and what comes after them is taken as it is written.
pub fn real(path: &Path) -> PathBuf {
    let mut real = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                real.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir => real.push(part),
            Component::Normal(name) => {
                real.push(name);
                if let Ok(followed) = real.canonicalize() {
                    real = usual(followed);
                }
            }
        }
    }
    real
}

/// As a path is usually written on Windows, where a followed one looks different.
fn usual(path: PathBuf) -> PathBuf {
    let written = path.to_str().and_then(|text| text.strip_prefix(r"\\?\"));
    match written {
        Some(rest) if rest.as_bytes().get(1) == Some(&b':') => rest.into(),
        _ => path,
    }
}
