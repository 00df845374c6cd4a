//! How a reply is read, as a stream or in one piece.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{COMPUTER, toolset};
use crate::failure::Reported;
use crate::sse::Event;
use crate::wire::{Fault, Reader, Sink, call_from_text};
use crate::{Content, Delta, Message, Reply, Role, StopReason, ToolCall, Usage};

/// A reply in the making.
#[derive(Default)]
pub(super) struct Reading {
    blocks: BTreeMap<u64, Block>,
    model: String,
    usage: Usage,
    stop: Option<StopReason>,
    complete: bool,
}

enum Block {
    Text(String),
    /// A block the vendor wants back as it is; its text grows meanwhile.
    Reasoning(Value),
    Call {
        id: String,
        name: String,
        /// Belongs to the computer toolset; `name` is the member then.
        member: bool,
        /// As given at the start, used when no text follows.
        input: Value,
        text: String,
    },
    /// A kind that did not exist when this was written.
    Unknown,
}

impl Reader for Reading {
    fn event(&mut self, event: &Event, on: Sink<'_>) -> Result<bool, Fault> {
        let data: Value = serde_json::from_str(&event.data)
            .map_err(|error| Fault::NotAReply(format!("an event that is not JSON ({error})")))?;
        // Some gateways leave out the line that names the event.
        let kind = data
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or(&event.name);
        match kind {
            "message_start" => {
                let message = &data["message"];
                text_of(message, "model").clone_into(&mut self.model);
                self.count(&message["usage"]);
            }
            "content_block_start" => {
                let block = Self::start(&data["content_block"], on);
                self.blocks.insert(index(&data), block);
            }
            "content_block_delta" => self.grow(index(&data), &data["delta"], on),
            "message_delta" => {
                self.count(&data["usage"]);
                if let Some(reason) = data.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    self.stop = Some(stop(reason));
                }
            }
            "message_stop" => {
                self.complete = true;
                return Ok(true);
            }
            "error" => return Err(Fault::Reported(Reported::read(&data).unwrap_or_default())),
            // `ping`, `content_block_stop`, and what may come later.
            _ => {}
        }
        Ok(false)
    }

    fn whole(&mut self, body: &Value, on: Sink<'_>) -> Result<(), Fault> {
        let Some(blocks) = body.get("content").and_then(Value::as_array) else {
            return Err(Fault::NotAReply("JSON without `content`".into()));
        };
        for (index, block) in (0..).zip(blocks) {
            let block = Self::start(block, on);
            self.blocks.insert(index, block);
        }
        text_of(body, "model").clone_into(&mut self.model);
        self.count(&body["usage"]);
        self.stop = body.get("stop_reason").and_then(Value::as_str).map(stop);
        self.complete = true;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Reply, Fault> {
        if !self.complete {
            return Err(Fault::Cut);
        }
        let content: Vec<_> = self.blocks.into_values().filter_map(content).collect();
        let calls = content
            .iter()
            .any(|piece| matches!(piece, Content::ToolCall(_)));
        Ok(Reply {
            message: Message {
                role: Role::Assistant,
                content,
            },
            stop: self.stop.unwrap_or(if calls {
                StopReason::ToolUse
            } else {
                StopReason::EndTurn
            }),
            usage: self.usage,
            model: self.model,
        })
    }
}

impl Reading {
    fn start(block: &Value, on: Sink<'_>) -> Block {
        match text_of(block, "type") {
            "text" => {
                let text = text_of(block, "text");
                if !text.is_empty() {
                    on(Delta::Text(text.into()));
                }
                Block::Text(text.into())
            }
            "tool_use" => {
                let name = text_of(block, "name").to_owned();
                let toolset = toolset::name_of(block);
                on(Delta::ToolCallStarted {
                    name: toolset.map_or_else(|| name.clone(), str::to_owned),
                });
                Block::Call {
                    id: text_of(block, "id").into(),
                    name,
                    member: toolset.is_some(),
                    input: block.get("input").cloned().unwrap_or(json!({})),
                    text: String::new(),
                }
            }
            "thinking" | "redacted_thinking" => Block::Reasoning(block.clone()),
            kind => {
                tracing::debug!(kind, "a block of an unknown kind is left out");
                Block::Unknown
            }
        }
    }

    fn grow(&mut self, index: u64, delta: &Value, on: Sink<'_>) {
        match self.blocks.get_mut(&index) {
            Some(Block::Text(text)) => {
                let more = text_of(delta, "text");
                text.push_str(more);
                if !more.is_empty() {
                    on(Delta::Text(more.into()));
                }
            }
            Some(Block::Call { text, .. }) => text.push_str(text_of(delta, "partial_json")),
            Some(Block::Reasoning(block)) => {
                for key in ["thinking", "signature"] {
                    let more = text_of(delta, key);
                    if !more.is_empty() {
                        block[key] = json!(format!("{}{more}", text_of(block, key)));
                    }
                }
                let more = text_of(delta, "thinking");
                if !more.is_empty() {
                    on(Delta::Reasoning(more.into()));
                }
            }
            Some(Block::Unknown) | None => {}
        }
    }

    /// Later numbers are totals, not additions, and may lack what did not change.
    fn count(&mut self, usage: &Value) {
        let fields = [
            ("input_tokens", &mut self.usage.input),
            ("output_tokens", &mut self.usage.output),
            ("cache_read_input_tokens", &mut self.usage.cache_read),
            ("cache_creation_input_tokens", &mut self.usage.cache_write),
        ];
        for (name, field) in fields {
            if let Some(count) = usage.get(name).and_then(Value::as_u64) {
                *field = count;
            }
        }
    }
}

fn index(data: &Value) -> u64 {
    data.get("index").and_then(Value::as_u64).unwrap_or(0)
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn stop(reason: &str) -> StopReason {
    match reason {
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refused,
        // `end_turn`, `stop_sequence`, `pause_turn`.
        _ => StopReason::EndTurn,
    }
}

fn content(block: Block) -> Option<Content> {
    match block {
        Block::Text(text) => (!text.is_empty()).then_some(Content::Text(text)),
        Block::Reasoning(opaque) => Some(Content::Reasoning {
            text: text_of(&opaque, "thinking").into(),
            opaque,
        }),
        Block::Call {
            id,
            name,
            member,
            input,
            text,
        } => {
            let mut call = if text.trim().is_empty() {
                let (input, malformed) = match input {
                    Value::Object(_) => (input, None),
                    other => (Value::Null, Some(other.to_string())),
                };
                ToolCall {
                    id,
                    name,
                    input,
                    malformed,
                }
            } else {
                call_from_text(id, name, text)
            };
            if member {
                call.input = toolset::with_action(&call.name, call.input);
                COMPUTER.clone_into(&mut call.name);
            }
            Some(Content::ToolCall(call))
        }
        Block::Unknown => None,
    }
}
