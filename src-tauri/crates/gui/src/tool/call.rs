//! One call: judge again, ask where something new comes up, act, answer.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use openspace_grounding::{CallContext, Output, Permit, ToolError};
use serde_json::Value;

use super::{
    Asked, GuiTool, Kind, Shared, Wanted,
    answer::{Answer, fresh},
};
use crate::{
    GuiError, GuiSession, Held, TellHeld,
    action::ComputerAction,
    session::{Hooks, Judged, Step},
};

/// Asked on the thread that injects, before every single event.
type MayAct = Arc<dyn Fn() -> bool + Send + Sync>;

/// Stops the thread when the future that waits for it is dropped.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

pub(super) async fn run(
    tool: &GuiTool,
    arguments: Value,
    permit: Permit,
    context: &CallContext,
) -> Result<Output, ToolError> {
    let shared = &tool.shared;
    let asked = shared.recall(&context.call).unwrap_or_default();
    let dropped = Arc::new(AtomicBool::new(false));
    let _stop = StopOnDrop(dropped.clone());
    let may_act = may_act(shared, context, dropped);
    let held = tell_held(context);

    let halts = shared.halts.load(Ordering::SeqCst);
    let (kind, vision, unseen) = (tool.kind, shared.vision, shared.is_unseen());
    let read = shared
        .blocking(move |session| Wanted::read(kind, &arguments, vision, unseen, session))
        .await?;
    let wanted = match read {
        Ok(wanted) => wanted,
        Err(GuiError::Stale(reason)) => {
            let shown = fresh(shared, context, reason, None).await?;
            shared.saw(halts);
            return Ok(shown);
        }
        Err(error) => return Err(error.into()),
    };
    if kind == Kind::Tree {
        let text = shared.blocking(GuiSession::list_elements).await??;
        return Ok(Output::text(text));
    }
    if wanted.actions.iter().any(ComputerAction::is_control) {
        tokio::select! {
            () = context.cancel.cancelled() => return Err(ToolError::Cancelled),
            acquired = context.gate.acquire_control() => acquired?,
        }
    }

    let mut answer = Answer::new(&wanted, kind == Kind::Batch);
    let Asked {
        actions: mut permitted,
        first,
    } = asked;
    let mut same = first.filter(|_| permit == Permit::AfterWait);
    let wanted = Arc::new(wanted);
    for index in 0..wanted.actions.len() {
        // A picture in the middle of a batch would be thrown away: there is one at its end.
        let last = index + 1 == wanted.actions.len();
        let action = &wanted.actions[index];
        if !last && matches!(action, ComputerAction::Screenshot { monitor: None }) {
            continue;
        }
        let expected = if action.is_control() {
            same.take()
        } else {
            None
        };
        let outcome = step(
            shared,
            context,
            &wanted,
            index,
            &mut permitted,
            expected,
            &may_act,
            &held,
        )
        .await;
        match outcome {
            Ok(done) => answer.add(index, done),
            Err(Failure::Tool(error)) => {
                // What was done before stays told; a call that did nothing just fails.
                if answer.is_empty() || error == ToolError::Cancelled {
                    return Err(error);
                }
                return answer
                    .broken(shared, context, index, &error.to_string())
                    .await;
            }
            Err(Failure::Gui(GuiError::Stale(reason))) if answer.is_empty() => {
                return fresh(shared, context, reason, None).await;
            }
            Err(Failure::Gui(GuiError::Cancelled)) => return Err(ToolError::Cancelled),
            Err(Failure::Gui(error)) => {
                let interrupted = matches!(error, GuiError::Interrupted(_));
                let error = ToolError::from(error);
                if error == ToolError::Cancelled || (answer.is_empty() && !interrupted) {
                    return Err(error);
                }
                return answer
                    .broken(shared, context, index, &error.to_string())
                    .await;
            }
        }
    }
    let output = answer.finish(shared, context).await?;
    // What acts has compared the screen with the last picture before.
    let looked = |action: &ComputerAction| action.is_look() || action.is_control();
    if wanted.actions.iter().any(looked) {
        shared.saw(halts);
    }
    Ok(output)
}

enum Failure {
    Tool(ToolError),
    Gui(GuiError),
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        Self::Tool(error)
    }
}

/// Does one action, asking first for whatever has not been permitted in this call.
#[expect(
    clippy::too_many_arguments,
    reason = "the state of one call, used here only"
)]
async fn step(
    shared: &Arc<Shared>,
    context: &CallContext,
    wanted: &Arc<Wanted>,
    index: usize,
    permitted: &mut Vec<openspace_grounding::Action>,
    mut same: Option<Judged>,
    may_act: &MayAct,
    held: &TellHeld,
) -> Result<crate::session::Done, Failure> {
    // Once for what was judged before, and again for every window that comes up meanwhile; a
    // screen on which that never ends is not one to act on.
    for _ in 0..3 {
        let (wanted, given) = (wanted.clone(), permitted.clone());
        let (may_act, held, expected) = (may_act.clone(), held.clone(), same.take());
        let outcome = shared
            .blocking(move |session| {
                let hooks = Hooks {
                    may_act: &*may_act,
                    held: &held,
                };
                let step = session.step(
                    &wanted.actions[index],
                    wanted.base.as_ref(),
                    &given,
                    expected.as_ref(),
                    index + 1 == wanted.actions.len(),
                    &hooks,
                )?;
                match step {
                    Step::Ask(judged) => Ok(Step::Ask(session.with_picture(judged)?)),
                    done @ Step::Done(_) => Ok(done),
                }
            })
            .await?;
        match outcome.map_err(Failure::Gui)? {
            Step::Done(done) => return Ok(*done),
            Step::Ask(judged) => {
                let permit = tokio::select! {
                    () = context.cancel.cancelled() => return Err(ToolError::Cancelled.into()),
                    permit = context.gate.permit(&judged.actions) => {
                        permit.map_err(|denied| Failure::Tool(denied.into()))?
                    }
                };
                permitted.extend(judged.actions.iter().cloned());
                same = Some(judged).filter(|_| permit == Permit::AfterWait);
            }
        }
    }
    Err(Failure::Gui(GuiError::Stale(
        "the window at the target keeps changing; nothing was done, here is the screen as it is"
            .into(),
    )))
}

fn may_act(shared: &Arc<Shared>, context: &CallContext, dropped: Arc<AtomicBool>) -> MayAct {
    let (shared, gate, cancel) = (shared.clone(), context.gate.clone(), context.cancel.clone());
    let halts = shared.halts.load(Ordering::SeqCst);
    Arc::new(move || {
        !dropped.load(Ordering::SeqCst)
            && shared.halts.load(Ordering::SeqCst) == halts
            && !cancel.is_cancelled()
            && gate.may_act()
    })
}

/// Tells the guard what is pressed whenever that changes.
fn tell_held(context: &CallContext) -> TellHeld {
    let keep = context.keep.clone();
    let told: Mutex<Option<Held>> = Mutex::new(None);
    Arc::new(move |held| {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.as_ref() == Some(held) {
            return;
        }
        let value = if held.is_empty() {
            Value::Null
        } else {
            serde_json::to_value(held).unwrap_or_default()
        };
        keep.held(&value);
        *told = Some(held.clone());
    })
}
