//! The trait every provider implements, with what goes in and what comes out.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::{Message, Profile, Result, ToolCall, ToolDefinition};

/// One request for a reply.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Standing instructions.
    pub system: String,
    /// Tools on offer, in a stable order (the order is part of the cached prefix).
    pub tools: Vec<ToolDefinition>,
    /// The conversation so far; ends with a user turn.
    pub messages: Vec<Message>,
    /// Upper bound of the reply in tokens.
    pub max_tokens: u32,
}

/// What arrives while a reply is being made.
#[derive(Debug, Clone, PartialEq)]
pub enum Delta {
    /// More of the visible answer.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// A tool call has begun.
    ToolCallStarted {
        /// Name of the tool.
        name: String,
    },
    /// The provider asked to wait; the same request is sent again after `after_ms`.
    Waiting {
        /// Why, in the provider's class of error: `rate_limited`, `overloaded`, `network`, `timeout`.
        reason: &'static str,
        /// Attempt that comes next, the first retry being 2.
        attempt: u32,
        /// Milliseconds until then.
        after_ms: u64,
    },
    /// An interrupted reply is made again from its start: what was streamed so far is void.
    Restarted,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It said all it wanted to say.
    EndTurn,
    /// It waits for tools.
    ToolUse,
    /// `max_tokens` was reached.
    MaxTokens,
    /// It declined.
    Refused,
}

/// Tokens of one or more calls, as the provider counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Input tokens that were neither read from nor written to a cache.
    pub input: u64,
    /// Output tokens.
    pub output: u64,
    /// Input tokens read from the provider's cache.
    pub cache_read: u64,
    /// Input tokens written to the provider's cache.
    pub cache_write: u64,
    /// Pictures sent.
    pub images: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input += other.input;
        self.output += other.output;
        self.cache_read += other.cache_read;
        self.cache_write += other.cache_write;
        self.images += other.images;
    }
}

impl Usage {
    /// All tokens, cached ones included.
    pub fn total(&self) -> u64 {
        self.input + self.output + self.cache_read + self.cache_write
    }
}

/// A complete reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The model's turn, to be appended to the conversation as it is.
    pub message: Message,
    /// Why it ended.
    pub stop: StopReason,
    /// What it cost.
    pub usage: Usage,
    /// The model's name as the provider reported it.
    pub model: String,
}

impl Reply {
    /// The tool calls of the turn, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.message
            .content
            .iter()
            .filter_map(|content| match content {
                crate::Content::ToolCall(call) => Some(call),
                _ => None,
            })
    }

    /// The visible text of the turn, pieces joined by line breaks.
    pub fn text(&self) -> String {
        let pieces = self
            .message
            .content
            .iter()
            .filter_map(|content| match content {
                crate::Content::Text(text) => Some(text.as_str()),
                _ => None,
            });
        pieces.collect::<Vec<_>>().join("\n")
    }
}

/// A model that can be talked to.
///
/// Implementations retry what is worth retrying themselves (and say so by [`Delta::Waiting`]);
/// dropping the future or cancelling the token drops the request at once.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// Facts about the model.
    fn profile(&self) -> &Profile;

    /// Finds out, without spending more than a token, whether key, address and model name are right.
    async fn check(&self, cancel: &CancellationToken) -> Result<()>;

    /// Sends a conversation and returns the reply; `on` sees it while it is made.
    async fn reply(
        &self,
        request: &Request,
        cancel: &CancellationToken,
        on: &(dyn Fn(Delta) + Send + Sync),
    ) -> Result<Reply>;
}
