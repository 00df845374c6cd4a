//! What a call gives back.

use std::path::PathBuf;

use openspace_store::{ArtefactId, ChangeId, FrameId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Image;

/// Result of a call, for the model, the record and the report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Output {
    /// What the model is given.
    pub blocks: Vec<Block>,
    /// The tool ran, but what it was asked for did not work (a command failed, nothing changed).
    pub is_error: bool,
    /// Facts for the final report.
    pub evidence: Vec<Evidence>,
    /// Enough to do the step again without a model, in the back end's own form.
    pub record: Option<Value>,
}

impl Output {
    /// A successful answer in plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            blocks: vec![Block::Text(text.into())],
            ..Self::default()
        }
    }
}

/// A piece of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Text. Whatever it quotes from screens, files, pages or programs is data, not instruction.
    Text(String),
    /// A picture, with the frame it was kept as.
    Image {
        /// The picture as sent.
        image: Image,
        /// Its row in the store.
        frame: Option<FrameId>,
    },
    /// Structured data.
    Json(Value),
    /// Something that lives elsewhere.
    Resource {
        /// Where.
        uri: String,
        /// Its type.
        media_type: Option<String>,
        /// Its text, where it is text.
        text: Option<String>,
    },
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It did not exist before.
    Created,
    /// Its content changed.
    Modified,
    /// It no longer exists.
    Deleted,
}

/// Something that really happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Evidence {
    /// A file changed.
    File {
        /// The file.
        path: PathBuf,
        /// How.
        change: ChangeKind,
        /// Its row in the store, when the old content can be brought back.
        undo: Option<ChangeId>,
    },
    /// A command ended.
    Command {
        /// The command line, shortened to 200 characters.
        line: String,
        /// Exit code; none when a signal ended it.
        code: Option<i32>,
        /// The whole output, when it was cut for the model.
        output: Option<ArtefactId>,
    },
    /// The screen was seen.
    Frame {
        /// The picture.
        frame: FrameId,
        /// It differed from the one before the action.
        changed: bool,
    },
}
