//! The runs that this process executes, where a stop reaches them without the store.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use openspace_agent::Brake;
use openspace_store::{Fence, RunId};
use tokio::task::JoinSet;

use crate::guard::GuardPipe;

/// How often a stop that was left beside the store is looked for.
const LOOK: Duration = Duration::from_millis(40);

/// What this process executes.
#[derive(Default)]
pub(crate) struct OwnRuns {
    going: Arc<Mutex<BTreeMap<RunId, Going>>>,
}

struct Going {
    fence: Fence,
    brake: Brake,
    guard: Option<GuardPipe>,
    at_rest: bool,
}

/// A run's place among them; dropping it gives it up.
pub(crate) struct Seat {
    going: Arc<Mutex<BTreeMap<RunId, Going>>>,
    pub(crate) fence: Fence,
    pub(crate) brake: Brake,
}

impl OwnRuns {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunId, Going>> {
        self.going.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run is executed from now on.
    pub(crate) fn add(&self, fence: Fence) -> Seat {
        let brake = Brake::default();
        let going = Going {
            fence: fence.clone(),
            brake: brake.clone(),
            guard: None,
            at_rest: false,
        };
        self.lock().insert(fence.run().clone(), going);
        Seat {
            going: Arc::clone(&self.going),
            fence,
            brake,
        }
    }

    /// Ends a run at once. None where it is not executed here.
    pub(crate) fn stop(&self, run: &RunId) -> Option<Fence> {
        let going = self.lock();
        let going = going.get(run)?;
        going.brake.pull();
        Some(going.fence.clone())
    }

    /// The same for every run.
    pub(crate) fn stop_all(&self) -> Vec<RunId> {
        let going = self.lock();
        let mut stopped = Vec::new();
        for (run, going) in going.iter().filter(|(_, going)| !going.at_rest) {
            going.brake.pull();
            stopped.push(run.clone());
        }
        stopped
    }

    /// Has the guard see to it that a run presses nothing and has no process.
    pub(crate) fn clear(&self, run: &RunId) {
        let guard = self.lock().get(run).and_then(|going| going.guard.clone());
        if let Some(guard) = guard {
            guard.clear(run);
        }
    }

    /// Whether nothing of a run goes on any more and only its end is to be stored; none where it is not
    /// executed here.
    pub(crate) fn is_at_rest(&self, run: &RunId) -> Option<bool> {
        self.lock().get(run).map(|going| going.at_rest)
    }

    /// How many do something.
    pub(crate) fn count(&self) -> usize {
        let going = self.lock();
        going.values().filter(|going| !going.at_rest).count()
    }
}

impl Seat {
    /// Who cleans up should it be necessary.
    pub(crate) fn guarded_by(&self, guard: &GuardPipe) {
        self.change(|going| going.guard = Some(guard.clone()));
    }

    /// Nothing of it goes on any more.
    pub(crate) fn rests(&self) {
        self.change(|going| {
            going.at_rest = true;
            going.guard = None;
        });
    }

    fn change(&self, change: impl FnOnce(&mut Going)) {
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(going) = going.get_mut(self.fence.run()) {
            change(going);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        going.remove(self.fence.run());
    }
}

/// Where others leave a stop for one execution of a run when the store does not take it, or nobody
/// hears it. The runner takes the file away as soon as it has stopped; one that stays tells the guard
/// that the runner does not hear.
pub(crate) fn stop_file(runtime: &Path, fence: &Fence) -> PathBuf {
    runtime.join(format!("stop-{}-{}", fence.run(), fence.claims()))
}

/// Stops the run when its stop is left there, until what this answers is dropped.
pub(crate) fn heed(runtime: &Path, seat: &Seat) -> JoinSet<()> {
    let (file, brake) = (stop_file(runtime, &seat.fence), seat.brake.clone());
    let mut heeding = JoinSet::new();
    heeding.spawn(async move {
        loop {
            if file.exists() {
                brake.pull();
                if let Err(error) = std::fs::remove_file(&file) {
                    tracing::warn!(%error, "taking away a stop that was heard");
                }
            }
            tokio::time::sleep(LOOK).await;
        }
    });
    heeding
}
