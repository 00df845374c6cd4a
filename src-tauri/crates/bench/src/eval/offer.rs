//! What a model is offered: a coding host of no particular make, and us as one of its servers.

use openspace_llm::{Content, Message, Role, ToolCall, ToolDefinition, ToolResult};
use serde_json::{Value, json};

use super::{
    requests::{Before, Row},
    server::Told,
};

/// What hosts put before the names of a server's tools.
const PREFIX: &str = "mcp__openspace__";

const HOST: &str = "\
You are a coding agent in a terminal. You work in the folder /home/ann/shop, a git repository, in which
you can read and edit files and run commands. You have no screen, no mouse and no browser, and your
commands run in a sandbox without network that sees nothing but that folder. The user sits at the same
computer. Answer in the language of the user. Do what is asked with your tools, or answer in words when
words are all it takes.

These servers are connected:

# openspace

";

/// Everything that is the same for every request.
pub(super) struct Offer {
    pub(super) system: String,
    pub(super) tools: Vec<ToolDefinition>,
}

/// A tool's name without what hosts put before it.
pub(super) fn short(name: &str) -> &str {
    name.strip_prefix(PREFIX).unwrap_or(name)
}

impl Offer {
    pub(super) fn new(told: &Told) -> Self {
        let ours = told.tools.iter().map(|tool| {
            let text = |key: &str| tool[key].as_str().unwrap_or_default();
            ToolDefinition {
                name: format!("{PREFIX}{}", text("name")),
                description: text("description").to_owned(),
                schema: tool["inputSchema"].clone(),
                hosted: None,
            }
        });
        Self {
            system: format!("{HOST}{}", told.instructions),
            tools: own().into_iter().chain(ours).collect(),
        }
    }

    /// The conversation that ends with what the model has to answer.
    #[expect(
        clippy::unused_self,
        reason = "what is offered decides what was called"
    )]
    pub(super) fn conversation(&self, row: &Row) -> Vec<Message> {
        let said = Message::user(row.text);
        match row.before {
            Before::Nothing => vec![said],
            // The request was handed over, and this is the answer.
            Before::Answered => handed_over(row.text, &running()).into(),
            Before::Running => after(&running(), "It has begun and goes on by itself.", said),
            Before::Asked => after(&asks(), "OpenSpace asks which of the two you mean.", said),
            Before::Done => after(&done(), "Done: the poster is in your Documents.", said),
        }
    }
}

fn after(result: &Value, words: &str, said: Message) -> Vec<Message> {
    let before = handed_over("Make the poster from the template in Inkscape.", result);
    before
        .into_iter()
        .chain([Message::assistant(words), said])
        .collect()
}

/// A task that was handed over, with what came back.
fn handed_over(task: &str, result: &Value) -> [Message; 3] {
    let id = "call_1".to_owned();
    let call = ToolCall {
        id: id.clone(),
        name: format!("{PREFIX}execute_task"),
        input: json!({ "task": task }),
        malformed: None,
    };
    let answer = ToolResult {
        id,
        content: vec![Content::Text(result.to_string())],
        is_error: false,
    };
    [
        Message::user(task),
        Message {
            role: Role::Assistant,
            content: vec![Content::ToolCall(call)],
        },
        Message {
            role: Role::User,
            content: vec![Content::ToolResult(answer)],
        },
    ]
}

const TASK: &str = "0199f0c2a7d84c11";

fn running() -> Value {
    json!({
        "status": "running",
        "task_id": TASK,
        "next": { "tool": "task_wait", "arguments": { "task_id": TASK } },
    })
}

fn asks() -> Value {
    json!({
        "status": "needs_you",
        "task_id": TASK,
        "question": "There are two templates, a blue one and a red one. Which one?",
        "next": { "tool": "execute_task", "arguments": { "task_id": TASK } },
    })
}

fn done() -> Value {
    json!({
        "status": "success",
        "task_id": TASK,
        "response": "The poster is saved as /home/ann/Documents/poster-2026.svg.",
        "files_changed": ["/home/ann/Documents/poster-2026.svg"],
    })
}

/// Tools of the host itself.
fn own() -> [ToolDefinition; 3] {
    let tool = |name: &str, description: &str, parameters: &[&str]| {
        let properties: serde_json::Map<_, _> = parameters
            .iter()
            .map(|name| ((*name).to_owned(), json!({ "type": "string" })))
            .collect();
        ToolDefinition {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: json!({
                "type": "object",
                "properties": properties,
                "required": parameters,
                "additionalProperties": false,
            }),
            hosted: None,
        }
    };
    [
        tool("read_file", "Read a file of the repository.", &["path"]),
        tool(
            "edit",
            "Replace a piece of text in a file of the repository by another.",
            &["path", "old", "new"],
        ),
        tool(
            "bash",
            "Run a command in the folder of the repository, in a sandbox without network or display.",
            &["command"],
        ),
    ]
}
