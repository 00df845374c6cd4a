//! Waiting for runs: any number of calls at once, with one look at the store.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use openspace_app::{App, Failure, RunId};
use tokio::{sync::broadcast, time::MissedTickBehavior};

/// Rings that a slow listener may lag behind before it has to look by itself.
const BACKLOG: usize = 128;
/// How often a run is looked at although nothing rang.
const LOOK: Duration = Duration::from_secs(1);

/// Rings when something happens to a run. While nobody listens it costs nothing.
pub(super) struct Bell {
    rings: broadcast::Sender<Arc<str>>,
    /// Somebody follows the events.
    followed: Arc<Mutex<bool>>,
}

/// Hears the bell of one run.
pub(super) struct Listener {
    run: RunId,
    rings: broadcast::Receiver<Arc<str>>,
}

impl Default for Bell {
    fn default() -> Self {
        Self {
            rings: broadcast::channel(BACKLOG).0,
            followed: Arc::default(),
        }
    }
}

impl Bell {
    pub(super) fn listen(&self, app: &Arc<App>, run: &RunId) -> Listener {
        // Under the lock, so that whoever follows does not leave between these two lines.
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        let rings = self.rings.subscribe();
        if !std::mem::replace(&mut *followed, true) {
            let (app, rings) = (Arc::clone(app), self.rings.clone());
            let followed = Arc::clone(&self.followed);
            tokio::spawn(async move {
                if let Err(failure) = follow(&app, &rings, &followed).await {
                    // Listeners look by themselves every second, and the next one starts this again.
                    tracing::warn!(%failure, "following runs");
                    *followed.lock().unwrap_or_else(PoisonError::into_inner) = false;
                }
            });
        }
        Listener {
            run: run.clone(),
            rings,
        }
    }
}

impl Listener {
    /// Returns when something happened to the run, or after a second. May be dropped at any time.
    pub(super) async fn next(&mut self) {
        let rung = async {
            loop {
                match self.rings.recv().await {
                    Ok(run) if *run == *self.run.as_str() => return,
                    Ok(_) => {}
                    Err(_) => return,
                }
            }
        };
        // A second without a ring is as good as one.
        let _quiet = tokio::time::timeout(LOOK, rung).await;
    }
}

/// Rings for every event of every run until nobody listens any more, and meanwhile looks after the
/// runs: one whose process is gone is `interrupted`, and a queued one finds a runner.
async fn follow(
    app: &App,
    rings: &broadcast::Sender<Arc<str>>,
    followed: &Mutex<bool>,
) -> Result<(), Failure> {
    let cursor = app.store.read(|db| db.events().last_id()).await?;
    let mut watch = app.store.watch(cursor)?;
    let mut look = tokio::time::interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            event = watch.next() => {
                let event = event?;
                if event.topic == "run" {
                    // Nobody listening just now is no failure.
                    let _unheard = rings.send(event.key.into());
                }
            }
            _ = look.tick() => {
                {
                    let mut followed = followed.lock().unwrap_or_else(PoisonError::into_inner);
                    if rings.receiver_count() == 0 {
                        *followed = false;
                        return Ok(());
                    }
                }
                look_after(app).await?;
            }
        }
    }
}

async fn look_after(app: &App) -> Result<(), Failure> {
    let (orphans, queued) = app
        .store
        .read(|db| Ok((db.runs().any_orphans()?, db.runs().any_queued()?)))
        .await?;
    if orphans {
        app.store.call(|db| db.runs().mark_orphans()).await?;
    }
    if queued {
        app.ensure_runner().await?;
    }
    Ok(())
}
