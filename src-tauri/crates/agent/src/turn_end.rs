//! The two tools that end a run by being called: a question, and giving up.

use openspace_llm::{Content, ToolCall, ToolDefinition, ToolResult};
use openspace_store::RunStatus;
use serde_json::json;

use crate::Reason;

pub(crate) const ASK_PERSON: &str = "ask_person";
pub(crate) const GIVE_UP: &str = "give_up";

/// A call that ends the run.
pub(crate) enum TurnEnd {
    Question(String),
    GaveUp(String),
}

impl TurnEnd {
    /// The first such call of a turn. The other calls of that turn are not run.
    pub(crate) fn find(calls: &[ToolCall]) -> Option<Self> {
        calls.iter().find_map(|call| {
            let text = |key: &str| {
                call.input
                    .get(key)
                    .and_then(|value| value.as_str())
                    .unwrap_or_default()
                    .trim()
                    .to_owned()
            };
            match call.name.as_str() {
                ASK_PERSON => {
                    Some(Self::Question(text("question"))).filter(|_| !text("question").is_empty())
                }
                GIVE_UP => Some(Self::GaveUp(text("reason"))),
                _ => None,
            }
        })
    }

    /// What stands in the conversation as the result of each call of the turn.
    pub(crate) fn result(&self, call: &ToolCall) -> Content {
        let text = match (self, call.name.as_str()) {
            (Self::Question(_), ASK_PERSON) => {
                "The question was put to the person. Their answer follows."
            }
            (Self::GaveUp(_), GIVE_UP) => "Noted.",
            _ => "Not run: another call of the same turn ended the run.",
        };
        Content::ToolResult(ToolResult {
            id: call.id.clone(),
            content: vec![Content::Text(text.to_owned())],
            is_error: false,
        })
    }

    pub(crate) fn into_parts(self) -> (RunStatus, Reason, String) {
        match self {
            Self::Question(text) => (
                RunStatus::NeedsYou,
                Reason::Question { text: text.clone() },
                text,
            ),
            Self::GaveUp(text) => (
                RunStatus::Failed,
                Reason::GaveUp { text: text.clone() },
                text,
            ),
        }
    }
}

/// The two tools as the model is offered them.
pub fn turn_ending_tools() -> Vec<ToolDefinition> {
    let tool = |name: &str, description: &str, parameter: &str, meaning: &str| ToolDefinition {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: json!({
            "type": "object",
            "properties": { parameter: { "type": "string", "description": meaning } },
            "required": [parameter],
            "additionalProperties": false,
        }),
        hosted: None,
    };
    vec![
        tool(
            ASK_PERSON,
            "Asks the person one question and ends the run until they answer. Only for what they alone can know, decide or do.",
            "question",
            "The question, complete in itself.",
        ),
        tool(
            GIVE_UP,
            "Ends the run because the task cannot be done.",
            "reason",
            "Why not, what was tried, and what the person could do about it.",
        ),
    ]
}
