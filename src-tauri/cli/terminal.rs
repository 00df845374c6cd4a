//! The person at the terminal: what they are asked and how they answer.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Write as _},
    time::Duration,
};

use openspace_app::{Action, Approval, Catalogue, Grant, Question};
use openspace_app::{Code, Decision, Failure};
use rustix::{
    event::{PollFd, PollFlags, poll},
    termios::{QueueSelector, tcflush},
};

use crate::output::harmless;

/// The controlling terminal, if there is one.
pub(crate) fn open() -> Option<File> {
    File::options().read(true).write(true).open("/dev/tty").ok()
}

/// A question as a person reads it: the exact action, the risk, and who asks.
pub(crate) fn describe(approval: &Approval, catalogue: &Catalogue) -> Result<String, Failure> {
    let question: Question =
        serde_json::from_value(approval.question.clone()).map_err(|error| {
            Failure::new(
                Code::Store,
                format!("question {} cannot be read: {error}", approval.id),
            )
        })?;
    let mut lines = vec![format!("── {} ──", catalogue.render("approval.title", &[]))];
    for action in &question.actions {
        lines.push(harmless(&self::action(action, catalogue)));
    }
    for part in &question.parts {
        let kind = serde_json::to_value(part.reason)
            .ok()
            .and_then(|kind| kind.as_str().map(str::to_owned));
        let reason = catalogue.render(
            &format!("approval.reason.{}", kind.unwrap_or_default()),
            &[],
        );
        lines.push(catalogue.render("approval.why", &[("reason", &reason)]));
    }
    let undo = if question.reversible {
        "approval.reversible"
    } else {
        "approval.irreversible"
    };
    lines.push(format!(
        "{} · {}",
        catalogue.render(&format!("approval.risk.{}", approval.risk), &[]),
        catalogue.render(undo, &[])
    ));
    lines.push(catalogue.render(
        "approval.asked_by",
        &[
            ("run", approval.run.as_str()),
            ("step", &approval.step.to_string()),
            ("approval", approval.id.as_str()),
        ],
    ));
    lines.dedup();
    Ok(lines.join("\n"))
}

/// Whether the same may be allowed for the rest of the run.
pub(crate) fn can_allow_for_run(approval: &Approval) -> bool {
    serde_json::from_value::<Question>(approval.question.clone()).is_ok_and(|question| {
        question
            .offers
            .iter()
            .any(|offer| matches!(offer, Grant::Run { .. }))
    })
}

fn action(action: &Action, catalogue: &Catalogue) -> String {
    let render = |key: &str, parameters: &[(&str, &str)]| {
        catalogue.render(&format!("approval.action.{key}"), parameters)
    };
    match action {
        Action::Read { path } => render("read", &[("path", &path.display().to_string())]),
        Action::Write { path, .. } => render("write", &[("path", &path.display().to_string())]),
        Action::Delete { path } => render("delete", &[("path", &path.display().to_string())]),
        Action::Command(command) => {
            let key = match (command.sandboxed, command.network) {
                (false, _) => "command_unsandboxed",
                (true, true) => "command_network",
                (true, false) => "command",
            };
            render(
                key,
                &[
                    ("folder", &command.folder.display().to_string()),
                    ("line", &command.line),
                ],
            )
        }
        Action::Launch(launch) => render(
            "launch",
            &[
                ("program", &launch.program.display().to_string()),
                ("arguments", &launch.arguments.join(" ")),
            ],
        ),
        Action::Fetch { url } => render("fetch", &[("url", url)]),
        Action::McpTool { server, tool, .. } => {
            render("mcp_tool", &[("server", server), ("tool", tool)])
        }
        Action::Screen { app, access } => {
            let access = serde_json::to_value(access)
                .ok()
                .and_then(|access| access.as_str().map(str::to_owned));
            render(
                &format!("screen.{}", access.unwrap_or_default()),
                &[("app", &app.name)],
            )
        }
        Action::TypedCommand { app, line } => {
            render("typed_command", &[("app", &app.name), ("line", line)])
        }
    }
}

/// Asks until there is an answer, or until `closed` says that it was answered elsewhere. What was
/// typed before the question could be seen is no answer to it and is thrown away.
pub(crate) fn ask(
    terminal: &mut File,
    text: &str,
    offer_run: bool,
    catalogue: &Catalogue,
    closed: &dyn Fn() -> bool,
) -> std::io::Result<Option<Decision>> {
    let prompt = if offer_run {
        "approval.prompt"
    } else {
        "approval.prompt_once"
    };
    tcflush(&*terminal, QueueSelector::IFlush)?;
    write!(terminal, "\n{text}\n{}: ", catalogue.render(prompt, &[]))?;
    terminal.flush()?;
    let mut lines = BufReader::new(terminal.try_clone()?);
    loop {
        if closed() {
            writeln!(terminal)?;
            return Ok(None);
        }
        let ready = {
            let mut fds = [PollFd::new(&*terminal, PollFlags::IN)];
            let wait = rustix::event::Timespec::try_from(Duration::from_millis(100)).ok();
            poll(&mut fds, wait.as_ref())?;
            fds[0].revents()
        };
        if ready.intersects(PollFlags::HUP | PollFlags::ERR) {
            // The terminal is gone. That is nobody's answer: the question stays open.
            return Ok(None);
        }
        if ready.is_empty() {
            continue;
        }
        let mut answer = String::new();
        if lines.read_line(&mut answer)? == 0 {
            return Ok(Some(Decision::Deny));
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Some(Decision::AllowOnce)),
            "r" | "run" if offer_run => return Ok(Some(Decision::AllowForRun)),
            "n" | "no" => return Ok(Some(Decision::Deny)),
            _ => {
                write!(terminal, "{}: ", catalogue.render(prompt, &[]))?;
                terminal.flush()?;
            }
        }
    }
}
