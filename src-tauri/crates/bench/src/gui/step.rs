//! What a step costs besides the model: the real tool, with everything it keeps.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use async_trait::async_trait;
use openspace_grounding::{
    Action, Backend as _, CallContext, Denied, Folders, Gate, GuardLink, Permit, StoreKeep, Tool,
    ToolError,
};
use openspace_gui::{GuiBackend, MaskedScreen, Options, TargetRing};
use openspace_store::Store;
use openspace_testkit::{RawTarget, TestScreen};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::see::{STANDARD, busy_window};
use crate::{
    Effort,
    figure::{Report, percentile},
    store::{begin_run, register},
};

/// Everything is allowed: judging is measured with the policy, not here.
struct Open;

#[async_trait]
impl Gate for Open {
    async fn permit(&self, _: &[Action]) -> Result<Permit, Denied> {
        Ok(Permit::Immediate)
    }

    fn may_act(&self) -> bool {
        true
    }

    async fn acquire_control(&self) -> Result<(), ToolError> {
        Ok(())
    }
}

/// Nobody dies here.
struct NoGuard;

impl GuardLink for NoGuard {
    fn group_started(&self, _: u32) {}
    fn group_ended(&self, _: u32) {}
    fn held(&self, _: &Value) {}
}

/// Click, wait for a screen that stays still, capture, encode, compare, keep the frame; without and with
/// a ring around the place of the click.
pub(crate) fn measure(screen: &TestScreen, effort: Effort, report: &mut Report) -> Result<()> {
    let ring = Arc::new(TargetRing::new(
        Box::new(super::ring(screen)?),
        Box::new(|| true),
    ));
    for (name, ring) in [
        ("step_overhead_ms_p50", None),
        ("step_overhead_ringed_ms_p50", Some(ring)),
    ] {
        let mut samples = steps(screen, effort, ring)?;
        report.add(name, percentile(&mut samples, 0.5), "ms");
    }
    Ok(())
}

fn steps(
    screen: &TestScreen,
    effort: Effort,
    ring: Option<Arc<TargetRing>>,
) -> Result<Vec<Duration>> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let folder = tempfile::tempdir()?;
    let store = Store::open(folder.path())?;
    let instance = register(&store)?;
    let fence = begin_run(&store, &instance)?;
    let _target = RawTarget::start(screen, busy_window(screen))?;
    let own = super::open(screen)?;
    let seen = MaskedScreen::new(own.screen, Arc::new(|_| false)).with_ring(ring.clone());
    let mut options = Options::new(Arc::new(seen), own.input, own.tree, STANDARD);
    options.ring = ring;
    let backend = GuiBackend::new(options);
    let folders = Arc::new(Folders {
        workspace: folder.path().to_owned(),
        allowed: Vec::new(),
        protected: Vec::new(),
        scratch: folder.path().to_owned(),
    });
    let context = |step: u32| CallContext {
        run: fence.run().clone(),
        step,
        call: format!("call{step}"),
        cancel: CancellationToken::new(),
        gate: Arc::new(Open),
        keep: Arc::new(StoreKeep::new(
            store.clone(),
            fence.clone(),
            step,
            Arc::new(NoGuard),
        )),
        folders: Arc::clone(&folders),
    };
    runtime.block_on(async {
        let tools = backend.tools().await;
        let tool = tools
            .iter()
            .find(|tool| tool.spec().name == "computer")
            .context("the tool `computer`")?;
        let mut samples = Vec::new();
        call(
            tool.as_ref(),
            json!({ "action": "screenshot" }),
            &context(1),
        )
        .await?;
        for step in 2..2 + effort.times(60) as u32 {
            let started = Instant::now();
            call(
                tool.as_ref(),
                json!({ "action": "left_click", "coordinate": [400, 300] }),
                &context(step),
            )
            .await?;
            samples.push(started.elapsed());
        }
        Ok(samples)
    })
}

async fn call(tool: &dyn Tool, arguments: Value, context: &CallContext) -> Result<()> {
    let actions = tool.actions(&arguments, context).await?;
    ensure!(!actions.is_empty(), "a step acts on something");
    let output = tool.call(arguments, Permit::Immediate, context).await?;
    ensure!(
        !output.evidence.is_empty(),
        "a step leaves a frame: {output:?}"
    );
    Ok(())
}
