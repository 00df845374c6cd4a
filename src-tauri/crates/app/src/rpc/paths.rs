//! Finding what lies in the folder of a task, for whoever writes a part of its name.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use ignore::WalkBuilder;

use super::{Call, payload, starts::from_home};
use crate::{Code, Failure, failure::Result, protected::protected_paths};

/// Most paths of an answer.
const MOST: usize = 50;
/// Most entries that are looked at, and for how long.
const ENTRIES: usize = 20_000;
const TIME: Duration = Duration::from_millis(500);
/// What lies high up is looked at first, so that one large folder does not hide its neighbours.
const DEPTHS: [usize; 2] = [2, 12];
/// Longest text that is looked for, bytes.
const LONGEST: usize = 256;

payload! {
    /// Looks for files and folders below the folder of a task.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct PathsFindRequest {
        /// The folder that was chosen; where none was, the one that the task would work in.
        #[serde(default)]
        pub folder: Option<String>,
        /// A part of the path, capitals or not.
        #[serde(default)]
        pub words: String,
    }

    /// What was found.
    pub struct PathsFindResponse {
        /// The folder that was looked at.
        pub folder: String,
        /// Best first.
        pub paths: Vec<FoundPath>,
        /// There is more than this, or more than was looked at.
        pub more: bool,
    }

    /// A file or a folder.
    pub struct FoundPath {
        /// Below the folder, with `/` between the names.
        pub path: String,
        /// The whole of it.
        pub absolute: String,
        /// It is a folder.
        pub is_folder: bool,
    }
}

impl Call<'_> {
    pub(super) async fn paths_find(&self, request: PathsFindRequest) -> Result<PathsFindResponse> {
        if request.words.len() > LONGEST {
            return Err(Failure::new(
                Code::InvalidRequest,
                format!("what is looked for is longer than {LONGEST} bytes"),
            ));
        }
        let asked = request
            .folder
            .filter(|folder| !folder.trim().is_empty())
            .map(|folder| from_home(&self.app.paths.home, &folder));
        let folder = self
            .app
            .workspace(asked.as_deref(), &self.app.paths.home.clone())?;
        let protected = protected_paths(&self.app.paths, &self.app.values().policy.protected);
        let found =
            tokio::task::spawn_blocking(move || find(&folder, &request.words, &protected)).await;
        found.map_err(|error| Failure::new(Code::Internal, error.to_string()))
    }
}

/// What no run may touch is not offered, nor what git or a hidden name leaves out, nor anything that
/// a link leads to outside.
fn find(folder: &Path, words: &str, protected: &[PathBuf]) -> PathsFindResponse {
    let words = words.to_lowercase();
    let end = Instant::now() + TIME;
    let mut found = BTreeMap::new();
    let mut more = false;
    for depth in DEPTHS {
        let protected = protected.to_vec();
        let walk = WalkBuilder::new(folder)
            .follow_links(false)
            .require_git(false)
            .max_depth(Some(depth))
            .sort_by_file_name(Ord::cmp)
            .filter_entry(move |entry| {
                !protected
                    .iter()
                    .any(|protected| entry.path().starts_with(protected))
            })
            .build();
        more = false;
        for (count, entry) in walk.flatten().skip(1).enumerate() {
            if count == ENTRIES || Instant::now() > end {
                more = true;
                break;
            }
            let Some(path) = found_path(folder, &entry) else {
                continue;
            };
            if let Some(place) = place(&path.path, &words) {
                found.insert((place, path.path.clone()), path);
            }
        }
        if more {
            break;
        }
    }
    more |= found.len() > MOST;
    PathsFindResponse {
        folder: folder.display().to_string(),
        paths: found.into_values().take(MOST).collect(),
        more,
    }
}

/// A file or a folder that can be written down; links and names that are no text are passed over.
fn found_path(folder: &Path, entry: &ignore::DirEntry) -> Option<FoundPath> {
    let kind = entry.file_type()?;
    if !kind.is_file() && !kind.is_dir() {
        return None;
    }
    let below = entry.path().strip_prefix(folder).ok()?;
    let names: Option<Vec<_>> = below.iter().map(std::ffi::OsStr::to_str).collect();
    Some(FoundPath {
        path: names?.join("/"),
        absolute: entry.path().to_str()?.to_owned(),
        is_folder: kind.is_dir(),
    })
}

/// Where a path stands among those found: names that begin with the words come first, then names and
/// then paths that contain them; what lies high up before what lies deep.
fn place(path: &str, words: &str) -> Option<(u8, usize, String)> {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let rank = if name.starts_with(words) {
        0
    } else if name.contains(words) {
        1
    } else if lower.contains(words) {
        2
    } else {
        return None;
    };
    Some((rank, path.matches('/').count(), lower))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in [
            ("Report.md", ""),
            ("notes/report-old.md", ""),
            ("notes/deep/reports/june.csv", ""),
            ("plan.txt", ""),
            (".hidden/report.md", ""),
            ("built/report.html", ""),
            ("keys/report.pem", ""),
            (".gitignore", "built/\n"),
        ] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().expect("a parent")).expect("created");
            fs::write(path, text).expect("written");
        }
        folder
    }

    fn paths(found: &PathsFindResponse) -> Vec<&str> {
        found.paths.iter().map(|found| &*found.path).collect()
    }

    /// Names that begin so come first, capitals or not; ignored, hidden and protected ones never.
    #[test]
    fn the_best_come_first_and_some_never() {
        let folder = folder();
        let root = folder.path().canonicalize().expect("real");
        let protected = [root.join("keys")];
        let found = find(&root, "rep", &protected);
        assert_eq!(
            paths(&found),
            [
                "Report.md",
                "notes/report-old.md",
                "notes/deep/reports",
                "notes/deep/reports/june.csv",
            ]
        );
        assert!(!found.more);
        assert!(found.paths[2].is_folder && !found.paths[0].is_folder);
        assert_eq!(
            Path::new(&found.paths[0].absolute),
            root.join("Report.md").as_path()
        );
        assert_eq!(
            paths(&find(&root, "", &protected)),
            [
                "notes",
                "plan.txt",
                "Report.md",
                "notes/deep",
                "notes/report-old.md",
                "notes/deep/reports",
                "notes/deep/reports/june.csv",
            ]
        );
        assert_eq!(paths(&find(&root, "../", &protected)), [""; 0]);
    }

    /// A link leads nowhere, and its name is not offered either.
    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let outside = folder();
        let inside = tempfile::tempdir().expect("a folder");
        let root = inside.path().canonicalize().expect("real");
        std::os::unix::fs::symlink(outside.path(), root.join("report-link")).expect("a link");
        let file = outside.path().join("Report.md");
        std::os::unix::fs::symlink(file, root.join("report.md")).expect("a link");
        assert_eq!(paths(&find(&root, "rep", &[])), [""; 0]);
    }

    /// No answer is longer than a list can show, and it says so.
    #[test]
    fn there_may_be_more() {
        let folder = tempfile::tempdir().expect("a folder");
        for index in 0..60 {
            fs::write(folder.path().join(format!("{index:02}.txt")), "").expect("written");
        }
        let found = find(folder.path(), ".txt", &[]);
        assert_eq!((found.paths.len(), found.more), (MOST, true));
        assert_eq!(found.paths[0].path, "00.txt");
    }
}
