//! Changes to hosts' files as a person is shown them before they are made: exactly what was shown is
//! made, or nothing.

use std::path::PathBuf;

use jiff::Timestamp;
use openspace_hosts::{Error, Host, Hosts, Kind, Options, Plan, Scope};

use super::HostRequest;
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
    /// What tells this change from every other.
    pub fingerprint: String,
}

/// A line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What becomes of it.
    pub row: DiffRow,
    /// Its number before, where it was there.
    pub old: Option<u32>,
    /// Its number afterwards, where it is there.
    pub new: Option<u32>,
    /// What it says.
    pub text: String,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffRow {
    /// It stays.
    Same,
    /// It is new.
    Added,
    /// It goes.
    Removed,
    /// Lines that stay were left out here.
    Gap,
    /// The line before has no end, since it is the last one.
    NoEnd,
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
        let (host, hosts) = (self.host(&request.host)?, self.hosts());
        let now = Timestamp::now();
        let plan = plan(&hosts, host, action, request, now);
        let plan = plan.map_err(|error| self.explained(&hosts, host, action, request, &error))?;
        self.preview_of(&plan, plan.backup(now), request)
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
        let (host, hosts) = (self.host(&request.host)?, self.hosts());
        let explained = |error| self.explained(&hosts, host, action, request, &error);
        let now = Timestamp::now();
        let wanted = plan(&hosts, host, action, request, now).map_err(explained)?;
        if wanted.fingerprint() == fingerprint {
            let mut preview = self.preview_of(&wanted, None, request)?;
            match hosts.make(wanted, now) {
                Ok(done) => {
                    preview.backup = done.backup;
                    return Ok(HostWritten::Made(preview));
                }
                Err(Error::Changed { .. }) => {}
                Err(error) => return Err(explained(error)),
            }
        }
        self.preview_host(action, request)
            .map(HostWritten::Otherwise)
    }

    fn host(&self, id: &str) -> Result<&'static Host> {
        openspace_hosts::find(id).map_err(|error| self.host_failure(&error))
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
        plan: &Plan,
        backup: Option<PathBuf>,
        request: &HostRequest,
    ) -> Result<HostPreview> {
        Ok(HostPreview {
            host: plan.host.id,
            name: plan.host.name,
            file: plan.file.clone(),
            format: plan.host.dialect.name(),
            kind: plan.kind,
            new_file: plan.is_new_file() && plan.kind != Kind::Nothing,
            removes_file: plan.removes_file(),
            trusts: request.trust && plan.host.can_trust(),
            backup,
            other_servers: plan.other_servers(),
            diff: lines(&self.host_diff(plan)?),
            fingerprint: plan.fingerprint(),
        })
    }

    /// A change without secrets.
    pub(super) fn host_diff(&self, plan: &Plan) -> Result<String> {
        let (diff, _) = Redaction::new(&self.environment)?.apply(&plan.diff());
        Ok(diff)
    }
}

fn plan(
    hosts: &Hosts,
    host: &'static Host,
    action: HostAction,
    request: &HostRequest,
    now: Timestamp,
) -> Result<Plan, Error> {
    let scope = Scope::from(request.scope.clone());
    match action {
        HostAction::Register => {
            let options = Options {
                force: request.force,
                trust: request.trust,
                create: request.create,
            };
            hosts.plan_registration(host, &scope, options, now)
        }
        HostAction::Unregister => hosts.plan_removal(host, &scope, request.force),
        HostAction::Undo => hosts.plan_undo(host, &scope),
    }
}

/// The lines of a change in the unified format, with their numbers.
fn lines(diff: &str) -> Vec<DiffLine> {
    let (mut old, mut new) = (0, 0);
    let mut lines = Vec::new();
    // The names of the files come first.
    for line in diff.lines().skip(2) {
        if let Some((from, to)) = hunk(line) {
            if from > 1 {
                lines.push(DiffLine {
                    row: DiffRow::Gap,
                    old: None,
                    new: None,
                    text: String::new(),
                });
            }
            (old, new) = (from, to);
            continue;
        }
        let (row, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (DiffRow::Added, text),
            Some(("-", text)) => (DiffRow::Removed, text),
            Some(("\\", _)) => (DiffRow::NoEnd, ""),
            Some((" ", text)) => (DiffRow::Same, text),
            _ => (DiffRow::Same, line),
        };
        let before = matches!(row, DiffRow::Same | DiffRow::Removed).then_some(old);
        let after = matches!(row, DiffRow::Same | DiffRow::Added).then_some(new);
        old += u32::from(before.is_some());
        new += u32::from(after.is_some());
        lines.push(DiffLine {
            row,
            old: before,
            new: after,
            text: text.trim_end_matches('\r').to_owned(),
        });
    }
    lines
}

/// Where a part of a change begins, before and afterwards.
fn hunk(line: &str) -> Option<(u32, u32)> {
    let ranges = line.strip_prefix("@@ -")?.strip_suffix(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let first = |range: &str| {
        range
            .split(',')
            .next()
            .and_then(|number| number.parse().ok())
    };
    Some((first(old)?, first(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines carry the numbers they have in the file, before and afterwards.
    #[test]
    fn lines_are_numbered() {
        let diff = "--- f\n+++ f\n@@ -7,3 +7,4 @@\n seven\n-eight\n+8\n+and\n nine\n\\ No newline at end of file\n";
        let shown: Vec<_> = lines(diff)
            .into_iter()
            .map(|line| (line.row, line.old, line.new, line.text))
            .collect();
        let line = |row, old, new, text: &str| (row, old, new, text.to_owned());
        assert_eq!(
            shown,
            [
                line(DiffRow::Gap, None, None, ""),
                line(DiffRow::Same, Some(7), Some(7), "seven"),
                line(DiffRow::Removed, Some(8), None, "eight"),
                line(DiffRow::Added, None, Some(8), "8"),
                line(DiffRow::Added, None, Some(9), "and"),
                line(DiffRow::Same, Some(9), Some(10), "nine"),
                line(DiffRow::NoEnd, None, None, ""),
            ]
        );
        assert_eq!(lines(""), []);
    }

    /// A line of the file that looks like the beginning of a part is a line of the file.
    #[test]
    fn what_a_file_says_is_no_beginning() {
        let diff = "--- f\n+++ f\n@@ -0,0 +1 @@\n+@@ -3 +3 @@\n";
        let shown = lines(diff);
        assert_eq!(shown.len(), 1);
        assert_eq!((shown[0].new, &*shown[0].text), (Some(1), "@@ -3 +3 @@"));
    }
}
