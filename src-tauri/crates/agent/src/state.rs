//! Everything the step function knows about a run.

use std::collections::{BTreeMap, BTreeSet};

use openspace_grounding::Evidence;
use openspace_llm::{Content, Message, Price, Role, ToolCall};
use openspace_store::RunStatus;

use crate::{
    CallResult, Limits, Outcome, Pause, Reason, Used,
    limits::{ActiveClock, cost},
};

/// Where the conversation stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Phase {
    /// Nothing is under way.
    Idle,
    /// The model is being asked.
    Thinking,
    /// Tools run: the calls in the model's order, with the results so far.
    Acting {
        calls: Vec<ToolCall>,
        results: BTreeMap<String, CallResult>,
    },
    /// This would be the outcome, but words are on their way.
    Listening(Box<Outcome>),
    /// Something was cancelled and has not ended yet; then this becomes the outcome.
    Ending(Box<Outcome>),
    /// Over.
    Ended,
}

/// So long after an answer a person's hand may still be moving, milliseconds.
const HAND_LEAVES: u64 = 1_500;

/// A run between two events.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The conversation, ready to be sent.
    pub messages: Vec<Message>,
    pub(crate) phase: Phase,
    pub(crate) limits: Limits,
    pub(crate) used: Used,
    pub(crate) price: Option<Price>,
    pub(crate) clock: ActiveClock,
    pub(crate) pause: Option<Pause>,
    pub(crate) approvals: BTreeSet<String>,
    /// When the last open question was closed, on the clock of the steps.
    pub(crate) answered_at: Option<u64>,
    pub(crate) waiting_for_model: bool,
    pub(crate) waiting_for_screen: bool,
    pub(crate) said: Vec<String>,
    pub(crate) hints: Vec<&'static str>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) status: Option<(RunStatus, Option<Reason>)>,
    pub(crate) empty_replies: u32,
    pub(crate) without_effect: u32,
    pub(crate) asked_to_verify: bool,
    /// A call has succeeded since the model was asked to check.
    pub(crate) looked_since: bool,
    pub(crate) lone_actions: u32,
    pub(crate) recoveries: u32,
}

impl State {
    /// A run about to begin with this conversation, whose last message is the person's.
    pub fn new(messages: Vec<Message>, limits: Limits, price: Option<Price>) -> Self {
        Self::resume(messages, limits, price, Used::default(), Vec::new())
    }

    /// A run that goes on after an interruption, with what it had used and shown before.
    pub fn resume(
        messages: Vec<Message>,
        limits: Limits,
        price: Option<Price>,
        used: Used,
        evidence: Vec<Evidence>,
    ) -> Self {
        Self {
            messages,
            phase: Phase::Idle,
            limits,
            used,
            price,
            clock: ActiveClock::already(used.active_ms),
            pause: None,
            approvals: BTreeSet::new(),
            answered_at: None,
            waiting_for_model: false,
            waiting_for_screen: false,
            said: Vec::new(),
            hints: Vec::new(),
            evidence,
            status: None,
            empty_replies: 0,
            without_effect: 0,
            asked_to_verify: false,
            looked_since: false,
            lone_actions: 0,
            recoveries: 0,
        }
    }

    /// What the run has used so far.
    pub fn used(&self) -> Used {
        self.used
    }

    /// The run is over.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Ended
    }

    /// It is about to end with its final answer.
    pub(crate) fn has_answered(&self) -> bool {
        matches!(&self.phase, Phase::Ending(outcome) if outcome.status == RunStatus::Done)
    }

    /// The run rests at a person's wish or because nothing can be seen.
    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// The person's hand is at the mouse because of us: a question is open, or was just answered.
    pub(crate) fn expects_a_hand(&self, now: u64) -> bool {
        !self.approvals.is_empty()
            || self
                .answered_at
                .is_some_and(|at| now.saturating_sub(at) < HAND_LEAVES)
    }

    /// The run rests because nothing can be seen.
    pub(crate) fn is_paused_by_screen(&self) -> bool {
        matches!(self.pause, Some(Pause::ScreenLocked | Pause::ScreenOff))
    }

    /// Status and reason as they follow from everything else.
    pub(crate) fn derive_status(&self) -> (RunStatus, Option<Reason>) {
        match &self.phase {
            Phase::Ending(outcome) => {
                let stopping = matches!(outcome.status, RunStatus::Stopped);
                let status = if stopping {
                    RunStatus::Stopping
                } else {
                    RunStatus::Running
                };
                (status, outcome.reason.clone())
            }
            Phase::Idle
            | Phase::Thinking
            | Phase::Acting { .. }
            | Phase::Listening(_)
            | Phase::Ended => {
                if let Some(pause) = &self.pause {
                    (
                        RunStatus::Paused,
                        Some(Reason::Paused {
                            pause: pause.clone(),
                        }),
                    )
                } else if !self.approvals.is_empty() {
                    (RunStatus::NeedsApproval, None)
                } else if self.waiting_for_screen {
                    (RunStatus::Running, Some(Reason::WaitingForScreen))
                } else if self.waiting_for_model {
                    (RunStatus::Running, Some(Reason::WaitingForModel))
                } else if self.used.steps == 0 {
                    (RunStatus::Planning, None)
                } else {
                    (RunStatus::Running, None)
                }
            }
        }
    }

    /// The clock runs while the run itself works: not while a person or another run is waited for.
    pub(crate) fn turn_clock(&mut self, now: u64) {
        let working = matches!(self.phase, Phase::Thinking | Phase::Acting { .. })
            && self.pause.is_none()
            && self.approvals.is_empty()
            && !self.waiting_for_screen;
        self.clock.turn(now, working);
        self.used.active_ms = self.clock.spent_ms();
    }

    pub(crate) fn count(&mut self, usage: openspace_llm::Usage) {
        self.used.usage += usage;
        self.used.cost = self
            .price
            .as_ref()
            .map(|price| cost(&self.used.usage, price));
    }

    pub(crate) fn outcome(
        &self,
        status: RunStatus,
        reason: Option<Reason>,
        answer: String,
    ) -> Outcome {
        Outcome {
            status,
            reason,
            answer,
            evidence: self.evidence.clone(),
            used: self.used,
        }
    }

    /// Last text of the model, for outcomes that come without a final answer.
    pub(crate) fn last_words(&self) -> String {
        let assistant = self
            .messages
            .iter()
            .rev()
            .find(|message| message.role == Role::Assistant);
        let texts = assistant
            .into_iter()
            .flat_map(|message| &message.content)
            .filter_map(|content| match content {
                Content::Text(text) => Some(text.as_str()),
                Content::Image(_)
                | Content::ToolCall(_)
                | Content::ToolResult(_)
                | Content::Reasoning { .. } => None,
            });
        texts.collect::<Vec<_>>().join("\n")
    }
}
