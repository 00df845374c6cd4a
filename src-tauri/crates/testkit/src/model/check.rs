//! The rules, each in the words the real service uses when it is broken.

mod conversation;
mod images;
mod schema;
mod tools;
mod toolset;

use std::collections::BTreeMap;

use serde_json::Value;

use super::refusal::Refusal;
use super::rules::Rules;
use super::seen::{Dialect, SeenRequest};

/// Everything that can be seen without reading the body.
pub(super) fn envelope(
    dialect: Dialect,
    headers: &BTreeMap<String, String>,
    body: &[u8],
    rules: &Rules,
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if !authorised(dialect, headers, rules) {
        let message = super::refusal::usual_message(dialect, 401);
        refusals.push(Refusal::with_status("key", 401, message));
    }
    let header = |name: &str| headers.get(name).map_or("", String::as_str);
    if dialect == Dialect::Messages && header("anthropic-version") != "2023-06-01" {
        refusals.push(Refusal::new(
            "version",
            "anthropic-version: header is required",
        ));
    }
    if !header("content-type").starts_with("application/json") {
        refusals.push(Refusal::new(
            "content-type",
            "content-type: expected application/json",
        ));
    }
    if body.len() > rules.max_body {
        refusals.push(Refusal::with_status(
            "body-size",
            413,
            format!(
                "Request exceeds the maximum size ({} > {} bytes)",
                body.len(),
                rules.max_body
            ),
        ));
    }
    for text in rules.forbidden.iter().chain(&rules.key) {
        if contains(body, text.as_bytes()) {
            let start: String = text.chars().take(6).collect();
            refusals.push(Refusal::new(
                "secret",
                format!("the body contains the forbidden text `{start}…`"),
            ));
        }
    }
    refusals
}

/// Everything about what was read.
pub(super) fn content(seen: &SeenRequest, whole: &Value, rules: &Rules) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    if seen.model.is_empty() {
        refusals.push(Refusal::new("model", "model: Field required"));
    } else if !rules.models.is_empty() && !rules.models.contains(&seen.model) {
        let message = match seen.dialect {
            Dialect::Messages => format!("model: {}", seen.model),
            Dialect::Chat | Dialect::Responses => {
                format!(
                    "The model `{}` does not exist or you do not have access to it.",
                    seen.model
                )
            }
        };
        refusals.push(Refusal::with_status("model", 404, message));
    }
    refusals.extend(conversation::check(seen));
    refusals.extend(images::check(seen, rules));
    refusals.extend(tools::check(seen, rules));
    if seen.dialect == Dialect::Messages {
        refusals.extend(toolset::check(&seen.body));
    }
    let breakpoints = breakpoints(whole);
    if breakpoints > 4 {
        refusals.push(Refusal::new(
            "cache",
            format!(
                "A maximum of 4 blocks with cache_control may be provided. Found {breakpoints}."
            ),
        ));
    }
    refusals
}

/// Whether the key is presented as the service expects it.
pub(super) fn authorised(
    dialect: Dialect,
    headers: &BTreeMap<String, String>,
    rules: &Rules,
) -> bool {
    let Some(key) = &rules.key else {
        return true;
    };
    let bearer = headers.get("authorization") == Some(&format!("Bearer {key}"));
    match dialect {
        Dialect::Messages => bearer || headers.get("x-api-key") == Some(key),
        Dialect::Chat | Dialect::Responses => bearer,
    }
}

fn contains(body: &[u8], text: &[u8]) -> bool {
    !text.is_empty() && body.windows(text.len()).any(|window| window == text)
}

/// Cache breakpoints, wherever they are; arguments of calls are not looked into.
fn breakpoints(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, inner)| match name.as_str() {
                "cache_control" if inner.is_object() => 1,
                "input" | "input_schema" => 0,
                _ => breakpoints(inner),
            })
            .sum(),
        Value::Array(items) => items.iter().map(breakpoints).sum(),
        _ => 0,
    }
}
