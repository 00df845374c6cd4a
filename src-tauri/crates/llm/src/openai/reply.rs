//! How a reply is read, as a stream or in one piece.

use serde_json::{Map, Value, json};

use crate::failure::Reported;
use crate::sse::Event;
use crate::wire::{Fault, Reader, Sink, call_from_text};
use crate::{Content, Delta, Message, Reply, Role, StopReason, Usage};

/// How open models mark their reasoning within the text, where the server does not take it out.
const THINK: (&str, &str) = ("<think>", "</think>");

/// A reply in the making.
#[derive(Default)]
pub(super) struct Reading {
    text: String,
    /// How much of `text` was passed on.
    shown: usize,
    reasoning: String,
    /// OpenRouter's pieces of reasoning, wanted back as they came.
    details: Vec<Value>,
    calls: Vec<Call>,
    model: String,
    usage: Usage,
    stop: Option<StopReason>,
    refused: bool,
    done: bool,
}

#[derive(Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Gemini's signature of the thought behind the call.
    extra: Value,
}

impl Reader for Reading {
    fn event(&mut self, event: &Event, on: Sink<'_>) -> Result<bool, Fault> {
        let data = event.data.trim();
        if data == "[DONE]" {
            self.done = true;
            return Ok(true);
        }
        if data.is_empty() {
            return Ok(false);
        }
        let chunk: Value = serde_json::from_str(data)
            .map_err(|error| Fault::NotAReply(format!("an event that is not JSON ({error})")))?;
        if event.name == "error" || chunk.get("error").is_some_and(|error| !error.is_null()) {
            return Err(Fault::Reported(Reported::read(&chunk).unwrap_or_default()));
        }
        self.take(&chunk, "delta", on);
        Ok(false)
    }

    fn whole(&mut self, body: &Value, on: Sink<'_>) -> Result<(), Fault> {
        if !body.get("choices").is_some_and(Value::is_array) {
            return Err(Fault::NotAReply("JSON without `choices`".into()));
        }
        self.take(body, "message", on);
        self.done = true;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Reply, Fault> {
        let mut this = *self;
        // Not every server sends the last line, but every one says why it stopped.
        if !this.done && this.stop.is_none() {
            return Err(Fault::Cut);
        }
        let mut content = Vec::new();
        if let Some(text) = this.text.trim_start().strip_prefix(THINK.0) {
            let (thought, rest) = text.split_once(THINK.1).unwrap_or((text, ""));
            this.reasoning.push_str(thought.trim());
            this.text = rest.trim_start().into();
        }
        let mut opaque = Map::new();
        if !this.reasoning.is_empty() {
            opaque.insert("reasoning_content".into(), json!(this.reasoning));
        }
        if !this.details.is_empty() {
            opaque.insert("reasoning_details".into(), json!(this.details));
        }
        if this.calls.iter().any(|call| !call.extra.is_null()) {
            let extras = this.calls.iter().map(|call| call.extra.clone());
            opaque.insert("extra_content".into(), extras.collect());
        }
        if !opaque.is_empty() {
            content.push(Content::Reasoning {
                text: this.reasoning,
                opaque: Value::Object(opaque),
            });
        }
        if !this.text.is_empty() {
            content.push(Content::Text(this.text));
        }
        let called = !this.calls.is_empty();
        let calls = this.calls.into_iter();
        content.extend(
            calls.map(|call| Content::ToolCall(call_from_text(call.id, call.name, call.arguments))),
        );
        let stop = match this.stop {
            _ if this.refused => StopReason::Refused,
            // Several servers say `stop` although they call.
            None | Some(StopReason::EndTurn | StopReason::ToolUse) => {
                if called {
                    StopReason::ToolUse
                } else {
                    StopReason::EndTurn
                }
            }
            Some(stop) => stop,
        };
        Ok(Reply {
            message: Message {
                role: Role::Assistant,
                content,
            },
            stop,
            usage: this.usage,
            model: this.model,
        })
    }
}

impl Reading {
    /// Takes a chunk of a stream (`delta`) or all at once (`message`).
    fn take(&mut self, chunk: &Value, key: &str, on: Sink<'_>) {
        if let Some(model) = chunk.get("model").and_then(Value::as_str) {
            model.clone_into(&mut self.model);
        }
        self.count(&chunk["usage"]);
        let Some(choice) = chunk.pointer("/choices/0") else {
            return;
        };
        // Groq puts it there.
        self.count(&chunk["x_groq"]["usage"]);
        let piece = &choice[key];
        for name in ["reasoning_content", "reasoning"] {
            if let Some(more) = piece.get(name).and_then(Value::as_str)
                && !more.is_empty()
            {
                self.reasoning.push_str(more);
                on(Delta::Reasoning(more.into()));
                break;
            }
        }
        if let Some(details) = piece.get("reasoning_details").and_then(Value::as_array) {
            self.details.extend(details.iter().cloned());
        }
        match &piece["content"] {
            Value::String(more) => self.say(more, on),
            // Mistral sends pieces.
            Value::Array(pieces) => {
                for piece in pieces {
                    self.say(piece["text"].as_str().unwrap_or_default(), on);
                }
            }
            _ => {}
        }
        if let Some(more) = piece.get("refusal").and_then(Value::as_str)
            && !more.is_empty()
        {
            self.refused = true;
            self.say(more, on);
        }
        for call in piece
            .get("tool_calls")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            self.call(call, on);
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            Some("tool_calls" | "function_call") => self.stop = Some(StopReason::ToolUse),
            Some("length") => self.stop = Some(StopReason::MaxTokens),
            Some("content_filter") => self.stop = Some(StopReason::Refused),
            Some(reason) if !reason.is_empty() => self.stop = Some(StopReason::EndTurn),
            _ => {}
        }
    }

    /// Passes text on, but not while it is or may become marked reasoning.
    fn say(&mut self, more: &str, on: Sink<'_>) {
        self.text.push_str(more);
        let start = self.text.trim_start();
        if THINK.0.starts_with(start) {
            return;
        }
        if start.starts_with(THINK.0) {
            let Some(end) = self.text.find(THINK.1) else {
                return;
            };
            self.shown = self.shown.max(end + THINK.1.len());
        }
        let new = &self.text[self.shown..];
        if !new.is_empty() {
            on(Delta::Text(new.to_owned()));
        }
        self.shown = self.text.len();
    }

    /// Adds a piece of a call to the call it belongs to. By the protocol that is the one of the same
    /// index; in practice the index may be missing or always 0, and the id missing or repeated.
    fn call(&mut self, piece: &Value, on: Sink<'_>) {
        let index = piece.get("index").and_then(Value::as_u64);
        let id = piece.get("id").and_then(Value::as_str).unwrap_or_default();
        let function = &piece["function"];
        let name = function
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();

        let same = |call: &Call| match (index, id) {
            (_, id) if !id.is_empty() && !call.id.is_empty() => call.id == id,
            (Some(_), _) => call.index == index,
            // Without both, only a piece without a name continues what came before.
            (None, _) => name.is_empty(),
        };
        let at = self.calls.iter().rposition(same).unwrap_or_else(|| {
            self.calls.push(Call {
                index,
                ..Call::default()
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() && !name.is_empty() {
            name.clone_into(&mut call.name);
            on(Delta::ToolCallStarted { name: name.into() });
        }
        match &function["arguments"] {
            Value::String(more) => call.arguments.push_str(more),
            Value::Null => {}
            // Some send the arguments as they are.
            whole => call.arguments = whole.to_string(),
        }
        if let Some(extra) = piece.get("extra_content") {
            call.extra = extra.clone();
        }
    }

    fn count(&mut self, usage: &Value) {
        let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
        let Some(prompt) = number("/prompt_tokens") else {
            return;
        };
        let read = number("/prompt_tokens_details/cached_tokens")
            .or(number("/prompt_cache_hit_tokens"))
            .unwrap_or(0);
        let written = number("/prompt_tokens_details/cache_write_tokens").unwrap_or(0);
        self.usage = Usage {
            input: prompt.saturating_sub(read).saturating_sub(written),
            output: number("/completion_tokens").unwrap_or(0),
            cache_read: read,
            cache_write: written,
            images: 0,
        };
    }
}
