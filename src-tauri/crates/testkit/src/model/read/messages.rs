//! Anthropic Messages.

use serde_json::Value;

use super::{Reading, result, text};
use crate::model::answer::signature;
use crate::model::rules::TOOLSET;
use crate::model::seen::{Part, SeenTool, Speaker};

/// Fields the service takes; it refuses others.
const FIELDS: &[&str] = &[
    "model",
    "messages",
    "max_tokens",
    "system",
    "tools",
    "tool_choice",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "thinking",
    "container",
    "context_management",
    "mcp_servers",
    "service_tier",
    "output_config",
    "cache_control",
];

pub(super) fn read(body: &Value, reading: &mut Reading) {
    for field in body
        .as_object()
        .into_iter()
        .flat_map(|fields| fields.keys())
    {
        if !FIELDS.contains(&field.as_str()) {
            reading.refuse("fields", format!("{field}: Extra inputs are not permitted"));
        }
    }
    if body["max_tokens"].as_u64().is_none_or(|tokens| tokens == 0) {
        reading.refuse("fields", "max_tokens: Field required");
    }
    let system = blocks(&body["system"], "system", reading);
    if !system.is_empty() {
        reading.say(Speaker::System, system);
    }
    let Some(messages) = body["messages"].as_array().filter(|list| !list.is_empty()) else {
        reading.refuse("roles", "messages: at least one message is required");
        return;
    };
    for (index, message) in messages.iter().enumerate() {
        let place = format!("messages.{index}");
        let speaker = match text(message, "role") {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            // Instructions in the middle, which models take since Claude Opus 4.8.
            "system" if index > 0 => Speaker::System,
            other => {
                reading.refuse(
                    "roles",
                    format!("{place}.role: Input should be 'user' or 'assistant', got '{other}'"),
                );
                continue;
            }
        };
        let parts = blocks(&message["content"], &format!("{place}.content"), reading);
        if parts.is_empty() {
            reading.refuse(
                "empty",
                format!("{place}: all messages must have non-empty content"),
            );
        }
        reading.say(speaker, parts);
    }
    for (index, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        reading.tools.push(read_tool(tool));
        if text(tool, "name").is_empty() && text(tool, "type") != TOOLSET {
            reading.refuse("tools", format!("tools.{index}.name: Field required"));
        }
    }
}

/// The name of a toolset in calls and results, and of the older hosted tools.
const COMPUTER: &str = "computer";

fn read_tool(tool: &Value) -> SeenTool {
    let kind = text(tool, "type");
    let size = |field: &str| {
        tool[field]
            .as_u64()
            .and_then(|edge| u32::try_from(edge).ok())
    };
    let name = if kind == TOOLSET {
        COMPUTER
    } else {
        text(tool, "name")
    };
    SeenTool {
        name: name.to_owned(),
        description: text(tool, "description").to_owned(),
        schema: tool["input_schema"].clone(),
        hosted: (!matches!(kind, "" | "custom")).then(|| kind.to_owned()),
        display: size("display_width_px").zip(size("display_height_px")),
    }
}

fn blocks(content: &Value, place: &str, reading: &mut Reading) -> Vec<Part> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::String(text) => vec![Part::Text(text.clone())],
        Value::Array(blocks) => blocks
            .iter()
            .enumerate()
            .filter_map(|(index, each)| block(each, format!("{place}.{index}"), reading))
            .collect(),
        _ => {
            reading.refuse("fields", format!("{place}: Input should be a valid list"));
            Vec::new()
        }
    }
}

fn block(block: &Value, place: String, reading: &mut Reading) -> Option<Part> {
    match text(block, "type") {
        "text" => {
            let said = text(block, "text");
            if said.is_empty() {
                reading.refuse("empty", "messages: text content blocks must be non-empty");
            }
            Some(Part::Text(said.to_owned()))
        }
        "image" => {
            let source = &block["source"];
            if text(source, "type") != "base64" {
                reading.refuse(
                    "image",
                    format!("{place}.source: only base64 is served here"),
                );
                return None;
            }
            let (media_type, data) = (text(source, "media_type"), text(source, "data"));
            reading.picture(media_type, data, place).map(Part::Image)
        }
        "tool_use" => {
            if !block["input"].is_object() {
                reading.refuse(
                    "calls",
                    format!("{place}.tool_use.input: Input should be a valid dictionary"),
                );
            }
            let (mut name, mut input) = (text(block, "name"), block["input"].clone());
            if text(block, "toolset_name") == COMPUTER {
                // Scripts see the older tools' form, whichever is spoken.
                input["action"] = Value::from(name);
                name = COMPUTER;
            }
            Some(Part::Call {
                id: text(block, "id").to_owned(),
                name: name.to_owned(),
                input,
            })
        }
        "tool_result" => {
            let parts = blocks(&block["content"], &format!("{place}.content"), reading);
            let is_error = block["is_error"].as_bool().unwrap_or(false);
            if is_error && parts.iter().any(|part| matches!(part, Part::Image(_))) {
                reading.refuse(
                    "image",
                    format!("{place}: all content must be type text if is_error is true"),
                );
            }
            Some(Part::Result(result(
                text(block, "tool_use_id"),
                is_error,
                parts,
            )))
        }
        "thinking" => {
            if text(block, "signature") != signature(text(block, "thinking")) {
                reading.refuse(
                    "thinking",
                    format!("{place}: Invalid `signature` in `thinking` block"),
                );
            }
            Some(Part::Reasoning)
        }
        "redacted_thinking" => Some(Part::Reasoning),
        other => {
            reading.refuse("fields", format!("{place}: unknown block type '{other}'"));
            None
        }
    }
}
