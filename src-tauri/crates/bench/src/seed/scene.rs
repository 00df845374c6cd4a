//! A store whose clock is ours, and the process that executes its runs.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use anyhow::{Context as _, Result};
use openspace_app::{Display, Limits, RunSpec, SpecAttendance};
use openspace_store::{
    Fence, FrameId, Instance, InstanceId, InstanceKind, NewEvent, NewFrame, NewInstance,
    NewModelCall, NewRun, RunStatus, Store, Usage, Windows,
};
use serde_json::{Value, json};

/// The model of most runs.
pub(super) const MODEL: &str = "anthropic/claude-sonnet-4-6";
/// Where the runs work.
pub(super) const WORKSPACE: &str = "/home/ana/Documents";

pub(super) struct Scene {
    pub(super) store: Store,
    clock: Arc<AtomicI64>,
    instance: Instance,
}

/// What a run was asked to do and with what.
pub(super) struct Asked<'a> {
    pub(super) text: &'a str,
    pub(super) origin: &'a str,
    pub(super) model: &'a str,
    pub(super) backends: &'a [&'a str],
}

impl Scene {
    /// The data folder of a person who has seen the first steps, at a time, Unix milliseconds.
    pub(super) fn open(data: &Path, at: i64) -> Result<Self> {
        let clock = Arc::new(AtomicI64::new(at));
        let told = Arc::clone(&clock);
        let store = Store::open_with(data, Arc::new(move || told.load(Ordering::Relaxed)))?;
        let instance = NewInstance {
            kind: InstanceKind::Runner,
            pid: std::process::id(),
            claims_runs: true,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            display: None,
            windows: Windows::default(),
        };
        let instance = Instance::register(&store, &instance)?;
        let over = json!({ "step": "safety", "done": [], "over": true, "demo": null });
        store.call_blocking(|db| db.ui_state().set("welcome", Some(&over)))?;
        Ok(Self {
            store,
            clock,
            instance,
        })
    }

    pub(super) fn set_time(&self, at: i64) {
        self.clock.store(at, Ordering::Relaxed);
    }

    pub(super) fn pass(&self, milliseconds: i64) {
        self.clock.fetch_add(milliseconds, Ordering::Relaxed);
    }

    /// A run that has begun.
    pub(super) fn begin(&self, asked: &Asked<'_>) -> Result<Fence> {
        let spec = RunSpec {
            model: asked.model.to_owned(),
            base_url: None,
            backends: asked.backends.iter().map(|&name| name.to_owned()).collect(),
            workspace: WORKSPACE.into(),
            workspace_asked: false,
            preset: "ask-risky".to_owned(),
            allow: Vec::new(),
            display: Display::Session,
            monitor: None,
            attendance: SpecAttendance::Waits,
            attachments: Vec::new(),
        };
        let limits = Limits {
            steps: Some(50),
            ..Limits::default()
        };
        let new = NewRun {
            session: None,
            text: asked.text.to_owned(),
            origin: asked.origin.to_owned(),
            parent: None,
            idempotency_key: None,
            limits: serde_json::to_value(limits)?,
            settings: serde_json::to_value(spec)?,
        };
        let fence = self.store.call_blocking(|db| {
            let queued = db.runs().enqueue(&new)?;
            db.runs().claim(&queued.run, self.instance.id())
        })?;
        fence.context("claiming a run that was just queued")
    }

    pub(super) fn executor(&self) -> &InstanceId {
        self.instance.id()
    }

    pub(super) fn tell(&self, fence: &Fence, kind: &str, payload: Value) -> Result<()> {
        let event = NewEvent::of_run(fence.run(), kind, payload);
        self.store
            .call_blocking(|db| db.events().append_fenced(fence, event))?;
        Ok(())
    }

    /// The model's words at the beginning of a step.
    pub(super) fn say(&self, fence: &Fence, step: u32, text: &str) -> Result<()> {
        self.tell(fence, "step.text", json!({ "step": step, "text": text }))?;
        self.set_status(fence, RunStatus::Running)
    }

    pub(super) fn start_call(
        &self,
        fence: &Fence,
        step: u32,
        (call, tool, arguments): (&str, &str, &Value),
    ) -> Result<()> {
        let payload = json!({ "step": step, "call": call, "tool": tool, "arguments": arguments });
        self.store
            .call_blocking(|db| db.runs().set_step(fence, step, tool))?;
        self.tell(fence, "step.call_started", payload)
    }

    pub(super) fn finish_call(
        &self,
        fence: &Fence,
        step: u32,
        (call, tool): (&str, &str),
        milliseconds: i64,
        evidence: &Value,
    ) -> Result<()> {
        self.pass(milliseconds);
        let payload = json!({
            "step": step, "call": call, "tool": tool, "error": false, "failure": null,
            "message": null, "ms": milliseconds, "evidence": evidence, "visibleChange": null,
            "record": null,
        });
        self.tell(fence, "step.call_finished", payload)
    }

    pub(super) fn spend(&self, fence: &Fence, step: u32, model: &str, usage: Usage) -> Result<()> {
        let call = NewModelCall {
            run: Some(fence.run().clone()),
            step,
            role: "plan".to_owned(),
            model: model.to_owned(),
            usage,
            milliseconds: 2_400,
            error: None,
        };
        self.store
            .call_blocking(|db| db.model_calls().record(&call))?;
        Ok(())
    }

    pub(super) fn keep_frame(
        &self,
        fence: &Fence,
        step: u32,
        jpeg: &'static [u8],
    ) -> Result<FrameId> {
        let frame = NewFrame {
            step,
            media_type: "image/jpeg".to_owned(),
            data: jpeg.into(),
            width: 1_280,
            height: 800,
            display: "screen".to_owned(),
            geometry: json!({}),
            hash: String::new(),
        };
        Ok(self.store.keep_frame(fence, &frame)?)
    }

    pub(super) fn set_status(&self, fence: &Fence, status: RunStatus) -> Result<()> {
        self.store
            .call_blocking(|db| db.runs().set_status(fence, status, None))?;
        Ok(())
    }

    pub(super) fn finish(
        &self,
        fence: &Fence,
        status: RunStatus,
        reason: Option<&str>,
        outcome: &Value,
    ) -> Result<()> {
        self.store
            .call_blocking(|db| db.runs().finish(fence, status, reason, Some(outcome)))?;
        Ok(())
    }
}
