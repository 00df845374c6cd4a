//! Putting our skills into a host's folder and taking them away: worked out, shown, made.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use jiff::Timestamp;
use serde::Serialize;

use super::{FILE, Found, LITTER, SKILLS, Skill, SkillState, hash};
use crate::{
    Error, Host, Hosts, diff,
    file::{Contents, backup::Backups, lock::pause},
    ledger::SkillRecord,
};

/// What came of each skill.
pub type OfEach<T> = Vec<(&'static Skill, Result<T, Error>)>;

/// What is wanted of our skills with a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// They are there, as this program has them.
    Installed,
    /// Those that are there are as this program has them.
    Renewed,
    /// They are gone.
    Removed,
}

/// What a change does with a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SkillKind {
    /// It comes.
    Install,
    /// A newer version takes its place.
    Renew,
    /// It goes.
    Remove,
    /// It stays as somebody changed it.
    Keep,
    /// Nothing has to be done.
    Nothing,
}

impl SkillKind {
    /// Its name in catalogues and JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::Install => "install",
            Self::Renew => "renew",
            Self::Remove => "remove",
            Self::Keep => "keep",
            Self::Nothing => "nothing",
        }
    }

    /// Something in the folder changes.
    pub fn changes(self) -> bool {
        matches!(self, Self::Install | Self::Renew | Self::Remove)
    }
}

/// A change to one skill that was worked out and not made.
#[derive(Debug, Clone)]
pub struct SkillPlan {
    /// The skill.
    pub skill: &'static Skill,
    /// Its folder.
    pub folder: PathBuf,
    /// How it stood.
    pub state: SkillState,
    /// What is done.
    pub kind: SkillKind,
    host: &'static Host,
    contents: Option<Contents>,
    backups: Backups,
    record: Option<SkillRecord>,
    /// How many folders above come with it.
    created: usize,
}

/// A change to one skill that was made.
#[derive(Debug)]
pub struct SkillDone {
    /// What it was.
    pub plan: SkillPlan,
    /// The copy of the file as it was before.
    pub backup: Option<PathBuf>,
}

impl SkillPlan {
    /// The change line by line, in the unified format; empty when there is none.
    pub fn diff(&self) -> String {
        if !self.kind.changes() {
            return String::new();
        }
        let after = match self.kind {
            SkillKind::Remove => "",
            _ => self.skill.text,
        };
        let name = self.folder.join(FILE).display().to_string();
        diff::unified(&name, self.before(), after)
    }

    /// What tells this change from every other, as [`Plan::fingerprint`](crate::Plan::fingerprint)
    /// does.
    pub fn fingerprint(&self) -> String {
        let before = self.contents.as_ref().and_then(Contents::hash);
        let folder = hash(&self.folder.to_string_lossy());
        let after = hash(self.skill.text);
        let before = before.unwrap_or_default();
        hash(&[self.kind.id(), &folder, &before, &after].join(" "))
    }

    fn before(&self) -> &str {
        self.contents.as_ref().map_or("", |it| it.text.as_str())
    }

    /// Where a copy of the file would go that was made at this time; none for a new one.
    pub fn backup(&self, now: Timestamp) -> Option<PathBuf> {
        matches!(self.kind, SkillKind::Renew | SkillKind::Remove).then(|| self.backups.path(now))
    }
}

impl Hosts {
    /// Works out what it takes for our skills to be with a host as wished; nothing for a host that
    /// has no folder of skills. What is in the way of one of them is not in the way of the other.
    ///
    /// # Errors
    /// [`Error::Ledger`] when our own list cannot be read.
    pub fn plan_skills(&self, host: &'static Host, wish: Wish) -> Result<OfEach<SkillPlan>, Error> {
        self.ledger.read()?;
        let Some(root) = self.skills(host) else {
            return Ok(Vec::new());
        };
        let plan = |skill: &'static Skill| {
            let folder = root.join(skill.name);
            (skill, self.plan_skill(host, skill, folder, wish))
        };
        let mut plans: Vec<_> = SKILLS.iter().map(plan).collect();
        if wish == Wish::Removed {
            // The one that came first may have brought the folder, which goes last.
            plans.reverse();
        }
        Ok(plans)
    }

    fn plan_skill(
        &self,
        host: &'static Host,
        skill: &'static Skill,
        folder: PathBuf,
        wish: Wish,
    ) -> Result<SkillPlan, Error> {
        let Found {
            state,
            contents,
            record,
        } = self.find_skill(skill, &folder)?;
        let kind = match (wish, state) {
            (Wish::Installed, SkillState::Foreign) => {
                return Err(Error::ForeignSkill {
                    skill: skill.name,
                    path: folder,
                });
            }
            (Wish::Installed, SkillState::Absent) => SkillKind::Install,
            (Wish::Installed | Wish::Renewed, SkillState::Outdated) => SkillKind::Renew,
            (Wish::Removed, SkillState::Current | SkillState::Outdated) => SkillKind::Remove,
            (Wish::Installed | Wish::Removed, SkillState::Changed) => SkillKind::Keep,
            _ => SkillKind::Nothing,
        };
        if let (true, Some(contents)) = (kind.changes(), &contents) {
            contents.refuse_protected()?;
        }
        let created = match (kind, &record) {
            (SkillKind::Install, _) => missing_above(&folder),
            (_, Some(record)) => record.created,
            (_, None) => 0,
        };
        Ok(SkillPlan {
            backups: Backups::within(&self.data.join("backups"), &folder.join(FILE)),
            skill,
            folder,
            state,
            kind,
            host,
            contents,
            record,
            created,
        })
    }

    /// Makes a change, if the skill is still what it was when the change was worked out.
    ///
    /// # Errors
    /// [`Error::Changed`] when it is not, and whatever keeps it from being written. It is as it was
    /// then.
    pub fn make_skill(&self, plan: SkillPlan, now: Timestamp) -> Result<SkillDone, Error> {
        // What was written must be known later, so this must work before anything is written.
        self.ledger.read()?;
        let mut backup = None;
        if let Some(contents) = plan.contents.as_ref().filter(|_| plan.kind.changes()) {
            if contents.exists() {
                let kept = plan.backups.keep(contents, now, None);
                backup = Some(kept.map_err(|source| unwritable(&plan.folder, source))?);
            }
            match plan.kind {
                SkillKind::Remove => remove(contents, &plan)?,
                SkillKind::Install => install(contents, &plan)?,
                _ => contents.replace(plan.skill.text, false)?,
            }
        }
        self.remember(&plan, now)?;
        Ok(SkillDone { plan, backup })
    }

    fn remember(&self, plan: &SkillPlan, now: Timestamp) -> Result<(), Error> {
        let written = matches!(plan.kind, SkillKind::Install | SkillKind::Renew);
        // One that says what we say, and of which nothing is known: the list was lost.
        let adopted = plan.state == SkillState::Current
            && plan.kind == SkillKind::Nothing
            && plan.record.is_none();
        if written || adopted {
            return self.ledger.put_skill(SkillRecord {
                host: plan.host.id.to_owned(),
                folder: plan.folder.clone(),
                version: plan.skill.version,
                hash: hash(plan.skill.text),
                created: plan.created,
                at: now.as_millisecond(),
            });
        }
        let gone = plan.kind == SkillKind::Remove || plan.state == SkillState::Absent;
        if gone {
            self.ledger.forget_skill(&plan.folder)?;
        }
        Ok(())
    }

    /// Works the changes out and makes them, each once more when somebody else was faster.
    ///
    /// # Errors
    /// [`Error::Ledger`] when our own list cannot be read; what went wrong with one skill is told
    /// with it.
    pub fn change_skills(
        &self,
        host: &'static Host,
        wish: Wish,
        now: Timestamp,
    ) -> Result<OfEach<SkillDone>, Error> {
        let again = |plan: &SkillPlan| {
            std::thread::sleep(pause());
            let plan = self.plan_skill(host, plan.skill, plan.folder.clone(), wish)?;
            self.make_skill(plan, now)
        };
        let make = |plan: Result<SkillPlan, Error>| {
            let plan = plan?;
            match self.make_skill(plan.clone(), now) {
                Err(Error::Changed { .. }) => again(&plan),
                made => made,
            }
        };
        let plans = self.plan_skills(host, wish)?.into_iter();
        Ok(plans.map(|(skill, plan)| (skill, make(plan))).collect())
    }
}

fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Unwritable {
        path: path.to_owned(),
        source,
    }
}

/// How many of the folders above this one are not there.
fn missing_above(folder: &Path) -> usize {
    let above = folder.ancestors().skip(1);
    above.take_while(|folder| !folder.exists()).count()
}

fn install(contents: &Contents, plan: &SkillPlan) -> Result<(), Error> {
    if let Some(above) = plan.folder.parent() {
        fs::create_dir_all(above).map_err(|source| unwritable(above, source))?;
    }
    // A folder that is there by now is somebody else's.
    fs::create_dir(&plan.folder).map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists => Error::Changed {
            path: plan.folder.clone(),
        },
        _ => unwritable(&plan.folder, source),
    })?;
    let written = contents.replace(plan.skill.text, false);
    if written.is_err() {
        remove_folders(plan);
    }
    written
}

/// Removes what is ours; whatever came into the folder meanwhile keeps it.
fn remove(contents: &Contents, plan: &SkillPlan) -> Result<(), Error> {
    contents.remove()?;
    for litter in LITTER {
        let _not_there = fs::remove_file(plan.folder.join(litter));
    }
    remove_folders(plan);
    Ok(())
}

/// Removes the skill's folder and those that came with it, as far as nothing is in them.
fn remove_folders(plan: &SkillPlan) {
    for folder in plan.folder.ancestors().take(plan.created + 1) {
        if fs::remove_dir(folder).is_err() {
            break;
        }
    }
}
