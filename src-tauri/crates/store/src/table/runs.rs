//! Executions of tasks: queued by surfaces, claimed by one owner, written by that owner only.

use rusqlite::{Row, ToSql};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Db, Error, Fence, InstanceId, NewEvent, Result, RunId, SessionId, TaskId, Usage,
    sql::{self, Json},
};

mod answered;
mod status;

pub use status::RunStatus;

/// One execution of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its id.
    pub id: RunId,
    /// What it does.
    pub task: TaskId,
    /// The conversation it belongs to.
    pub session: SessionId,
    /// The run that asked for it, if one did.
    pub parent: Option<RunId>,
    /// Who asked, such as `app`, `cli` or `mcp:claude-code`.
    pub origin: String,
    /// Who executes it now.
    pub owner: Option<InstanceId>,
    /// Who executed it last.
    pub runner: Option<InstanceId>,
    /// How often it was claimed; above 1 after Continue.
    pub claims: i64,
    /// Where it stands.
    pub status: RunStatus,
    /// Why it stands there: a kind, such as `screen_locked`, not a sentence.
    pub reason: Option<String>,
    /// Steps, time, tokens, money.
    pub limits: Value,
    /// Model, back ends, workspace, display, preset, grants.
    pub settings: Value,
    /// Answer and evidence, once it ended.
    pub outcome: Option<Value>,
    /// Number of the latest step, 0 before the first.
    pub step: u32,
    /// What the latest step is, in a few words.
    pub step_label: Option<String>,
    /// Its frames are never pruned.
    pub pinned: bool,
    /// Sum over its model calls.
    pub usage: Usage,
    /// When it was queued, Unix milliseconds.
    pub created_at: i64,
    /// When it was first claimed, Unix milliseconds.
    pub started_at: Option<i64>,
    /// When it ended, Unix milliseconds.
    pub ended_at: Option<i64>,
}

/// A run to be queued.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    /// The conversation it belongs to; none begins a new one.
    pub session: Option<SessionId>,
    /// What was asked for.
    pub text: String,
    /// Who asked, such as `app`, `cli` or `mcp:claude-code`.
    pub origin: String,
    /// The run that asked for it, if one did.
    pub parent: Option<RunId>,
    /// The caller's own name of the request: a second request of the same origin and name answers with
    /// the first run.
    pub idempotency_key: Option<String>,
    /// Steps, time, tokens, money.
    pub limits: Value,
    /// Model, back ends, workspace, display, preset, grants.
    pub settings: Value,
}

/// A queued run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enqueued {
    /// The conversation.
    pub session: SessionId,
    /// What was asked for.
    pub task: TaskId,
    /// Its newest run.
    pub run: RunId,
    /// Nothing was queued: the same request had come before.
    pub existed: bool,
}

/// Which runs to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only these; all when empty.
    pub statuses: Vec<RunStatus>,
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only of this task.
    pub task: Option<TaskId>,
    /// Only children of this run.
    pub parent: Option<RunId>,
    /// Only those queued before this run.
    pub before: Option<RunId>,
    /// Only those whose task contains these words, capitals or not.
    pub containing: Option<String>,
    /// Only those that came from here: `cli`, or `host` for every `host:NAME`.
    pub origin: Option<String>,
    /// Only those that ended at or after this time, Unix milliseconds.
    pub ended_since: Option<i64>,
    /// At most so many; 0 for all.
    pub limit: u32,
}

/// The table of runs.
pub struct Runs<'a> {
    pub(crate) db: &'a Db<'a>,
}

fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        id: row.get("id")?,
        task: row.get("task")?,
        session: row.get("session")?,
        parent: row.get("parent")?,
        origin: row.get("origin")?,
        owner: row.get("owner")?,
        runner: row.get("runner")?,
        claims: row.get("claims")?,
        status: row.get("status")?,
        reason: row.get("reason")?,
        limits: sql::json(row, "limits")?,
        settings: sql::json(row, "settings")?,
        outcome: row
            .get::<_, Option<Json<Value>>>("outcome")?
            .map(|json| json.0),
        step: row.get("step")?,
        step_label: row.get("step_label")?,
        pinned: row.get("pinned")?,
        usage: Usage::read(row)?,
        created_at: row.get("created_at")?,
        started_at: row.get("started_at")?,
        ended_at: row.get("ended_at")?,
    })
}

/// Reading.
impl Runs<'_> {
    /// One run.
    pub fn get(&self, id: &RunId) -> Result<Run> {
        sql::first(
            self.db.connection,
            "SELECT * FROM runs WHERE id = ?1",
            [id],
            read,
        )?
        .ok_or_else(|| Error::not_found("run", id))
    }

    /// The run whose id begins like this.
    pub fn find(&self, prefix: &str) -> Result<Run> {
        let id = sql::unique_id(self.db.connection, "runs", "run", prefix)?;
        self.get(&id.parse().map_err(|_| Error::not_found("run", prefix))?)
    }

    /// Runs that fit, newest first.
    pub fn list(&self, filter: &RunFilter) -> Result<Vec<Run>> {
        let mut conditions = vec!["1".to_owned()];
        let mut values: Vec<&dyn ToSql> = Vec::new();
        if !filter.statuses.is_empty() {
            conditions.push(format!(
                "status IN ({})",
                vec!["?"; filter.statuses.len()].join(", ")
            ));
            values.extend(filter.statuses.iter().map(|status| status as &dyn ToSql));
        }
        if let Some(session) = &filter.session {
            conditions.push("session = ?".to_owned());
            values.push(session);
        }
        if let Some(task) = &filter.task {
            conditions.push("task = ?".to_owned());
            values.push(task);
        }
        if let Some(parent) = &filter.parent {
            conditions.push("parent = ?".to_owned());
            values.push(parent);
        }
        if let Some(before) = &filter.before {
            conditions.push("number < (SELECT number FROM runs WHERE id = ?)".to_owned());
            values.push(before);
        }
        let containing = filter.containing.as_deref().map(str::to_lowercase);
        if let Some(words) = &containing {
            // instr() takes what LIKE would take for patterns literally.
            conditions.push(
                "instr(lower((SELECT text FROM tasks WHERE tasks.id = runs.task)), ?) > 0"
                    .to_owned(),
            );
            values.push(words);
        }
        if let Some(origin) = &filter.origin {
            conditions.push("(origin = ? OR origin GLOB ? || ':*')".to_owned());
            values.push(origin);
            values.push(origin);
        }
        if let Some(since) = &filter.ended_since {
            conditions.push("ended_at >= ?".to_owned());
            values.push(since);
        }
        // SQLite takes a negative limit for none.
        let limit = if filter.limit == 0 {
            -1
        } else {
            i64::from(filter.limit)
        };
        values.push(&limit);
        sql::all(
            self.db.connection,
            &format!(
                "SELECT * FROM runs WHERE {} ORDER BY number DESC LIMIT ?",
                conditions.join(" AND ")
            ),
            values.as_slice(),
            read,
        )
    }

    /// Something waits to be claimed.
    pub fn any_queued(&self) -> Result<bool> {
        Ok(self.oldest_queued()?.is_some())
    }

    fn oldest_queued(&self) -> Result<Option<RunId>> {
        sql::first(
            self.db.connection,
            "SELECT id FROM runs WHERE status = 'queued' ORDER BY number LIMIT 1",
            [],
            |row| row.get(0),
        )
    }
}

/// Writing by anybody.
impl Runs<'_> {
    /// Queues a run of a new task.
    pub fn enqueue(&self, new: &NewRun) -> Result<Enqueued> {
        let db = self.db;
        if let Some(key) = &new.idempotency_key
            && let Some(task) = db.tasks().by_key(&new.origin, key)?
        {
            let runs = self.list(&RunFilter {
                task: Some(task.id.clone()),
                limit: 1,
                ..RunFilter::default()
            })?;
            if let Some(run) = runs.into_iter().next() {
                return Ok(Enqueued {
                    session: task.session,
                    task: task.id,
                    run: run.id,
                    existed: true,
                });
            }
        }
        let session = match &new.session {
            Some(session) => db.sessions().get(session)?.id,
            None => db
                .sessions()
                .create(first_line(&new.text), &new.origin, &json!({}))?,
        };
        let task = db.tasks().insert(
            &session,
            &new.text,
            &new.origin,
            new.idempotency_key.as_deref(),
        )?;
        let run = self.insert(&session, &task, new)?;
        Ok(Enqueued {
            session,
            task,
            run,
            existed: false,
        })
    }

    /// Queues another run of a task, with the limits and settings of its newest run.
    pub fn enqueue_again(&self, task: &TaskId) -> Result<Enqueued> {
        let task = self.db.tasks().get(task)?;
        let filter = RunFilter {
            task: Some(task.id.clone()),
            limit: 1,
            ..RunFilter::default()
        };
        let last = self.list(&filter)?.into_iter().next();
        let (limits, settings) =
            last.map_or_else(|| (json!({}), json!({})), |run| (run.limits, run.settings));
        let new = NewRun {
            session: Some(task.session.clone()),
            text: task.text,
            origin: task.origin,
            parent: None,
            idempotency_key: None,
            limits,
            settings,
        };
        let run = self.insert(&task.session, &task.id, &new)?;
        Ok(Enqueued {
            session: task.session,
            task: task.id,
            run,
            existed: false,
        })
    }

    /// Claims this run if it is queued. None when somebody was faster or it is not queued.
    pub fn claim(&self, run: &RunId, owner: &InstanceId) -> Result<Option<Fence>> {
        let claims = sql::first(
            self.db.connection,
            "UPDATE runs SET status = 'planning', reason = NULL, owner = ?2, runner = ?2,
               claims = claims + 1, started_at = coalesce(started_at, ?3), ended_at = NULL
             WHERE id = ?1 AND status = 'queued' RETURNING claims",
            (run, owner, self.db.now),
            |row| row.get(0),
        )?;
        let Some(claims) = claims else {
            return Ok(None);
        };
        self.tell(run, RunStatus::Planning, None)?;
        Ok(Some(Fence {
            run: run.clone(),
            owner: owner.clone(),
            claims,
        }))
    }

    /// Claims the run that has been queued longest.
    pub fn claim_next(&self, owner: &InstanceId) -> Result<Option<Fence>> {
        match self.oldest_queued()? {
            Some(run) => self.claim(&run, owner),
            None => Ok(None),
        }
    }

    /// Queues a run again that nobody executes and that is not done. Commands it never heard are
    /// dropped, messages and answers excepted.
    pub fn continue_run(&self, run: &RunId) -> Result<()> {
        let row = self.get(run)?;
        let may = match row.status {
            RunStatus::Interrupted
            | RunStatus::NeedsYou
            | RunStatus::LimitReached
            | RunStatus::Stopped
            | RunStatus::Failed => row.owner.is_none(),
            RunStatus::Queued
            | RunStatus::Planning
            | RunStatus::Running
            | RunStatus::NeedsApproval
            | RunStatus::Paused
            | RunStatus::Stopping
            | RunStatus::Done => false,
        };
        if !may {
            return Err(Error::WrongStatus {
                run: run.clone(),
                status: row.status,
                what: "be continued",
            });
        }
        self.db.commands().drop_stale(run)?;
        sql::execute(
            self.db.connection,
            "UPDATE runs SET status = 'queued', reason = NULL, outcome = NULL, ended_at = NULL
             WHERE id = ?1",
            [run],
        )?;
        self.tell(run, RunStatus::Queued, None)
    }

    /// Marks runs whose process is gone as interrupted; answers which. Safe to call from anywhere.
    pub fn mark_orphans(&self) -> Result<Vec<RunId>> {
        let owned: Vec<(RunId, InstanceId)> = sql::all(
            self.db.connection,
            "SELECT id, owner FROM runs WHERE owner IS NOT NULL ORDER BY number",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )?;
        let mut marked = Vec::new();
        for (run, owner) in owned {
            // Within the transaction nobody else can claim, and one who is gone never comes back.
            if !self.db.instances().is_alive(&owner)? {
                self.end(&run, RunStatus::Interrupted, Some("runner_gone"), None)?;
                self.db.instances().mark_gone(&owner)?;
                marked.push(run);
            }
        }
        Ok(marked)
    }

    /// Some run's process is gone: a look that only reads, before [`Runs::mark_orphans`] writes.
    pub fn any_orphans(&self) -> Result<bool> {
        let owners: Vec<InstanceId> = sql::all(
            self.db.connection,
            "SELECT DISTINCT owner FROM runs WHERE owner IS NOT NULL",
            [],
            |row| row.get(0),
        )?;
        for owner in owners {
            if !self.db.instances().is_alive(&owner)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends a run that nobody executes.
    pub(crate) fn stop_unowned(&self, run: &RunId) -> Result<()> {
        self.end(run, RunStatus::Stopped, None, None)
    }

    /// Changes what a queued run was asked to work with: its limits and settings, before anybody
    /// claims it. What is `None` stays.
    pub fn set_asked(
        &self,
        run: &RunId,
        limits: Option<&Value>,
        settings: Option<&Value>,
    ) -> Result<()> {
        let changed = sql::execute(
            self.db.connection,
            "UPDATE runs SET limits = coalesce(?2, limits), settings = coalesce(?3, settings)
             WHERE id = ?1 AND status = 'queued'",
            (run, limits.map(sql::Json), settings.map(sql::Json)),
        )?;
        if changed == 0 {
            let status = self.get(run)?.status;
            return Err(Error::WrongStatus {
                run: run.clone(),
                status,
                what: "be changed",
            });
        }
        Ok(())
    }

    /// Exempts the frames of a run from pruning, or no longer.
    pub fn set_pinned(&self, run: &RunId, pinned: bool) -> Result<()> {
        let rows = sql::execute(
            self.db.connection,
            "UPDATE runs SET pinned = ?2 WHERE id = ?1",
            (run, pinned),
        )?;
        sql::found("run", run, rows)
    }

    fn insert(&self, session: &SessionId, task: &TaskId, new: &NewRun) -> Result<RunId> {
        let db = self.db;
        let id = RunId::random();
        sql::execute(
            db.connection,
            "INSERT INTO runs
               (id, number, task, session, parent, origin, status, limits, settings, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'queued', ?7, ?8, ?9)",
            (
                &id,
                db.next_number("runs")?,
                task,
                session,
                &new.parent,
                &new.origin,
                Json(&new.limits),
                Json(&new.settings),
                db.now,
            ),
        )?;
        db.sessions().touch(session)?;
        self.tell(&id, RunStatus::Queued, None)?;
        Ok(id)
    }

    fn end(
        &self,
        run: &RunId,
        status: RunStatus,
        reason: Option<&str>,
        outcome: Option<&Value>,
    ) -> Result<()> {
        sql::execute(
            self.db.connection,
            "UPDATE runs SET status = ?2, reason = ?3, outcome = coalesce(?4, outcome), owner = NULL,
               ended_at = ?5
             WHERE id = ?1",
            (run, status, reason, outcome.map(Json), self.db.now),
        )?;
        self.db.approvals().withdraw(run)?;
        self.tell(run, status, reason)
    }

    fn tell(&self, run: &RunId, status: RunStatus, reason: Option<&str>) -> Result<()> {
        let payload = json!({ "status": status, "reason": reason });
        self.db
            .events()
            .append(NewEvent::of_run(run, "run.status", payload))
            .map(drop)
    }
}

/// Writing by the runner.
impl Runs<'_> {
    /// Says where the run stands. To end it there is [`Runs::finish`].
    pub fn set_status(&self, fence: &Fence, status: RunStatus, reason: Option<&str>) -> Result<()> {
        self.db.check(fence)?;
        if !status.is_active() {
            return Err(Error::WrongStatus {
                run: fence.run.clone(),
                status: self.get(&fence.run)?.status,
                what: "end without `finish`",
            });
        }
        let rows = sql::execute(
            self.db.connection,
            "UPDATE runs SET status = ?2, reason = ?3
             WHERE id = ?1 AND (status IS NOT ?2 OR reason IS NOT ?3)",
            (&fence.run, status, reason),
        )?;
        // Saying the same again tells nobody.
        if rows == 0 {
            Ok(())
        } else {
            self.tell(&fence.run, status, reason)
        }
    }

    /// Says which step the run is at.
    pub fn set_step(&self, fence: &Fence, step: u32, label: &str) -> Result<()> {
        self.db.check(fence)?;
        sql::execute(
            self.db.connection,
            "UPDATE runs SET step = ?2, step_label = ?3 WHERE id = ?1",
            (&fence.run, step, label),
        )
        .map(drop)
    }

    /// Replaces the settings, such as after a grant for the whole run.
    pub fn set_settings(&self, fence: &Fence, settings: &Value) -> Result<()> {
        self.db.check(fence)?;
        sql::execute(
            self.db.connection,
            "UPDATE runs SET settings = ?2 WHERE id = ?1",
            (&fence.run, Json(settings)),
        )
        .map(drop)
    }

    /// Ends the run with a final status, with a question (`needs_you`) or by giving it up
    /// (`interrupted`). The fence is void afterwards; open approvals are withdrawn.
    pub fn finish(
        &self,
        fence: &Fence,
        status: RunStatus,
        reason: Option<&str>,
        outcome: Option<&Value>,
    ) -> Result<()> {
        self.db.check(fence)?;
        if !status.is_end() {
            return Err(Error::WrongStatus {
                run: fence.run.clone(),
                status,
                what: "be finished",
            });
        }
        self.end(&fence.run, status, reason, outcome)?;
        let session = self.get(&fence.run)?.session;
        self.db.sessions().touch(&session)
    }
}

/// A title until somebody gives a better one.
fn first_line(text: &str) -> &str {
    let line = text.trim().lines().next().unwrap_or_default();
    line.char_indices()
        .nth(80)
        .map_or(line, |(end, _)| &line[..end])
}
