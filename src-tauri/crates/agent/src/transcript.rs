//! Conversations as the store keeps them: text as it is, pictures as references to frames and files.

use std::collections::HashMap;

use openspace_llm::{Content, Image, Message, ToolResult};
use openspace_store::{ArtefactId, FrameId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where a picture of a conversation is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PictureSource {
    /// A screenshot.
    Frame(FrameId),
    /// A file of the run or of the person.
    Artefact(ArtefactId),
}

/// Which picture is kept where, by the hash of its encoded bytes.
#[derive(Debug, Default)]
pub struct Pictures {
    sources: HashMap<[u8; 32], PictureSource>,
}

impl Pictures {
    /// Notes where a picture is kept.
    pub fn insert(&mut self, image: &Image, source: PictureSource) {
        self.sources
            .insert(*blake3::hash(&image.data).as_bytes(), source);
    }

    fn source(&self, image: &Image) -> Option<&PictureSource> {
        self.sources.get(blake3::hash(&image.data).as_bytes())
    }
}

/// A piece of a stored message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stored {
    Text(String),
    Picture(PictureSource),
    ToolCall(openspace_llm::ToolCall),
    ToolResult {
        id: String,
        content: Vec<Stored>,
        is_error: bool,
    },
    Reasoning {
        text: String,
        opaque: Value,
    },
}

/// Stands for a picture that is not kept any more.
const MISSING: &str = "[A picture that is no longer kept.]";

/// The form a message is stored in. Pictures that are kept nowhere become a note.
pub fn to_stored(message: &Message, pictures: &Pictures) -> Value {
    let content: Vec<_> = message
        .content
        .iter()
        .map(|content| store(content, pictures))
        .collect();
    serde_json::to_value(content).unwrap_or(Value::Null)
}

fn store(content: &Content, pictures: &Pictures) -> Stored {
    match content {
        Content::Text(text) => Stored::Text(text.clone()),
        Content::Image(image) => match pictures.source(image) {
            Some(source) => Stored::Picture(source.clone()),
            None => Stored::Text(MISSING.to_owned()),
        },
        Content::ToolCall(call) => Stored::ToolCall(call.clone()),
        Content::ToolResult(result) => Stored::ToolResult {
            id: result.id.clone(),
            content: result
                .content
                .iter()
                .map(|content| store(content, pictures))
                .collect(),
            is_error: result.is_error,
        },
        Content::Reasoning { text, opaque } => Stored::Reasoning {
            text: text.clone(),
            opaque: opaque.clone(),
        },
    }
}

/// Reads a stored message back; `load` fetches pictures, and may not find them.
///
/// # Errors
/// The JSON is not a stored message.
pub fn from_stored(
    role: openspace_llm::Role,
    content: &Value,
    pictures: &mut Pictures,
    load: &mut dyn FnMut(&PictureSource) -> Option<Image>,
) -> Result<Message, serde_json::Error> {
    let content: Vec<Stored> = Vec::deserialize(content)?;
    let content = content
        .into_iter()
        .map(|stored| restore(stored, pictures, load))
        .collect();
    Ok(Message { role, content })
}

fn restore(
    stored: Stored,
    pictures: &mut Pictures,
    load: &mut dyn FnMut(&PictureSource) -> Option<Image>,
) -> Content {
    match stored {
        Stored::Text(text) => Content::Text(text),
        Stored::Picture(source) => match load(&source) {
            Some(image) => {
                pictures.insert(&image, source);
                Content::Image(image)
            }
            None => Content::Text(MISSING.to_owned()),
        },
        Stored::ToolCall(call) => Content::ToolCall(call),
        Stored::ToolResult {
            id,
            content,
            is_error,
        } => {
            let content = content
                .into_iter()
                .map(|stored| restore(stored, pictures, load))
                .collect();
            Content::ToolResult(ToolResult {
                id,
                content,
                is_error,
            })
        }
        Stored::Reasoning { text, opaque } => Content::Reasoning { text, opaque },
    }
}

#[cfg(test)]
mod tests {
    use openspace_llm::{MediaType, Role, ToolCall};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_conversation_survives_the_store() {
        let image = Image {
            media_type: MediaType::Jpeg,
            data: "pixels".into(),
            width: 2,
            height: 3,
        };
        let unkept = Image {
            data: "gone".into(),
            ..image.clone()
        };
        let mut pictures = Pictures::default();
        pictures.insert(&image, PictureSource::Frame(FrameId::random()));
        let call = ToolCall {
            id: "c".into(),
            name: "n".into(),
            input: json!({"a": 1}),
            malformed: None,
        };
        let message = Message {
            role: Role::User,
            content: vec![
                Content::ToolCall(call),
                Content::ToolResult(ToolResult {
                    id: "c".into(),
                    content: vec![
                        Content::Text("t".into()),
                        Content::Image(image.clone()),
                        Content::Image(unkept),
                    ],
                    is_error: true,
                }),
                Content::Reasoning {
                    text: String::new(),
                    opaque: json!({"signature": "s"}),
                },
            ],
        };
        let stored = to_stored(&message, &pictures);
        assert!(
            !stored.to_string().contains("pixels"),
            "pictures stay outside: {stored}"
        );
        let mut load = |_: &PictureSource| Some(image.clone());
        let back =
            from_stored(Role::User, &stored, &mut Pictures::default(), &mut load).expect("parses");
        let mut expected = message;
        let Content::ToolResult(result) = &mut expected.content[1] else {
            panic!()
        };
        result.content[2] = Content::Text(MISSING.into());
        assert_eq!(back, expected);
    }
}
