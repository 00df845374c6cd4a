//! The tools themselves.

use std::{collections::HashSet, pin::Pin, sync::Arc, time::Duration};

use openspace_app::{App, ApprovalId, Code, Delegation, Failure, HostCaller, RunStatus, TaskState};
use rmcp::{
    RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, InputRequiredResult},
    service::RequestContext,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tokio::time::Instant;

use super::{
    arguments,
    asking::{self, Dialect},
    cancellations::{Answering, Cancelled},
    progress::Progress,
    reply,
    server::Server,
    tasks,
};

#[derive(Deserialize)]
struct ExecuteTask {
    task: String,
    workspace_dir: Option<String>,
    max_iterations: Option<u32>,
    #[serde(default)]
    skill_dirs: Vec<String>,
    search_scope: String,
    wait_seconds: u64,
    idempotency_key: Option<String>,
    task_id: Option<String>,
}

#[derive(Deserialize)]
struct TaskWait {
    task_id: String,
    wait_seconds: u64,
}

#[derive(Deserialize)]
struct OneTask {
    task_id: String,
}

/// How a wait ended.
enum Waited {
    /// It ended, needs somebody, or the time is up.
    At(TaskState),
    /// The client is to ask the person and call again.
    Asks(TaskState),
    /// The client no longer wants the answer.
    Cancelled(TaskState),
}

/// A question on its way through the client.
struct Asking {
    question: ApprovalId,
    answered: Pin<Box<dyn Future<Output = ()> + Send>>,
}

/// One call being answered.
pub(super) struct Call<'a> {
    pub(super) server: &'a Server,
    pub(super) app: &'a Arc<App>,
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) answering: Answering,
    pub(super) host: HostCaller,
    /// Questions that were put through the client in this call.
    pub(super) asked: HashSet<ApprovalId>,
}

impl Call<'_> {
    pub(super) async fn answer(
        &mut self,
        request: CallToolRequestParams,
    ) -> Result<CallToolResponse, Failure> {
        match request.name.as_ref() {
            "execute_task" => self.execute_task(request).await,
            "task_wait" => self.task_wait(request).await,
            "task_status" => Ok(self.task_status(request).await?.into()),
            "task_cancel" => Ok(self.task_cancel(request).await?.into()),
            "search_skills" => Err(self.not_yet(request, "searching skills")),
            "fix_skill" => Err(self.not_yet(request, "repairing skills")),
            "upload_skill" => Err(self.not_yet(request, "the skill community")),
            other => Err(Failure::new(
                Code::Internal,
                format!("the tool `{other}` is listed and not there"),
            )),
        }
    }

    fn read<T: DeserializeOwned>(
        &self,
        request: CallToolRequestParams,
    ) -> Result<(T, Vec<String>), Failure> {
        let name = request.name;
        let schema = self
            .server
            .shared
            .tools
            .schema(&name)
            .cloned()
            .unwrap_or_default();
        let read = arguments::read(&schema, request.arguments)?;
        let notes = read
            .unknown
            .iter()
            .map(|unknown| format!("`{name}` has no parameter `{unknown}`; it was left out"))
            .collect();
        Ok((read.arguments, notes))
    }

    /// For what the tools promise and this version lacks: it never pretends.
    fn not_yet(&self, request: CallToolRequestParams, part: &str) -> Failure {
        if let Err(failure) = self.read::<Value>(request) {
            return failure;
        }
        Failure::new(
            Code::Unavailable,
            format!("{part} is not part of this version of OpenSpace"),
        )
        .hint("go on without it; `execute_task` works without skills")
        .param("part", part)
    }

    async fn execute_task(
        &mut self,
        request: CallToolRequestParams,
    ) -> Result<CallToolResponse, Failure> {
        let answers = request.input_responses.clone().unwrap_or_default();
        let called_before = request.request_state.clone();
        let (arguments, mut notes) = self.read::<ExecuteTask>(request)?;
        if !arguments.skill_dirs.is_empty() {
            notes
                .push("skills are not part of this version; `skill_dirs` had no effect".to_owned());
        }
        if arguments.search_scope == "all" {
            notes.push("skills are never imported by running a task".to_owned());
        }
        let wait = Duration::from_secs(arguments.wait_seconds);
        let (task, begun) = if let Some(task) = called_before {
            // The same call again, with what the person said: nothing is handed over twice.
            self.take_answers(&task, &answers).await?;
            (task, false)
        } else {
            let earlier = arguments.task_id.clone();
            let delegation = Delegation {
                task: arguments.task,
                host: self.host.name.clone(),
                workspace: arguments.workspace_dir,
                max_steps: arguments.max_iterations,
                idempotency_key: arguments.idempotency_key,
                earlier: arguments.task_id,
            };
            let queued = self.app.delegate(&delegation).await?;
            let task = queued.task.to_string();
            let begun = !queued.existed && earlier.is_none_or(|earlier| earlier.trim() != task);
            (task, begun)
        };
        let most = self.app.values().run.max_steps;
        if arguments.max_iterations.is_some_and(|steps| steps > most) {
            notes.push(format!("the user's own limit of {most} steps holds"));
        }
        match self.follow(&task, begun, wait, &notes).await {
            // What was handed over goes on, whatever became of looking at it.
            Err(failure) if failure.code != Code::NotFound => {
                tracing::warn!(%failure, task, "a task that was handed over is not followed");
                Ok(reply::handle(&task, &notes).into())
            }
            followed => followed,
        }
    }

    /// Waits for a task that was handed over. `begun` says that this call began it.
    async fn follow(
        &mut self,
        task: &str,
        begun: bool,
        wait: Duration,
        notes: &[String],
    ) -> Result<CallToolResponse, Failure> {
        let client = self.context.client_capabilities();
        if client.is_some_and(|client| client.supports_tasks()) {
            let state = self.app.task_state(task).await?;
            return Ok(tasks::handle(self.app, &state).into());
        }
        let waited = self.wait(task, wait).await?;
        if let Waited::Cancelled(_) = waited
            // The handle was never given out, so nobody else can stop it.
            && begun
            && self.answering.why().await == Cancelled::Wanted
        {
            self.app.cancel_task(task, &self.host.name).await?;
        }
        self.waited(waited, notes).await
    }

    async fn task_wait(
        &mut self,
        request: CallToolRequestParams,
    ) -> Result<CallToolResponse, Failure> {
        let answers = request.input_responses.clone().unwrap_or_default();
        let (arguments, notes) = self.read::<TaskWait>(request)?;
        if !answers.is_empty() {
            self.take_answers(&arguments.task_id, &answers).await?;
        }
        let wait = Duration::from_secs(arguments.wait_seconds);
        let waited = self.wait(&arguments.task_id, wait).await?;
        self.waited(waited, &notes).await
    }

    async fn take_answers(
        &mut self,
        task: &str,
        answers: &rmcp::model::InputResponses,
    ) -> Result<(), Failure> {
        let state = self.app.task_state(task).await?;
        asking::take(self.app, &self.host, &state, answers).await?;
        // Who closed the form is not shown it again in this call.
        self.asked
            .extend(state.questions.into_iter().map(|it| it.id));
        Ok(())
    }

    async fn waited(&self, waited: Waited, notes: &[String]) -> Result<CallToolResponse, Failure> {
        match waited {
            Waited::At(state) | Waited::Cancelled(state) => {
                Ok(self.report(&state, true, notes).await?.into())
            }
            Waited::Asks(state) => {
                let questions = self.askable(&state);
                let forms = asking::forms(self.app, &questions);
                Ok(InputRequiredResult::new(Some(forms), Some(state.task.to_string())).into())
            }
        }
    }

    async fn task_status(&self, request: CallToolRequestParams) -> Result<CallToolResult, Failure> {
        let (arguments, notes) = self.read::<OneTask>(request)?;
        let state = self.app.task_state(&arguments.task_id).await?;
        self.report(&state, false, &notes).await
    }

    async fn task_cancel(&self, request: CallToolRequestParams) -> Result<CallToolResult, Failure> {
        let (arguments, notes) = self.read::<OneTask>(request)?;
        self.app
            .cancel_task(&arguments.task_id, &self.host.name)
            .await?;
        let state = self.app.task_state(&arguments.task_id).await?;
        self.report(&state, false, &notes).await
    }

    /// Everything about a task, and remembers which questions the host has been told.
    async fn report(
        &self,
        state: &TaskState,
        waited: bool,
        notes: &[String],
    ) -> Result<CallToolResult, Failure> {
        let report = self.app.task_report(state.task.as_str()).await?;
        self.server.shared.tell(&report.state.questions);
        Ok(reply::report(self.app, &report, waited, notes))
    }

    /// Waits until the task ends, needs somebody in a way the host has not been told, or the time is
    /// up; a server that is ending waits no longer.
    async fn wait(&mut self, task: &str, wait: Duration) -> Result<Waited, Failure> {
        let deadline = Instant::now() + wait;
        let mut state = self.app.task_state(task).await?;
        let mut bell = self.server.shared.bell.listen(self.app, &state.run.id);
        let mut progress = Progress::new(self.context);
        let dialect = asking::dialect(self.context);
        let mut asking: Option<Asking> = None;
        loop {
            // Answered elsewhere, nobody waits for the form any more.
            let is_open = |asked: &Asking| state.questions.iter().any(|it| it.id == asked.question);
            asking = asking.filter(is_open);
            if state.run.status == RunStatus::NeedsApproval && asking.is_none() {
                match dialect.filter(|_| !self.askable(&state).is_empty()) {
                    Some(Dialect::Again) => return Ok(Waited::Asks(state)),
                    Some(Dialect::During) => asking = self.ask(&state),
                    None => {}
                }
            }
            if asking.is_none() && self.is_settled(&state) {
                return Ok(Waited::At(state));
            }
            progress.at(self.app, &state);
            let look = loop {
                tokio::select! {
                    () = bell.next() => break true,
                    () = tokio::time::sleep_until(deadline) => break false,
                    () = self.server.shared.closing.cancelled() => break false,
                    () = self.context.ct.cancelled() => return Ok(Waited::Cancelled(state)),
                    () = until_answered(&mut asking) => {
                        asking = None;
                        break true;
                    }
                    () = progress.send() => {}
                }
            };
            state = self.app.task_state(task).await?;
            if !look {
                return Ok(Waited::At(state));
            }
        }
    }

    /// Questions that the client may put to the person and has not been given in this call.
    fn askable<'a>(&self, state: &'a TaskState) -> Vec<&'a openspace_app::Approval> {
        let mut questions = asking::askable(self.app, &self.host, state);
        questions.retain(|question| !self.asked.contains(&question.id));
        questions
    }

    /// Puts the first question through the client, unless that shows it already.
    fn ask(&mut self, state: &TaskState) -> Option<Asking> {
        let question = (*self.askable(state).first()?).clone();
        self.asked.insert(question.id.clone());
        let (app, host) = (Arc::clone(self.app), self.host.clone());
        let peer = self.context.peer.clone();
        let id = question.id.clone();
        let asking = async move {
            asking::ask(&app, &peer, &host, &question).await;
        };
        Some(Asking {
            answered: Box::pin(self.server.questions.put(&id, asking)),
            question: id,
        })
    }

    fn is_settled(&self, state: &TaskState) -> bool {
        match state.run.status {
            RunStatus::NeedsApproval => !self.server.shared.was_told(&state.questions),
            _ => !state.goes_on(),
        }
    }
}

async fn until_answered(asking: &mut Option<Asking>) {
    match asking {
        Some(asking) => asking.answered.as_mut().await,
        None => std::future::pending().await,
    }
}
