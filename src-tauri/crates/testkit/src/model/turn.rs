//! What the model answers: text, calls, and the ways an answer can go wrong.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::seen::SeenRequest;
use crate::find::Point;

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// The arguments as JSON text, or anything else to see what happens.
    pub arguments: String,
}

impl Call {
    /// A call with proper arguments.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers write json!() in place"
    )]
    pub fn new(name: &str, arguments: Value) -> Self {
        Self::raw(name, arguments.to_string())
    }

    /// A call whose argument text is sent as it is, valid JSON or not.
    pub fn raw(name: &str, arguments: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            arguments: arguments.into(),
        }
    }

    /// A call with an argument of `bytes` letters, 200 KB and more.
    pub fn huge(name: &str, argument: &str, bytes: usize) -> Self {
        Self::new(name, json!({ argument: "x".repeat(bytes) }))
    }

    /// An action of the computer tool, in either dialect: the name `computer` and the arguments of
    /// Anthropic's hosted tool.
    pub fn computer(arguments: Value) -> Self {
        Self::new("computer", arguments)
    }

    /// A left click at a pixel of the newest picture.
    pub fn click_at(point: impl Into<Point>) -> Self {
        let point = point.into();
        Self::computer(json!({"action": "left_click", "coordinate": [point.x, point.y]}))
    }

    /// Any pointer action with a position: `double_click`, `right_click`, `mouse_move`, …
    pub fn point_at(action: &str, point: impl Into<Point>) -> Self {
        let point = point.into();
        Self::computer(json!({"action": action, "coordinate": [point.x, point.y]}))
    }

    /// Types text into what has the focus.
    pub fn type_text(text: &str) -> Self {
        Self::computer(json!({"action": "type", "text": text}))
    }

    /// Presses a key chord, `ctrl+s`.
    pub fn key(chord: &str) -> Self {
        Self::computer(json!({"action": "key", "text": chord}))
    }

    /// Scrolls `amount` notches `up`, `down`, `left` or `right`.
    pub fn scroll(point: impl Into<Point>, direction: &str, amount: u32) -> Self {
        let point = point.into();
        Self::computer(json!({
            "action": "scroll", "coordinate": [point.x, point.y],
            "scroll_direction": direction, "scroll_amount": amount,
        }))
    }

    /// Asks for a picture.
    pub fn screenshot() -> Self {
        Self::computer(json!({"action": "screenshot"}))
    }

    /// Runs a shell command.
    pub fn shell(command: &str) -> Self {
        Self::new("run_command", json!({"command": command}))
    }
}

impl From<(i32, i32)> for Point {
    fn from((x, y): (i32, i32)) -> Self {
        Self { x, y }
    }
}

/// Tokens as the model reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Neither read from nor written to the cache.
    pub input: u64,
    /// Written by the model.
    pub output: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Written to the cache; not reported by Chat Completions.
    pub cache_write: u64,
}

/// Why an answer ends, when it is neither the end of the turn nor a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The token limit.
    MaxTokens,
    /// The model declines.
    Refusal,
}

/// What goes wrong with an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// An HTTP status with the body the real service sends: 400, 401, 403, 404, 413, 429, 500,
    /// 503, 529.
    Status {
        /// The status.
        code: u16,
        /// The `retry-after` header: seconds or a date.
        retry_after: Option<String>,
    },
    /// The 400 for a picture that is too large among many.
    ImageRejected,
    /// The 400 for a conversation that is too long.
    ContextTooLong,
    /// An error event in the middle of a stream that began with 200. 529 when not streamed.
    OverloadedMidStream,
    /// The connection is reset in the middle of the answer.
    Reset,
    /// The answer ends in its middle as if that were its end.
    Cut,
    /// Half the answer, then silence on an open connection.
    Stall,
    /// The request is read and nothing ever comes back.
    NeverAnswer,
    /// A 200 with a page, as from a captive portal or a wrong address.
    Html,
    /// Bytes that are not UTF-8 in the middle of a text.
    InvalidUtf8,
    /// Any other answer.
    Raw {
        /// The status.
        code: u16,
        /// The `content-type`.
        content_type: String,
        /// The body.
        body: String,
    },
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// Reasoning before the answer (Anthropic thinking block, signed; the signature is checked
    /// when the block comes back).
    pub thinking: Option<String>,
    /// Visible text.
    pub text: String,
    /// Tool calls after the text.
    pub calls: Vec<Call>,
    /// Reported usage; estimated from the request when `None`.
    pub usage: Option<Usage>,
    /// A special ending.
    pub stop: Option<Stop>,
    /// Waits before anything is sent.
    pub before: Duration,
    /// Waits before each piece of a stream.
    pub per_delta: Duration,
    /// Cuts the stream into network packets of this many bytes, through letters and lines.
    pub fragments: Option<usize>,
    /// Something goes wrong.
    pub fault: Option<Fault>,
}

impl Turn {
    /// Text without calls, which ends a run.
    pub fn done(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }

    /// One call.
    pub fn call(call: Call) -> Self {
        Self::calls([call])
    }

    /// Several calls at once.
    pub fn calls(calls: impl IntoIterator<Item = Call>) -> Self {
        Self {
            calls: calls.into_iter().collect(),
            ..Self::default()
        }
    }

    /// A failure in place of an answer, or in the middle of a short one.
    pub fn fault(fault: Fault) -> Self {
        Self::done("This answer goes wrong somewhere in its middle.").failing(fault)
    }

    /// An HTTP status, for 429 and 503 with seconds to wait.
    pub fn status(code: u16, retry_after: Option<u32>) -> Self {
        Self::fault(Fault::Status {
            code,
            retry_after: retry_after.map(|seconds| seconds.to_string()),
        })
    }

    /// A left click at a pixel of the newest picture.
    pub fn click_at(point: impl Into<Point>) -> Self {
        Self::call(Call::click_at(point))
    }

    /// Types text.
    pub fn type_text(text: &str) -> Self {
        Self::call(Call::type_text(text))
    }

    /// Presses a key chord.
    pub fn key(chord: &str) -> Self {
        Self::call(Call::key(chord))
    }

    /// Asks for a picture.
    pub fn screenshot() -> Self {
        Self::call(Call::screenshot())
    }

    /// Runs a shell command.
    pub fn shell(command: &str) -> Self {
        Self::call(Call::shell(command))
    }

    /// The same with text before its calls.
    pub fn saying(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text);
        self
    }

    /// The same with reasoning before it.
    pub fn thinking(mut self, text: &str) -> Self {
        self.thinking = Some(text.to_owned());
        self
    }

    /// The same with one more call.
    pub fn and(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }

    /// The same with reported usage.
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// The same with a special ending.
    pub fn stopping(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// The same after a wait.
    pub fn after(mut self, wait: Duration) -> Self {
        self.before = wait;
        self
    }

    /// The same, slowly.
    pub fn per_delta(mut self, wait: Duration) -> Self {
        self.per_delta = wait;
        self
    }

    /// The same in packets of so many bytes.
    pub fn in_fragments(mut self, bytes: usize) -> Self {
        self.fragments = Some(bytes.max(1));
        self
    }

    /// The same, going wrong.
    pub fn failing(mut self, fault: Fault) -> Self {
        self.fault = Some(fault);
        self
    }
}

type Decide = Box<dyn FnMut(&SeenRequest) -> Turn + Send>;

/// Who decides what is answered.
pub struct Script(Decision);

enum Decision {
    Turns(VecDeque<Turn>),
    Closure(Decide),
}

impl Script {
    /// These answers, one per request that breaks no rule. A further request is a violation.
    pub fn turns(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self(Decision::Turns(turns.into_iter().collect()))
    }

    /// A function that looks at each request. It may block (reading text takes about a second)
    /// and may panic, which is a violation.
    pub fn decide(decide: impl FnMut(&SeenRequest) -> Turn + Send + 'static) -> Self {
        Self(Decision::Closure(Box::new(decide)))
    }

    /// The next answer; `None` when there is none left.
    pub(super) fn next(&mut self, seen: &SeenRequest) -> Option<Turn> {
        match &mut self.0 {
            Decision::Turns(turns) => turns.pop_front(),
            Decision::Closure(decide) => Some(decide(seen)),
        }
    }

    /// How many listed answers were not asked for.
    pub(super) fn left(&self) -> usize {
        match &self.0 {
            Decision::Turns(turns) => turns.len(),
            Decision::Closure(_) => 0,
        }
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Script({} turns left)", self.left())
    }
}

impl From<Vec<Turn>> for Script {
    fn from(turns: Vec<Turn>) -> Self {
        Self::turns(turns)
    }
}
