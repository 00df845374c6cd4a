//! The database: events per second, and a run that another process can stop.

use std::{io::BufRead as _, path::Path, time::Instant};

use anyhow::{Context as _, Result};
use openspace_store::{
    CommandKind, Fence, Instance, InstanceKind, NewEvent, NewInstance, NewRun, RunId, Store,
    Windows,
};
use serde_json::{Value, json};

use crate::{Effort, figure::Report};

/// Events with a payload of usual size, each in a transaction of its own, as a run writes them.
pub(crate) fn measure(effort: Effort, report: &mut Report) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Store::open(folder.path())?;
    let run = RunId::random();
    let payload = json!({ "tool": "computer", "text": "x".repeat(200), "ok": true, "ms": 42 });
    let append = || {
        let event = NewEvent::of_run(&run, "bench.event", payload.clone());
        store.call_blocking(|db| db.events().append(event))
    };
    for _ in 0..effort.times(500) {
        append()?;
    }
    let count = effort.times(5_000);
    let started = Instant::now();
    for _ in 0..count {
        append()?;
    }
    let rate = count as f64 / started.elapsed().as_secs_f64();
    report.add("store_append_events_per_s", rate, "1/s");
    Ok(())
}

/// The other process of the stop measurement: for each run id on standard input it gives the command.
pub(crate) fn give_stops(folder: &Path) -> Result<()> {
    let store = Store::open(folder)?;
    for line in std::io::stdin().lock().lines() {
        let run: RunId = line?.trim().parse().context("reading a run id")?;
        store.call_blocking(|db| {
            db.commands()
                .give(&run, CommandKind::Stop, &Value::Null, "bench")
        })?;
    }
    Ok(())
}

/// A process that may execute runs.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only the screen's figures need it")
)]
pub(crate) fn register(store: &Store) -> Result<Instance> {
    let instance = NewInstance {
        kind: InstanceKind::Runner,
        pid: std::process::id(),
        claims_runs: true,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        display: None,
        windows: Windows::default(),
    };
    Ok(Instance::register(store, &instance)?)
}

/// A run that this process executes.
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only the screen's figures need it")
)]
pub(crate) fn begin_run(store: &Store, instance: &Instance) -> Result<Fence> {
    let new = NewRun {
        session: None,
        text: "type a long text".to_owned(),
        origin: "bench".to_owned(),
        parent: None,
        idempotency_key: None,
        limits: Value::Null,
        settings: Value::Null,
    };
    let fence = store.call_blocking(|db| {
        let queued = db.runs().enqueue(&new)?;
        db.runs().claim(&queued.run, instance.id())
    })?;
    fence.context("claiming a run that was just queued")
}
