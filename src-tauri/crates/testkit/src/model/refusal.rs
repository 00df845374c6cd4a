//! Errors in the shapes the real services send.

use serde_json::{Value, json};

use super::seen::Dialect;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// The rule that was broken, one word.
    pub(super) rule: &'static str,
    pub(super) status: u16,
    pub(super) message: String,
}

impl Refusal {
    /// A 400.
    pub(super) fn new(rule: &'static str, message: impl Into<String>) -> Self {
        Self::with_status(rule, 400, message)
    }

    pub(super) fn with_status(rule: &'static str, status: u16, message: impl Into<String>) -> Self {
        Self {
            rule,
            status,
            message: message.into(),
        }
    }

    pub(super) fn body(&self, dialect: Dialect) -> Value {
        error_body(dialect, self.status, &self.message)
    }
}

/// The body of an error with its vendor's words for that status.
pub(super) fn error_body(dialect: Dialect, status: u16, message: &str) -> Value {
    match dialect {
        Dialect::Messages => json!({
            "type": "error",
            "error": {"type": anthropic_kind(status), "message": message},
            "request_id": format!("req_{}", crate::home::random_word()),
        }),
        Dialect::Chat | Dialect::Responses => {
            let (kind, code) = openai_kind(status, message);
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
        }
    }
}

/// The vendor's usual message for a status.
pub(super) fn usual_message(dialect: Dialect, status: u16) -> &'static str {
    let anthropic = dialect == Dialect::Messages;
    match status {
        401 if anthropic => "invalid x-api-key",
        401 => "Incorrect API key provided. You can find your API key in your account settings.",
        403 => "Your account does not have permission to use the specified resource.",
        404 if anthropic => "model: claude-nonexistent",
        404 => "The model `gpt-nonexistent` does not exist or you do not have access to it.",
        413 => "Request exceeds the maximum size",
        429 if anthropic => {
            "This request would exceed your organization's rate limit of 50 requests per minute."
        }
        429 => "Rate limit reached for requests. Please try again later.",
        529 => "Overloaded",
        503 => "The server is currently overloaded with other requests.",
        500 if anthropic => "Internal server error",
        500 => "The server had an error while processing your request. Sorry about that!",
        _ => "Invalid request",
    }
}

/// The vendor's words for a conversation that does not fit.
pub(super) fn too_long(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Messages => "prompt is too long: 215034 tokens > 200000 maximum",
        Dialect::Chat | Dialect::Responses => {
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 140212 tokens. Please reduce the length of the messages."
        }
    }
}

/// The vendor's words for pictures that are too large among many.
pub(super) fn image_too_large(dialect: Dialect, place: &str) -> String {
    match dialect {
        Dialect::Messages => format!(
            "{place}.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"
        ),
        Dialect::Chat | Dialect::Responses => {
            format!("{place}: The image dimensions exceed the maximum of 2000 pixels.")
        }
    }
}

fn anthropic_kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    }
}

fn openai_kind(status: u16, message: &str) -> (&'static str, Value) {
    match status {
        401 => ("invalid_request_error", json!("invalid_api_key")),
        404 => ("invalid_request_error", json!("model_not_found")),
        429 => ("requests", json!("rate_limit_exceeded")),
        500..=599 => ("server_error", Value::Null),
        _ if message.contains("maximum context length") => {
            ("invalid_request_error", json!("context_length_exceeded"))
        }
        _ => ("invalid_request_error", Value::Null),
    }
}
