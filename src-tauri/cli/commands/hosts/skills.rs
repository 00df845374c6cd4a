//! Our skills with hosts, on a terminal.

use std::sync::Arc;

use openspace_app::{
    App,
    hosts::{HostChange, HostRequest, HostSkillChange, HostState},
};

use super::show::{detail_note, say};
use crate::output;

/// What was done with the skills of a host, or would be.
pub(super) fn tell(app: &Arc<App>, change: &HostChange, request: &HostRequest) {
    if request.skills && change.skills.is_empty() {
        let values = [("host", change.name.to_owned())];
        detail_note(app, "hosts.skill.none", &values);
    }
    for skill in &change.skills {
        // What is there already, or not at all, is worth a word only to who asked for it.
        if request.skills || skill.kind.id() != "nothing" || skill.problem.is_some() {
            detail_note(app, &key(skill), &values(skill));
        }
        if let Some(problem) = &skill.problem {
            output::failure(problem);
        }
        if request.dry_run && !skill.diff.is_empty() {
            output::line(skill.diff.trim_end());
        }
        if let Some(backup) = &skill.backup {
            let values = [("file", backup.display().to_string())];
            detail_note(app, "hosts.backup", &values);
        }
    }
}

/// One skill on a line of its own.
pub(super) fn line(app: &Arc<App>, skill: &HostSkillChange, done: char) {
    let mark = if skill.made { done } else { '!' };
    let said = say(app, &key(skill), &values(skill));
    output::line(&format!("{mark} {:<16} {said}", skill.host));
    if let Some(problem) = &skill.problem {
        output::line(&format!("  {:<16} → {problem}", ""));
    }
}

/// That a host has skills of an earlier version, and what to do about it.
pub(super) fn outdated(app: &Arc<App>, host: &HostState) -> Option<String> {
    let mut skills = host.skills.iter();
    let old = skills.any(|skill| skill.state.id() == "outdated");
    let values = [("id", host.host.to_owned())];
    old.then(|| say(app, "hosts.skill.renew", &values))
}

fn key(skill: &HostSkillChange) -> String {
    let kind = skill.kind.id();
    match (&skill.problem, skill.made, kind) {
        (Some(_), _, _) => "hosts.skill.failed".to_owned(),
        (None, false, "install" | "renew" | "remove") => format!("hosts.skill.planned.{kind}"),
        (None, _, _) => format!("hosts.skill.made.{kind}"),
    }
}

fn values(skill: &HostSkillChange) -> [(&'static str, String); 2] {
    [
        ("skill", skill.skill.to_owned()),
        ("folder", skill.folder.display().to_string()),
    ]
}
