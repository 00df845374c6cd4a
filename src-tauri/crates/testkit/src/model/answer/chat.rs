//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::{Spoken, data, morsels};
use crate::model::seen::SeenRequest;
use crate::model::turn::Stop;

pub(super) fn body(spoken: &Spoken<'_>) -> Value {
    let text = &spoken.turn.text;
    let mut message = json!({
        "role": "assistant",
        "content": if text.is_empty() { Value::Null } else { json!(text) },
        "refusal": null,
    });
    if !spoken.calls.is_empty() {
        let calls = spoken.calls.iter().map(|(id, call)| {
            json!({"id": id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
        });
        message["tool_calls"] = calls.collect();
    }
    json!({
        "id": format!("chatcmpl-{}", spoken.id), "object": "chat.completion", "created": 1_790_000_000,
        "model": spoken.model,
        "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason(spoken)}],
        "usage": usage(spoken),
    })
}

pub(super) fn stream(spoken: &Spoken<'_>, seen: &SeenRequest) -> Vec<Vec<u8>> {
    let wants_usage = seen.body["stream_options"]["include_usage"] == true;
    let chunk = |delta: Value, finish: Value| {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", spoken.id), "object": "chat.completion.chunk",
            "created": 1_790_000_000, "model": spoken.model,
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
        });
        if wants_usage {
            chunk["usage"] = Value::Null;
        }
        data(&chunk)
    };
    let mut pieces = vec![chunk(
        json!({"role": "assistant", "content": if spoken.turn.text.is_empty() { Value::Null } else { json!("") }}),
        Value::Null,
    )];
    for text in morsels(&spoken.turn.text) {
        pieces.push(chunk(json!({"content": text}), Value::Null));
    }
    for (index, (id, call)) in spoken.calls.iter().enumerate() {
        pieces.push(chunk(
            json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": {"name": call.name, "arguments": ""}}]}),
            Value::Null,
        ));
        for text in morsels(&call.arguments) {
            pieces.push(chunk(
                json!({"tool_calls": [{"index": index, "function": {"arguments": text}}]}),
                Value::Null,
            ));
        }
    }
    pieces.push(chunk(json!({}), json!(reason(spoken))));
    if wants_usage {
        pieces.push(data(&json!({
            "id": format!("chatcmpl-{}", spoken.id), "object": "chat.completion.chunk",
            "created": 1_790_000_000, "model": spoken.model, "choices": [], "usage": usage(spoken),
        })));
    }
    pieces.push(b"data: [DONE]\n\n".to_vec());
    pieces
}

/// Cached tokens are part of the prompt's count here, unlike in Messages.
fn usage(spoken: &Spoken<'_>) -> Value {
    let prompt = spoken.usage.input + spoken.usage.cache_read + spoken.usage.cache_write;
    json!({
        "prompt_tokens": prompt, "completion_tokens": spoken.usage.output,
        "total_tokens": prompt + spoken.usage.output,
        "prompt_tokens_details": {"cached_tokens": spoken.usage.cache_read},
    })
}

fn reason(spoken: &Spoken<'_>) -> &'static str {
    match spoken.stop() {
        Some(Stop::MaxTokens) => "length",
        Some(Stop::Refusal) => "content_filter",
        None if spoken.calls.is_empty() => "stop",
        None => "tool_calls",
    }
}
