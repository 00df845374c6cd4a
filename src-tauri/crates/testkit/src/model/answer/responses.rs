//! OpenAI Responses.

use serde_json::{Value, json};

use super::{Spoken, event, morsels};
use crate::model::turn::Stop;

pub(super) fn body(spoken: &Spoken<'_>) -> Value {
    response(spoken, &items(spoken), true)
}

pub(super) fn stream(spoken: &Spoken<'_>) -> Vec<Vec<u8>> {
    let mut stream = Stream::default();
    let empty = response(spoken, &[], false);
    stream.send("response.created", json!({"response": empty}));
    stream.send("response.in_progress", json!({"response": empty}));
    let items = items(spoken);
    for (index, item) in items.iter().enumerate() {
        stream.item(index, item);
    }
    let whole = response(spoken, &items, true);
    let last = match spoken.stop() {
        Some(Stop::MaxTokens) => "response.incomplete",
        Some(Stop::Refusal) | None => "response.completed",
    };
    stream.send(last, json!({"response": whole}));
    stream.pieces
}

#[derive(Default)]
struct Stream {
    pieces: Vec<Vec<u8>>,
}

impl Stream {
    fn send(&mut self, kind: &str, mut fields: Value) {
        fields["type"] = json!(kind);
        fields["sequence_number"] = json!(self.pieces.len());
        self.pieces.push(event(kind, &fields));
    }

    fn item(&mut self, index: usize, item: &Value) {
        let mut opening = item.clone();
        opening["status"] = json!("in_progress");
        let place = |more: Value| {
            let mut fields = json!({"item_id": item["id"], "output_index": index});
            if let (Some(fields), Some(more)) = (fields.as_object_mut(), more.as_object()) {
                fields.extend(more.clone());
            }
            fields
        };
        let text = item["content"][0]["text"].as_str();
        let arguments = item["arguments"].as_str();
        if text.is_some() {
            opening["content"] = json!([]);
        }
        if arguments.is_some() {
            opening["arguments"] = json!("");
        }
        self.send(
            "response.output_item.added",
            json!({"output_index": index, "item": opening}),
        );
        if let Some(text) = text {
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            self.send(
                "response.content_part.added",
                place(json!({"content_index": 0, "part": part})),
            );
            for delta in morsels(text) {
                self.send(
                    "response.output_text.delta",
                    place(json!({"content_index": 0, "delta": delta})),
                );
            }
            self.send(
                "response.output_text.done",
                place(json!({"content_index": 0, "text": text})),
            );
            let part = &item["content"][0];
            self.send(
                "response.content_part.done",
                place(json!({"content_index": 0, "part": part})),
            );
        }
        if let Some(arguments) = arguments {
            for delta in morsels(arguments) {
                self.send(
                    "response.function_call_arguments.delta",
                    place(json!({"delta": delta})),
                );
            }
            self.send(
                "response.function_call_arguments.done",
                place(json!({"arguments": arguments})),
            );
        }
        self.send(
            "response.output_item.done",
            json!({"output_index": index, "item": item}),
        );
    }
}

fn items(spoken: &Spoken<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if let Some(thinking) = &spoken.turn.thinking {
        items.push(json!({
            "type": "reasoning", "id": format!("rs_{}", spoken.id),
            "summary": [{"type": "summary_text", "text": thinking}],
        }));
    }
    if !spoken.turn.text.is_empty() {
        items.push(json!({
            "type": "message", "id": format!("msg_{}", spoken.id), "status": "completed",
            "role": "assistant",
            "content": [{"type": "output_text", "text": spoken.turn.text, "annotations": []}],
        }));
    }
    for (id, call) in &spoken.calls {
        items.push(json!({
            "type": "function_call", "id": format!("fc_{}", &id[5..]), "status": "completed",
            "call_id": id, "name": call.name, "arguments": call.arguments,
        }));
    }
    items
}

fn response(spoken: &Spoken<'_>, items: &[Value], ended: bool) -> Value {
    let cut = spoken.stop() == Some(Stop::MaxTokens);
    let status = match (ended, cut) {
        (false, _) => "in_progress",
        (true, true) => "incomplete",
        (true, false) => "completed",
    };
    let input = spoken.usage.input + spoken.usage.cache_read + spoken.usage.cache_write;
    let usage = json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": spoken.usage.cache_read},
        "output_tokens": spoken.usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + spoken.usage.output,
    });
    json!({
        "id": format!("resp_{}", spoken.id), "object": "response", "created_at": 1_790_000_000,
        "status": status, "model": spoken.model, "output": items, "error": null,
        "incomplete_details": if ended && cut { json!({"reason": "max_output_tokens"}) } else { Value::Null },
        "usage": if ended { usage } else { Value::Null },
    })
}
