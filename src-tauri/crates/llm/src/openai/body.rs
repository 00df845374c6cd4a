//! How a request is written.

use std::sync::atomic::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::ChatCompletions;
use crate::{Content, Image, Message, Request, Role, ToolCall, ToolResult};

/// As in the Messages API, where marks are passed on to it.
const CACHED_TURNS: usize = 3;

pub(super) fn write(wire: &ChatCompletions, request: &Request, messages: &[Message]) -> Value {
    let mut turns = Vec::new();
    if !request.system.trim().is_empty() {
        turns.push(json!({ "role": "system", "content": request.system }));
    }
    let mut before: &[Content] = &[];
    let mut ends = Vec::new();
    for message in messages {
        match message.role {
            Role::User => {
                person(wire, message, before, &mut turns);
                ends.push(turns.len() - 1);
            }
            Role::Assistant => turns.push(model(wire, message)),
        }
        before = &message.content;
    }
    if wire.marks_cache() {
        if turns[0]["role"] == "system" {
            mark(&mut turns[0]);
        }
        for end in ends.into_iter().rev().take(CACHED_TURNS) {
            mark(&mut turns[end]);
        }
    }

    let mut body = Map::new();
    body.insert("model".into(), json!(wire.model));
    let bound = if wire.completion_bound.load(Ordering::Relaxed) {
        "max_completion_tokens"
    } else {
        "max_tokens"
    };
    body.insert(bound.into(), json!(request.max_tokens));
    body.insert("stream".into(), json!(true));
    if wire.stream_options.load(Ordering::Relaxed) {
        body.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if !request.tools.is_empty() {
        let tools = request.tools.iter().map(|tool| {
            json!({
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.schema,
                },
            })
        });
        body.insert("tools".into(), tools.collect());
    }
    body.insert("messages".into(), json!(turns));
    Value::Object(body)
}

/// Marks the last piece of a turn for the cache; a plain text becomes a piece for that.
fn mark(turn: &mut Value) {
    if let Some(text) = turn["content"].as_str() {
        turn["content"] = json!([{ "type": "text", "text": text }]);
    }
    if let Some(last) = turn["content"]
        .as_array_mut()
        .and_then(|pieces| pieces.last_mut())
    {
        last["cache_control"] = json!({ "type": "ephemeral" });
    }
}

/// A person's turn becomes one message for each result, then one with everything else. Most servers
/// take text only as a result, so pictures follow in that one, with the call they belong to.
fn person(wire: &ChatCompletions, message: &Message, calls: &[Content], turns: &mut Vec<Value>) {
    let vision = wire.profile.vision;
    let mut pieces = Vec::new();
    for content in &message.content {
        match content {
            Content::ToolResult(result) => {
                turns.push(json!({
                    "role": "tool",
                    "tool_call_id": result.id,
                    "content": result_text(result, vision),
                }));
                if vision {
                    append_pictures(result, calls, &mut pieces);
                }
            }
            Content::Text(text) => pieces.push(self::text(text)),
            Content::Image(image) if vision => pieces.push(picture(image)),
            Content::Image(image) => pieces.push(text(&crate::wire::unseen(image))),
            Content::ToolCall(_) | Content::Reasoning { .. } => {}
        }
    }
    if pieces.is_empty() {
        return;
    }
    // A plain string where possible: not every server understands pieces.
    let texts: Option<Vec<&str>> = pieces.iter().map(|piece| piece["text"].as_str()).collect();
    let content = texts.map_or_else(|| json!(pieces), |texts| json!(texts.join("\n\n")));
    turns.push(json!({ "role": "user", "content": content }));
}

fn result_text(result: &ToolResult, vision: bool) -> String {
    let mut pictures = 0;
    let texts = result.content.iter().filter_map(|piece| match piece {
        Content::Text(text) => Some(text.clone()),
        Content::Image(image) if !vision => Some(crate::wire::unseen(image)),
        Content::Image(_) => {
            pictures += 1;
            None
        }
        Content::ToolCall(_) | Content::ToolResult(_) | Content::Reasoning { .. } => None,
    });
    let mut text = texts.collect::<Vec<_>>().join("\n");
    if pictures > 0 {
        let line = if text.is_empty() { "" } else { "\n" };
        text.push_str(line);
        text.push_str("[The picture follows in the next message.]");
    }
    match (result.is_error, text.is_empty()) {
        (true, true) => "Error: the tool failed without a reason.".into(),
        (true, false) => format!("Error: {text}"),
        // Several servers refuse an empty result.
        (false, true) => "(done, no output)".into(),
        (false, false) => text,
    }
}

fn append_pictures(result: &ToolResult, calls: &[Content], pieces: &mut Vec<Value>) {
    let name = calls.iter().find_map(|content| match content {
        Content::ToolCall(call) if call.id == result.id => Some(call.name.as_str()),
        _ => None,
    });
    for piece in &result.content {
        if let Content::Image(image) = piece {
            pieces.push(text(&format!(
                "Picture from the call `{}` of `{}`:",
                result.id,
                name.unwrap_or("tool")
            )));
            pieces.push(picture(image));
        }
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

fn picture(image: &Image) -> Value {
    let data = STANDARD.encode(&image.data);
    let url = format!("data:{};base64,{data}", image.media_type.as_str());
    // Without this OpenAI may choose the small version, in which nothing can be read.
    json!({ "type": "image_url", "image_url": { "url": url, "detail": "high" } })
}

fn model(wire: &ChatCompletions, message: &Message) -> Value {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    let mut turn = json!({ "role": "assistant", "content": null });
    let mut extras: &[Value] = &[];
    for content in &message.content {
        match content {
            Content::Text(text) => texts.push(text.as_str()),
            Content::ToolCall(call) => calls.push(self::call(call)),
            Content::Reasoning { opaque, .. } => {
                if let Some(details) = opaque.get("reasoning_details")
                    && wire.provider == "openrouter"
                {
                    turn["reasoning_details"] = details.clone();
                }
                // These two want it back between the calls of a turn, others refuse it.
                if let Some(text) = opaque.get("reasoning_content")
                    && matches!(wire.provider, "deepseek" | "moonshot")
                    && message
                        .content
                        .iter()
                        .any(|c| matches!(c, Content::ToolCall(_)))
                {
                    turn["reasoning_content"] = text.clone();
                }
                if let Some(signed) = opaque.get("extra_content").and_then(Value::as_array)
                    && wire.provider == "gemini"
                {
                    extras = signed;
                }
            }
            Content::Image(_) | Content::ToolResult(_) => {}
        }
    }
    for (call, extra) in calls.iter_mut().zip(extras) {
        if !extra.is_null() {
            call["extra_content"] = extra.clone();
        }
    }
    if !texts.is_empty() {
        turn["content"] = json!(texts.join("\n"));
    } else if calls.is_empty() {
        turn["content"] = json!("(no answer)");
    }
    if !calls.is_empty() {
        turn["tool_calls"] = json!(calls);
    }
    turn
}

fn call(call: &ToolCall) -> Value {
    // Servers with templates parse this; what was malformed would fail again on every turn.
    let arguments = match &call.input {
        Value::Object(_) => call.input.to_string(),
        _ => "{}".into(),
    };
    json!({
        "id": call.id,
        "type": "function",
        "function": { "name": call.name, "arguments": arguments },
    })
}
