//! Changes to hosts' files as a person is shown them before they are made: exactly what was shown is
//! made, or nothing.

use std::path::PathBuf;

use jiff::Timestamp;
use openspace_hosts::{
    Error, Host, Hosts, Kind, Options, Plan, Scope,
    skills::{OfEach, SkillDone, SkillKind, SkillPlan},
};

use super::{DiffLine, HostRequest, diff::lines, skills::wish};
use crate::{App, Failure, failure::Result, redact::Redaction};

/// What is done to a host's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostAction {
    /// Our entry is written, or corrected.
    Register,
    /// Our entry is removed.
    Unregister,
    /// The file becomes what it was before the last change.
    Undo,
    /// Only our skills are put into the host's folder, or renewed there.
    InstallSkills,
    /// Only our skills are taken out of it.
    RemoveSkills,
}

/// A change that was worked out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPreview {
    /// The host.
    pub host: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub format: &'static str,
    /// What is done.
    pub kind: Kind,
    /// The file comes with it.
    pub new_file: bool,
    /// The file goes with it.
    pub removes_file: bool,
    /// The host runs our tools without asking.
    pub trusts: bool,
    /// The copy of the file as it was before.
    pub backup: Option<PathBuf>,
    /// How many other servers the file has.
    pub other_servers: usize,
    /// The change, line by line, without secrets.
    pub diff: Vec<DiffLine>,
    /// What is done with our skills.
    pub skills: Vec<SkillPreview>,
    /// What tells this change from every other.
    pub fingerprint: String,
}

/// A change to one of our skills with a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillPreview {
    /// The skill.
    pub skill: &'static str,
    /// Its folder.
    pub folder: PathBuf,
    /// What is done.
    pub kind: SkillKind,
    /// The copy of the file as it was before.
    pub backup: Option<PathBuf>,
    /// The change, line by line.
    pub diff: Vec<DiffLine>,
    /// Why it is left alone, or was.
    pub problem: Option<Failure>,
}

/// What came of making a change that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HostWritten {
    /// It was made.
    Made(HostPreview),
    /// Nothing was written, since something else would have been: this.
    Otherwise(HostPreview),
}

impl App {
    /// Works out a change and makes nothing of it.
    ///
    /// # Errors
    /// Whatever keeps the file from being changed; the parameter `snippet` holds what to paste into
    /// it by hand where that helps.
    pub fn preview_host(&self, action: HostAction, request: &HostRequest) -> Result<HostPreview> {
        self.refuse_runs("change hosts")?;
        let hosts = self.hosts();
        let host = self.host(&hosts, &request.host)?;
        let now = Timestamp::now();
        let wanted = plan(&hosts, host, action, request, now);
        let wanted =
            wanted.map_err(|error| self.explained(&hosts, host, action, request, &error))?;
        self.preview_of(&wanted, request, now)
    }

    /// Makes the change that was shown with this fingerprint. Nothing is written when the file is
    /// not what it was then.
    pub fn make_host_change(
        &self,
        action: HostAction,
        request: &HostRequest,
        fingerprint: &str,
    ) -> Result<HostWritten> {
        self.refuse_runs("change hosts")?;
        let held = self.waiting_hosts.begin(&request.host, &request.scope);
        let hosts = self.hosts().until(held.stop.clone());
        let host = self.host(&hosts, &request.host)?;
        let explained = |error| self.explained(&hosts, host, action, request, &error);
        let now = Timestamp::now();
        let wanted = plan(&hosts, host, action, request, now).map_err(explained)?;
        if wanted.fingerprint() == fingerprint {
            let mut preview = self.preview_of(&wanted, request, now)?;
            let made = wanted.file.map(|plan| hosts.make(plan, now)).transpose();
            match made {
                Ok(done) => {
                    preview.backup = done.and_then(|done| done.backup);
                    preview.skills = self.make_host_skills(&hosts, wanted.skills, now);
                    return Ok(HostWritten::Made(preview));
                }
                Err(Error::Changed { .. }) => {}
                Err(error) => return Err(explained(error)),
            }
        }
        self.preview_host(action, request)
            .map(HostWritten::Otherwise)
    }

    fn explained(
        &self,
        hosts: &Hosts,
        host: &Host,
        action: HostAction,
        request: &HostRequest,
        error: &Error,
    ) -> Failure {
        let failure = self.host_failure(error);
        if action == HostAction::Register && error.pasting_helps() {
            failure.param("snippet", hosts.snippet(host, request.trust))
        } else {
            failure
        }
    }

    fn preview_of(
        &self,
        wanted: &Wanted,
        request: &HostRequest,
        now: Timestamp,
    ) -> Result<HostPreview> {
        let host = wanted.host;
        let plan = wanted.file.as_ref();
        let diff = plan.map(|plan| self.host_diff(plan)).transpose()?;
        let kind = plan.map_or(Kind::Nothing, |plan| plan.kind);
        Ok(HostPreview {
            host: host.id,
            name: host.name,
            file: plan.map_or_else(|| wanted.folder.clone(), |plan| plan.file.clone()),
            format: host.dialect.name(),
            kind,
            new_file: plan.is_some_and(Plan::is_new_file) && kind != Kind::Nothing,
            removes_file: plan.is_some_and(Plan::removes_file),
            trusts: request.trust && host.can_trust(),
            backup: plan.and_then(|plan| plan.backup(now)),
            other_servers: plan.map_or(0, Plan::other_servers),
            diff: lines(&diff.unwrap_or_default()),
            skills: self.skill_previews(wanted, now),
            fingerprint: wanted.fingerprint(),
        })
    }

    fn skill_previews(&self, wanted: &Wanted, now: Timestamp) -> Vec<SkillPreview> {
        let previews = wanted.skills.iter().map(|(skill, plan)| match plan {
            Ok(plan) => SkillPreview::of(plan, plan.backup(now)),
            Err(error) => {
                let folder = wanted.folder.join(skill.name);
                SkillPreview::failed(skill.name, folder, self.host_failure(error))
            }
        });
        previews.collect()
    }

    /// Makes what was shown of the skills. What keeps one of them from it keeps not the other.
    fn make_host_skills(
        &self,
        hosts: &Hosts,
        skills: OfEach<SkillPlan>,
        now: Timestamp,
    ) -> Vec<SkillPreview> {
        let made = skills.into_iter().map(|(skill, plan)| {
            let folder = plan.as_ref().ok().map(|plan| plan.folder.clone());
            let done = plan.and_then(|plan| hosts.make_skill(plan, now));
            match done {
                Ok(SkillDone { plan, backup }) => SkillPreview::of(&plan, backup),
                Err(error) => {
                    let folder = folder.unwrap_or_default();
                    SkillPreview::failed(skill.name, folder, self.host_failure(&error))
                }
            }
        });
        made.collect()
    }

    /// A change without secrets.
    pub(super) fn host_diff(&self, plan: &Plan) -> Result<String> {
        let (diff, _) = Redaction::new(&self.environment)?.apply(&plan.diff());
        Ok(diff)
    }
}

impl SkillPreview {
    fn of(plan: &SkillPlan, backup: Option<PathBuf>) -> Self {
        Self {
            skill: plan.skill.name,
            folder: plan.folder.clone(),
            kind: plan.kind,
            backup,
            diff: lines(&plan.diff()),
            problem: None,
        }
    }

    fn failed(skill: &'static str, folder: PathBuf, problem: Failure) -> Self {
        Self {
            skill,
            folder,
            kind: SkillKind::Nothing,
            backup: None,
            diff: Vec::new(),
            problem: Some(problem),
        }
    }
}

/// A change that was worked out, with all that belongs to it.
struct Wanted {
    host: &'static Host,
    /// None where only skills are meant.
    file: Option<Plan>,
    /// Where the skills lie.
    folder: PathBuf,
    skills: OfEach<SkillPlan>,
}

impl Wanted {
    fn fingerprint(&self) -> String {
        let file = self.file.as_ref().map(Plan::fingerprint);
        let skills = self.skills.iter().map(|(skill, plan)| match plan {
            Ok(plan) => plan.fingerprint(),
            Err(_) => skill.name.to_owned(),
        });
        file.into_iter().chain(skills).collect::<Vec<_>>().join(" ")
    }
}

fn plan(
    hosts: &Hosts,
    host: &'static Host,
    action: HostAction,
    request: &HostRequest,
    now: Timestamp,
) -> Result<Wanted, Error> {
    let scope = Scope::from(request.scope.clone());
    let options = Options {
        force: request.force,
        trust: request.trust,
        create: request.create,
    };
    let file = match action {
        HostAction::Register => Some(hosts.plan_registration(host, &scope, options, now)?),
        HostAction::Unregister => Some(hosts.plan_removal(host, &scope, request.force)?),
        HostAction::Undo => Some(hosts.plan_undo(host, &scope)?),
        HostAction::InstallSkills | HostAction::RemoveSkills => None,
    };
    let skills = match wish(action, &scope, request.skills) {
        Some(wish) => hosts.plan_skills(host, wish)?,
        None => Vec::new(),
    };
    Ok(Wanted {
        host,
        file,
        folder: hosts.skills(host).unwrap_or_default(),
        skills,
    })
}
