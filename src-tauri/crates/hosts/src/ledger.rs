//! What was written where, so that it can be taken back byte for byte and told from what others
//! wrote; and the agents that a person named.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{Error, Launch, custom::Custom, dialect::Splice, file::Contents};

const VERSION: u32 = 1;

/// One entry that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Name of the host.
    pub(crate) host: String,
    /// The file, as it was asked for.
    pub(crate) file: PathBuf,
    /// What the entry starts.
    pub(crate) launch: Launch,
    /// The change as it was made.
    pub(crate) splice: Splice,
    /// What was there before, where that is another's entry. It may hold secrets, which have no place
    /// in this list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept: Option<Kept>,
    /// How many maps around the entry came with it.
    pub(crate) created: usize,
    /// The file came with it.
    pub(crate) new_file: bool,
    /// When, in milliseconds since 1970.
    pub(crate) at: i64,
}

/// A part of a copy of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The copy.
    pub(crate) backup: PathBuf,
    /// Where the part begins in its text.
    at: usize,
    /// How long it is.
    length: usize,
    /// What tells it from other texts.
    hash: String,
}

impl Kept {
    /// The part of a copy that says this.
    fn of(backup: &Path, text: &str) -> Option<Self> {
        Some(Self {
            backup: backup.to_owned(),
            at: Contents::read(backup).ok()?.text.find(text)?,
            length: text.len(),
            hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
        })
    }

    /// What it says, if the copy is still what it was.
    fn text(&self) -> Option<String> {
        let copy = Contents::read(&self.backup).ok()?;
        let end = self.at.checked_add(self.length)?;
        let text = copy.text.get(self.at..end)?;
        let hash = blake3::hash(text.as_bytes()).to_hex();
        (*hash == *self.hash).then(|| text.to_owned())
    }
}

impl Record {
    /// The change as it was made, with what was there before; none where that is lost.
    pub(crate) fn whole_splice(&self) -> Option<Splice> {
        let mut splice = self.splice.clone();
        if let Some(kept) = &self.kept {
            splice.old = kept.text()?;
        }
        Some(splice)
    }

    /// The same record with what was there before left in a copy of the file.
    pub(crate) fn leaving_in(mut self, backup: &Path) -> Self {
        let old = std::mem::take(&mut self.splice.old);
        self.kept = Kept::of(backup, &old);
        if self.kept.is_none() {
            // Without it there is nothing to lead back to.
            self.splice = Splice::default();
        }
        self
    }
}

/// The last change that was made to a file, as far as it is needed to take it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Change {
    /// The file, as it was asked for.
    pub(crate) file: PathBuf,
    /// The copy from before; none where there was no file.
    pub(crate) backup: Option<PathBuf>,
    /// What tells the bytes that were written from others; none where the file was removed.
    pub(crate) after: Option<String>,
    /// What was known of the file before.
    pub(crate) record: Option<Record>,
    /// When, in milliseconds since 1970.
    pub(crate) at: i64,
}

/// One skill that was put into a host's folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SkillRecord {
    /// Name of the host.
    pub(crate) host: String,
    /// The skill's own folder.
    pub(crate) folder: PathBuf,
    /// Which version of the skill.
    pub(crate) version: u32,
    /// Of its text, in hexadecimal.
    pub(crate) hash: String,
    /// How many folders above came with it.
    pub(crate) created: usize,
    /// When, in milliseconds since 1970.
    pub(crate) at: i64,
}

/// The list of all of them, a file of ours.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    path: PathBuf,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Stored {
    version: u32,
    entries: Vec<Record>,
    /// At most one for each file.
    #[serde(default)]
    changes: Vec<Change>,
    #[serde(default)]
    skills: Vec<SkillRecord>,
    /// Agents that the person named.
    #[serde(default)]
    custom: Vec<Custom>,
}

impl Ledger {
    pub(crate) fn new(data: &Path) -> Self {
        Self {
            path: data.join("hosts.json"),
        }
    }

    /// Everything that was written and not removed.
    pub(crate) fn read(&self) -> Result<Vec<Record>, Error> {
        Ok(self.stored()?.entries)
    }

    fn stored(&self) -> Result<Stored, Error> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Stored::default()),
            Err(error) => return Err(self.unusable(&error)),
        };
        let stored: Stored = serde_json::from_str(&text).map_err(|error| self.unusable(&error))?;
        if stored.version > VERSION {
            return Err(self.unusable(&"it was written by a newer version of this program"));
        }
        Ok(stored)
    }

    /// What was written into a file.
    pub(crate) fn find(&self, file: &Path) -> Result<Option<Record>, Error> {
        Ok(self.read()?.into_iter().find(|record| record.file == file))
    }

    /// The last change to a file.
    pub(crate) fn last_change(&self, file: &Path) -> Result<Option<Change>, Error> {
        let changes = self.stored()?.changes.into_iter();
        Ok(changes.rev().find(|change| change.file == file))
    }

    /// Puts these in the place of everything that is known of a file.
    pub(crate) fn put(
        &self,
        file: &Path,
        record: Option<Record>,
        change: Option<Change>,
    ) -> Result<(), Error> {
        self.edit(|stored| {
            stored.entries.retain(|other| other.file != file);
            stored.entries.extend(record);
            stored.changes.retain(|other| other.file != file);
            stored.changes.extend(change);
        })
    }

    /// What was put into the folder of a skill.
    pub(crate) fn find_skill(&self, folder: &Path) -> Result<Option<SkillRecord>, Error> {
        let mut skills = self.stored()?.skills.into_iter();
        Ok(skills.find(|record| record.folder == folder))
    }

    /// Puts a record in the place of what is known of a skill's folder.
    pub(crate) fn put_skill(&self, record: SkillRecord) -> Result<(), Error> {
        self.edit(|stored| {
            stored.skills.retain(|other| other.folder != record.folder);
            stored.skills.push(record);
        })
    }

    /// Forgets the folder of a skill.
    pub(crate) fn forget_skill(&self, folder: &Path) -> Result<(), Error> {
        if self.find_skill(folder)?.is_none() {
            return Ok(());
        }
        self.edit(|stored| stored.skills.retain(|other| other.folder != folder))
    }

    /// The agents that the person named.
    pub(crate) fn customs(&self) -> Result<Vec<Custom>, Error> {
        Ok(self.stored()?.custom)
    }

    /// Keeps one more of them.
    pub(crate) fn add_custom(&self, custom: Custom) -> Result<(), Error> {
        self.edit(|stored| {
            stored.custom.retain(|other| other.id != custom.id);
            stored.custom.push(custom);
        })
    }

    /// Forgets one of them, with all that is known of its file.
    pub(crate) fn forget_custom(&self, id: &str, file: &Path) -> Result<(), Error> {
        self.edit(|stored| {
            stored.custom.retain(|other| other.id != id);
            stored.entries.retain(|other| other.file != file);
            stored.changes.retain(|other| other.file != file);
        })
    }

    fn edit(&self, edit: impl FnOnce(&mut Stored)) -> Result<(), Error> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        openspace_config::paths::create_private(folder).map_err(|error| self.unusable(&error))?;
        // Two processes that write into two hosts at once must not lose one of them.
        let _lock = lock(folder).map_err(|error| self.unusable(&error))?;
        let mut stored = self.stored()?;
        edit(&mut stored);
        stored.version = VERSION;
        let text = serde_json::to_string_pretty(&stored).map_err(|error| self.unusable(&error))?;
        let write = || -> io::Result<()> {
            let mut staged = tempfile::NamedTempFile::new_in(folder)?;
            staged.write_all(text.as_bytes())?;
            staged.as_file().sync_all()?;
            staged.persist(&self.path)?;
            Ok(())
        };
        write().map_err(|error| self.unusable(&error))
    }

    fn unusable(&self, why: &dyn std::fmt::Display) -> Error {
        Error::Ledger {
            path: self.path.clone(),
            message: why.to_string(),
        }
    }
}

fn lock(folder: &Path) -> io::Result<File> {
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join("hosts.lock"))?;
    file.lock()?;
    Ok(file)
}
