//! Runs as a list.

use openspace_store::{Db, Run, RunFilter, RunStatus, Usage};
use serde_json::Value;

use super::{Call, Nothing, payload};
use crate::{App, Code, Failure, control::holders, failure::Result};

/// Most rows of one answer.
const MOST: u32 = 500;

payload! {
    /// Names a run.
    pub struct RunRequestById {
        /// Its id.
        pub run: String,
    }

    /// Which runs to list.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct RunsListRequest {
        /// Only these statuses; all when empty.
        #[cfg_attr(test, ts(type = "Array<import(\"./RunSummary\").RunSummary[\"status\"]>"))]
        #[serde(default)]
        pub statuses: Vec<RunStatus>,
        /// Only those whose task contains this.
        #[serde(default)]
        pub containing: Option<String>,
        /// Only those that came from `app`, `cli`, `host`, `channel` or `demo`.
        #[serde(default)]
        pub origin: Option<String>,
        /// Only those of this session.
        #[serde(default)]
        pub session: Option<String>,
        /// Only those queued before this run: the last one of the page before.
        #[serde(default)]
        pub before: Option<String>,
        /// At most so many, up to 500.
        #[serde(default)]
        pub limit: Option<u32>,
    }

    /// Some runs by id.
    pub struct RunsGetRequest {
        /// Their ids; those that do not exist are left out of the answer.
        pub runs: Vec<String>,
    }

    /// Runs.
    pub struct RunsListResponse {
        /// In the order asked for.
        pub runs: Vec<RunSummary>,
        /// Newest event that is contained in it.
        #[cfg_attr(test, ts(type = "number"))]
        pub cursor: i64,
    }

    /// One run, as a line of a list.
    pub struct RunSummary {
        /// Its id.
        pub id: String,
        /// The task it executes.
        pub task: String,
        /// The conversation it belongs to.
        pub session: String,
        /// What was asked for, in the person's words.
        pub text: String,
        /// `app`, `cli`, `demo`, `host:NAME`, `channel:NAME`.
        pub origin: String,
        /// Where it stands.
        #[cfg_attr(test, ts(type = "\"queued\" | \"planning\" | \"running\" | \"needs_approval\" | \"needs_you\" | \"paused\" | \"stopping\" | \"stopped\" | \"done\" | \"failed\" | \"limit_reached\" | \"interrupted\""))]
        pub status: RunStatus,
        /// Why, where the status alone does not say it: `kind` and its values.
        #[cfg_attr(test, ts(type = "{ kind: string, [value: string]: unknown } | null"))]
        pub reason: Option<Value>,
        /// Number of the current or last step.
        pub step: u32,
        /// Tools of that step.
        pub step_label: Option<String>,
        /// `provider/model`
        pub model: String,
        /// What it used.
        pub usage: UsageView,
        /// When it was queued, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number"))]
        pub created_at: i64,
        /// When it was first claimed.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub started_at: Option<i64>,
        /// When it ended.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub ended_at: Option<i64>,
        /// It will go on by itself or when somebody answers.
        pub going: bool,
        /// It holds a display.
        pub in_control: bool,
        /// It can be continued.
        pub can_continue: bool,
        /// Its open questions.
        pub approvals: Vec<String>,
        /// The model's last words, shortened, once it ended.
        pub answer: Option<String>,
    }

    /// Tokens and money.
    pub struct UsageView {
        /// Tokens sent, neither read from nor written to a cache.
        #[cfg_attr(test, ts(type = "number"))]
        pub input: u64,
        /// Tokens received.
        #[cfg_attr(test, ts(type = "number"))]
        pub output: u64,
        /// Tokens read from a cache.
        #[cfg_attr(test, ts(type = "number"))]
        pub cache_read: u64,
        /// Tokens written to a cache.
        #[cfg_attr(test, ts(type = "number"))]
        pub cache_write: u64,
        /// Pictures sent.
        #[cfg_attr(test, ts(type = "number"))]
        pub images: u64,
        /// All tokens.
        #[cfg_attr(test, ts(type = "number"))]
        pub total: u64,
        /// US dollars; null where no price is known.
        pub dollars: Option<f64>,
    }
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            images: usage.images,
            total: usage.input + usage.output + usage.cache_read + usage.cache_write,
            dollars: (usage.microdollars > 0).then(|| usage.microdollars as f64 / 1e6),
        }
    }
}

impl Call<'_> {
    pub(super) async fn runs_list(&self, request: RunsListRequest) -> Result<RunsListResponse> {
        let wrong = |what: &str, id: &str| {
            Failure::new(
                Code::InvalidRequest,
                format!("`{id}` is not the id of a {what}"),
            )
        };
        let filter = RunFilter {
            statuses: request.statuses,
            session: request
                .session
                .map(|id| id.parse().map_err(|_| wrong("session", &id)))
                .transpose()?,
            before: request
                .before
                .map(|id| id.parse().map_err(|_| wrong("run", &id)))
                .transpose()?,
            containing: request.containing.filter(|words| !words.trim().is_empty()),
            origin: request.origin,
            limit: request.limit.unwrap_or(MOST).clamp(1, MOST),
            ..RunFilter::default()
        };
        self.app.mark_orphans().await?;
        let (cursor, runs) = self
            .app
            .store
            .read(move |db| {
                let runs = db.runs().list(&filter)?;
                Ok((db.events().last_id()?, with_texts(db, runs)?))
            })
            .await?;
        Ok(RunsListResponse {
            runs: self.app.summaries(runs),
            cursor,
        })
    }

    pub(super) async fn run_delete(&self, request: RunRequestById) -> Result<Nothing> {
        self.app.refuse_runs("delete runs")?;
        self.refuse_while_controlled(None).await?;
        let run = self.app.find_run(&request.run).await?;
        let pictures = self.app.pictures_of(&run).await?;
        self.app
            .store
            .spawn(move |store| store.delete_run(&run.id))
            .await?;
        for picture in pictures {
            self.app.discard_picture(&picture)?;
        }
        Ok(Nothing {})
    }

    pub(super) async fn runs_get(&self, request: RunsGetRequest) -> Result<RunsListResponse> {
        self.app.mark_orphans().await?;
        let (cursor, runs) = self
            .app
            .store
            .read(move |db| {
                let mut runs = Vec::new();
                for id in request.runs.iter().take(MOST as usize) {
                    let Ok(id) = id.parse() else { continue };
                    match db.runs().get(&id) {
                        Ok(run) => runs.push(run),
                        Err(openspace_store::Error::NotFound { .. }) => {}
                        Err(error) => return Err(error),
                    }
                }
                Ok((db.events().last_id()?, with_texts(db, runs)?))
            })
            .await?;
        Ok(RunsListResponse {
            runs: self.app.summaries(runs),
            cursor,
        })
    }
}

/// A run with the words of its task and its open questions.
pub(super) struct RunRow {
    pub(super) run: Run,
    pub(super) text: String,
    pub(super) approvals: Vec<String>,
}

pub(super) fn with_texts(
    db: &Db<'_>,
    runs: Vec<Run>,
) -> std::result::Result<Vec<RunRow>, openspace_store::Error> {
    let pending = db.approvals().pending()?;
    runs.into_iter()
        .map(|run| {
            let text = db.tasks().get(&run.task)?.text;
            let approvals = pending
                .iter()
                .filter(|approval| approval.run == run.id)
                .map(|approval| approval.id.to_string())
                .collect();
            Ok(RunRow {
                run,
                text,
                approvals,
            })
        })
        .collect()
}

impl App {
    /// Runs whose process is gone are `interrupted` from now on.
    pub(crate) async fn mark_orphans(&self) -> Result<()> {
        if self.store.read(|db| db.runs().any_orphans()).await? {
            self.store.call(|db| db.runs().mark_orphans()).await?;
        }
        Ok(())
    }

    pub(super) fn summaries(&self, rows: Vec<RunRow>) -> Vec<RunSummary> {
        let holders = holders(&self.paths.runtime);
        rows.into_iter()
            .map(|row| {
                let in_control = holders.contains(&row.run.id);
                summary(row, in_control)
            })
            .collect()
    }
}

fn summary(row: RunRow, in_control: bool) -> RunSummary {
    const ANSWER: usize = 600;
    let RunRow {
        run,
        text,
        approvals,
    } = row;
    let said = run
        .outcome
        .as_ref()
        .and_then(|outcome| outcome.get("answer")?.as_str())
        .map(|answer| answer.trim().chars().take(ANSWER).collect::<String>())
        .filter(|answer| !answer.is_empty());
    RunSummary {
        model: run
            .settings
            .get("model")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        reason: run
            .reason
            .as_deref()
            .and_then(|reason| serde_json::from_str(reason).ok()),
        going: run.status == RunStatus::Queued
            || (run.status.is_active() && run.status != RunStatus::NeedsYou),
        can_continue: can_continue(run.status),
        id: run.id.to_string(),
        task: run.task.to_string(),
        session: run.session.to_string(),
        text,
        origin: run.origin,
        status: run.status,
        step: run.step,
        step_label: run.step_label,
        usage: run.usage.into(),
        created_at: run.created_at,
        started_at: run.started_at,
        ended_at: run.ended_at,
        in_control,
        approvals,
        answer: said,
    }
}

fn can_continue(status: RunStatus) -> bool {
    match status {
        RunStatus::NeedsYou
        | RunStatus::Stopped
        | RunStatus::Failed
        | RunStatus::LimitReached
        | RunStatus::Interrupted => true,
        RunStatus::Queued
        | RunStatus::Planning
        | RunStatus::Running
        | RunStatus::NeedsApproval
        | RunStatus::Paused
        | RunStatus::Stopping
        | RunStatus::Done => false,
    }
}
