//! Hosts on a terminal.

use std::{
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use openspace_app::{
    App,
    hosts::{HostCheck, HostClient, HostDetail, HostSeen, HostState, Launch},
};

use super::skills;
use crate::output;

pub(super) fn say(app: &Arc<App>, key: &str, values: &[(&str, String)]) -> String {
    let values: Vec<_> = values
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    app.catalogue.render(key, &values)
}

/// A line that belongs to the one before.
pub(super) fn detail_note(app: &Arc<App>, key: &str, values: &[(&str, String)]) {
    output::note(&format!("  {}", say(app, key, values)));
}

pub(super) fn state(app: &Arc<App>, host: &HostState) {
    let mark = match host.state {
        "registered" => '✓',
        "not_registered" | "not_found" => '–',
        _ => '!',
    };
    let state = app
        .catalogue
        .render(&format!("hosts.state.{}", host.state), &[]);
    output::line(&format!("{mark} {:<16} {state}", host.host));
    output::line(&format!("  {:<16} {}", "", host.file.display()));
    if let Some(client) = &host.connected {
        output::line(&format!("  {:<16} {}", "", connected(app, client)));
    }
    if let Some(entry) = &host.other_entry {
        output::line(&format!("  {:<16} {}", "", output::harmless(entry)));
    }
    if let Some(problem) = &host.problem {
        output::line(&format!("  {:<16} → {problem}", ""));
    }
    if let Some(old) = skills::outdated(app, host) {
        output::line(&format!("  {:<16} → {old}", ""));
    }
}

/// When a client was here last, and what it called itself.
fn connected(app: &Arc<App>, client: &HostClient) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_millis() as i64);
    let age = u64::try_from(now - client.at).unwrap_or_default();
    let values = [
        ("age", output::duration(age)),
        ("client", format!("{} {}", client.name, client.version)),
    ];
    output::harmless(&say(app, "hosts.connected", &values))
}

pub(super) fn detail(app: &Arc<App>, detail: &HostDetail) {
    let host = &detail.state;
    output::line(host.name);
    state(app, host);
    let row = |key: &str, value: String| {
        let label = app.catalogue.render(&format!("hosts.show.{key}"), &[]);
        output::line(&format!("  {label}: {}", output::harmless(&value)));
    };
    row(
        "file",
        format!("{} ({})", host.file.display(), detail.format),
    );
    if let Some(sign) = &host.found_by {
        row("found_by", sign.display().to_string());
    }
    if let Some(launch) = &host.starts {
        row("starts", command(launch));
    }
    if host.starts_another {
        output::line(&format!("  {}", say(app, "hosts.show.starts_another", &[])));
    }
    if let Some(file) = detail.project_file {
        row("project_file", file.to_owned());
    }
    if let Some((key, value)) = detail.timeout {
        row("timeout", format!("{key} = {value}"));
    }
    if let Some(most) = detail.most_tools {
        row("most_tools", most.to_string());
    }
    if let Some(skills) = &detail.skills {
        row("skills", skills.display().to_string());
    }
    for skill in &host.skills {
        let state = say(app, &format!("hosts.skill.state.{}", skill.state.id()), &[]);
        output::line(&format!("    {}: {state}", skill.skill));
    }
    for lendable in &detail.lends {
        row("lends", lendable.place.clone());
    }
    for place in &detail.refuses {
        row("refuses", place.clone());
    }
    output::line(&say(app, "hosts.show.snippet", &[]));
    output::line(detail.snippet.trim_end());
}

/// What is started, as it would be typed.
fn command(launch: &Launch) -> String {
    let variables = launch
        .env
        .iter()
        .map(|(name, value)| format!("{name}={value} "));
    let arguments = launch.args.iter().map(|argument| format!(" {argument}"));
    let variables: String = variables.collect();
    format!(
        "{variables}{}{}",
        launch.command,
        arguments.collect::<String>()
    )
}

pub(super) fn seen(app: &Arc<App>, seen: &HostSeen) {
    let line = |key: &str, values: &[(&str, String)]| {
        output::line(&format!("  {}", output::harmless(&say(app, key, values))));
    };
    let name = [("host", seen.name.to_owned())];
    output::line(&say(app, "hosts.verify.works", &name));
    line(
        "hosts.verify.started",
        &[("command", command(&seen.started))],
    );
    line(
        "hosts.verify.variables",
        &[("names", seen.variables.join(", "))],
    );
    line(
        "hosts.verify.server",
        &[
            ("server", seen.server.clone()),
            ("protocol", seen.protocol.clone()),
            ("ms", seen.first_answer_ms.to_string()),
        ],
    );
    line("hosts.verify.tools", &[("names", seen.tools.join(", "))]);
    let called = [
        ("tool", seen.called.clone()),
        ("answer", seen.answer.clone()),
    ];
    let key = if seen.call_failed {
        "hosts.verify.called_failed"
    } else {
        "hosts.verify.called"
    };
    line(key, &called);
    for noise in &seen.noise {
        line("hosts.verify.noise", &[("line", noise.clone())]);
    }
    if !seen.ended {
        line("hosts.verify.stays", &[]);
    }
}

pub(super) fn check(app: &Arc<App>, check: &HostCheck, dry_run: bool) {
    if let Some(copy) = &check.stale_copy {
        let key = if dry_run {
            "hosts.doctor.copy_possible"
        } else {
            "hosts.doctor.copy"
        };
        output::line(&say(app, key, &[("file", copy.display().to_string())]));
    }
    for skill in &check.skills {
        skills::line(app, skill, '✓');
    }
    if check.findings.is_empty() {
        output::line(&say(app, "hosts.doctor.none", &[]));
    }
    for finding in &check.findings {
        let mark = match finding.cure {
            "needless" | "done" => '✓',
            "failed" => '✗',
            _ => '!',
        };
        let program = finding.starts.as_ref();
        let program = program
            .map(|path| path.display().to_string())
            .unwrap_or_default();
        let state = say(app, &format!("hosts.state.{}", finding.state), &[]);
        let cure = say(
            app,
            &format!("hosts.cure.{}", finding.cure),
            &[("program", program), ("id", finding.host.to_owned())],
        );
        output::line(&format!("{mark} {:<16} {state}: {cure}", finding.host));
        output::line(&format!("  {:<16} {}", "", finding.file.display()));
        if let Some(problem) = &finding.problem {
            output::line(&format!("  {:<16} → {problem}", ""));
            if let Some(hint) = &problem.hint {
                output::line(&format!("  {:<16}   {hint}", ""));
            }
        }
    }
}
