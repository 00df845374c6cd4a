//! Two skills that tell a host's agent when and how to use us, in the host's own folder of skills.
//!
//! They come with the program and are changed by nobody but us: one that a person changed is theirs,
//! and so is a folder of the same name that was there before.

mod change;

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::Serialize;

use crate::{Error, Host, Hosts, file::Contents, ledger::SkillRecord};

pub use change::{OfEach, SkillDone, SkillKind, SkillPlan, Wish};

/// The one file of a skill.
const FILE: &str = "SKILL.md";
/// What is left in folders by whoever looks into them; it goes with them.
const LITTER: [&str; 2] = [".DS_Store", ".skill_id"];

/// A skill that comes with the program.
#[derive(Debug)]
pub struct Skill {
    /// Its name, which is that of its folder.
    pub name: &'static str,
    /// What its `SKILL.md` says.
    pub text: &'static str,
    /// Grows with every change of the text.
    version: u32,
}

/// Both of them.
pub const SKILLS: [Skill; 2] = [
    Skill {
        name: "delegate-task",
        text: include_str!("../skills/delegate-task/SKILL.md"),
        version: 1,
    },
    Skill {
        name: "skill-discovery",
        text: include_str!("../skills/skill-discovery/SKILL.md"),
        version: 1,
    },
];

/// How one of our skills stands with a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillState {
    /// It is not there.
    Absent,
    /// It is there, and says what this program would say.
    Current,
    /// It is there as an earlier version of this program wrote it.
    Outdated,
    /// Somebody changed it, or put something beside it.
    Changed,
    /// Something else of this name was there.
    Foreign,
}

impl SkillState {
    /// Its name in catalogues and JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Current => "current",
            Self::Outdated => "outdated",
            Self::Changed => "changed",
            Self::Foreign => "foreign",
        }
    }

    /// The host has it from us, and nobody changed it.
    pub fn is_ours(self) -> bool {
        matches!(self, Self::Current | Self::Outdated)
    }
}

/// How one of our skills stands with a host, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillReport {
    /// Its name.
    pub name: &'static str,
    /// Its folder, there or not.
    pub folder: PathBuf,
    /// How it stands.
    pub state: SkillState,
}

/// The folder of a skill as it was found.
#[derive(Debug, Clone)]
struct Found {
    state: SkillState,
    /// None where the file cannot be one of ours.
    contents: Option<Contents>,
    record: Option<SkillRecord>,
}

impl Hosts {
    /// How our skills stand with a host; nothing for one that has no folder of skills.
    ///
    /// # Errors
    /// [`Error::Ledger`] when our own list cannot be read.
    pub fn look_skills(&self, host: &Host) -> Result<Vec<SkillReport>, Error> {
        let Some(root) = self.skills(host) else {
            return Ok(Vec::new());
        };
        let report = |skill: &Skill| {
            let folder = root.join(skill.name);
            Ok(SkillReport {
                name: skill.name,
                state: self.find_skill(skill, &folder)?.state,
                folder,
            })
        };
        SKILLS.iter().map(report).collect()
    }

    fn find_skill(&self, skill: &Skill, folder: &Path) -> Result<Found, Error> {
        let record = self.ledger.find_skill(folder)?;
        let found = |state, contents, record| Found {
            state,
            contents,
            record,
        };
        let file = folder.join(FILE);
        match fs::symlink_metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let contents = Contents::read(&file)?;
                return Ok(found(SkillState::Absent, Some(contents), record));
            }
            Ok(metadata) if metadata.is_dir() => {}
            // A link leads to where somebody else keeps it; what cannot be looked at is not ours.
            Ok(_) | Err(_) => return Ok(found(SkillState::Foreign, None, record)),
        }
        let theirs = if record.is_some() {
            SkillState::Changed
        } else {
            SkillState::Foreign
        };
        let is_file = fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file());
        let contents = match Contents::read(&file) {
            Ok(contents) if is_file => contents,
            Ok(_) | Err(_) => return Ok(found(theirs, None, record)),
        };
        let says_ours = contents.text == skill.text;
        let says_earlier = record
            .as_ref()
            .is_some_and(|it| it.hash == hash(&contents.text));
        let state = if !(says_ours || says_earlier) || has_more(folder) {
            theirs
        } else if says_ours || record.as_ref().is_some_and(|it| it.version > skill.version) {
            // A newer program wrote the other one; an older one does not take it back.
            SkillState::Current
        } else {
            SkillState::Outdated
        };
        Ok(found(state, Some(contents), record))
    }
}

fn hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// There is something beside the one file. What cannot be read is not ours to judge.
fn has_more(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else {
        return true;
    };
    let known =
        |name: &std::ffi::OsStr| name == FILE || LITTER.iter().any(|litter| name == *litter);
    entries
        .map(|entry| entry.map(|entry| entry.file_name()))
        .any(|name| !name.is_ok_and(|name| known(&name)))
}

#[cfg(test)]
mod tests;
