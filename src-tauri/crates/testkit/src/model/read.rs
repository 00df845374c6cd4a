//! From each wire format to neutral words, remembering what could not be read.

mod chat;
mod messages;
mod responses;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value;

use super::refusal::Refusal;
use super::seen::{Dialect, Part, Said, SeenImage, SeenResult, SeenTool, Speaker};

/// What was read from a body.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) messages: Vec<Said>,
    pub(super) tools: Vec<SeenTool>,
    pub(super) refusals: Vec<Refusal>,
}

impl Reading {
    pub(super) fn of(dialect: Dialect, body: &Value) -> Self {
        let mut reading = Self::default();
        match dialect {
            Dialect::Messages => messages::read(body, &mut reading),
            Dialect::Chat => chat::read(body, &mut reading),
            Dialect::Responses => responses::read(body, &mut reading),
        }
        name_results(&mut reading.messages);
        reading
    }

    fn refuse(&mut self, rule: &'static str, message: impl Into<String>) {
        self.refusals.push(Refusal::new(rule, message));
    }

    /// Adds parts, to the message before when both hold tool results.
    fn say(&mut self, speaker: Speaker, parts: Vec<Part>) {
        match self.messages.last_mut() {
            Some(last) if speaker == Speaker::Tool && last.speaker == Speaker::Tool => {
                last.parts.extend(parts);
            }
            _ => self.messages.push(Said { speaker, parts }),
        }
    }

    /// A picture from base64.
    fn picture(&mut self, media_type: &str, data: &str, place: String) -> Option<SeenImage> {
        let Ok(bytes) = STANDARD.decode(data) else {
            self.refuse("image", format!("{place}: invalid base64 data"));
            return None;
        };
        Some(SeenImage::new(media_type, Bytes::from(bytes), place))
    }

    /// A picture from a `data:` address; other addresses would need the network.
    fn picture_from_address(&mut self, address: &str, place: String) -> Option<SeenImage> {
        let parsed = address
            .strip_prefix("data:")
            .and_then(|rest| rest.split_once(";base64,"));
        let Some((media_type, data)) = parsed else {
            let start: String = address.chars().take(40).collect();
            self.refuse(
                "image",
                format!("{place}: expected a base64 data URL, got `{start}`"),
            );
            return None;
        };
        self.picture(media_type, data, place)
    }
}

/// Gives each result the name and arguments of its call.
fn name_results(messages: &mut [Said]) {
    let calls: Vec<(String, String, Value)> = messages
        .iter()
        .flat_map(|said| &said.parts)
        .filter_map(|part| match part {
            Part::Call { id, name, input } => Some((id.clone(), name.clone(), input.clone())),
            _ => None,
        })
        .collect();
    for part in messages.iter_mut().flat_map(|said| &mut said.parts) {
        if let Part::Result(result) = part
            && let Some((_, name, input)) = calls.iter().find(|(id, ..)| *id == result.id)
        {
            result.name.clone_from(name);
            result.input.clone_from(input);
        }
    }
}

/// A result whose text and pictures are collected from its parts.
fn result(id: &str, is_error: bool, parts: Vec<Part>) -> SeenResult {
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for part in parts {
        match part {
            Part::Text(text) => texts.push(text),
            Part::Image(image) => images.push(image),
            Part::Call { .. } | Part::Result(_) | Part::Reasoning => {}
        }
    }
    SeenResult {
        id: id.to_owned(),
        name: String::new(),
        input: Value::Null,
        text: texts.join("\n"),
        images,
        is_error,
    }
}

/// A string field, empty when it is missing.
fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}

/// Arguments as sent by the OpenAI formats: JSON inside a string.
fn arguments(raw: &str) -> Value {
    serde_json::from_str(raw).unwrap_or_else(|_| Value::String(raw.to_owned()))
}

/// Cuts pictures out of a body, so that keeping many requests costs little.
pub(super) fn without_pictures(value: &mut Value) {
    const LONG: usize = 4096;
    match value {
        Value::String(text) => {
            let picture = text.len() > LONG
                && (text.starts_with("data:")
                    || text.starts_with("iVBOR")
                    || text.starts_with("/9j/"));
            if picture {
                *text = format!("({} bytes of picture)", text.len());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_pictures),
        Value::Object(fields) => fields.values_mut().for_each(without_pictures),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
