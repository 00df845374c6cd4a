//! What the step function wants done.

use openspace_grounding::Evidence;
use openspace_llm::{Message, ToolCall};
use openspace_store::RunStatus;
use serde::{Deserialize, Serialize};

use crate::{Limit, Pause, Used};

/// Why a run has the status it has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// It rests.
    Paused {
        /// Why.
        pause: Pause,
    },
    /// The provider asked to wait.
    WaitingForModel,
    /// Another run has the screen.
    WaitingForScreen,
    /// A bound was reached.
    Limit {
        /// Which.
        limit: Limit,
    },
    /// The model asks the person.
    Question {
        /// Its words.
        text: String,
    },
    /// The model says that it cannot be done.
    GaveUp {
        /// Its words.
        text: String,
    },
    /// The model declined.
    Refused,
    /// What was done on the screen had no visible effect, again and again.
    NoEffect {
        /// Actions in a row without one.
        actions: u32,
    },
    /// The model sent nothing, again and again.
    EmptyReplies,
    /// The model could not be asked.
    Model {
        /// What went wrong, in words.
        message: String,
        /// Trying again later may help.
        retryable: bool,
    },
    /// It could not begin as it was asked to.
    NotStarted {
        /// What is wrong or missing, in words.
        message: String,
    },
    /// The program itself failed.
    Internal {
        /// What went wrong, in words.
        message: String,
    },
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// A final status.
    pub status: RunStatus,
    /// Why, where the status alone does not say it.
    pub reason: Option<Reason>,
    /// The model's last words to the person.
    pub answer: String,
    /// What really happened.
    pub evidence: Vec<Evidence>,
    /// What it took.
    pub used: Used,
}

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Send [`crate::State::messages`] to the model.
    CallModel,
    /// Run tools and report each by [`crate::Event::CallFinished`].
    RunCalls {
        /// Number of the step they belong to.
        step: u32,
        /// In the model's order.
        calls: Vec<ToolCall>,
    },
    /// Keep a message of the conversation.
    Remember(Message),
    /// Tell everybody the status.
    Status(RunStatus, Option<Reason>),
    /// No input event from now on; what is pressed is released.
    HaltInput,
    /// Input is allowed again.
    AllowInput,
    /// Drop the model call and every tool call, then report [`crate::Event::Quiet`].
    CancelAll,
    /// The run is over.
    Finish(Box<Outcome>),
}
