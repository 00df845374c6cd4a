//! Tasks that another agent on this machine hands over, and what it is told about them.

mod caller;

use std::path::PathBuf;

use openspace_agent::{Limits, Outcome, Reason};
use openspace_store::{Approval, Db, Enqueued, Run, RunFilter, RunStatus, TaskId};
use serde_json::Value;

pub use caller::HostCaller;

use crate::{
    App, Code, Display, Failure, RunRequest, SpecAttendance, Words, failure::Result,
    rpc::starts::from_home,
};

/// What the origin of a host's tasks begins with.
const HOST: &str = "host";
/// Longest name of a host in an origin.
const LONGEST_NAME: usize = 40;
/// Longest task, bytes: more than anybody writes, less than what would choke a model.
const LONGEST_TASK: usize = 200_000;
/// Calls of tools that are told one by one.
const CALLS: u32 = 20;
/// Folder in the home folder for tasks that come with none.
const FOLDER: &str = "OpenSpace";

/// What a host hands over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delegation {
    /// What to do, in words.
    pub task: String,
    /// The host, as its caller is named.
    pub host: String,
    /// Folder to work in, absolute. It is the run's only after a person or a setting allowed it.
    pub workspace: Option<String>,
    /// Most steps; those of the settings stay the most.
    pub max_steps: Option<u32>,
    /// The host's own name of the request: repeating it neither repeats the task nor says the same
    /// to it again.
    pub idempotency_key: Option<String>,
    /// A task it handed over before, to go on with.
    pub earlier: Option<String>,
}

/// Where a task stands.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskState {
    /// The task.
    pub task: TaskId,
    /// Its newest run.
    pub run: Run,
    /// Its open questions, oldest first.
    pub questions: Vec<Approval>,
}

/// Where a task stands, with what was done.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskReport {
    /// Where it stands.
    pub state: TaskState,
    /// What came of it, once it ended.
    pub outcome: Option<Outcome>,
    /// Why it stands there, where the status alone does not say it.
    pub reason: Option<Reason>,
    /// How many calls of tools ended, once it ended.
    pub call_count: u64,
    /// The first ones of them, in order.
    pub calls: Vec<CallReport>,
}

/// What became of one call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReport {
    /// The tool.
    pub tool: String,
    /// Why it did not do what was asked; none when it did.
    pub error: Option<String>,
}

impl TaskState {
    /// It goes on by itself: nobody has to say anything, and it has not ended.
    pub fn goes_on(&self) -> bool {
        self.run.status != RunStatus::NeedsApproval && !self.has_ended()
    }

    /// It does nothing more unless somebody says something.
    fn has_ended(&self) -> bool {
        match self.run.status {
            RunStatus::Queued
            | RunStatus::Planning
            | RunStatus::Running
            | RunStatus::NeedsApproval
            | RunStatus::Paused
            | RunStatus::Stopping => false,
            RunStatus::NeedsYou
            | RunStatus::Stopped
            | RunStatus::Done
            | RunStatus::Failed
            | RunStatus::LimitReached
            | RunStatus::Interrupted => true,
        }
    }
}

/// A host's name as part of an origin: what it calls itself, reduced to what is safe to show.
pub fn host_name(given: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let name: String = given
        .trim()
        .chars()
        .map(|letter| {
            if plain(letter) {
                letter.to_ascii_lowercase()
            } else {
                '-'
            }
        })
        .take(LONGEST_NAME)
        .collect();
    let name = name.trim_matches('-');
    if name.is_empty() {
        "unknown".to_owned()
    } else {
        name.to_owned()
    }
}

impl App {
    /// Queues what a host hands over and sees to it that somebody executes it.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for whoever came out of a run: delegation never loops. Whatever is wrong
    /// with the request is found before anything is queued.
    pub async fn delegate(&self, delegation: &Delegation) -> Result<Enqueued> {
        self.refuse_runs("delegate tasks")?;
        // A runner that is started for it reads them too, and would end at wrong ones unheard.
        self.reload_settings()?;
        let task = delegation.task.trim();
        if task.len() > LONGEST_TASK {
            return Err(Failure::new(
                Code::InvalidRequest,
                format!("the task is longer than {LONGEST_TASK} bytes"),
            )
            .hint("put it into a file in the workspace and name that"));
        }
        let queued = match self.known(delegation, task).await? {
            Some(known) => known,
            None => self.hand_over(delegation, task).await?,
        };
        // The task is there now. Whoever waits for it tries this again.
        if let Err(failure) = self.ensure_runner().await {
            tracing::warn!(%failure, task = %queued.task, "nobody executes it yet");
        }
        Ok(queued)
    }

    async fn hand_over(&self, delegation: &Delegation, task: &str) -> Result<Enqueued> {
        let queued = match &delegation.earlier {
            Some(earlier) => self.go_on(earlier, delegation).await?,
            None => self.enqueue(&self.request_of(delegation, None)?).await?,
        };
        if queued.existed {
            self.refuse_other_words(&queued, task).await?;
        }
        Ok(queued)
    }

    fn request_of(&self, delegation: &Delegation, session: Option<String>) -> Result<RunRequest> {
        let values = self.values();
        let workspace = delegation
            .workspace
            .as_deref()
            .map(|text| {
                let path = from_home(&self.paths.home, text);
                if path.is_absolute() {
                    Ok(path)
                } else {
                    Err(Failure::new(
                        Code::InvalidRequest,
                        format!("`{text}` is no absolute path"),
                    )
                    .hint("give the whole path of the folder to work in"))
                }
            })
            .transpose()?;
        let folder = self.folder_for_hosts()?;
        Ok(RunRequest {
            task: delegation.task.clone(),
            session,
            origin: origin(&delegation.host),
            idempotency_key: delegation.idempotency_key.clone(),
            model: None,
            backends: None,
            workspace,
            folder,
            limits: Limits {
                steps: delegation
                    .max_steps
                    .map(|steps| steps.min(values.run.max_steps)),
                ..Limits::default()
            },
            preset: None,
            allow: Vec::new(),
            display: Display::Session,
            monitor: None,
            attendance: SpecAttendance::Waits,
            attachments: Vec::new(),
        })
    }

    /// Where tasks of hosts work that name no folder: never wherever the host happens to be.
    fn folder_for_hosts(&self) -> Result<PathBuf> {
        if let Some(folder) = &self.values().run.workspace {
            return Ok(folder.clone());
        }
        let folder = self.paths.home.join(FOLDER);
        openspace_config::paths::create_private(&folder).map_err(|error| {
            Failure::new(
                Code::Unavailable,
                format!("cannot create `{}`: {error}", folder.display()),
            )
            .hint("give the folder to work in, or set `run.workspace`")
        })?;
        Ok(folder)
    }

    /// Goes on with an earlier task: its run is taken up again with these words, or, where it is
    /// done, another one follows in its conversation.
    async fn go_on(&self, earlier: &str, delegation: &Delegation) -> Result<Enqueued> {
        let state = self.task_state(earlier).await?;
        if state.run.status == RunStatus::Done {
            let session = state.run.session.to_string();
            return self
                .enqueue(&self.request_of(delegation, Some(session))?)
                .await;
        }
        if delegation.task.trim().is_empty() {
            return Err(Failure::new(Code::InvalidRequest, "the task is empty")
                .hint("say what the run is to be told"));
        }
        let steps = delegation
            .max_steps
            .map(|steps| steps.min(self.values().run.max_steps));
        let words = Words {
            text: delegation.task.trim().to_owned(),
            from: origin(&delegation.host),
            key: delegation.idempotency_key.clone(),
        };
        self.queue_again(&state.run.id, Some(words), steps, SpecAttendance::Waits)
            .await?;
        Ok(Enqueued {
            session: state.run.session,
            task: state.task,
            run: state.run.id,
            existed: false,
        })
    }

    /// The task that this very request began, or went on with, when it came before.
    async fn known(&self, delegation: &Delegation, task: &str) -> Result<Option<Enqueued>> {
        let Some(key) = delegation.idempotency_key.clone() else {
            return Ok(None);
        };
        let from = origin(&delegation.host);
        let found = self.store.read(move |db| asked_before(db, &from, &key));
        let Some((words, known)) = found.await? else {
            return Ok(None);
        };
        if words == task {
            Ok(Some(known))
        } else {
            Err(other_words(&known))
        }
    }

    /// A name that was used for something else would answer with the result of something else.
    async fn refuse_other_words(&self, queued: &Enqueued, task: &str) -> Result<()> {
        let id = queued.task.clone();
        let known = self.store.read(move |db| db.tasks().get(&id)).await?;
        if known.text == task {
            Ok(())
        } else {
            Err(other_words(queued))
        }
    }

    /// Where a task that a host handed over stands. Those of the person are none of a host's
    /// business.
    ///
    /// # Errors
    /// [`Code::NotFound`]
    pub async fn task_state(&self, task: &str) -> Result<TaskState> {
        let id = of_host(task)?;
        if self.store.read(|db| db.runs().any_orphans()).await? {
            self.store.call(|db| db.runs().mark_orphans()).await?;
        }
        let state = self.store.read(move |db| state(db, &id)).await?;
        state.ok_or_else(|| unknown(task))
    }

    /// The same with what was done.
    ///
    /// # Errors
    /// [`Code::NotFound`]
    pub async fn task_report(&self, task: &str) -> Result<TaskReport> {
        let state = self.task_state(task).await?;
        // Hosts ask again and again while it goes: what was done is told at the end.
        let (call_count, calls) = if state.has_ended() {
            let run = state.run.id.clone();
            self.store
                .read(move |db| db.events().count(&run, "step.call_finished", CALLS))
                .await?
        } else {
            (0, Vec::new())
        };
        let parse = |text: &String| serde_json::from_str(text).ok();
        Ok(TaskReport {
            outcome: state
                .run
                .outcome
                .clone()
                .and_then(|outcome| serde_json::from_value(outcome).ok()),
            reason: state.run.reason.as_ref().and_then(parse),
            call_count,
            calls: calls.iter().map(call).collect(),
            state,
        })
    }

    /// Stops a task that a host handed over and returns once it has ended.
    ///
    /// # Errors
    /// [`Code::NotFound`]; [`Code::WrongState`] when it has ended already.
    pub async fn cancel_task(&self, task: &str, host: &str) -> Result<()> {
        self.refuse_runs("stop tasks")?;
        let state = self.task_state(task).await?;
        let by = origin(host);
        self.stop(&state.run.id, &by).await
    }
}

/// Where the tasks of a host come from.
fn origin(host: &str) -> String {
    format!("{HOST}:{}", host_name(host))
}

fn other_words(known: &Enqueued) -> Failure {
    Failure::new(
        Code::InvalidRequest,
        "this `idempotency_key` was used for another task",
    )
    .hint("use another key for another task")
    .param("task", known.task.to_string())
}

/// What was asked for under a name before, in its words.
fn asked_before(
    db: &Db<'_>,
    from: &str,
    key: &str,
) -> openspace_store::Result<Option<(String, Enqueued)>> {
    let known = |run: Run| Enqueued {
        session: run.session,
        task: run.task,
        run: run.id,
        existed: true,
    };
    if let Some(command) = db.commands().by_key(from, key)? {
        let words = command.payload.get("text").and_then(Value::as_str);
        let words = words.unwrap_or_default().to_owned();
        return Ok(Some((words, known(db.runs().get(&command.run)?))));
    }
    let Some(task) = db.tasks().by_key(from, key)? else {
        return Ok(None);
    };
    let newest = RunFilter {
        task: Some(task.id),
        limit: 1,
        ..RunFilter::default()
    };
    let run = db.runs().list(&newest)?.into_iter().next();
    Ok(run.map(|run| (task.text, known(run))))
}

fn of_host(task: &str) -> Result<TaskId> {
    task.trim().parse().map_err(|_| unknown(task))
}

fn unknown(task: &str) -> Failure {
    Failure::new(Code::NotFound, format!("there is no task `{task}`"))
        .hint("use the `task_id` that `execute_task` returned")
}

fn state(db: &Db<'_>, id: &TaskId) -> openspace_store::Result<Option<TaskState>> {
    let newest = RunFilter {
        task: Some(id.clone()),
        origin: Some(HOST.to_owned()),
        limit: 1,
        ..RunFilter::default()
    };
    let Some(run) = db.runs().list(&newest)?.into_iter().next() else {
        return Ok(None);
    };
    let mut questions = db.approvals().pending()?;
    questions.retain(|question| question.run == run.id);
    Ok(Some(TaskState {
        task: id.clone(),
        run,
        questions,
    }))
}

fn call(payload: &Value) -> CallReport {
    let text = |key: &str| payload.get(key).and_then(Value::as_str);
    let failed = payload.get("error").and_then(Value::as_bool) == Some(true);
    CallReport {
        tool: text("tool").unwrap_or_default().to_owned(),
        error: failed.then(|| {
            text("message")
                .unwrap_or("it did not do what was asked")
                .to_owned()
        }),
    }
}

#[cfg(test)]
mod tests;
