//! Executing queued runs: in a process of its own, or inside whatever process claims them.

use std::{
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use futures_util::future::join_all;
use openspace_store::{Fence, Watch};
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

/// How long a runner that is told to end waits for its runs.
const FAREWELL: Duration = Duration::from_secs(20);
/// How long it is waited for a store that fails, at first and at most.
const TROUBLED: Duration = Duration::from_millis(500);
const MOST_TROUBLED: Duration = Duration::from_secs(5);

/// The events that may announce a queued run. Where they cannot be followed, looking has to do.
#[derive(Default)]
struct News(Option<Watch>);

impl News {
    /// May be dropped while it waits.
    async fn come(&mut self, app: &App) {
        if let Err(error) = self.follow(app).await {
            tracing::warn!(%error, "following what happens");
            self.0 = None;
            std::future::pending::<()>().await;
        }
    }

    async fn follow(&mut self, app: &App) -> openspace_store::Result<()> {
        if self.0.is_none() {
            let last = app.store.read(|db| db.events().last_id()).await?;
            self.0 = Some(app.store.watch(last)?);
        }
        match &mut self.0 {
            Some(watch) => watch.next().await.map(drop),
            None => Ok(()),
        }
    }
}

/// A store that fails again and again is asked more and more seldom.
#[derive(Default)]
struct Trouble(Option<Duration>);

impl Trouble {
    fn told(&mut self, failure: &Failure) {
        let pause = self.0.map_or(TROUBLED, |pause| pause * 2);
        self.0 = Some(pause.min(MOST_TROUBLED));
        tracing::warn!(%failure, "queued runs wait for the store");
    }

    fn is_over(&mut self) {
        self.0 = None;
    }

    fn is_on(&self) -> bool {
        self.0.is_some()
    }

    fn pause(&self) -> Duration {
        self.0.unwrap_or(LOOK)
    }
}

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
    /// that still goes is stopped. A store that fails is waited for: as long as this process lives,
    /// nobody else executes what it has claimed, nor what it says that it claims.
    pub async fn serve_runs(
        self: &Arc<Self>,
        guards: Arc<GuardSeat>,
        idle: Option<Duration>,
        cancel: CancellationToken,
    ) {
        let mut runs = JoinSet::new();
        let mut news = News::default();
        let mut trouble = Trouble::default();
        let mut idle_since = tokio::time::Instant::now();
        let _pruning = self.prune_regularly();
        while !cancel.is_cancelled() {
            let claimed = tokio::select! {
                () = cancel.cancelled() => break,
                claimed = self.claim_next() => claimed,
            };
            match claimed {
                Ok(Some(fence)) => {
                    trouble.is_over();
                    let (app, guards) = (Arc::clone(self), Arc::clone(&guards));
                    runs.spawn(async move { app.execute_for_good(fence, &guards).await });
                    continue;
                }
                Ok(None) => trouble.is_over(),
                Err(failure) => trouble.told(&failure),
            }
            while runs.try_join_next().is_some() {
                idle_since = tokio::time::Instant::now();
            }
            if !runs.is_empty() {
                idle_since = tokio::time::Instant::now();
            } else if idle.is_some_and(|idle| idle_since.elapsed() >= idle) {
                // Whoever queues a run from now on sees nobody who claims it and starts another.
                let id = self.instance.id().clone();
                match self.store.call(move |db| db.instances().retire(&id)).await {
                    Ok(true) => return,
                    Ok(false) => continue,
                    Err(error) => trouble.told(&error.into()),
                }
            }
            tokio::select! {
                () = cancel.cancelled() => break,
                () = news.come(self), if !trouble.is_on() => {}
                () = tokio::time::sleep(trouble.pause()) => {}
            }
        }
        self.end_own_runs().await;
        let ending = async { while runs.join_next().await.is_some() {} };
        if tokio::time::timeout(FAREWELL, ending).await.is_err() {
            tracing::warn!("not every run ends; the guard ends what is left");
        }
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

    /// Tells every run of this process to stop.
    async fn end_own_runs(&self) {
        let runs = self.own_runs.stop_all();
        let stopping = runs.iter().map(|run| self.begin_stop(run, "runner"));
        for stopped in join_all(stopping).await {
            if let Err(failure) = stopped {
                tracing::warn!(%failure, "storing that a run was told to stop");
            }
        }
    }
}
