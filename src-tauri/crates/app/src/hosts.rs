//! Agent programs on this machine that can use us: how they stand, registering, trying.
//!
//! What is told of their files is what concerns us. Whoever was started by a run may use none of
//! this: a host's file decides what a host may do.

mod change;
mod clients;
mod custom;
mod diff;
mod failure;
mod skills;
mod view;
mod waiting;

use std::{path::PathBuf, time::Duration};

use jiff::Timestamp;
use openspace_hosts::{
    Host, Hosts, Kind, Machine, Options, Scope, State,
    credentials::{Credentials, Names},
};
use openspace_llm::provider::{PROVIDERS, Provider, Wire};

pub use change::{HostAction, HostPreview, HostWritten, SkillPreview};
pub use clients::{HostClient, Introduction, client_connected};
pub use custom::NewHost;
pub use diff::{DiffLine, DiffRow};
pub use openspace_hosts::{
    Dialect as HostFormat, Launch, MARK,
    skills::{SkillKind, SkillState},
};
pub use skills::{HostSkill, HostSkillChange};
pub use view::{
    HostChange, HostCheck, HostDetail, HostFinding, HostPlaceOf, HostSeen, HostState, Lendable,
};
pub(crate) use waiting::Waiting;

use crate::{App, Failure, failure::Result};

/// How long a server may take to answer, where nothing else is said.
pub const HOST_PATIENCE: Duration = Duration::from_secs(15);

/// Which file of a host is meant.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum HostScope {
    /// The person's own, for all projects.
    #[default]
    User,
    /// That of the project in this folder.
    Project(PathBuf),
    /// This very file.
    File(PathBuf),
}

impl From<HostScope> for Scope {
    fn from(scope: HostScope) -> Self {
        match scope {
            HostScope::User => Self::User,
            HostScope::Project(folder) => Self::Project(folder),
            HostScope::File(file) => Self::File(file),
        }
    }
}

/// How to register.
#[derive(Debug, Clone, Default)]
pub struct HostRequest {
    /// Name of the host.
    pub host: String,
    /// Which of its files.
    pub scope: HostScope,
    /// Also put our entry in the place of another of the same name, or remove that.
    pub force: bool,
    /// Let the host run our tools without asking.
    pub trust: bool,
    /// Also make the file of a host that was not found.
    pub create: bool,
    /// Also put our skills into its folder. They go with the entry whether this is set or not; when
    /// unregistering, it means that only they go.
    pub skills: bool,
    /// Only work out what would be done.
    pub dry_run: bool,
}

impl App {
    /// How every host stands.
    ///
    /// # Errors
    /// [`crate::Code::Forbidden`] for a run.
    pub fn host_states(&self) -> Result<Vec<HostState>> {
        self.refuse_runs("look at hosts")?;
        let reports = self
            .hosts()
            .all()
            .map_err(|error| self.host_failure(&error))?;
        self.host_views(reports)
    }

    /// How every host stands that has a file of this kind.
    ///
    /// # Errors
    /// [`crate::Code::Forbidden`] for a run.
    pub fn host_states_in(&self, scope: &HostScope) -> Result<Vec<HostState>> {
        self.refuse_runs("look at hosts")?;
        let hosts = self.hosts();
        let scope = Scope::from(scope.clone());
        let known = self.known_hosts()?.into_iter();
        let fitting = known.filter(|host| hosts.file(host, &scope).is_ok());
        let reports: std::result::Result<Vec<_>, _> =
            fitting.map(|host| hosts.look(host, &scope)).collect();
        self.host_views(reports.map_err(|error| self.host_failure(&error))?)
    }

    /// How the files of projects and profiles stand that were written into.
    pub fn host_others(&self) -> Result<Vec<HostState>> {
        self.refuse_runs("look at hosts")?;
        let reports = self
            .hosts()
            .others()
            .map_err(|error| self.host_failure(&error))?;
        self.host_views(reports)
    }

    /// When the last change to a host's file was made, if it can still be taken back.
    pub fn host_undoable(&self, id: &str, scope: HostScope) -> Option<i64> {
        let hosts = self.hosts();
        let host = hosts.find(id).ok()?;
        // A file that cannot be read has nothing that could be taken back.
        hosts.undoable(host, &scope.into()).ok().flatten()
    }

    /// The copy of our program that entries start, if it was missing or out of date; it is copied
    /// anew if `renew`.
    pub fn stale_host_program(&self, renew: bool) -> Result<Option<PathBuf>> {
        self.refuse_runs("look at hosts")?;
        let hosts = self.hosts();
        let stale = hosts
            .stale_copy()
            .map_err(|error| self.host_failure(&error))?;
        if renew && stale.is_some() {
            hosts
                .renew_copy()
                .map_err(|error| self.host_failure(&error))?;
        }
        Ok(stale)
    }

    /// Everything about one host, with the entry it would get.
    pub fn host_detail(&self, id: &str, scope: HostScope) -> Result<HostDetail> {
        self.refuse_runs("look at hosts")?;
        let hosts = self.hosts();
        let host = self.host(&hosts, id)?;
        let report = hosts
            .look(host, &scope.into())
            .map_err(|error| self.host_failure(&error))?;
        let credentials = self.host_credentials();
        let lends = credentials
            .overview(&provider_names())
            .into_iter()
            .map(|origin| Lendable {
                host: origin.host,
                file: origin.file,
                place: origin.place,
            })
            .filter(|lendable| lendable.host == host.id)
            .collect();
        let refuses = credentials
            .refused(&provider_names())
            .into_iter()
            .filter(|origin| origin.host == host.id)
            .map(|origin| origin.place)
            .collect();
        Ok(HostDetail {
            format: host.dialect.name(),
            project_file: host.project,
            timeout: host.timeout(),
            can_trust: host.can_trust(),
            most_tools: host.most_tools,
            skills: hosts.skills(host),
            would_start: hosts.wanted(host),
            entry: hosts.entry(host),
            snippet: hosts.snippet(host, false),
            lends,
            refuses,
            state: self.host_view(report)?,
        })
    }

    /// Writes our entry into a host's file, or says what that would do.
    ///
    /// # Errors
    /// Whatever keeps the file from being changed; it is as it was then, and the parameter
    /// `snippet` holds what to paste into it by hand where that helps.
    pub fn register_host(&self, request: &HostRequest) -> Result<HostChange> {
        self.refuse_runs("register hosts")?;
        self.change_host(request, true)
    }

    /// Takes our entry out of a host's file, or says what that would do.
    pub fn unregister_host(&self, request: &HostRequest) -> Result<HostChange> {
        self.refuse_runs("unregister hosts")?;
        self.change_host(request, false)
    }

    fn change_host(&self, request: &HostRequest, register: bool) -> Result<HostChange> {
        let hosts = self.hosts();
        let host = self.host(&hosts, &request.host)?;
        let scope = Scope::from(request.scope.clone());
        let options = Options {
            force: request.force,
            trust: request.trust,
            create: request.create,
        };
        let now = Timestamp::now();
        if request.skills && !register {
            return self.remove_host_skills(&hosts, host, request.dry_run);
        }
        let explained = |error| {
            let failure = self.host_failure(&error);
            if register && error.pasting_helps() {
                failure.param("snippet", hosts.snippet(host, request.trust))
            } else {
                failure
            }
        };
        let (plan, backup) = if request.dry_run {
            let plan = if register {
                hosts.plan_registration(host, &scope, options, now)
            } else {
                hosts.plan_removal(host, &scope, request.force)
            };
            let plan = plan.map_err(explained)?;
            let backup = plan.backup(now);
            (plan, backup)
        } else {
            let done = if register {
                hosts.register(host, &scope, options, now)
            } else {
                hosts.unregister(host, &scope, request.force, now)
            };
            let done = done.map_err(explained)?;
            (done.plan, done.backup)
        };
        let diff = self.host_diff(&plan)?;
        let action = if register {
            HostAction::Register
        } else {
            HostAction::Unregister
        };
        let wish = skills::wish(action, &scope, request.skills);
        let skills = wish.map(|wish| self.change_host_skills(&hosts, host, wish, request.dry_run));
        Ok(HostChange {
            skills: skills.transpose()?.unwrap_or_default(),
            host: host.id,
            name: host.name,
            kind: plan.kind,
            made: !request.dry_run && plan.kind != Kind::Nothing,
            new_file: plan.is_new_file() && plan.kind != Kind::Nothing,
            removes_file: plan.removes_file(),
            trusts: request.trust && host.can_trust(),
            file: plan.file,
            backup,
            diff,
        })
    }

    /// Starts what a host's file says, as the host would, and says what was seen.
    ///
    /// # Errors
    /// What went wrong, with the server's own words.
    pub async fn verify_host(
        &self,
        id: &str,
        scope: HostScope,
        patience: Duration,
    ) -> Result<HostSeen> {
        self.refuse_runs("try hosts")?;
        let held = self.waiting_hosts.begin(id, &scope);
        let hosts = self.hosts().until(held.stop.clone());
        let host = self.host(&hosts, id)?;
        let seen = tokio::task::spawn_blocking(move || hosts.verify(host, &scope.into(), patience));
        match seen.await {
            Ok(Ok(seen)) => Ok(HostSeen::new(host, seen)),
            Ok(Err(trouble)) => Err(self.host_trouble(host, &trouble)),
            Err(error) => Err(Failure::new(crate::Code::Internal, error.to_string())),
        }
    }

    /// Looks at every entry of ours, and corrects those whose program has gone unless `dry_run`; and
    /// at every skill of ours, and renews those of an earlier version.
    pub fn check_hosts(&self, dry_run: bool) -> Result<HostCheck> {
        self.refuse_runs("check hosts")?;
        let hosts = self.hosts();
        let checkup = hosts
            .checkup(dry_run, Timestamp::now())
            .map_err(|error| self.host_failure(&error))?;
        let mut check = self.host_check(checkup);
        check.skills = self.renew_host_skills(&hosts, dry_run)?;
        Ok(check)
    }

    fn host(&self, hosts: &Hosts, id: &str) -> Result<&'static Host> {
        hosts.find(id).map_err(|error| self.host_failure(&error))
    }

    fn known_hosts(&self) -> Result<Vec<&'static Host>> {
        let known = self.hosts().known();
        known.map_err(|error| self.host_failure(&error))
    }

    /// The hosts of this machine.
    pub(crate) fn hosts(&self) -> Hosts {
        let machine = Machine::here(&self.paths.home, self.environment.clone());
        Hosts::new(
            machine,
            &self.paths.data,
            &server_program(&self.surface.program),
        )
    }

    /// What hosts could lend us.
    pub(crate) fn host_credentials(&self) -> Credentials {
        Credentials::read(&Machine::here(&self.paths.home, self.environment.clone()))
    }
}

/// The program that is a server: the one with the window has it beside itself.
fn server_program(program: &std::path::Path) -> PathBuf {
    let name = program.file_stem().and_then(std::ffi::OsStr::to_str);
    let beside = program.with_file_name(if cfg!(windows) {
        "openspace.exe"
    } else {
        "openspace"
    });
    if name != Some("openspace") && beside.is_file() {
        beside
    } else {
        program.to_owned()
    }
}

/// The providers as hosts' files may name them.
pub(crate) fn provider_names() -> Vec<Names> {
    PROVIDERS
        .iter()
        .filter(|provider| provider.wire != Wire::Recorded)
        .map(names_of)
        .collect()
}

/// A provider as hosts' files may name it.
pub(crate) fn names_of(provider: &Provider) -> Names {
    Names {
        provider: provider.name,
        keys: provider.key_variables,
        bases: provider.base_variables,
    }
}

impl HostState {
    /// It can be registered without further ado.
    pub fn is_open(&self) -> bool {
        matches!(self.state, "not_registered" | "removed" | "moved")
    }

    /// Our entry is there.
    pub fn is_registered(&self) -> bool {
        matches!(self.state, "registered" | "off" | "moved")
    }

    /// It has a skill of ours that nobody changed.
    pub fn has_skills(&self) -> bool {
        self.skills.iter().any(|skill| skill.state.is_ours())
    }
}

/// Another copy of this program is registered, or one with other folders.
fn starts_another(state: &State) -> bool {
    match state {
        State::Registered {
            other, elsewhere, ..
        } => *other || *elsewhere,
        _ => false,
    }
}
