//! A store of its own for each test.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use openspace_store::{
    Clock, Fence, Instance, InstanceKind, NewEvent, NewInstance, NewRun, RunId, Store, Windows,
};
use serde_json::json;
use tempfile::TempDir;

/// A temporary data folder, its store, and a clock that stands still.
pub(crate) struct Home {
    pub(crate) store: Store,
    pub(crate) time: Arc<AtomicI64>,
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let time = Arc::new(AtomicI64::new(1_000));
        let store = Store::open_with(folder.path(), clock(&time)).unwrap();
        Self {
            store,
            time,
            folder,
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The same folder through another handle, as another process would open it.
    pub(crate) fn another(&self) -> Store {
        Store::open_with(self.folder(), clock(&self.time)).unwrap()
    }

    pub(crate) fn instance(&self) -> Instance {
        Instance::register(&self.store, &new_instance()).unwrap()
    }

    pub(crate) fn enqueue(&self) -> RunId {
        self.store
            .call_blocking(|db| db.runs().enqueue(&new_run()))
            .unwrap()
            .run
    }

    /// A run that `instance` executes.
    pub(crate) fn claimed(&self, instance: &Instance) -> Fence {
        let run = self.enqueue();
        self.store
            .call_blocking(|db| db.runs().claim(&run, instance.id()))
            .unwrap()
            .expect("nobody else claims here")
    }
}

fn clock(time: &Arc<AtomicI64>) -> Clock {
    let time = Arc::clone(time);
    Arc::new(move || time.load(Ordering::SeqCst))
}

pub(crate) fn new_instance() -> NewInstance {
    NewInstance {
        kind: InstanceKind::Runner,
        pid: std::process::id(),
        claims_runs: true,
        version: "0.1.0".to_owned(),
        display: Some(":0".to_owned()),
        windows: Windows {
            ids: vec![7],
            pids: vec![11],
        },
    }
}

pub(crate) fn new_run() -> NewRun {
    NewRun {
        session: None,
        text: "Count the files\nin the folder".to_owned(),
        origin: "cli".to_owned(),
        parent: None,
        idempotency_key: None,
        limits: json!({ "steps": 5 }),
        settings: json!({ "model": "plan" }),
    }
}

pub(crate) fn event(key: &str, number: usize) -> NewEvent {
    NewEvent {
        topic: "test".to_owned(),
        key: key.to_owned(),
        kind: "test.happened".to_owned(),
        v: 1,
        payload: json!({ "number": number }),
    }
}

/// Waits until `condition` holds, for at most ten seconds.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let since = Instant::now();
    while !condition() {
        assert!(
            since.elapsed() < Duration::from_secs(10),
            "in vain waited until {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}
