//! Executing queued runs: in a process of its own, or inside whatever process claims them.

use std::{
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use openspace_store::{CommandKind, Fence};
use tokio::{sync::Mutex, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{App, Code, Failure, GuardPipe, failure::Result, guard::start_apart};

/// How long a detached runner stays without work: long enough for the next message of a
/// conversation, short enough not to be noticed.
pub const IDLE: Duration = Duration::from_secs(10);
/// How often queued runs are looked for, beside the events that announce them.
const LOOK: Duration = Duration::from_millis(250);
/// How long a runner that was started may take until it says that it claims runs, and how often that
/// is looked for.
const SEEN: Duration = Duration::from_secs(5);
const SEE: Duration = Duration::from_millis(10);

/// The guard of this process, started with the first run and again when it died.
#[derive(Default)]
pub struct GuardSeat {
    pipe: Mutex<Option<GuardPipe>>,
}

impl GuardSeat {
    /// The living guard.
    pub async fn get(&self, app: &App) -> Result<GuardPipe> {
        let mut pipe = self.pipe.lock().await;
        if let Some(pipe) = pipe.as_ref().filter(|pipe| pipe.is_alive()) {
            return Ok(pipe.clone());
        }
        let mut command = app.own_command("guard");
        let started = tokio::task::spawn_blocking(move || GuardPipe::start(&mut command));
        let started = started
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))??;
        *pipe = Some(started.clone());
        Ok(started)
    }
}

impl App {
    /// A command that starts another process of ours.
    pub(crate) fn own_command(&self, verb: &str) -> Command {
        let mut command = Command::new(&self.surface.program);
        command.arg(verb).env_clear();
        command.envs(self.desktop.complete(&self.environment).iter());
        command
    }

    /// Makes sure that somebody executes queued runs: starts a detached runner unless a process
    /// that claims runs is alive.
    pub async fn ensure_runner(&self) -> Result<()> {
        // Many who ask at once start one, and the next one waits until it can be seen.
        let _starting = self.starting_runner.lock().await;
        if self.store.read(|db| db.instances().claimer_alive()).await? {
            return Ok(());
        }
        let mut command = self.own_command("runner");
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let started = tokio::task::spawn_blocking(move || start_apart(&mut command).map(drop));
        let started = started.await.unwrap_or_else(|error| Err(error.into()));
        started.map_err(|error| {
            Failure::new(
                Code::Internal,
                format!("the runner process could not be started: {error}"),
            )
        })?;
        let asked = tokio::time::Instant::now();
        while asked.elapsed() < SEEN {
            // One that had nothing left to do is gone again.
            let done = |db: &openspace_store::Db<'_>| {
                Ok(db.instances().claimer_alive()? || !db.runs().any_queued()?)
            };
            if self.store.read(done).await? {
                return Ok(());
            }
            tokio::time::sleep(SEE).await;
        }
        tracing::warn!("the runner was started and does not claim runs yet");
        Ok(())
    }

    /// Executes queued runs until there have been none for `idle`, or until `cancel`; then every run
    /// that still goes is stopped.
    pub async fn serve_runs(
        self: &Arc<Self>,
        guards: Arc<GuardSeat>,
        idle: Option<Duration>,
        cancel: CancellationToken,
    ) -> Result<()> {
        let mut cursor = self.store.read(|db| db.events().last_id()).await?;
        let mut watch = self.store.watch(cursor)?;
        let mut runs = JoinSet::new();
        let mut idle_since = tokio::time::Instant::now();
        let _pruning = self.prune_regularly();
        loop {
            while let Some(fence) = self.claim_next().await? {
                let (app, guards) = (Arc::clone(self), Arc::clone(&guards));
                runs.spawn(async move {
                    let run = fence.run().clone();
                    let done = async {
                        let guard = guards.get(&app).await?;
                        app.execute(fence, &guard).await
                    };
                    if let Err(failure) = done.await {
                        tracing::warn!(%failure, %run, "a run failed before it began, or was lost");
                    }
                });
            }
            while runs.try_join_next().is_some() {
                idle_since = tokio::time::Instant::now();
            }
            if !runs.is_empty() {
                idle_since = tokio::time::Instant::now();
            } else if idle.is_some_and(|idle| idle_since.elapsed() >= idle) {
                // Whoever queues a run from now on sees nobody who claims it and starts another.
                let id = self.instance.id().clone();
                if self
                    .store
                    .call(move |db| db.instances().retire(&id))
                    .await?
                {
                    return Ok(());
                }
                continue;
            }
            tokio::select! {
                () = cancel.cancelled() => break,
                event = watch.next() => cursor = event?.id.max(cursor),
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        self.stop_own_runs().await?;
        while runs.join_next().await.is_some() {}
        Ok(())
    }

    async fn claim_next(&self) -> Result<Option<Fence>> {
        let owner = self.instance.id().clone();
        if !self.store.read(|db| db.runs().any_queued()).await? {
            return Ok(None);
        }
        Ok(self
            .store
            .call(move |db| db.runs().claim_next(&owner))
            .await?)
    }

    async fn stop_own_runs(&self) -> Result<()> {
        for run in self.going().await? {
            if run.owner.as_ref() == Some(self.instance.id()) {
                self.command(&run.id, CommandKind::Stop, None, "runner")
                    .await?;
            }
        }
        Ok(())
    }
}
