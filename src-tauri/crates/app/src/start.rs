//! Asking for runs, continuing them, and telling them what to do.

use std::path::{Path, PathBuf};

use openspace_agent::Limits;
use openspace_grounding::policy::{Preset, Rule};
use openspace_store::{CommandKind, Enqueued, Fence, NewRun, Run, RunFilter, RunId, RunStatus};
use serde_json::json;

use crate::{
    App, Code, Failure, RunRequest, RunSpec, SpecAttendance, conversation, execute::origin,
    failure::Result,
};

/// Back ends of the settings of older programs that are not part of this version.
pub(crate) const LATER_BACKENDS: [&str; 3] = ["mcp", "web", "system"];

/// The back ends of a list that exist. Those that will come are left out, so that a list written for
/// another version works; anything else is a mistake.
fn known_backends(asked: &[String]) -> Result<Vec<String>> {
    let mut backends = Vec::new();
    for backend in asked {
        if BACKENDS.contains(&backend.as_str()) {
            backends.push(backend.clone());
        } else if LATER_BACKENDS.contains(&backend.as_str()) {
            tracing::warn!(
                backend,
                "this back end is not part of this version and is left out"
            );
        } else {
            return Err(Failure::new(
                Code::InvalidRequest,
                format!(
                    "there is no back end `{backend}`; there are {}",
                    BACKENDS.join(", ")
                ),
            )
            .param("reason", "backends"));
        }
    }
    if backends.is_empty() {
        return Err(Failure::new(
            Code::InvalidRequest,
            format!(
                "no back end is left to work with; there are {}",
                BACKENDS.join(", ")
            ),
        )
        .param("reason", "backends"));
    }
    Ok(backends)
}

/// What a run is told that is taken up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// What is said.
    pub text: String,
    /// Who says it, such as `cli` or `host:codex`.
    pub from: String,
    /// The caller's own name of the request: repeating it does not say it again.
    pub key: Option<String>,
}

/// The back ends this program has.
pub const BACKENDS: [&str; 2] = ["shell", "gui"];

impl App {
    /// Checks a request and queues it. Whoever claims it executes it.
    ///
    /// # Errors
    /// Whatever is wrong with the request is found here, before anything is queued.
    pub async fn enqueue(&self, request: &RunRequest) -> Result<Enqueued> {
        let new = self.new_run(request).await?;
        Ok(self.store.call(move |db| db.runs().enqueue(&new)).await?)
    }

    /// As [`App::enqueue`], for a process that executes the run itself: nobody else can be faster,
    /// and a run is never left in the queue by a process that dies before it claims it.
    pub async fn enqueue_claimed(&self, request: &RunRequest) -> Result<(Enqueued, Fence)> {
        let new = self.new_run(request).await?;
        let owner = self.instance.id().clone();
        let (queued, fence) = self
            .store
            .call(move |db| {
                let queued = db.runs().enqueue(&new)?;
                let fence = db.runs().claim(&queued.run, &owner)?;
                Ok((queued, fence))
            })
            .await?;
        let fence = fence.ok_or_else(|| taken(&queued.run))?;
        Ok((queued, fence))
    }

    async fn new_run(&self, request: &RunRequest) -> Result<NewRun> {
        let task = request.task.trim();
        if task.is_empty() {
            return Err(Failure::new(Code::InvalidRequest, "the task is empty")
                .hint("say in plain words what is to be done"));
        }
        self.follow_settings();
        let spec = self.spec(request)?;
        let limits = self.limits(&request.limits, &spec)?;
        let session = match &request.session {
            None => None,
            Some(prefix) => {
                let prefix = prefix.clone();
                Some(
                    self.store
                        .read(move |db| db.sessions().find(&prefix))
                        .await?
                        .id,
                )
            }
        };
        Ok(NewRun {
            session,
            text: task.to_owned(),
            origin: request.origin.clone(),
            parent: None,
            idempotency_key: request.idempotency_key.clone(),
            limits: serde_json::to_value(limits).unwrap_or_default(),
            settings: serde_json::to_value(&spec).unwrap_or_default(),
        })
    }

    /// What a request comes to, without queueing it.
    pub(crate) fn check_request(&self, request: &RunRequest) -> Result<RunSpec> {
        let spec = self.spec(request)?;
        self.limits(&request.limits, &spec)?;
        Ok(spec)
    }

    fn spec(&self, request: &RunRequest) -> Result<RunSpec> {
        let values = self.values();
        let model = self.chosen_model(request.model.as_deref())?;
        if !model.starts_with("recorded/") {
            openspace_llm::ModelName::parse(&model).map_err(|error| {
                let message = match error {
                    openspace_llm::Error::InvalidRequest { message } => message,
                    other => other.to_string(),
                };
                Failure::new(Code::InvalidRequest, message)
                    .param("reason", "model_name")
                    .param("model", &*model)
            })?;
        }
        let asked = request
            .backends
            .clone()
            .unwrap_or_else(|| values.run.backends.clone());
        let backends = known_backends(&asked)?;
        let preset = request
            .preset
            .clone()
            .unwrap_or_else(|| values.policy.preset.clone());
        preset
            .parse::<Preset>()
            .map_err(|error| Failure::new(Code::InvalidRequest, error.to_string()))?;
        for rule in &request.allow {
            rule.parse::<Rule>().map_err(|error| {
                Failure::new(Code::InvalidRequest, error.to_string())
                    .hint("see `openspace run --help` for the forms of a rule")
            })?;
        }
        let workspace = self.workspace(request.workspace.as_deref(), &request.folder)?;
        let attachments = request
            .attachments
            .iter()
            .map(|path| {
                let path = existing(&request.folder, path, "attachment")
                    .map_err(|failure| failure.param("reason", "attachment"))?;
                conversation::check_attachment(&path)?;
                Ok(path)
            })
            .collect::<Result<_>>()?;
        Ok(RunSpec {
            model,
            base_url: values.model.base_url.clone(),
            backends,
            workspace_asked: self.has_to_ask_for(request, &workspace),
            workspace,
            preset,
            allow: request.allow.clone(),
            display: request.display.clone(),
            monitor: request
                .monitor
                .clone()
                .or_else(|| values.screen.monitor.clone()),
            attendance: request.attendance,
            attachments,
        })
    }

    /// The folder of a task, absolute and with links resolved: the one that was asked for, else that
    /// of the settings, else `folder`, which relative ones begin from.
    pub(crate) fn workspace(&self, asked: Option<&Path>, folder: &Path) -> Result<PathBuf> {
        let values = self.values();
        let set = values.run.workspace.as_deref();
        let unusable = |failure: Failure| failure.param("reason", "folder");
        let workspace =
            existing(folder, asked.or(set).unwrap_or(folder), "workspace").map_err(unusable)?;
        if !workspace.is_dir() {
            let shown = workspace.display().to_string();
            return Err(unusable(
                Failure::new(Code::InvalidRequest, format!("`{shown}` is not a folder"))
                    .param("path", shown),
            ));
        }
        Ok(workspace)
    }

    /// A folder that a host or a channel named is theirs only inside the one of the settings.
    fn has_to_ask_for(&self, request: &RunRequest, workspace: &Path) -> bool {
        let values = self.values();
        let set = values.run.workspace.as_ref();
        let within = set
            .and_then(|folder| folder.canonicalize().ok())
            .is_some_and(|folder| workspace.starts_with(folder));
        request.workspace.is_some() && !origin(&request.origin).is_person() && !within
    }

    fn limits(&self, asked: &Limits, spec: &RunSpec) -> Result<Limits> {
        let values = self.values();
        let values = &values.run;
        let minutes = |minutes: f64| (minutes * 60_000.0) as u64;
        let limits = Limits {
            steps: asked.steps.or(Some(values.max_steps)),
            active_ms: asked.active_ms.or(values.max_minutes.map(minutes)),
            tokens: asked.tokens.or(values.max_tokens),
            cost: asked.cost.or(values.max_cost),
        };
        if limits
            .cost
            .is_some_and(|cost| !(cost > 0.0 && cost.is_finite()))
        {
            return Err(Failure::new(
                Code::InvalidRequest,
                "a limit in dollars is a number above 0",
            ));
        }
        let profile = openspace_llm::Profile::lookup(&spec.model);
        let price = self
            .values()
            .model
            .profiles
            .get(&spec.model)
            .map_or(profile.price, |overrides| {
                profile.clone().with(overrides).price
            });
        if limits.cost.is_some() && price.is_none() {
            return Err(Failure::new(
                Code::InvalidRequest,
                format!(
                    "the price of `{}` is not known, so a limit in dollars cannot be kept",
                    spec.model
                ),
            )
            .hint("use --max-tokens, or set its price under `model.profiles`")
            .param("reason", "price")
            .param("model", &spec.model));
        }
        Ok(limits)
    }

    /// Takes up a run again that ended without being done, with something to tell it, if anything.
    /// It is claimed for this process.
    pub async fn take_up(
        &self,
        run: &RunId,
        words: Option<Words>,
        steps: Option<u32>,
        attendance: SpecAttendance,
    ) -> Result<Fence> {
        let owner = self.instance.id().clone();
        let again = self.again(run, words, steps, attendance).await?;
        let claimed = self
            .store
            .call(move |db| {
                let run = again(db)?;
                db.runs().claim(&run, &owner)
            })
            .await?;
        claimed.ok_or_else(|| taken(run))
    }

    /// As [`App::take_up`], for whoever claims it.
    pub async fn queue_again(
        &self,
        run: &RunId,
        words: Option<Words>,
        steps: Option<u32>,
        attendance: SpecAttendance,
    ) -> Result<()> {
        let again = self.again(run, words, steps, attendance).await?;
        self.store.call(move |db| again(db).map(drop)).await?;
        Ok(())
    }

    /// What puts a run back into the queue.
    async fn again(
        &self,
        run: &RunId,
        words: Option<Words>,
        steps: Option<u32>,
        attendance: SpecAttendance,
    ) -> Result<impl Fn(&openspace_store::Db<'_>) -> openspace_store::Result<RunId> + Send + 'static>
    {
        let id = run.clone();
        let row = self.store.read(move |db| db.runs().get(&id)).await?;
        let mut settings = row.settings;
        if let Some(settings) = settings.as_object_mut() {
            settings.insert(
                "attendance".to_owned(),
                serde_json::to_value(attendance).unwrap_or_default(),
            );
        }
        let mut limits = row.limits;
        if let (Some(steps), Some(limits)) = (steps, limits.as_object_mut()) {
            limits.insert("steps".to_owned(), json!(steps));
        }
        let run = run.clone();
        Ok(move |db: &openspace_store::Db<'_>| {
            let key = words.as_ref().and_then(|words| words.key.as_ref());
            if let (Some(words), Some(key)) = (&words, key)
                && db.commands().by_key(&words.from, key)?.is_some()
            {
                return Ok(run.clone());
            }
            db.runs().continue_run(&run)?;
            db.runs().set_asked(&run, Some(&limits), Some(&settings))?;
            if let Some(words) = &words {
                let mut payload = json!({ "text": words.text });
                if let Some(key) = key {
                    payload["key"] = json!(key);
                }
                db.commands()
                    .give(&run, CommandKind::Answer, &payload, &words.from)?;
            }
            Ok(run.clone())
        })
    }

    /// Tells a run something.
    pub async fn command(
        &self,
        run: &RunId,
        kind: CommandKind,
        text: Option<String>,
        from: &str,
    ) -> Result<()> {
        let (run, from) = (run.clone(), from.to_owned());
        let payload = text.map_or_else(|| json!({}), |text| json!({ "text": text }));
        self.store
            .call(move |db| db.commands().give(&run, kind, &payload, &from))
            .await?;
        Ok(())
    }

    /// Runs that are going or waiting to go, newest first.
    pub async fn going(&self) -> Result<Vec<Run>> {
        self.look_for_orphans().await;
        let going = |db: &openspace_store::Db<'_>| db.runs().list(&going_filter());
        Ok(self.store.read(going).await?)
    }

    /// Marks runs whose process is gone. Where that cannot be stored, what can be read has to do: who
    /// looks for a run may want to stop it.
    pub(crate) async fn look_for_orphans(&self) {
        if let Err(failure) = self.mark_orphans().await {
            tracing::warn!(%failure, "marking runs whose process is gone");
        }
    }

    /// The run whose id begins like this, as it really is: one whose runner is gone is `interrupted`.
    pub async fn find_run(&self, prefix: &str) -> Result<Run> {
        let prefix = prefix.to_owned();
        self.look_for_orphans().await;
        Ok(self.store.read(move |db| db.runs().find(&prefix)).await?)
    }
}

/// Runs that are going or waiting to go.
pub(crate) fn going_filter() -> RunFilter {
    let statuses = RunStatus::ALL
        .iter()
        .copied()
        .filter(|status| {
            *status == RunStatus::Queued || (status.is_active() && *status != RunStatus::NeedsYou)
        })
        .collect();
    RunFilter {
        statuses,
        limit: 1_000,
        ..RunFilter::default()
    }
}

fn taken(run: &RunId) -> Failure {
    Failure::new(
        Code::WrongState,
        format!("run {run} is executed by another process already"),
    )
}

/// An existing path, absolute and with links resolved.
fn existing(folder: &Path, path: &Path, what: &str) -> Result<PathBuf> {
    let path = folder.join(path);
    path.canonicalize().map_err(|error| {
        Failure::new(
            Code::InvalidRequest,
            format!("the {what} `{}` cannot be used: {error}", path.display()),
        )
        .param("path", path.display().to_string())
    })
}
