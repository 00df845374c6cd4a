//! Conversations in the program's own terms, independent of any vendor.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person, or the results of tools.
    User,
    /// The model.
    Assistant,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said, in order.
    pub content: Vec<Content>,
}

impl Message {
    /// A person's message of plain text.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            role: Role::User,
            content: vec![Content::Text(text.into())],
        }
    }

    /// A model's message of plain text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self {
            role: Role::Assistant,
            content: vec![Content::Text(text.into())],
        }
    }
}

/// A piece of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Plain text.
    Text(String),
    /// A picture.
    Image(Image),
    /// The model asks for a tool.
    ToolCall(ToolCall),
    /// What a tool answered; belongs to exactly one earlier [`ToolCall`].
    ToolResult(ToolResult),
    /// Reasoning a vendor wants back unchanged (signed thinking blocks). Never shown as an answer.
    Reasoning {
        /// Readable part, possibly empty.
        text: String,
        /// The vendor's own object, sent back as it came.
        opaque: Value,
    },
}

/// Encodings of pictures that vendors accept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MediaType {
    /// `image/jpeg`
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// `image/png`
    #[serde(rename = "image/png")]
    Png,
}

impl MediaType {
    /// The MIME name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
        }
    }
}

/// An encoded picture and its size in pixels.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Encoding of `data`.
    pub media_type: MediaType,
    /// The encoded file.
    pub data: Bytes,
    /// Width in pixels of the decoded picture.
    pub width: u32,
    /// Height in pixels of the decoded picture.
    pub height: u32,
}

/// The model asks for a tool to be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The vendor's id of the call, returned with the result.
    pub id: String,
    /// Name of the tool as offered.
    pub name: String,
    /// Arguments: an object. When `malformed` is set, only what is known without them (the action of
    /// a hosted computer tool), or [`Value::Null`].
    pub input: Value,
    /// The text the model sent when it was not valid JSON; the call must then be answered with an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// [`ToolCall::id`] of the call this answers.
    pub id: String,
    /// Text and images only.
    pub content: Vec<Content>,
    /// The tool could not do what was asked.
    pub is_error: bool,
}

/// A tool as it is offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// `[a-z0-9_]{1,64}`
    pub name: String,
    /// What it does and when to use it.
    pub description: String,
    /// JSON Schema of the arguments, an object schema.
    pub schema: Value,
    /// The vendor's built-in tool that may stand in for this one, with the same arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosted: Option<Hosted>,
}

/// A tool that some vendors host themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hosted {
    /// Computer use: the display as declared must equal the pictures as sent.
    Computer {
        /// Width in pixels of the pictures sent.
        width: u32,
        /// Height in pixels of the pictures sent.
        height: u32,
    },
}
