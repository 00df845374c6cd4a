//! A request in neutral words, with the questions a script asks about it.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use image::RgbImage;
use serde_json::Value;

use crate::find::{self, Area, Point};

/// A wire format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Standing instructions.
    System,
    /// The person, and in Messages the results of tools.
    User,
    /// The model.
    Assistant,
    /// Results of tools, in the OpenAI formats; consecutive ones are one message here.
    Tool,
}

/// One message.
#[derive(Debug, Clone)]
pub struct Said {
    /// Who.
    pub speaker: Speaker,
    /// What, in order.
    pub parts: Vec<Part>,
}

/// A piece of a message.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text.
    Text(String),
    /// A picture.
    Image(SeenImage),
    /// A call the model made.
    Call {
        /// Id.
        id: String,
        /// Tool.
        name: String,
        /// Arguments.
        input: Value,
    },
    /// The result of a call.
    Result(SeenResult),
    /// Reasoning that was sent back.
    Reasoning,
}

/// A picture as it was sent. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct SeenImage {
    /// MIME type as declared.
    pub media_type: String,
    /// The file.
    pub bytes: Bytes,
    /// Width in pixels; 0 when it cannot be decoded.
    pub width: u32,
    /// Height in pixels; 0 when it cannot be decoded.
    pub height: u32,
    /// Where in the request, in the vendor's notation: `messages.2.content.0`.
    pub place: String,
    pub(super) decoded: Arc<OnceLock<Option<RgbImage>>>,
}

impl SeenImage {
    pub(super) fn new(media_type: &str, bytes: Bytes, place: String) -> Self {
        let reader = image::ImageReader::new(std::io::Cursor::new(bytes.clone()));
        let (width, height) = reader
            .with_guessed_format()
            .ok()
            .and_then(|reader| reader.into_dimensions().ok())
            .unwrap_or((0, 0));
        Self {
            media_type: media_type.to_owned(),
            bytes,
            width,
            height,
            place,
            decoded: Arc::default(),
        }
    }

    /// The pixels; `None` when the file is broken.
    pub fn decode(&self) -> Option<&RgbImage> {
        self.decoded
            .get_or_init(|| {
                let image = image::load_from_memory(&self.bytes).ok()?;
                Some(image.into_rgb8())
            })
            .as_ref()
    }
}

/// The result of a call.
#[derive(Debug, Clone)]
pub struct SeenResult {
    /// Id of the call.
    pub id: String,
    /// The tool that was called; empty when the call is not in the request.
    pub name: String,
    /// The arguments it was called with.
    pub input: Value,
    /// All text of the result, pieces joined by line breaks.
    pub text: String,
    /// Pictures in the result.
    pub images: Vec<SeenImage>,
    /// Marked as an error (Messages only; the OpenAI formats have no such mark).
    pub is_error: bool,
}

/// A tool on offer.
#[derive(Debug, Clone, PartialEq)]
pub struct SeenTool {
    /// Name.
    pub name: String,
    /// What it says it does; empty for hosted tools.
    pub description: String,
    /// JSON Schema of the arguments; null for hosted tools.
    pub schema: Value,
    /// The hosted type, `computer_20250124`.
    pub hosted: Option<String>,
    /// The declared display of a hosted computer tool.
    pub display: Option<(u32, u32)>,
}

/// One request.
#[derive(Debug, Clone)]
pub struct SeenRequest {
    /// 0 for the first request of the server, refused ones counted.
    pub index: usize,
    /// The wire format.
    pub dialect: Dialect,
    /// When it had been read.
    pub at: Instant,
    /// Header names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The model asked for.
    pub model: String,
    /// Whether a stream is wanted.
    pub stream: bool,
    /// Bytes of the body.
    pub bytes: usize,
    /// The body, with pictures cut out.
    pub body: Value,
    /// The conversation, system text first.
    pub messages: Vec<Said>,
    /// The tools on offer, in their order.
    pub tools: Vec<SeenTool>,
}

impl SeenRequest {
    /// All pictures, oldest first.
    pub fn images(&self) -> Vec<&SeenImage> {
        self.parts()
            .flat_map(|part| match part {
                Part::Image(image) => std::slice::from_ref(image),
                Part::Result(result) => result.images.as_slice(),
                Part::Text(_) | Part::Call { .. } | Part::Reasoning => &[],
            })
            .collect()
    }

    /// The newest picture, decoded.
    pub fn newest_image(&self) -> Option<&RgbImage> {
        self.images().last()?.decode()
    }

    /// Every text, oldest first, those of system and tool results included.
    pub fn texts(&self) -> Vec<&str> {
        self.parts()
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                Part::Result(result) => Some(result.text.as_str()),
                Part::Image(_) | Part::Call { .. } | Part::Reasoning => None,
            })
            .collect()
    }

    /// Whether a text occurs anywhere.
    pub fn mentions(&self, text: &str) -> bool {
        self.texts()
            .iter()
            .any(|candidate| candidate.contains(text))
    }

    /// The standing instructions.
    pub fn system(&self) -> String {
        self.text_of(|speaker| speaker == Speaker::System)
    }

    /// What the person said, all of it.
    pub fn person(&self) -> String {
        self.text_of(|speaker| speaker == Speaker::User)
    }

    /// All tool results, oldest first.
    pub fn results(&self) -> Vec<&SeenResult> {
        self.parts()
            .filter_map(|part| match part {
                Part::Result(result) => Some(result),
                _ => None,
            })
            .collect()
    }

    /// The results after the model's last message: what the newest calls brought.
    pub fn new_results(&self) -> Vec<&SeenResult> {
        let start = self
            .messages
            .iter()
            .rposition(|said| said.speaker == Speaker::Assistant)
            .unwrap_or(0);
        self.messages[start..]
            .iter()
            .flat_map(|said| &said.parts)
            .filter_map(|part| match part {
                Part::Result(result) => Some(result),
                _ => None,
            })
            .collect()
    }

    /// How many turns the model has had in this conversation.
    pub fn turns(&self) -> usize {
        self.messages
            .iter()
            .filter(|said| said.speaker == Speaker::Assistant)
            .count()
    }

    /// Names of the tools on offer.
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    /// A tool on offer.
    pub fn tool(&self, name: &str) -> Option<&SeenTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// The largest area of about that colour in the newest picture: its middle.
    pub fn find_color(&self, rgb: [u8; 3], tolerance: u8) -> Option<Point> {
        Some(self.find_area(rgb, tolerance)?.point())
    }

    /// As [`SeenRequest::find_color`], with its extent.
    pub fn find_area(&self, rgb: [u8; 3], tolerance: u8) -> Option<Area> {
        find::colour(self.newest_image()?, rgb, tolerance)
    }

    /// Where a phrase can be read in the newest picture.
    ///
    /// Panics where Tesseract is not installed, which the server reports as a violation.
    pub fn find_text(&self, phrase: &str) -> Option<Point> {
        match find::text(self.newest_image()?, phrase) {
            Ok(found) => found,
            Err(error) => panic!("reading the picture: {error:#}"),
        }
    }

    /// All that can be read in the newest picture.
    pub fn read_text(&self) -> String {
        let read = self.newest_image().map(find::read_text);
        match read {
            Some(Ok(text)) => text,
            Some(Err(error)) => panic!("reading the picture: {error:#}"),
            None => String::new(),
        }
    }

    /// Where a small PNG, cut at the same scale, is in the newest picture.
    pub fn find_template(&self, png: &[u8]) -> Option<Point> {
        let wanted = image::load_from_memory(png).ok()?.into_rgb8();
        find::template(self.newest_image()?, &wanted)
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.messages.iter().flat_map(|said| &said.parts)
    }

    fn text_of(&self, wanted: impl Fn(Speaker) -> bool) -> String {
        let texts = self
            .messages
            .iter()
            .filter(|said| wanted(said.speaker))
            .flat_map(|said| &said.parts)
            .filter_map(|part| match part {
                Part::Text(text) => Some(text.as_str()),
                _ => None,
            });
        texts.collect::<Vec<_>>().join("\n")
    }
}
