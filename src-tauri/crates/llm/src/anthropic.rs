//! Anthropic's Messages API (<https://platform.claude.com/docs/en/api/messages>, version 2023-06-01).

mod body;
mod reply;
mod toolset;

use std::sync::atomic::{AtomicBool, Ordering};

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::wire::{Reader, WireFormat};
use crate::{Hosted, Message, Profile, Request, ToolDefinition};

/// The version of the protocol.
pub(crate) const VERSION: &str = "2023-06-01";

/// The name the vendor's computer tool must have.
const COMPUTER: &str = "computer";

pub(crate) struct Anthropic {
    pub(crate) model: String,
    pub(crate) profile: Profile,
    /// Offer the vendor's own computer tool where the model has one.
    pub(crate) hosted: bool,
    /// Earlier reasoning is sent back. Since Claude 5.5 the service refuses it once anything before
    /// it has changed, as pruning does.
    pub(crate) reasoning: AtomicBool,
}

impl Anthropic {
    /// The display, type and beta header of the vendor's tool, if it stands in for this one.
    fn hosted<'a>(&'a self, tool: &ToolDefinition) -> Option<(u32, u32, &'a str, &'a str)> {
        let (kind, beta) = self.profile.hosted_computer.as_ref()?;
        match &tool.hosted {
            Some(Hosted::Computer { width, height })
                if self.hosted && self.profile.vision && tool.name == COMPUTER =>
            {
                Some((*width, *height, kind, beta))
            }
            _ => None,
        }
    }
}

impl WireFormat for Anthropic {
    fn offers_hosted(&self, request: &Request) -> bool {
        request.tools.iter().any(|tool| self.hosted(tool).is_some())
    }

    fn body(&self, request: &Request, messages: &[Message]) -> Value {
        body::write(self, request, messages)
    }

    fn headers(&self, request: &Request) -> Vec<(HeaderName, HeaderValue)> {
        let betas = request.tools.iter().filter_map(|tool| self.hosted(tool));
        let betas = betas.filter(|(.., beta)| !beta.is_empty());
        betas
            .filter_map(|(.., beta)| HeaderValue::from_str(beta).ok())
            .map(|beta| (HeaderName::from_static("anthropic-beta"), beta))
            .collect()
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(reply::Reading::default())
    }

    fn learns_from(&self, message: &str) -> bool {
        let words = message.to_lowercase();
        let refused =
            words.contains("thinking") && (words.contains("block") || words.contains("signature"));
        // All of it or nothing: a part is refused as well.
        refused && self.reasoning.swap(false, Ordering::Relaxed)
    }
}
