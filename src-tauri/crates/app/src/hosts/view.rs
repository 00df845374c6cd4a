//! What is told about hosts.

use std::path::PathBuf;

use openspace_hosts::{Checkup, Cure, Finding, Host, Kind, Launch, Report, Seen, State};
use serde::Serialize;

use super::{HostClient, HostSkill, HostSkillChange, starts_another};
use crate::{App, Failure, failure::Result};

/// How a host stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostState {
    /// Its name in commands.
    pub host: &'static str,
    /// Its name.
    pub name: &'static str,
    /// How it stands: the end of the catalogue's `hosts.state.…`.
    pub state: &'static str,
    /// Its file, there or not.
    pub file: PathBuf,
    /// What gave it away; none when it was not found.
    pub found_by: Option<PathBuf>,
    /// What the entry of our name starts.
    pub starts: Option<Launch>,
    /// The entry starts another copy of this program than a new one would, or one that has its files
    /// in other folders.
    pub starts_another: bool,
    /// The other entry of our name, as JSON without secrets.
    pub other_entry: Option<String>,
    /// Why its file cannot be used.
    pub problem: Option<Failure>,
    /// Our skills in its folder; none where it has no such folder.
    #[serde(rename = "ourSkills")]
    pub skills: Vec<HostSkill>,
    /// A person named it.
    pub custom: bool,
    /// It can be forgotten: a person named it, and nothing of us is in its file.
    pub forgettable: bool,
    /// Its client, as it connected to our server last.
    pub connected: Option<HostClient>,
}

/// Everything about a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostDetail {
    /// How it stands.
    #[serde(flatten)]
    pub state: HostState,
    /// Format of its file.
    pub format: &'static str,
    /// The file of a project, from the project's folder.
    pub project_file: Option<&'static str>,
    /// The longest time a call may take as we set it, with the host's name for it.
    pub timeout: Option<(&'static str, u64)>,
    /// It can be told to run our tools without asking.
    pub can_trust: bool,
    /// How many tools it takes altogether.
    pub most_tools: Option<u32>,
    /// The folder of its skills.
    pub skills: Option<PathBuf>,
    /// What a new entry would start.
    pub would_start: Launch,
    /// Our entry alone, as JSON.
    pub entry: String,
    /// Our entry, to be pasted by hand.
    pub snippet: String,
    /// What it could lend us.
    pub lends: Vec<Lendable>,
    /// Places in its file where a key should be and none is that could be used.
    pub refuses: Vec<String>,
}

/// Something a host has that we may use: where it is, never what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Lendable {
    /// The host.
    pub host: &'static str,
    /// Its file.
    pub file: PathBuf,
    /// The place in it.
    pub place: String,
}

/// A change to a host's file, made or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostChange {
    /// The host.
    pub host: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The file.
    pub file: PathBuf,
    /// What is done.
    pub kind: Kind,
    /// It was done.
    pub made: bool,
    /// The file comes with it.
    pub new_file: bool,
    /// The file goes with it.
    pub removes_file: bool,
    /// The host runs our tools without asking.
    pub trusts: bool,
    /// The copy of the file as it was before.
    pub backup: Option<PathBuf>,
    /// The change, line by line, without secrets.
    pub diff: String,
    /// What is done with our skills.
    pub skills: Vec<HostSkillChange>,
}

/// What was seen of our server under a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostSeen {
    /// The host.
    pub host: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What was started.
    pub started: Launch,
    /// Names of the variables it was given.
    pub variables: Vec<String>,
    /// What the server calls itself, with its version.
    pub server: String,
    /// The version of the protocol it chose.
    pub protocol: String,
    /// It tells hosts how to use it.
    pub instructions: bool,
    /// Its tools.
    pub tools: Vec<String>,
    /// The tool that was called.
    pub called: String,
    /// The tool said that it did not work.
    pub call_failed: bool,
    /// The beginning of its answer.
    pub answer: String,
    /// Lines on standard output that are no messages.
    pub noise: Vec<String>,
    /// Milliseconds until the first answer.
    pub first_answer_ms: u64,
    /// It ended when its input did.
    pub ended: bool,
}

impl HostSeen {
    pub(super) fn new(host: &'static Host, seen: Seen) -> Self {
        Self {
            host: host.id,
            name: host.name,
            started: seen.launch.without_secrets(),
            variables: seen.variables,
            server: seen.server,
            protocol: seen.protocol,
            instructions: seen.instructions,
            tools: seen.tools,
            called: seen.call.tool,
            call_failed: seen.call.is_error,
            answer: seen.call.text,
            noise: seen.noise,
            first_answer_ms: seen.first_answer.as_millis() as u64,
            ended: seen.ended,
        }
    }
}

/// A host, by one of its files where that is not the person's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostPlaceOf {
    /// The host.
    pub host: &'static str,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// What was found of our entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostCheck {
    /// The copy of our program that was missing or out of date.
    pub stale_copy: Option<PathBuf>,
    /// Every host that knows us, or should.
    pub findings: Vec<HostFinding>,
    /// Skills of ours that were of an earlier version.
    pub skills: Vec<HostSkillChange>,
}

/// A host that knows us, or should.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostFinding {
    /// The host.
    pub host: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its file.
    pub file: PathBuf,
    /// It is the person's own.
    pub own: bool,
    /// We wrote an entry into it.
    pub ours: bool,
    /// How it stood.
    pub state: &'static str,
    /// What was done: the end of the catalogue's `hosts.cure.…`.
    pub cure: &'static str,
    /// What the entry starts now.
    pub starts: Option<PathBuf>,
    /// Why something is wrong with its file, or could not be put right.
    pub problem: Option<Failure>,
}

impl App {
    /// How hosts stand, with when each connected last.
    pub(super) fn host_views(&self, reports: Vec<Report>) -> Result<Vec<HostState>> {
        let clients = self.host_clients(&self.known_hosts()?)?;
        let views = reports.into_iter().map(|report| {
            let id = report.host.id;
            let mut its = clients.iter();
            let its = its.find(|(host, _)| host.is_some_and(|host| host.id == id));
            self.host_state(report, its.map(|(_, client)| client.clone()))
        });
        Ok(views.collect())
    }

    pub(super) fn host_view(&self, report: Report) -> Result<HostState> {
        let clients = self.host_clients(&self.known_hosts()?)?;
        let id = report.host.id;
        let mut its = clients.into_iter();
        let its = its.find(|(host, _)| host.is_some_and(|host| host.id == id));
        Ok(self.host_state(report, its.map(|(_, client)| client)))
    }

    fn host_state(&self, report: Report, connected: Option<HostClient>) -> HostState {
        HostState {
            custom: report.host.custom,
            forgettable: report.host.custom && !report.holds_ours(),
            connected,
            host: report.host.id,
            name: report.host.name,
            state: report.state.id(),
            skills: report.skills.into_iter().map(HostSkill::from).collect(),
            starts_another: starts_another(&report.state),
            file: report.file,
            found_by: report.sign,
            starts: report
                .launch
                .filter(|_| report.state.is_registered())
                .map(Launch::without_secrets),
            other_entry: match &report.state {
                State::Different { entry } => Some(entry.clone()),
                _ => None,
            },
            problem: match &report.state {
                State::Unusable(error) => Some(self.host_failure(error)),
                _ => None,
            },
        }
    }

    pub(super) fn host_check(&self, checkup: Checkup) -> HostCheck {
        let finding = |finding: Finding| {
            let problem = match (&finding.state, &finding.cure) {
                (_, Cure::Failed(error)) | (State::Unusable(error), _) => {
                    Some(self.host_failure(error))
                }
                _ => None,
            };
            let (cure, starts) = match finding.cure {
                Cure::Needless => ("needless", None),
                Cure::Possible => ("possible", None),
                Cure::Done(path) => ("done", Some(path)),
                Cure::None => ("none", None),
                Cure::Elsewhere => ("elsewhere", None),
                Cure::Failed(_) => ("failed", None),
            };
            HostFinding {
                host: finding.host.id,
                name: finding.host.name,
                file: finding.file,
                own: finding.own,
                ours: finding.ours,
                state: finding.state.id(),
                cure,
                starts,
                problem,
            }
        };
        HostCheck {
            stale_copy: checkup.stale_copy,
            findings: checkup.findings.into_iter().map(finding).collect(),
            skills: Vec::new(),
        }
    }
}
