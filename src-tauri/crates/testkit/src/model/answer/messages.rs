//! Anthropic Messages.

use serde_json::{Map, Value, json};

use super::{Spoken, event, morsels, signature};
use crate::model::turn::{Call, Stop};

pub(super) fn body(spoken: &Spoken<'_>) -> Value {
    let mut content = Vec::new();
    if let Some(thinking) = &spoken.turn.thinking {
        content.push(
            json!({"type": "thinking", "thinking": thinking, "signature": signature(thinking)}),
        );
    }
    if !spoken.turn.text.is_empty() {
        content.push(json!({"type": "text", "text": spoken.turn.text}));
    }
    for (id, call) in &spoken.calls {
        let (mut block, arguments) = called(spoken, id, call);
        block["input"] =
            serde_json::from_str(&arguments).unwrap_or_else(|_| Value::String(arguments));
        content.push(block);
    }
    let mut message = start(spoken, &usage(spoken));
    message["content"] = Value::Array(content);
    message["stop_reason"] = json!(reason(spoken));
    message
}

pub(super) fn stream(spoken: &Spoken<'_>) -> Vec<Vec<u8>> {
    let mut first = usage(spoken);
    first["output_tokens"] = json!(1);
    let mut pieces = vec![
        event(
            "message_start",
            &json!({"type": "message_start", "message": start(spoken, &first)}),
        ),
        event("ping", &json!({"type": "ping"})),
    ];
    let mut index = 0;
    let mut block = |opening: Value, deltas: Vec<Value>| {
        pieces.push(event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": index, "content_block": opening}),
        ));
        for delta in deltas {
            pieces.push(event(
                "content_block_delta",
                &json!({"type": "content_block_delta", "index": index, "delta": delta}),
            ));
        }
        pieces.push(event(
            "content_block_stop",
            &json!({"type": "content_block_stop", "index": index}),
        ));
        index += 1;
    };
    if let Some(thinking) = &spoken.turn.thinking {
        let mut deltas: Vec<Value> = morsels(thinking)
            .into_iter()
            .map(|text| json!({"type": "thinking_delta", "thinking": text}))
            .collect();
        deltas.push(json!({"type": "signature_delta", "signature": signature(thinking)}));
        block(
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            deltas,
        );
    }
    if !spoken.turn.text.is_empty() {
        let deltas = morsels(&spoken.turn.text)
            .into_iter()
            .map(|text| json!({"type": "text_delta", "text": text}))
            .collect();
        block(json!({"type": "text", "text": ""}), deltas);
    }
    for (id, call) in &spoken.calls {
        let (opening, arguments) = called(spoken, id, call);
        let mut deltas = vec![json!({"type": "input_json_delta", "partial_json": ""})];
        deltas.extend(
            morsels(&arguments)
                .into_iter()
                .map(|text| json!({"type": "input_json_delta", "partial_json": text})),
        );
        block(opening, deltas);
    }
    pieces.push(event(
        "message_delta",
        &json!({
            "type": "message_delta",
            "delta": {"stop_reason": reason(spoken), "stop_sequence": null},
            "usage": {"output_tokens": spoken.usage.output},
        }),
    ));
    pieces.push(event("message_stop", &json!({"type": "message_stop"})));
    pieces
}

/// A call without its input, and the input: a member of the toolset where that is on offer.
fn called(spoken: &Spoken<'_>, id: &str, call: &Call) -> (Value, String) {
    let mut block = json!({"type": "tool_use", "id": id, "name": call.name, "input": {}});
    let arguments: Option<Map<String, Value>> = serde_json::from_str(&call.arguments).ok();
    if let Some(mut arguments) = arguments.filter(|_| spoken.toolset && call.name == "computer")
        && let Some(member) = arguments.remove("action")
    {
        block["name"] = member;
        block["toolset_name"] = json!("computer");
        return (block, Value::Object(arguments).to_string());
    }
    (block, call.arguments.clone())
}

fn start(spoken: &Spoken<'_>, usage: &Value) -> Value {
    json!({
        "id": format!("msg_01{}", spoken.id), "type": "message", "role": "assistant",
        "model": spoken.model, "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": usage,
    })
}

fn usage(spoken: &Spoken<'_>) -> Value {
    json!({
        "input_tokens": spoken.usage.input,
        "cache_creation_input_tokens": spoken.usage.cache_write,
        "cache_read_input_tokens": spoken.usage.cache_read,
        "output_tokens": spoken.usage.output,
    })
}

fn reason(spoken: &Spoken<'_>) -> &'static str {
    match spoken.stop() {
        Some(Stop::MaxTokens) => "max_tokens",
        Some(Stop::Refusal) => "refusal",
        None if spoken.calls.is_empty() => "end_turn",
        None => "tool_use",
    }
}
