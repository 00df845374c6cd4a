//! `run_command`: a command line, in the sandbox, with everything it starts under control.

use std::{fmt::Write, path::PathBuf, sync::Arc, time::Duration};

use async_trait::async_trait;
use openspace_grounding::{
    Action, Block, CallContext, ChangeKind, Effect, Evidence, Output, Permit, ShellCommand, Tool,
    ToolError, ToolSpec,
};
use openspace_process::{Capture, Command, Error, Exit};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    arguments,
    capture::Captured,
    later::Approval,
    path,
    processes::Kind,
    render::Rendered,
    running::Running,
    shell::{Shared, check_may_act},
    tools::background::Job,
    workspace::Snapshot,
};

const TIMEOUT: u64 = 120;
const LONGEST: u64 = 3600;
/// How long a command in the background is watched for an early end.
const EARLY: Duration = Duration::from_millis(400);
/// Changed files that are named.
const NAMED: usize = 20;
/// Changed files that become evidence.
const PROVEN: usize = 200;
/// Characters of the command line in the evidence.
const LINE: usize = 200;

pub(crate) struct RunCommand {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    command: String,
    folder: Option<String>,
    timeout_seconds: Option<u64>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    network: bool,
    #[serde(default)]
    outside_sandbox: bool,
}

/// The call as it will be made.
struct Plan {
    command: ShellCommand,
    timeout: Duration,
    background: bool,
}

impl RunCommand {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "run_command",
            include_str!("../../prompts/run_command.md"),
            Effect::Destructive,
            &["command"],
            &json!({
                "command": {"type": "string", "description": "The command line."},
                "folder": {"type": "string", "description": "Where it runs; the workspace if absent."},
                "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": LONGEST, "description": format!("After this time it is ended with all it started; {TIMEOUT} if absent. Not for commands in the background.")},
                "background": {"type": "boolean", "description": "Return at once and let it run on."},
                "network": {"type": "boolean", "description": "It needs network connections."},
                "outside_sandbox": {"type": "boolean", "description": "It cannot work inside the sandbox."},
            }),
        );
        Self { spec, shared }
    }

    fn plan(&self, arguments: &Value, context: &CallContext) -> Result<Plan, ToolError> {
        let arguments: Arguments = arguments::parse(arguments)?;
        if arguments.command.trim().is_empty() {
            return Err(ToolError::InvalidArguments("the command is empty".into()));
        }
        if arguments.command.contains('\0') {
            return Err(ToolError::InvalidArguments(
                "the command contains a NUL character".into(),
            ));
        }
        let timeout = arguments.timeout_seconds.unwrap_or(TIMEOUT);
        if !(1..=LONGEST).contains(&timeout) {
            return Err(ToolError::InvalidArguments(format!(
                "timeout_seconds is between 1 and {LONGEST}; use background for what runs longer"
            )));
        }
        let folder = match &arguments.folder {
            Some(folder) => self.shared.resolve(folder, &context.folders)?,
            None => context.folders.workspace.clone(),
        };
        if !folder.is_dir() {
            return Err(ToolError::NotFound(format!(
                "the folder `{}`",
                folder.display()
            )));
        }
        let sandboxed = !arguments.outside_sandbox && self.shared.options.sandbox.is_enforced();
        Ok(Plan {
            command: ShellCommand {
                line: arguments.command,
                folder,
                sandboxed,
                // Outside the sandbox nothing keeps it from the network.
                network: arguments.network || !sandboxed,
            },
            timeout: Duration::from_secs(timeout),
            background: arguments.background,
        })
    }

    /// Starts it; in the sandbox, with an eye on what runs later.
    async fn start(
        &self,
        plan: &ShellCommand,
        permit: Permit,
        context: &CallContext,
    ) -> Result<Running, ToolError> {
        if !plan.sandboxed {
            return self.spawn(plan, context);
        }
        let (command, home) = (plan.clone(), self.shared.options.home.clone());
        let approval =
            tokio::task::spawn_blocking(move || Approval::of(&command, permit, &home)).await;
        let approval = approval.unwrap_or_default();
        let spawn = || self.spawn(plan, context);
        self.shared.watch.start(context, approval, spawn).await
    }

    fn spawn(&self, plan: &ShellCommand, context: &CallContext) -> Result<Running, ToolError> {
        let environment = self.shared.environment(&context.folders, plan.sandboxed);
        let mut command = Command::new(
            &self.shared.options.shell,
            &plan.folder,
            context.run.as_str(),
            environment,
        );
        command.arguments = vec!["-c".into(), plan.line.clone().into()];
        command.capture = Capture::Merged;
        command.sandbox = plan
            .sandboxed
            .then(|| self.shared.sandbox(&context.folders, plan.network));
        if self.shared.processes.is_closed() {
            return Err(ToolError::Cancelled);
        }
        check_may_act(context)?;
        Ok(Running::start(
            command.spawn().map_err(|error| describe(&error))?,
        ))
    }
}

#[async_trait]
impl Tool for RunCommand {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        let actions = vec![Action::Command(self.plan(arguments, context)?.command)];
        self.shared.remember(context, &actions);
        Ok(actions)
    }

    fn with_command(&self, arguments: &Value, line: &str) -> Option<Value> {
        let mut arguments = arguments.as_object()?.clone();
        arguments.insert("command".to_owned(), line.into());
        Some(Value::Object(arguments))
    }

    async fn call(
        &self,
        arguments: Value,
        permit: Permit,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let plan = self.plan(&arguments, context)?;
        let action = Action::Command(plan.command.clone());
        let asked = self.shared.confirm(context, &[action]).await?;
        let before = snapshot(context).await;
        let running = self
            .start(&plan.command, asked.unwrap_or(permit), context)
            .await?;
        let processes = &self.shared.processes;
        processes
            .add(&running.tree, Kind::Command, &context.keep)
            .await?;

        if plan.background {
            return self.leave_running(running, plan.command.line, before).await;
        }
        let timed_out = tokio::select! {
            biased;
            () = context.cancel.cancelled() => {
                running.stop().await;
                processes.remove(&running.tree).await;
                self.put_back_unseen().await;
                return Err(ToolError::Cancelled);
            }
            _ = running.wait() => false,
            () = tokio::time::sleep(plan.timeout) => {
                running.stop().await;
                true
            }
        };
        if context.cancel.is_cancelled() || processes.is_closed() {
            running.stop().await;
            processes.remove(&running.tree).await;
            self.put_back_unseen().await;
            return Err(ToolError::Cancelled);
        }
        running.settle().await;
        let left = members(&running).await;
        if left == 0 {
            running.tree.reap();
            processes.remove(&running.tree).await;
        }
        let put_back = self.shared.watch.news(true).await;
        let after = snapshot(context).await;
        let mut ended = Ended {
            line: &plan.command.line,
            exit: running.exit(),
            left,
            put_back,
            note: timed_out.then(|| {
                format!(
                    "timed out after {} s; it was ended with everything it had started",
                    plan.timeout.as_secs()
                )
            }),
        };
        if plan.command.sandboxed && ended.exit.is_some_and(|exit| !exit.success()) {
            ended.note = ended.note.or_else(|| Some(HINT.to_owned()));
        }
        report(running.capture.finish(), &ended, &before, &after, context).await
    }
}

/// Said once a sandboxed command failed: the model cannot tell the sandbox from any other reason.
const HINT: &str = "it ran in the sandbox: no home folder, no /tmp, no network unless asked for";

impl RunCommand {
    /// For a command nobody is told about any more.
    async fn put_back_unseen(&self) {
        if let Some(news) = self.shared.watch.news(true).await {
            tracing::warn!(news, "put back after a command that was cancelled");
        }
    }

    async fn leave_running(
        &self,
        running: Running,
        line: String,
        before: Snapshot,
    ) -> Result<Output, ToolError> {
        let _ = tokio::time::timeout(EARLY, running.wait()).await;
        let id = self.shared.next_job();
        let state = match running.exit() {
            None => "it runs".to_owned(),
            Some(exit) => format!("it has ended already ({})", exit_text(exit)),
        };
        let has_ended = running.exit().is_some();
        let job = Job::new(running, line, before);
        self.shared.jobs.lock().await.insert(id.clone(), job);
        let put_back = self.shared.watch.news(has_ended).await;
        Ok(Output::text(format!(
            "Started in the background as `{id}`; {state}. Look at it with command_status, end it \
             with command_stop.{}",
            put_back_text(put_back.as_deref())
        )))
    }
}

/// How a command ended.
pub(crate) struct Ended<'a> {
    pub(crate) line: &'a str,
    /// None while it runs.
    pub(crate) exit: Option<Exit>,
    /// Processes that are still alive.
    pub(crate) left: usize,
    /// What was put back of files that something runs later.
    pub(crate) put_back: Option<String>,
    /// Anything else worth saying.
    pub(crate) note: Option<String>,
}

fn put_back_text(news: Option<&str>) -> String {
    news.map_or_else(String::new, |news| format!("\n[put back: {news}]"))
}

/// Output, exit code and changed files, for the model and the record.
pub(crate) async fn report(
    captured: Captured,
    ended: &Ended<'_>,
    before: &Snapshot,
    after: &Snapshot,
    context: &CallContext,
) -> Result<Output, ToolError> {
    let rendered = Rendered::new(&captured);
    let lost = captured.lost();
    let artefact = if rendered.is_cut() {
        let data = captured.kept.into();
        let name = format!("output of step {}", context.step);
        Some(context.keep.artefact(&name, "text/plain", data).await?)
    } else {
        None
    };
    let mut text = rendered.text(artefact.as_ref(), lost);
    if text.is_empty() {
        text.push_str("(no output)");
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let exit = ended
        .exit
        .map_or_else(|| "still running".to_owned(), exit_text);
    let _ = write!(text, "[{exit}");
    if let Some(note) = &ended.note {
        let _ = write!(text, "; {note}");
    }
    if ended.exit.is_some() && ended.left > 0 {
        let _ = write!(
            text,
            "; {} processes it started still run and will end with the run",
            ended.left
        );
    }
    text.push(']');
    text.push_str(&put_back_text(ended.put_back.as_deref()));

    let changes = before.changes(after);
    text.push_str(&changes_text(&changes, before, after, context));
    let mut evidence = Vec::new();
    if let Some(exit) = ended.exit {
        evidence.push(Evidence::Command {
            line: ended.line.chars().take(LINE).collect(),
            code: exit.code(),
            output: artefact,
        });
    }
    evidence.extend(
        changes
            .into_iter()
            .take(PROVEN)
            .map(|(path, change)| Evidence::File {
                path,
                change,
                undo: None,
            }),
    );
    Ok(Output {
        blocks: vec![Block::Text(text)],
        is_error: ended.exit.is_some_and(|exit| !exit.success()),
        evidence,
        record: None,
    })
}

fn changes_text(
    changes: &[(PathBuf, ChangeKind)],
    before: &Snapshot,
    after: &Snapshot,
    context: &CallContext,
) -> String {
    if before.incomplete || after.incomplete {
        return "\n[the workspace holds too many files to tell which of them changed]".to_owned();
    }
    if changes.is_empty() {
        return String::new();
    }
    let mut names: Vec<String> = changes
        .iter()
        .take(NAMED)
        .map(|(path, change)| {
            let kind = match change {
                ChangeKind::Created => "created",
                ChangeKind::Modified => "modified",
                ChangeKind::Deleted => "deleted",
            };
            format!("{kind} {}", path::shown(path, &context.folders))
        })
        .collect();
    if changes.len() > NAMED {
        names.push(format!("and {} more", changes.len() - NAMED));
    }
    format!("\n[files: {}]", names.join(", "))
}

fn exit_text(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal(signal) => format!("ended by signal {signal}"),
    }
}

/// The files of the workspace as they are; told as incomplete once the call is cancelled.
pub(crate) async fn snapshot(context: &CallContext) -> Snapshot {
    let (folder, cancel) = (context.folders.workspace.clone(), context.cancel.clone());
    let incomplete = Snapshot {
        incomplete: true,
        ..Snapshot::default()
    };
    tokio::task::spawn_blocking(move || Snapshot::take(&folder, &cancel))
        .await
        .unwrap_or(incomplete)
}

/// How many of its processes are alive.
pub(crate) async fn members(running: &Running) -> usize {
    let tree = running.tree.clone();
    tokio::task::spawn_blocking(move || tree.members().len())
        .await
        .unwrap_or(0)
}

pub(crate) fn describe(error: &Error) -> ToolError {
    match error {
        Error::ProgramNotFound { .. } | Error::NoFolder { .. } => {
            ToolError::NotFound(error.to_string())
        }
        Error::SandboxUnavailable { .. } => ToolError::Unavailable(error.to_string()),
        Error::VariableRefused { .. }
        | Error::Start { .. }
        | Error::Wait(_)
        | Error::Survivors { .. } => ToolError::Failed(error.to_string()),
    }
}
