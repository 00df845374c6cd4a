//! How a request is written.

use std::{collections::BTreeSet, sync::atomic::Ordering};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::{Anthropic, toolset};
use crate::{Content, Image, Message, Request, Role, ToolCall, ToolResult};

/// User turns whose end is marked for the cache, counted from the newest. With the one on tools and
/// system that makes the four the service allows.
const CACHED_TURNS: usize = 3;

pub(super) fn write(wire: &Anthropic, request: &Request, messages: &[Message]) -> Value {
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| self::tool(wire, tool))
        .collect();
    let mut system = Vec::new();
    if !request.system.trim().is_empty() {
        system.push(json!({ "type": "text", "text": request.system }));
    }
    // Tools come before the system text in the cached prefix, so one mark covers both.
    if let Some(last) = system.last_mut().or(tools.last_mut()) {
        mark(last);
    }

    let members = members(wire, request, messages);
    let mut turns: Vec<Value> = messages
        .iter()
        .map(|message| {
            let (role, content) = match message.role {
                Role::User => ("user", person(message, wire.profile.vision, &members)),
                Role::Assistant => ("assistant", model(wire, message, &members)),
            };
            json!({ "role": role, "content": content })
        })
        .collect();
    let newest = turns.iter_mut().rev().filter(|turn| turn["role"] == "user");
    for turn in newest.take(CACHED_TURNS) {
        if let Some(last) = turn["content"]
            .as_array_mut()
            .and_then(|blocks| blocks.last_mut())
        {
            mark(last);
        }
    }

    let mut body = Map::new();
    body.insert("model".into(), json!(wire.model));
    body.insert("max_tokens".into(), json!(request.max_tokens));
    body.insert("stream".into(), json!(true));
    if !system.is_empty() {
        body.insert("system".into(), json!(system));
    }
    if !tools.is_empty() {
        body.insert("tools".into(), json!(tools));
    }
    body.insert("messages".into(), json!(turns));
    Value::Object(body)
}

/// Ids of the calls that are written as members of the toolset, so that their results are as well.
fn members<'a>(wire: &Anthropic, request: &Request, messages: &'a [Message]) -> BTreeSet<&'a str> {
    let offered = request
        .tools
        .iter()
        .filter_map(|tool| wire.hosted(tool))
        .any(|(_, _, kind, _)| toolset::is_toolset(kind));
    if !offered {
        return BTreeSet::new();
    }
    let calls = messages.iter().flat_map(|message| &message.content);
    calls
        .filter_map(|content| match content {
            Content::ToolCall(call) if toolset::member(call).is_some() => Some(call.id.as_str()),
            _ => None,
        })
        .collect()
}

fn mark(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn tool(wire: &Anthropic, tool: &crate::ToolDefinition) -> Value {
    let Some((width, height, kind, _)) = wire.hosted(tool) else {
        return json!({
            "name": tool.name,
            "description": tool.description,
            "input_schema": tool.schema,
        });
    };
    if toolset::is_toolset(kind) {
        return toolset::entry(kind);
    }
    let mut hosted = json!({
        "type": kind,
        "name": tool.name,
        "display_width_px": width,
        "display_height_px": height,
    });
    // The first version with a zoom has it switched off by default.
    if kind == "computer_20251124" {
        hosted["enable_zoom"] = json!(true);
    }
    hosted
}

/// A person's turn. Results stand first (the preflight sorted them); an error result may hold text
/// only, so its pictures follow behind.
fn person(message: &Message, vision: bool, members: &BTreeSet<&str>) -> Vec<Value> {
    let mut blocks = Vec::new();
    let mut behind = Vec::new();
    for content in &message.content {
        match content {
            Content::Text(text) => behind.push(self::text(text)),
            Content::Image(image) => behind.push(picture(image, vision)),
            Content::ToolResult(result) => {
                let pictures = result.is_error && vision;
                let (late, now) = result
                    .content
                    .iter()
                    .partition::<Vec<_>, _>(|piece| pictures && matches!(piece, Content::Image(_)));
                let mut block = self::result(result, &now, vision);
                if members.contains(result.id.as_str()) {
                    toolset::claim(&mut block);
                }
                blocks.push(block);
                behind.extend(late.into_iter().map(|piece| piece_of(piece, vision)));
            }
            Content::ToolCall(_) | Content::Reasoning { .. } => {}
        }
    }
    blocks.extend(behind);
    blocks
}

fn result(result: &ToolResult, pieces: &[&Content], vision: bool) -> Value {
    let content: Vec<_> = pieces.iter().map(|piece| piece_of(piece, vision)).collect();
    let mut block = json!({ "type": "tool_result", "tool_use_id": result.id });
    if !content.is_empty() {
        block["content"] = json!(content);
    } else if result.is_error {
        // An error must say something.
        block["content"] = json!([text("The tool failed without a reason.")]);
    }
    if result.is_error {
        block["is_error"] = json!(true);
    }
    block
}

fn piece_of(content: &Content, vision: bool) -> Value {
    match content {
        Content::Image(image) => picture(image, vision),
        Content::Text(text) => self::text(text),
        // The preflight lets nothing else through.
        Content::ToolCall(_) | Content::ToolResult(_) | Content::Reasoning { .. } => text(""),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn picture(image: &Image, vision: bool) -> Value {
    if !vision {
        return text(&crate::wire::unseen(image));
    }
    json!({
        "type": "image",
        "source": {
            "type": "base64",
            "media_type": image.media_type.as_str(),
            "data": STANDARD.encode(&image.data),
        },
    })
}

fn model(wire: &Anthropic, message: &Message, members: &BTreeSet<&str>) -> Vec<Value> {
    let reasoning = wire.reasoning.load(Ordering::Relaxed);
    let blocks = message.content.iter().filter_map(|content| match content {
        Content::Text(text) => Some(self::text(text)),
        Content::ToolCall(call) => Some(self::call(call, members)),
        // Only what this vendor signed; another one's reasoning would be refused.
        Content::Reasoning { opaque, .. } => matches!(
            opaque.get("type").and_then(Value::as_str),
            Some("thinking" | "redacted_thinking") if reasoning
        )
        .then(|| opaque.clone()),
        Content::Image(_) | Content::ToolResult(_) => None,
    });
    let blocks: Vec<_> = blocks.collect();
    if blocks.is_empty() {
        // A turn of another vendor's reasoning alone; the service takes no empty turn.
        return vec![text("(no answer)")];
    }
    blocks
}

fn call(call: &ToolCall, members: &BTreeSet<&str>) -> Value {
    if members.contains(call.id.as_str())
        && let Some((name, input)) = toolset::member(call)
    {
        let mut block = json!({ "type": "tool_use", "id": call.id, "name": name, "input": input });
        toolset::claim(&mut block);
        return block;
    }
    let input = match &call.input {
        Value::Object(input) => Value::Object(input.clone()),
        _ => json!({}),
    };
    json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": input })
}
