//! Copies of a file as it was before a change.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;

use super::{Contents, Mode, stage, sync};

/// How many are kept of a file.
const KEPT: usize = 5;
const ENDING: &str = ".bak";

/// Where the copies of a file go: beside it, so that they are found by whoever looks for them, or
/// into a folder of ours for files that a project shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Backups {
    folder: PathBuf,
    /// What their names begin with.
    stem: String,
}

impl Backups {
    pub(crate) fn beside(file: &Path) -> Self {
        Self {
            folder: file.parent().unwrap_or(Path::new(".")).to_owned(),
            stem: format!("{}.openspace-", name(file)),
        }
    }

    /// The names carry a mark of the file's place, since many projects have files of the same name.
    pub(crate) fn within(folder: &Path, file: &Path) -> Self {
        let hash = blake3::hash(file.as_os_str().as_encoded_bytes()).to_hex();
        Self {
            folder: folder.to_owned(),
            stem: format!("{}.{}.openspace-", name(file), &hash[..8]),
        }
    }

    /// Where a copy made at this time goes.
    pub(crate) fn path(&self, now: Timestamp) -> PathBuf {
        let time = now.strftime("%Y%m%d-%H%M%S");
        let named = |again: &str| {
            self.folder
                .join(format!("{}{time}{again}{ENDING}", self.stem))
        };
        let mut path = named("");
        let mut count = 2;
        while path.exists() {
            path = named(&format!("-{count}"));
            count += 1;
        }
        path
    }

    /// Copies a file, and removes all but the newest copies and the one that is still needed.
    pub(crate) fn keep(
        &self,
        contents: &Contents,
        now: Timestamp,
        needed: Option<&Path>,
    ) -> io::Result<PathBuf> {
        openspace_config::paths::create_private(&self.folder)?;
        let bytes = fs::read(&contents.target)?;
        let mode = Mode::As(fs::metadata(&contents.target)?);
        let path = self.path(now);
        stage(&self.folder, &bytes, mode)?.persist(&path)?;
        sync(&self.folder);
        let mut others = self.all();
        // Many copies within a second may have names that make the newest look like the oldest.
        others.retain(|copy| *copy != path && Some(copy.as_path()) != needed);
        for old in &others[..(others.len() + 1).saturating_sub(KEPT)] {
            fs::remove_file(old)?;
        }
        Ok(path)
    }

    /// The copies there are, the oldest first.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut names: Vec<_> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with(&self.stem) && name.ends_with(ENDING))
            .collect();
        // A second copy within a second is newer than the first.
        names.sort_by_key(|name| {
            let time = &name[self.stem.len()..name.len() - ENDING.len()];
            let again = time.get(15..).unwrap_or_default().trim_start_matches('-');
            let order = again.parse::<u32>().unwrap_or(1);
            (time.get(..15).unwrap_or(time).to_owned(), order)
        });
        names.iter().map(|name| self.folder.join(name)).collect()
    }
}

fn name(file: &Path) -> String {
    file.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}
