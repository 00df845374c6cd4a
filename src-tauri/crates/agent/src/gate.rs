//! Where calls of a run ask before they act.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use openspace_grounding::{
    Action, Denied, Gate, Permit, ToolError,
    policy::{Decision, Grants, Policy, Question},
};
use openspace_store::{
    Answer, Approval, ApprovalId, ApprovalState, Decision as Reply, Fence, NewApproval, Store,
    Watch,
};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::{Event, flags::Flags};

/// How often a run that waits for the screen tries again.
const RETRY: Duration = Duration::from_millis(100);
/// How often an answer is looked for while events cannot be read.
const LOOK: Duration = Duration::from_secs(1);

/// Whether somebody is there to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attendance {
    /// Questions wait until they are answered.
    Waits,
    /// Questions are denied at once.
    Absent,
    /// Questions are denied when nobody has answered for this long.
    WaitsFor(Duration),
}

/// Who may move the mouse, across processes.
pub trait Control: Send + Sync {
    /// True once this run has the display; taking it twice is fine.
    fn try_acquire(&self) -> io::Result<bool>;

    /// Gives it back.
    fn release(&self);
}

/// What all gates of a run share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) fence: Fence,
    pub(crate) flags: Arc<Flags>,
    pub(crate) cancel: CancellationToken,
    pub(crate) events: UnboundedSender<Event>,
    pub(crate) policy: Policy,
    pub(crate) grants: Mutex<Grants>,
    pub(crate) attendance: Attendance,
    pub(crate) control: Arc<dyn Control>,
}

/// How a call was allowed.
pub(crate) enum Permitted {
    /// As it is.
    AsAsked(Permit),
    /// With this command line in place of its own.
    Edited(String),
}

/// The gate of one call.
pub(crate) struct CallGate {
    pub(crate) shared: Arc<Shared>,
    pub(crate) step: u32,
    pub(crate) call: String,
}

impl CallGate {
    fn decide(&self, actions: &[Action]) -> Decision {
        let grants = self
            .shared
            .grants
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.shared.policy.decide(actions, &grants)
    }

    /// As [`Gate::permit`]. The person may allow another command line if the call is `editable`.
    pub(crate) async fn permit_call(
        &self,
        actions: &[Action],
        editable: bool,
    ) -> Result<Permitted, Denied> {
        match self.decide(actions) {
            Decision::Allow => Ok(Permitted::AsAsked(Permit::Immediate)),
            Decision::Deny(denied) => Err(denied),
            Decision::Ask(question) => self.ask(&question, editable).await,
        }
    }

    /// Judges what a person wrote. They have allowed it by writing it; what no answer allows is
    /// refused all the same.
    pub(crate) fn permit_edited(&self, actions: &[Action]) -> Result<Permit, Denied> {
        match self.decide(actions) {
            Decision::Allow | Decision::Ask(_) => Ok(Permit::AfterWait),
            Decision::Deny(denied) => Err(denied),
        }
    }

    /// Stores the question, then waits for the answer, however many processes may give it.
    async fn ask(&self, question: &Question, editable: bool) -> Result<Permitted, Denied> {
        let shared = &self.shared;
        if shared.attendance == Attendance::Absent {
            return Err(Denied {
                reason: UNATTENDED.to_owned(),
            });
        }
        let stored = |error: openspace_store::Error| Denied {
            reason: format!("the question could not be stored: {error}"),
        };
        let cursor = shared
            .store
            .read(|db| db.events().last_id())
            .await
            .map_err(stored)?;
        let mut watch = shared.store.watch(cursor).map_err(stored)?;
        let risk = serde_json::to_value(question.risk).ok();
        let risk = risk
            .as_ref()
            .and_then(|risk| risk.as_str())
            .map(str::to_owned);
        let new = NewApproval {
            step: self.step,
            call: self.call.clone(),
            question: serde_json::to_value(question).unwrap_or_default(),
            risk: risk.unwrap_or_default(),
            irreversible: !question.reversible,
            editable,
        };
        let fence = shared.fence.clone();
        let id = shared
            .store
            .call(move |db| db.approvals().ask(&fence, &new))
            .await
            .map_err(stored)?;
        let _gone = shared.events.send(Event::ApprovalAsked(id.to_string()));
        let deadline = match shared.attendance {
            Attendance::WaitsFor(wait) => Some(tokio::time::Instant::now() + wait),
            Attendance::Waits | Attendance::Absent => None,
        };
        let mut troubled = false;
        let answer = loop {
            if let Some(approval) = self.closed(&id).await {
                break Some(approval);
            }
            // Only the person, the end of the run and the time close a question.
            tokio::select! {
                () = shared.cancel.cancelled() => break None,
                () = sleep_until(deadline) => break None,
                () = news(&mut watch, &mut troubled) => {}
            }
        };
        let result = if let Some(approval) = answer {
            self.take(approval, question)
        } else {
            // Nobody answers any more: close the question, so that a late yes allows nothing.
            self.close_unanswered(&id).await;
            // Somebody may have answered in this very moment; then that counts.
            match self.closed(&id).await {
                Some(approval) if !shared.cancel.is_cancelled() => self.take(approval, question),
                _ => Err(Denied {
                    reason: UNANSWERED.to_owned(),
                }),
            }
        };
        let _gone = shared.events.send(Event::ApprovalClosed(id.to_string()));
        result
    }

    async fn close_unanswered(&self, id: &ApprovalId) {
        let note = Some("nobody answered in time".to_owned());
        let (id, no) = (
            id.clone(),
            Answer {
                decision: Reply::Deny,
                edited: None,
                note,
            },
        );
        let closing = self
            .shared
            .store
            .call(move |db| db.approvals().answer(&id, &no, "run"));
        if let Err(error) = closing.await {
            tracing::warn!(%error, "closing an approval that nobody answered");
        }
    }

    async fn closed(&self, id: &ApprovalId) -> Option<Approval> {
        let id = id.clone();
        match self
            .shared
            .store
            .read(move |db| db.approvals().get(&id))
            .await
        {
            Ok(approval) if approval.state == ApprovalState::Open => None,
            Ok(approval) => Some(approval),
            Err(error) => {
                tracing::warn!(%error, "reading an approval");
                None
            }
        }
    }

    fn take(&self, approval: Approval, question: &Question) -> Result<Permitted, Denied> {
        match approval.state {
            ApprovalState::AllowedOnce => Ok(match approval.edited {
                Some(line) => Permitted::Edited(line),
                None => Permitted::AsAsked(Permit::AfterWait),
            }),
            ApprovalState::AllowedForRun => {
                let mut grants = self
                    .shared
                    .grants
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner);
                for offer in &question.offers {
                    grants.add(offer);
                }
                Ok(Permitted::AsAsked(Permit::AfterWait))
            }
            ApprovalState::Denied | ApprovalState::Withdrawn | ApprovalState::Open => {
                let note = approval.note.filter(|note| !note.trim().is_empty());
                let reason = match note {
                    Some(note) => format!("the person said no: {note}"),
                    None => "the person said no".to_owned(),
                };
                Err(Denied { reason })
            }
        }
    }
}

const UNATTENDED: &str = "this needs a person's permission and nobody can be asked; do without it or say what is missing";
const UNANSWERED: &str =
    "this needs a person's permission and nobody answered; do without it or say what is missing";
/// The store takes no such answer; were there one, what was asked must not run in its place.
const NOT_EDITABLE: &str = "the person allowed another command, which cannot be run in this place";

/// Returns when there may be an answer. Where events cannot be read, that is looked for every now and
/// then; the trouble is told once.
async fn news(watch: &mut Watch, troubled: &mut bool) {
    match watch.next().await {
        Ok(_) => *troubled = false,
        Err(error) => {
            if !std::mem::replace(troubled, true) {
                tracing::warn!(%error, "reading events while a question is open");
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

async fn sleep_until(deadline: Option<tokio::time::Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[async_trait]
impl Gate for CallGate {
    async fn permit(&self, actions: &[Action]) -> Result<Permit, Denied> {
        match self.permit_call(actions, false).await? {
            Permitted::AsAsked(permit) => Ok(permit),
            Permitted::Edited(_) => Err(Denied {
                reason: NOT_EDITABLE.to_owned(),
            }),
        }
    }

    fn may_act(&self) -> bool {
        self.shared.flags.may_act()
    }

    async fn acquire_control(&self) -> Result<(), ToolError> {
        let mut waiting = false;
        loop {
            match self.shared.control.try_acquire() {
                Ok(true) => break,
                Ok(false) => {}
                Err(error) => {
                    return Err(ToolError::Unavailable(format!(
                        "the screen cannot be reserved: {error}"
                    )));
                }
            }
            if !waiting {
                waiting = true;
                let _gone = self.shared.events.send(Event::ScreenBusy);
            }
            tokio::select! {
                () = self.shared.cancel.cancelled() => return Err(ToolError::Cancelled),
                () = tokio::time::sleep(RETRY) => {}
            }
        }
        if waiting {
            let _gone = self.shared.events.send(Event::ScreenAcquired);
        }
        Ok(())
    }
}
