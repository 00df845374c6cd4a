//! OpenAI Responses, as a whole conversation in `input` (no state kept on the server).

use serde_json::{Value, json};

use super::{Reading, arguments, result, text};
use crate::model::seen::{Part, SeenTool, Speaker};

pub(super) fn read(body: &Value, reading: &mut Reading) {
    if !body["previous_response_id"].is_null() {
        reading.refuse(
            "fields",
            "previous_response_id: nothing is stored on this server",
        );
    }
    let instructions = text(body, "instructions");
    if !instructions.is_empty() {
        reading.say(Speaker::System, vec![Part::Text(instructions.to_owned())]);
    }
    match &body["input"] {
        Value::String(said) if !said.is_empty() => {
            reading.say(Speaker::User, vec![Part::Text(said.clone())]);
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                read_item(item, index, reading);
            }
        }
        _ => reading.refuse("roles", "Missing required parameter: 'input'."),
    }
    for (index, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        read_tool(tool, index, reading);
    }
}

fn read_tool(tool: &Value, index: usize, reading: &mut Reading) {
    let size = |field: &str| {
        tool[field]
            .as_u64()
            .and_then(|edge| u32::try_from(edge).ok())
    };
    match text(tool, "type") {
        "function" => reading.tools.push(SeenTool {
            name: text(tool, "name").to_owned(),
            description: text(tool, "description").to_owned(),
            schema: tool["parameters"].clone(),
            hosted: None,
            display: None,
        }),
        kind @ ("computer_use_preview" | "computer") => reading.tools.push(SeenTool {
            name: "computer".to_owned(),
            description: String::new(),
            schema: Value::Null,
            hosted: Some(kind.to_owned()),
            display: size("display_width").zip(size("display_height")),
        }),
        other => reading.refuse(
            "tools",
            format!("Invalid value: '{other}' in 'tools[{index}].type'."),
        ),
    }
}

fn read_item(item: &Value, index: usize, reading: &mut Reading) {
    let place = format!("input[{index}]");
    match text(item, "type") {
        "message" | "" => {
            let speaker = match text(item, "role") {
                "system" | "developer" => Speaker::System,
                "user" => Speaker::User,
                "assistant" => Speaker::Assistant,
                other => {
                    reading.refuse(
                        "roles",
                        format!("Invalid value: '{other}' in '{place}.role'."),
                    );
                    return;
                }
            };
            let parts = content(&item["content"], speaker, &place, reading);
            if parts.is_empty() {
                reading.refuse("empty", format!("Invalid '{place}.content': empty."));
            }
            join(speaker, parts, reading);
        }
        "function_call" => {
            let call = Part::Call {
                id: text(item, "call_id").to_owned(),
                name: text(item, "name").to_owned(),
                input: arguments(text(item, "arguments")),
            };
            join(Speaker::Assistant, vec![call], reading);
        }
        "computer_call" => {
            let call = Part::Call {
                id: text(item, "call_id").to_owned(),
                name: "computer".to_owned(),
                input: item["action"].clone(),
            };
            join(Speaker::Assistant, vec![call], reading);
        }
        "function_call_output" => {
            let parts = content(&item["output"], Speaker::Tool, &place, reading);
            let part = Part::Result(result(text(item, "call_id"), false, parts));
            reading.say(Speaker::Tool, vec![part]);
        }
        "computer_call_output" => {
            let output = json!([item["output"]]);
            let parts = content(&output, Speaker::Tool, &place, reading);
            let part = Part::Result(result(text(item, "call_id"), false, parts));
            reading.say(Speaker::Tool, vec![part]);
        }
        "reasoning" => join(Speaker::Assistant, vec![Part::Reasoning], reading),
        other => reading.refuse(
            "fields",
            format!("Invalid value: '{other}' in '{place}.type'."),
        ),
    }
}

/// One turn of the model is several items here and one message in neutral words.
fn join(speaker: Speaker, parts: Vec<Part>, reading: &mut Reading) {
    match reading.messages.last_mut() {
        Some(last) if speaker == Speaker::Assistant && last.speaker == speaker => {
            last.parts.extend(parts);
        }
        _ => reading.say(speaker, parts),
    }
}

fn content(content: &Value, speaker: Speaker, place: &str, reading: &mut Reading) -> Vec<Part> {
    let blocks = match content {
        Value::Null => return Vec::new(),
        Value::String(text) if text.is_empty() => return Vec::new(),
        Value::String(text) => return vec![Part::Text(text.clone())],
        Value::Array(blocks) => blocks,
        _ => {
            reading.refuse("fields", format!("Invalid type for '{place}.content'."));
            return Vec::new();
        }
    };
    let written = if speaker == Speaker::Assistant {
        "output_text"
    } else {
        "input_text"
    };
    let mut parts = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let kind = text(block, "type");
        match kind {
            _ if kind == written => parts.push(Part::Text(text(block, "text").to_owned())),
            "refusal" if speaker == Speaker::Assistant => {
                parts.push(Part::Text(text(block, "refusal").to_owned()));
            }
            "input_image" | "computer_screenshot" if speaker != Speaker::Assistant => {
                let address = text(block, "image_url");
                let place = format!("{place}.content[{index}]");
                parts.extend(
                    reading
                        .picture_from_address(address, place)
                        .map(Part::Image),
                );
            }
            other => reading.refuse(
                "fields",
                format!("Invalid value: '{other}' in '{place}.content[{index}].type'."),
            ),
        }
    }
    parts
}
