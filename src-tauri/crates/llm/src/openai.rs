//! OpenAI's Chat Completions API (<https://platform.openai.com/docs/api-reference/chat>) and the
//! dialects of those who imitate it.

mod body;
mod reply;

use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::wire::{Reader, WireFormat};
use crate::{Message, Profile, Request};

/// What a server is known not to understand. Learned from its refusals, for as long as we talk to it.
pub(crate) struct ChatCompletions {
    pub(crate) model: String,
    pub(crate) profile: Profile,
    /// Its provider's name.
    pub(crate) provider: &'static str,
    /// The bound of the reply is named `max_completion_tokens` (OpenAI since o1) or `max_tokens`.
    pub(crate) completion_bound: AtomicBool,
    /// It takes `stream_options`.
    pub(crate) stream_options: AtomicBool,
}

impl ChatCompletions {
    pub(crate) fn new(provider: &'static str, model: String, profile: Profile) -> Self {
        Self {
            model,
            profile,
            provider,
            completion_bound: AtomicBool::new(provider == "openai"),
            stream_options: AtomicBool::new(true),
        }
    }

    /// OpenRouter passes marks for the cache on to Claude, which caches nothing without them.
    fn marks_cache(&self) -> bool {
        self.provider == "openrouter" && self.model.starts_with("anthropic/")
    }
}

impl WireFormat for ChatCompletions {
    /// This API has no computer tool; the model gets the explicit schema.
    fn offers_hosted(&self, _: &Request) -> bool {
        false
    }

    fn body(&self, request: &Request, messages: &[Message]) -> Value {
        body::write(self, request, messages)
    }

    fn headers(&self, _: &Request) -> Vec<(HeaderName, HeaderValue)> {
        Vec::new()
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reply::Reading::default())
    }

    fn learns_from(&self, message: &str) -> bool {
        // Both names occur in OpenAI's refusal; it says to use the other one.
        if message.contains("max_completion_tokens") || message.contains("max_tokens") {
            let unknown = [
                "nsupported",
                "nrecognized",
                "nknown",
                "not permitted",
                "extra",
            ];
            if unknown.iter().any(|word| message.contains(word)) {
                self.completion_bound.fetch_xor(true, Ordering::Relaxed);
                return true;
            }
        }
        let about_options = message.contains("stream_options") || message.contains("include_usage");
        about_options && self.stream_options.swap(false, Ordering::Relaxed)
    }
}
