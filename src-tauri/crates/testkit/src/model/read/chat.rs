//! OpenAI Chat Completions.

use serde_json::Value;

use super::{Reading, arguments, result, text};
use crate::model::seen::{Part, SeenTool, Speaker};

pub(super) fn read(body: &Value, reading: &mut Reading) {
    let Some(messages) = body["messages"].as_array().filter(|list| !list.is_empty()) else {
        reading.refuse(
            "roles",
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
        );
        return;
    };
    for (index, message) in messages.iter().enumerate() {
        read_message(message, index, reading);
    }
    for (index, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        let function = &tool["function"];
        if text(tool, "type") != "function" || !function.is_object() {
            reading.refuse(
                "tools",
                format!("Invalid value for 'tools[{index}].type': 'function' is supported."),
            );
            continue;
        }
        reading.tools.push(SeenTool {
            name: text(function, "name").to_owned(),
            description: text(function, "description").to_owned(),
            schema: function["parameters"].clone(),
            hosted: None,
            display: None,
        });
    }
}

fn read_message(message: &Value, index: usize, reading: &mut Reading) {
    let place = format!("messages[{index}]");
    let role = text(message, "role");
    let mut parts = content(&message["content"], role, &place, reading);
    let speaker = match role {
        "system" | "developer" => Speaker::System,
        "user" => Speaker::User,
        "assistant" => {
            let calls = message["tool_calls"].as_array();
            if calls.is_some_and(Vec::is_empty) {
                reading.refuse("calls", format!("Invalid '{place}.tool_calls': empty array. Expected an array with minimum length 1."));
            }
            for call in calls.into_iter().flatten() {
                parts.push(read_call(call, &place, reading));
            }
            Speaker::Assistant
        }
        "tool" => {
            let id = text(message, "tool_call_id");
            reading.say(Speaker::Tool, vec![Part::Result(result(id, false, parts))]);
            return;
        }
        other => {
            reading.refuse("roles", format!("Invalid value: '{other}'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'."));
            return;
        }
    };
    if parts.is_empty() {
        reading.refuse(
            "empty",
            format!("Invalid value for '{place}.content': expected a string, got null."),
        );
    }
    reading.say(speaker, parts);
}

fn read_call(call: &Value, place: &str, reading: &mut Reading) -> Part {
    let function = &call["function"];
    let Some(raw) = function["arguments"].as_str() else {
        reading.refuse(
            "calls",
            format!(
                "Invalid type for '{place}.tool_calls[0].function.arguments': expected a string."
            ),
        );
        return Part::Reasoning;
    };
    if text(call, "type") != "function" {
        reading.refuse(
            "calls",
            format!("Missing required parameter: '{place}.tool_calls[0].type'."),
        );
    }
    Part::Call {
        id: text(call, "id").to_owned(),
        name: text(function, "name").to_owned(),
        input: arguments(raw),
    }
}

fn content(content: &Value, role: &str, place: &str, reading: &mut Reading) -> Vec<Part> {
    let blocks = match content {
        Value::Null => return Vec::new(),
        Value::String(text) if text.is_empty() => return Vec::new(),
        Value::String(text) => return vec![Part::Text(text.clone())],
        Value::Array(blocks) => blocks,
        _ => {
            reading.refuse("fields", format!("Invalid type for '{place}.content': expected one of a string or array of objects."));
            return Vec::new();
        }
    };
    let mut parts = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        match text(block, "type") {
            "text" => parts.push(Part::Text(text(block, "text").to_owned())),
            "image_url" if role != "user" => reading.refuse(
                "image",
                format!("Invalid '{place}'. Image URLs are only allowed for messages with role 'user', but this message with role '{role}' contains an image URL."),
            ),
            "image_url" => {
                let address = text(&block["image_url"], "url");
                let place = format!("{place}.content[{index}]");
                parts.extend(reading.picture_from_address(address, place).map(Part::Image));
            }
            other => reading.refuse("fields", format!("Invalid value: '{other}' in '{place}.content[{index}].type'.")),
        }
    }
    parts
}
