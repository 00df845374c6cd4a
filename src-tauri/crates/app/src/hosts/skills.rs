//! Our skills in the folders of hosts.

use std::path::PathBuf;

use jiff::Timestamp;
use openspace_hosts::{
    Error, Host, Hosts, Kind, Scope,
    skills::{Skill, SkillDone, SkillKind, SkillPlan, SkillReport, SkillState, Wish},
};
use serde::Serialize;

use super::{HostAction, HostChange};
use crate::{App, Failure, failure::Result};

/// How one of our skills stands with a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostSkill {
    /// Its name.
    pub skill: &'static str,
    /// Its folder, there or not.
    pub folder: PathBuf,
    /// How it stands: the end of the catalogue's `hosts.skill.state.…`.
    pub state: SkillState,
}

impl From<SkillReport> for HostSkill {
    fn from(report: SkillReport) -> Self {
        Self {
            skill: report.name,
            folder: report.folder,
            state: report.state,
        }
    }
}

/// A change to one of our skills with a host, made or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostSkillChange {
    /// The host.
    pub host: &'static str,
    /// The skill.
    pub skill: &'static str,
    /// Its folder.
    pub folder: PathBuf,
    /// What is done: the end of the catalogue's `hosts.skill.made.…`.
    pub kind: SkillKind,
    /// It was done.
    pub made: bool,
    /// The copy of the file as it was before.
    pub backup: Option<PathBuf>,
    /// The change, line by line.
    pub diff: String,
    /// Why it was not done.
    pub problem: Option<Failure>,
}

impl HostSkillChange {
    fn of(backup: Option<PathBuf>, plan: SkillPlan, host: &Host, made: bool) -> Self {
        Self {
            host: host.id,
            skill: plan.skill.name,
            made: made && plan.kind.changes(),
            kind: plan.kind,
            diff: plan.diff(),
            folder: plan.folder,
            backup,
            problem: None,
        }
    }
}

/// What an action wants of our skills. They belong to the person, not to a project.
pub(super) fn wish(action: HostAction, scope: &Scope, asked: bool) -> Option<Wish> {
    let wish = match action {
        HostAction::Register if asked => Wish::Installed,
        HostAction::InstallSkills => Wish::Installed,
        HostAction::Undo if asked => Wish::Removed,
        HostAction::Unregister | HostAction::RemoveSkills => Wish::Removed,
        HostAction::Register | HostAction::Undo => return None,
    };
    (*scope == Scope::User).then_some(wish)
}

impl App {
    /// Sees to it that our skills are with a host as wished, or says what that would do. What keeps
    /// one of them from it is told with it and keeps neither the other nor the entry.
    pub(super) fn change_host_skills(
        &self,
        hosts: &Hosts,
        host: &'static Host,
        wish: Wish,
        dry_run: bool,
    ) -> Result<Vec<HostSkillChange>> {
        let now = Timestamp::now();
        let explained = |error: Error| self.host_failure(&error);
        let failed = |skill: &Skill, error: &Error| HostSkillChange {
            host: host.id,
            skill: skill.name,
            folder: hosts.skills(host).unwrap_or_default().join(skill.name),
            kind: SkillKind::Nothing,
            made: false,
            backup: None,
            diff: String::new(),
            problem: Some(self.host_failure(error)),
        };
        if dry_run {
            let plans = hosts.plan_skills(host, wish).map_err(explained)?;
            let told = plans.into_iter().map(|(skill, plan)| match plan {
                Ok(plan) => HostSkillChange::of(plan.backup(now), plan, host, false),
                Err(error) => failed(skill, &error),
            });
            return Ok(told.collect());
        }
        let done = hosts.change_skills(host, wish, now).map_err(explained)?;
        let told = done.into_iter().map(|(skill, done)| match done {
            Ok(SkillDone { plan, backup }) => HostSkillChange::of(backup, plan, host, true),
            Err(error) => failed(skill, &error),
        });
        Ok(told.collect())
    }

    /// Takes only our skills away from a host, or says what that would do.
    pub(super) fn remove_host_skills(
        &self,
        hosts: &Hosts,
        host: &'static Host,
        dry_run: bool,
    ) -> Result<HostChange> {
        let file = hosts.file(host, &Scope::User);
        Ok(HostChange {
            host: host.id,
            name: host.name,
            file: file.map_err(|error| self.host_failure(&error))?,
            kind: Kind::Nothing,
            made: false,
            new_file: false,
            removes_file: false,
            trusts: false,
            backup: None,
            diff: String::new(),
            skills: self.change_host_skills(hosts, host, Wish::Removed, dry_run)?,
        })
    }

    /// Renews what is of an earlier version, everywhere. Only what was found is told.
    pub(super) fn renew_host_skills(
        &self,
        hosts: &Hosts,
        dry_run: bool,
    ) -> Result<Vec<HostSkillChange>> {
        let mut found = Vec::new();
        for host in self.known_hosts()? {
            let changes = self.change_host_skills(hosts, host, Wish::Renewed, dry_run)?;
            found.extend(
                changes
                    .into_iter()
                    .filter(|it| it.kind.changes() || it.problem.is_some()),
            );
        }
        Ok(found)
    }
}
