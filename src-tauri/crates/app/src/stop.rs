//! Stopping runs, also those whose runner no longer listens, and while the store does not work.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::Duration,
};

use futures_util::future::join_all;
use openspace_store::{CommandKind, Db, Fence, InstanceKind, InstanceRow, RunId, RunStatus};
use serde_json::json;
use tokio::time::Instant;

use crate::{
    App, Code, Failure, ending, failure::Result, own_runs::stop_file, start::going_filter,
};

/// How long the store may take to take a stop before it is given beside it as well.
const PROMPT: Duration = Duration::from_millis(400);
/// A runner that has not heard the stop after this long is helped by its guard.
const OBEY: Duration = Duration::from_millis(1_500);
/// And after this long it hangs or is suspended: it is ended, unless more than runs depends on it.
const HANGS: Duration = Duration::from_millis(2_500);
/// How long cleaning up after it may take.
const CLEAN: Duration = Duration::from_secs(3);
/// How long a run may take to end once its runner has heard the stop: longer than all the driver
/// waits for, which is cancelled work, back ends, and a display of its own.
const END: Duration = Duration::from_secs(14);
const LOOK: Duration = Duration::from_millis(20);

/// How far a stop has come.
enum Standing {
    /// The run does nothing any more.
    Ended,
    /// The same, and this process has not stored it yet.
    AtRest,
    /// Nobody executes it yet.
    Queued,
    /// This process has heard the stop and brings the run to its end.
    HeardHere,
    /// Its runner has, and does.
    Heard(InstanceRow),
    /// Its runner has not heard it yet.
    Unheard(InstanceRow),
    /// This process is said to execute it, and does not.
    Forgotten(Fence),
}

impl App {
    /// Stops a run and returns once it has ended.
    ///
    /// One of this process stops before anything is stored. A runner that hangs or is suspended cannot
    /// obey: its guard releases input and ends its processes. Then the runner is killed, which makes
    /// the run `interrupted`, unless it is the app, which is more than its runs.
    ///
    /// # Errors
    /// [`Code::StillStopping`] when it has not ended by then; [`Code::WrongState`] when it had ended
    /// before; [`Code::NotFound`].
    pub async fn stop(&self, run: &RunId, from: &str) -> Result<()> {
        let mut beside = None;
        let stopped = self.stop_somehow(run, from, &mut beside).await;
        if let (Ok(()), Some(file)) = (&stopped, beside) {
            // Mostly its runner has taken it away.
            let _gone = fs::remove_file(file);
        }
        stopped
    }

    async fn stop_somehow(
        &self,
        run: &RunId,
        from: &str,
        beside: &mut Option<PathBuf>,
    ) -> Result<()> {
        let is_ours = self.own_runs.stop(run).is_some();
        let telling = self.begin_stop(run, from);
        tokio::pin!(telling);
        let began = Instant::now();
        let (mut told, mut helped) = (None, false);
        let (mut rested, mut killed) = (None::<Instant>, None::<Instant>);
        loop {
            tokio::select! {
                biased;
                answer = &mut telling, if told.is_none() => told = Some(answer),
                () = tokio::time::sleep(LOOK) => {}
            }
            let mut is_slow = match &told {
                Some(Ok(())) => false,
                Some(Err(failure)) if failure.code != Code::Store => return Err(failure.clone()),
                Some(Err(_)) => true,
                None => began.elapsed() > PROMPT,
            };
            let is_stored = matches!(told, Some(Ok(())));
            let owner = match self.standing(run, is_stored, beside.as_deref()).await {
                Err(failure) if began.elapsed() > END => return Err(failure),
                Err(_) => None,
                Ok(Standing::Ended) if told.is_some() || is_ours || is_slow => return Ok(()),
                Ok(Standing::Queued) => match told {
                    Some(Err(failure)) => return Err(failure),
                    Some(Ok(())) | None => continue,
                },
                Ok(Standing::Ended) => continue,
                Ok(Standing::AtRest) => {
                    if rested.get_or_insert_with(Instant::now).elapsed() > PROMPT {
                        return Ok(());
                    }
                    continue;
                }
                Ok(Standing::Forgotten(fence)) => {
                    if began.elapsed() > OBEY {
                        let stopped = ending::ended(RunStatus::Stopped, None);
                        return Ok(self.store_end(&fence, &stopped).await?);
                    }
                    continue;
                }
                Ok(Standing::HeardHere | Standing::Heard(_)) if began.elapsed() < END => None,
                Ok(Standing::HeardHere) => {
                    self.own_runs.clear(run);
                    return Err(still_stopping(run));
                }
                Ok(Standing::Heard(owner)) => {
                    let is_alone = owner.kind != InstanceKind::Desktop
                        && !self.executes_others(&owner, run).await?;
                    if !is_alone {
                        return Err(still_stopping(run));
                    }
                    Some(owner)
                }
                Ok(Standing::Unheard(owner)) => {
                    is_slow |= began.elapsed() > OBEY;
                    (began.elapsed() > HANGS).then_some(owner)
                }
            };
            if is_slow && !is_ours && !std::mem::replace(&mut helped, true) {
                *beside = self.stop_beside_the_store(run).await;
            }
            match (owner, killed) {
                (None, _) => {}
                (Some(owner), None) => {
                    killed = Some(Instant::now());
                    if owner.kind != InstanceKind::Desktop {
                        self.end_runner(&owner).await?;
                    }
                }
                (Some(_), Some(at)) if at.elapsed() < CLEAN => {}
                (Some(_), Some(_)) => return Err(still_stopping(run)),
            }
        }
    }

    /// Tells a run to stop and waits for no more than that this is stored. One of this process stops
    /// before; then a store that fails is no failure of the stop.
    ///
    /// # Errors
    /// As [`App::stop`], for what others execute.
    pub async fn begin_stop(&self, run: &RunId, from: &str) -> Result<()> {
        let fence = self.own_runs.stop(run);
        let is_ours = fence.is_some();
        let (id, from) = (run.clone(), from.to_owned());
        let stored = self.store.call(move |db| {
            let command = db
                .commands()
                .give(&id, CommandKind::Stop, &json!({}), &from)?;
            match &fence {
                Some(fence) if db.check(fence).is_ok() => db.commands().acknowledge(fence, command),
                Some(_) | None => Ok(()),
            }
        });
        match stored.await {
            Err(error) if is_ours => {
                tracing::warn!(%error, %run, "storing that a run was told to stop");
                // One that has ended meanwhile may have left programs for the person.
                if Failure::from(error).code == Code::Store {
                    self.own_runs.clear(run);
                }
                Ok(())
            }
            stored => Ok(stored?),
        }
    }

    /// Stops everything that is going: first all are told, so that none waits for another to end.
    ///
    /// # Errors
    /// The first failure; the other runs are stopped all the same. That a run has ended by itself is
    /// none.
    pub async fn stop_all(&self, from: &str) -> Result<Vec<RunId>> {
        let mut runs = self.own_runs.stop_all();
        let going = self.store.read(|db| db.runs().list(&going_filter())).await;
        for run in going.iter().flatten() {
            if !runs.contains(&run.id) {
                runs.push(run.id.clone());
            }
        }
        let stopping = runs.iter().map(|run| self.stop(run, from));
        let stopped = join_all(stopping).await.into_iter();
        let mut failures = stopped.filter_map(Result::err);
        match failures.find(|failure| failure.code != Code::WrongState) {
            Some(failure) => Err(failure),
            None => going.map(|_| runs).map_err(Into::into),
        }
    }

    /// Leaves a stop where the runner finds it without the store, and its guard if the runner does not.
    /// Answers where.
    async fn stop_beside_the_store(&self, run: &RunId) -> Option<PathBuf> {
        let id = run.clone();
        let fence = self.store.read(move |db| {
            let owner = db.runs().get(&id)?.owner;
            owner.map_or(Ok(None), |owner| db.fence(&id, &owner))
        });
        let left = fence.await.map_err(anyhow::Error::from).and_then(|fence| {
            let file = fence.map(|fence| stop_file(&self.paths.runtime, &fence));
            file.as_ref().map(File::create).transpose()?;
            Ok(file)
        });
        left.unwrap_or_else(|error| {
            tracing::warn!(%error, %run, "leaving a stop beside the store");
            None
        })
    }

    async fn standing(
        &self,
        run: &RunId,
        is_stored: bool,
        beside: Option<&Path>,
    ) -> Result<Standing> {
        let rests = match self.own_runs.is_at_rest(run) {
            Some(false) => return Ok(Standing::HeardHere),
            Some(true) => true,
            None => false,
        };
        // The runner takes the file away once it has stopped.
        let is_taken = beside.is_some_and(|file| !file.exists());
        let (id, own) = (run.clone(), self.instance.id().clone());
        let look = move |db: &Db<'_>| {
            let row = db.runs().get(&id)?;
            let Some(owner) = &row.owner else {
                let queued = row.status == RunStatus::Queued;
                return Ok(Some(if queued {
                    Standing::Queued
                } else {
                    Standing::Ended
                }));
            };
            if !db.instances().is_alive(owner)? {
                return Ok(None);
            }
            if rests {
                return Ok(Some(Standing::AtRest));
            }
            if *owner == own {
                return Ok(db.fence(&id, owner)?.map(Standing::Forgotten));
            }
            let open = db.commands().open(&id)?;
            let is_open = open.iter().any(|it| it.kind == CommandKind::Stop);
            let heard = is_taken || row.status == RunStatus::Stopping || (is_stored && !is_open);
            let owner = db.instances().get(owner)?;
            Ok(Some(if heard {
                Standing::Heard(owner)
            } else {
                Standing::Unheard(owner)
            }))
        };
        if let Some(standing) = self.store.read(look).await? {
            return Ok(standing);
        }
        // Its process is gone, whatever can be stored about that.
        self.look_for_orphans().await;
        Ok(Standing::Ended)
    }

    /// The process executes other runs as well.
    async fn executes_others(&self, owner: &InstanceRow, run: &RunId) -> Result<bool> {
        let going = self
            .store
            .read(|db| db.runs().list(&going_filter()))
            .await?;
        let theirs = |it: &&openspace_store::Run| it.owner.as_ref() == Some(&owner.id);
        Ok(going.iter().filter(theirs).any(|it| it.id != *run))
    }

    /// Kills a process that still holds its lock, so that its id cannot be anybody else's.
    async fn end_runner(&self, owner: &InstanceRow) -> Result<()> {
        let id = owner.id.clone();
        let alive = self.store.read(move |db| db.instances().is_alive(&id));
        if alive.await? {
            tracing::warn!(pid = owner.pid, "the runner does not obey and is ended");
            openspace_process::kill_process(owner.pid);
        }
        Ok(())
    }
}

fn still_stopping(run: &RunId) -> Failure {
    Failure::new(
        Code::StillStopping,
        format!("run {run} was told to stop and has not ended yet"),
    )
    .hint("it gets no further step; look again in a moment, and if it stays so, quit the app")
    .param("run", run.to_string())
    .retryable()
}
