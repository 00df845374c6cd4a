//! `command_status` and `command_stop`: commands that run on beside the conversation.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use openspace_grounding::{Action, CallContext, Effect, Output, Permit, Tool, ToolError, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};

use super::run_command::{Ended, members, report, snapshot};
use crate::{arguments, running::Running, shell::Shared, workspace::Snapshot};

/// Longest wait of one look.
const LONGEST: u64 = 300;

/// A command in the background.
pub(crate) struct Job {
    running: Arc<Running>,
    line: String,
    before: Snapshot,
    /// Bytes of output already shown.
    shown: u64,
    /// Its end was reported, with the files it changed.
    reported: bool,
}

impl Job {
    pub(crate) fn new(running: Running, line: String, before: Snapshot) -> Self {
        Self {
            running: Arc::new(running),
            line,
            before,
            shown: 0,
            reported: false,
        }
    }
}

/// News of a job since the last look.
async fn look(
    shared: &Shared,
    id: &str,
    context: &CallContext,
    note: Option<String>,
) -> Result<Output, ToolError> {
    let running = running(shared, id).await?;
    let exit = running.exit();
    let left = if exit.is_some() {
        running.settle().await;
        members(&running).await
    } else {
        1
    };
    if left == 0 {
        shared.processes.remove(&running.tree).await;
    }
    let put_back = shared.watch.news(exit.is_some()).await;
    let after = match exit {
        Some(_) => snapshot(context).await,
        None => Snapshot::default(),
    };
    let mut jobs = shared.jobs.lock().await;
    let job = jobs.get_mut(id).ok_or_else(|| unknown(id))?;
    let (captured, shown) = running.capture.since(job.shown);
    job.shown = shown;
    // Changes are told once, with the end.
    let changed = exit.is_some() && !std::mem::replace(&mut job.reported, exit.is_some());
    let before = if changed {
        std::mem::take(&mut job.before)
    } else {
        after.clone()
    };
    let line = job.line.clone();
    drop(jobs);
    let seconds = running.begun.elapsed().as_secs();
    let ended = Ended {
        line: &line,
        exit,
        left,
        put_back,
        note: note.or_else(|| exit.is_none().then(|| format!("for {seconds} s"))),
    };
    report(captured, &ended, &before, &after, context).await
}

async fn running(shared: &Shared, id: &str) -> Result<Arc<Running>, ToolError> {
    let jobs = shared.jobs.lock().await;
    let job = jobs.get(id).ok_or_else(|| unknown(id))?;
    Ok(Arc::clone(&job.running))
}

fn unknown(id: &str) -> ToolError {
    ToolError::NotFound(format!("there is no command `{id}` in the background"))
}

pub(crate) struct CommandStatus {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StatusArguments {
    id: String,
    #[serde(default)]
    wait_seconds: u64,
}

impl CommandStatus {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "command_status",
            include_str!("../../prompts/command_status.md"),
            Effect::Read,
            &["id"],
            &json!({
                "id": {"type": "string", "description": "As run_command returned it."},
                "wait_seconds": {"type": "integer", "minimum": 0, "maximum": LONGEST, "description": "Wait for its end up to this long; 0 if absent."},
            }),
        );
        Self { spec, shared }
    }
}

#[async_trait]
impl Tool for CommandStatus {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        _context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        arguments::parse::<StatusArguments>(arguments)?;
        Ok(Vec::new())
    }

    async fn call(
        &self,
        arguments: Value,
        _permit: Permit,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let arguments: StatusArguments = arguments::parse(&arguments)?;
        let running = running(&self.shared, &arguments.id).await?;
        let wait = Duration::from_secs(arguments.wait_seconds.min(LONGEST));
        tokio::select! {
            () = context.cancel.cancelled() => return Err(ToolError::Cancelled),
            _ = tokio::time::timeout(wait, running.wait()) => {}
        }
        look(&self.shared, &arguments.id, context, None).await
    }
}

pub(crate) struct CommandStop {
    spec: ToolSpec,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StopArguments {
    id: String,
}

impl CommandStop {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let spec = arguments::spec(
            "command_stop",
            include_str!("../../prompts/command_stop.md"),
            Effect::Write,
            &["id"],
            &json!({"id": {"type": "string", "description": "As run_command returned it."}}),
        );
        Self { spec, shared }
    }
}

#[async_trait]
impl Tool for CommandStop {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        _context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        arguments::parse::<StopArguments>(arguments)?;
        Ok(Vec::new())
    }

    async fn call(
        &self,
        arguments: Value,
        _permit: Permit,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        let arguments: StopArguments = arguments::parse(&arguments)?;
        let running = running(&self.shared, &arguments.id).await?;
        running.stop().await;
        self.shared.processes.remove(&running.tree).await;
        let note = Some("it was ended on request".to_owned());
        let mut output = look(&self.shared, &arguments.id, context, note).await?;
        // It was wanted, so it is no failure.
        output.is_error = false;
        self.shared.jobs.lock().await.remove(&arguments.id);
        Ok(output)
    }
}
