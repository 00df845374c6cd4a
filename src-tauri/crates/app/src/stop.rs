//! Stopping runs, also those whose runner no longer listens.

use std::time::Duration;

use openspace_store::{CommandKind, InstanceRow, RunId};

use crate::{App, failure::Result};

/// A runner that has not obeyed after this long is ended; its guard cleans up.
const OBEY: Duration = Duration::from_millis(1_500);
/// How long the cleaning up may take.
const CLEAN: Duration = Duration::from_secs(3);
const LOOK: Duration = Duration::from_millis(20);

impl App {
    /// Stops a run and returns once it has ended.
    ///
    /// A runner that hangs or is suspended cannot obey: it is killed, its guard releases input and
    /// ends its processes, and the run is `interrupted`.
    pub async fn stop(&self, run: &RunId, from: &str) -> Result<()> {
        self.command(run, CommandKind::Stop, None, from).await?;
        if self.ends_within(run, OBEY).await? {
            return Ok(());
        }
        let id = run.clone();
        let owner = self.store.read(move |db| {
            let run = db.runs().get(&id)?;
            run.owner
                .map(|owner| db.instances().get(&owner))
                .transpose()
        });
        if let Some(owner) = owner.await?
            && owner.pid != std::process::id()
        {
            self.end_runner(&owner).await?;
            self.ends_within(run, CLEAN).await?;
        }
        Ok(())
    }

    /// Stops everything that is going: first all are told, so that none waits for another to end.
    ///
    /// # Errors
    /// The first failure; the other runs are stopped all the same.
    pub async fn stop_all(&self, from: &str) -> Result<Vec<RunId>> {
        let going = self.going().await?;
        let stopping = going.iter().map(|run| self.stop(&run.id, from));
        futures_util::future::join_all(stopping)
            .await
            .into_iter()
            .collect::<Result<()>>()?;
        Ok(going.into_iter().map(|run| run.id).collect())
    }

    /// Kills a process that still holds its lock, so that its id cannot be anybody else's.
    async fn end_runner(&self, owner: &InstanceRow) -> Result<()> {
        let id = owner.id.clone();
        let alive = self.store.read(move |db| db.instances().alive()).await?;
        if alive.iter().any(|row| row.id == id) {
            tracing::warn!(pid = owner.pid, "the runner does not obey and is ended");
            openspace_process::kill_process(owner.pid);
        }
        Ok(())
    }

    async fn ends_within(&self, run: &RunId, wait: Duration) -> Result<bool> {
        let deadline = tokio::time::Instant::now() + wait;
        loop {
            let id = run.clone();
            self.store
                .call(|db| {
                    if db.runs().any_orphans()? {
                        db.runs().mark_orphans().map(drop)
                    } else {
                        Ok(())
                    }
                })
                .await?;
            let owned = self
                .store
                .read(move |db| Ok(db.runs().get(&id)?.owner.is_some()))
                .await?;
            if !owned {
                return Ok(true);
            }
            if tokio::time::Instant::now() >= deadline {
                return Ok(false);
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}
