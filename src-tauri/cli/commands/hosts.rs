//! `openspace hosts`

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use openspace_app::{
    App, Environment, Failure,
    hosts::{HostChange, HostFormat, HostRequest, HostScope, HostState, NewHost},
};
use serde_json::json;

use crate::{
    args::{AddArgs, Format, HostFile, HostsCommand, How, RegisterArgs, UnregisterArgs, Which},
    exit::Exit,
    output,
};

mod show;
mod skills;

pub(crate) async fn hosts(
    command: HostsCommand,
    environment: Environment,
) -> Result<Exit, Failure> {
    let app = super::open(environment, false, &[])?;
    match command {
        HostsCommand::List { all, json } => list(&app, all, json),
        HostsCommand::Show { host, file, json } => {
            let detail = app.host_detail(&host, scope(&app, file)?)?;
            if json {
                output::json(&detail);
            } else {
                show::detail(&app, &detail);
            }
            Ok(Exit::Done)
        }
        HostsCommand::Add(arguments) => add(&app, arguments),
        HostsCommand::Remove { host, json } => remove(&app, &host, json),
        HostsCommand::Register(arguments) => register(&app, arguments),
        HostsCommand::Unregister(arguments) => unregister(&app, arguments),
        HostsCommand::Verify {
            which,
            file,
            timeout,
            json,
        } => verify(&app, which, file, timeout, json).await,
        HostsCommand::Doctor { dry_run, json } => doctor(&app, dry_run, json),
    }
}

fn list(app: &Arc<App>, all: bool, as_json: bool) -> Result<Exit, Failure> {
    let states = app.host_states()?;
    let (missing, found): (Vec<_>, Vec<_>) = states
        .iter()
        .partition(|host| host.state == "not_found" && !all);
    if as_json {
        found.iter().for_each(output::json);
        return Ok(Exit::Done);
    }
    if found.is_empty() {
        output::line(&app.catalogue.render("hosts.list.none", &[]));
    }
    for host in found {
        show::state(app, host);
    }
    if !missing.is_empty() {
        let names: Vec<_> = missing.iter().map(|host| host.host).collect();
        let values = [("names", names.join(", "))];
        output::line(&show::say(app, "hosts.list.not_found", &values));
    }
    Ok(Exit::Done)
}

fn add(app: &Arc<App>, arguments: AddArgs) -> Result<Exit, Failure> {
    let added = app.add_host(NewHost {
        name: arguments.name,
        file: absolute(app, &arguments.file)?,
        format: match arguments.format {
            Format::Json => HostFormat::Json,
            Format::Jsonc => HostFormat::Jsonc,
            Format::Json5 => HostFormat::Json5,
            Format::Toml => HostFormat::Toml,
            Format::Yaml => HostFormat::Yaml,
        },
        key: arguments.key,
    })?;
    if arguments.json {
        output::json(&added);
    } else {
        let values = [
            ("host", added.name.to_owned()),
            ("id", added.host.to_owned()),
        ];
        output::note(&show::say(app, "hosts.added", &values));
    }
    Ok(Exit::Done)
}

fn remove(app: &Arc<App>, host: &str, as_json: bool) -> Result<Exit, Failure> {
    app.forget_host(host)?;
    if as_json {
        output::json(&json!({ "host": host, "removed": true }));
    } else {
        let values = [("host", host.to_owned())];
        output::note(&show::say(app, "hosts.forgotten", &values));
    }
    Ok(Exit::Done)
}

/// The hosts that were named, or all of this machine that fit as they stand in these files.
fn chosen(
    app: &Arc<App>,
    which: Which,
    scope: &HostScope,
    fits: impl Fn(&HostState) -> bool,
) -> Result<Vec<String>, Failure> {
    if !which.all {
        return Ok(which.hosts);
    }
    let states = app.host_states_in(scope)?.into_iter();
    Ok(states
        .filter(fits)
        .map(|host| host.host.to_owned())
        .collect())
}

fn scope(app: &Arc<App>, file: HostFile) -> Result<HostScope, Failure> {
    Ok(match (file.project, file.path) {
        (Some(folder), _) => HostScope::Project(absolute(app, &folder)?),
        (None, Some(file)) => HostScope::File(absolute(app, &file)?),
        (None, None) => HostScope::User,
    })
}

fn absolute(app: &Arc<App>, path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        let values = [
            ("file", path.display().to_string()),
            ("message", error.to_string()),
        ];
        let text = show::say(app, "hosts.error.unreadable", &values);
        Failure::new(openspace_app::Code::InvalidRequest, text)
    })
}

fn register(app: &Arc<App>, arguments: RegisterArgs) -> Result<Exit, Failure> {
    let request = HostRequest {
        scope: scope(app, arguments.file)?,
        force: arguments.force,
        trust: arguments.trust,
        create: arguments.create,
        skills: arguments.skills,
        dry_run: arguments.how.dry_run,
        ..HostRequest::default()
    };
    let hosts = chosen(app, arguments.which, &request.scope, |host| {
        let open = host.is_open() || matches!(host.state, "different" | "unusable");
        let skills = arguments.skills && host.is_registered() && !host.skills.is_empty();
        host.found_by.is_some() && (open || skills)
    })?;
    change(app, &hosts, &request, &arguments.how, true)
}

fn unregister(app: &Arc<App>, arguments: UnregisterArgs) -> Result<Exit, Failure> {
    let request = HostRequest {
        scope: scope(app, arguments.file)?,
        force: arguments.force,
        skills: arguments.skills,
        dry_run: arguments.how.dry_run,
        ..HostRequest::default()
    };
    let hosts = chosen(app, arguments.which, &request.scope, |host| {
        host.is_registered() && !arguments.skills
            || request.scope == HostScope::User && host.has_skills()
    })?;
    change(app, &hosts, &request, &arguments.how, false)
}

fn change(
    app: &Arc<App>,
    hosts: &[String],
    request: &HostRequest,
    how: &How,
    register: bool,
) -> Result<Exit, Failure> {
    let verb = if register { "register" } else { "unregister" };
    if hosts.is_empty() {
        app.refuse_runs("change hosts")?;
        output::note(&show::say(app, &format!("hosts.nobody.{verb}"), &[]));
    }
    let mut exit = Exit::Done;
    for host in hosts {
        let request = HostRequest {
            host: host.clone(),
            ..request.clone()
        };
        let changed = if register {
            app.register_host(&request)
        } else {
            app.unregister_host(&request)
        };
        match changed {
            Ok(change) => {
                if change.skills.iter().any(|skill| skill.problem.is_some()) {
                    exit = worse(exit, Exit::Failed);
                }
                if how.json {
                    output::json(&change);
                } else {
                    if register || !request.skills {
                        tell(app, &change, how.dry_run, verb);
                    }
                    skills::tell(app, &change, &request);
                    if how.dry_run && would_change(&change) {
                        show::detail_note(app, "hosts.dry_run", &[]);
                    }
                }
            }
            Err(failure) => {
                exit = worse(exit, Exit::of_failure(&failure));
                report(app, host, &failure, how.json);
            }
        }
    }
    Ok(exit)
}

fn would_change(change: &HostChange) -> bool {
    let mut skills = change.skills.iter();
    change.kind.id() != "nothing" || skills.any(|skill| skill.kind.changes())
}

fn tell(app: &Arc<App>, change: &HostChange, dry_run: bool, verb: &str) {
    let values = [
        ("host", change.name.to_owned()),
        ("file", change.file.display().to_string()),
    ];
    let done = match (change.kind.id(), change.made) {
        ("nothing", _) => format!("hosts.nothing.{verb}"),
        (kind, true) => format!("hosts.made.{kind}"),
        (kind, false) => format!("hosts.planned.{kind}"),
    };
    output::note(&show::say(app, &done, &values));
    if change.kind.id() == "nothing" {
        return;
    }
    if dry_run {
        output::line(change.diff.trim_end());
    }
    if change.new_file || change.removes_file {
        let what = if change.new_file {
            "new_file"
        } else {
            "removes_file"
        };
        show::detail_note(app, &format!("hosts.{what}"), &[]);
    }
    if let Some(backup) = &change.backup {
        let values = [("file", backup.display().to_string())];
        show::detail_note(app, "hosts.backup", &values);
    }
    if !dry_run && verb == "register" {
        if change.trusts {
            show::detail_note(app, "hosts.trusted", &values);
        }
        let own = format!("hosts.after.{}", change.host);
        let own = app.catalogue.has(&own) && !change.trusts;
        let key = if own {
            format!("hosts.after.{}", change.host)
        } else {
            "hosts.after".to_owned()
        };
        show::detail_note(app, &key, &values);
    }
}

async fn verify(
    app: &Arc<App>,
    which: Which,
    file: HostFile,
    patience: Duration,
    as_json: bool,
) -> Result<Exit, Failure> {
    let scope = scope(app, file)?;
    let hosts = chosen(app, which, &scope, HostState::is_registered)?;
    if hosts.is_empty() {
        app.refuse_runs("try hosts")?;
        output::note(&show::say(app, "hosts.nobody.unregister", &[]));
    }
    let mut exit = Exit::Done;
    for host in &hosts {
        match app.verify_host(host, scope.clone(), patience).await {
            Ok(seen) if as_json => output::json(&seen),
            Ok(seen) => show::seen(app, &seen),
            Err(failure) => {
                exit = worse(exit, Exit::of_failure(&failure));
                report(app, host, &failure, as_json);
            }
        }
    }
    Ok(exit)
}

fn doctor(app: &Arc<App>, dry_run: bool, as_json: bool) -> Result<Exit, Failure> {
    let check = app.check_hosts(dry_run)?;
    if as_json {
        output::json(&check);
    } else {
        show::check(app, &check, dry_run);
    }
    let wrong =
        check.findings.iter().any(|finding| {
            matches!(finding.cure, "failed" | "possible") || finding.problem.is_some()
        }) || check.skills.iter().any(|skill| !skill.made);
    Ok(if wrong { Exit::Failed } else { Exit::Done })
}

/// What went wrong with one host of several.
fn report(app: &Arc<App>, host: &str, failure: &Failure, as_json: bool) {
    if as_json {
        output::json(&json!({ "host": host, "problem": failure }));
        return;
    }
    output::failure(failure);
    if let Some(snippet) = failure.params.get("snippet") {
        output::note(&show::say(app, "hosts.snippet", &[]));
        output::note(snippet.trim_end());
    }
}

/// The exit code that says more; the first of two failures.
fn worse(exit: Exit, other: Exit) -> Exit {
    if exit == Exit::Done { other } else { exit }
}
