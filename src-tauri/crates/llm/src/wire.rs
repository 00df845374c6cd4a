//! What a wire format has to say: how a request is written and how a reply is read.

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::failure::Reported;
use crate::sse::Event;
use crate::{Delta, Image, Message, Reply, Request, ToolCall};

/// Where pieces of a reply go while it is made.
pub(crate) type Sink<'a> = &'a (dyn Fn(Delta) + Send + Sync);

/// A vendor's way to write requests and replies.
pub(crate) trait WireFormat: Send + Sync {
    /// The vendor's own computer tool will be offered for this request.
    fn offers_hosted(&self, request: &Request) -> bool;

    /// The body; `messages` are those of the request after [`crate::preflight::prepare`].
    fn body(&self, request: &Request, messages: &[Message]) -> Value;

    /// Headers beyond those of the connection.
    fn headers(&self, request: &Request) -> Vec<(HeaderName, HeaderValue)>;

    /// Reads one reply.
    fn reader(&self) -> Box<dyn Reader>;

    /// The server refused the request in these words. True when the next body will be written
    /// differently because of them, so that it is worth sending again at once.
    fn learns_from(&self, message: &str) -> bool;
}

/// Puts a reply together.
pub(crate) trait Reader: Send {
    /// Takes one event of a stream. Returns true when the reply is complete.
    fn event(&mut self, event: &Event, on: Sink<'_>) -> Result<bool, Fault>;

    /// Takes a reply that came in one piece, not as a stream.
    fn whole(&mut self, body: &Value, on: Sink<'_>) -> Result<(), Fault>;

    /// The stream is over; [`Fault::Cut`] if the reply is not.
    fn finish(self: Box<Self>) -> Result<Reply, Fault>;
}

/// Why a stream gave no reply.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Fault {
    /// The provider reported an error within the stream.
    Reported(Reported),
    /// This is not the protocol.
    NotAReply(String),
    /// It ended too early.
    Cut,
}

/// A call whose arguments came as text.
pub(crate) fn call_from_text(id: String, name: String, text: String) -> ToolCall {
    let (input, malformed) = match text.trim() {
        "" => (Value::Object(serde_json::Map::new()), None),
        trimmed => match serde_json::from_str(trimmed) {
            Ok(input @ Value::Object(_)) => (input, None),
            // Some models call a tool without arguments by `null`.
            Ok(Value::Null) => (Value::Object(serde_json::Map::new()), None),
            _ => (Value::Null, Some(text)),
        },
    };
    ToolCall {
        id,
        name,
        input,
        malformed,
    }
}

/// What a model without eyes is told in place of a picture.
pub(crate) fn unseen(image: &Image) -> String {
    format!(
        "[A picture of {}x{} pixels that this model cannot see]",
        image.width, image.height
    )
}
