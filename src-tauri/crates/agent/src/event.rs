//! What happens to a run, as the step function sees it.

use openspace_grounding::Evidence;
use openspace_llm::{Content, Reply};
use serde::{Deserialize, Serialize};

/// Why a run rests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    /// Somebody asked for it.
    Asked,
    /// The person moved the mouse or pressed a key.
    HumanInput,
    /// The person does something themselves; nothing is captured meanwhile.
    TakeOver,
    /// The session is locked.
    ScreenLocked,
    /// The display is switched off.
    ScreenOff,
}

/// How a tool call ended, ready for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// The model's id of the call.
    pub call: String,
    /// Text and pictures.
    pub content: Vec<Content>,
    /// It did not do what was asked.
    pub is_error: bool,
    /// Facts for the final report.
    pub evidence: Vec<Evidence>,
    /// It acted on the screen: whether anything visible changed. It only looked: true when the screen
    /// has changed since the last look.
    pub visible_change: Option<bool>,
}

/// Something happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The run begins, or goes on after an interruption; the conversation is in place.
    Started,
    /// The model answered.
    Replied(Box<Reply>),
    /// The model could not be asked, or did not answer, for good.
    ModelFailed(openspace_llm::Error),
    /// The provider asked to wait (`true`), or is answering again (`false`).
    ModelWaiting(bool),
    /// A tool call ended.
    CallFinished(CallResult),
    /// A person is asked; the call waits.
    ApprovalAsked(String),
    /// A person answered, or the question was withdrawn.
    ApprovalClosed(String),
    /// The person moved the mouse or pressed a key while this run has control.
    Hand {
        /// The run is to stop for it, not only to pause.
        stops: bool,
    },
    /// Another run has the screen.
    ScreenBusy,
    /// The screen is ours.
    ScreenAcquired,
    /// The person said something while the run was going.
    Message(String),
    /// Stop.
    Stop,
    /// Rest.
    Pause(Pause),
    /// Go on, with what the person wants to tell, if anything.
    Resume {
        /// A note such as what was done during a take-over.
        note: Option<String>,
    },
    /// There is something to see again.
    ScreenBack,
    /// Time went by.
    Tick,
    /// Words of the person are on their way that came before the run could end with its answer.
    Unheard,
    /// Everything that was cancelled has ended.
    Quiet,
}
