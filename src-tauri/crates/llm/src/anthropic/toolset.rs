//! The computer toolset `computer_toolset_20260801`: one entry among the tools, without a name, that
//! offers seventeen member tools. Since Claude 5.5 it is the only hosted computer tool the service
//! takes. (<https://platform.claude.com/docs/en/agents-and-tools/tool-use/computer-use-tool>, read
//! 2026-11-30.)
//!
//! A member is named where the older tools have the argument `action`, and call and result both carry
//! the toolset's name. To everybody else the calls look as those of the older tools do: they become
//! `computer` with an `action` here, and members again when the conversation is sent back.

use serde_json::{Map, Value, json};

use super::COMPUTER;
use crate::ToolCall;

/// How the types of all versions begin.
const PREFIX: &str = "computer_toolset_";
/// The argument that names the action for everybody else.
const ACTION: &str = "action";
/// What the version of 2026-08-01 has.
const MEMBERS: [&str; 17] = [
    "screenshot",
    "zoom",
    "left_click",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "left_click_drag",
    "mouse_move",
    "left_mouse_down",
    "left_mouse_up",
    "cursor_position",
    "scroll",
    "type",
    "key",
    "hold_key",
    "wait",
];

/// Whether a hosted tool of this type is a toolset.
pub(super) fn is_toolset(kind: &str) -> bool {
    kind.starts_with(PREFIX)
}

/// Its entry: no name and no display, positions are always in pixels of the pictures sent. Every
/// member is on without being asked for, the zoom included.
pub(super) fn entry(kind: &str) -> Value {
    json!({ "type": kind })
}

/// The name a block carries when it belongs to the toolset.
pub(super) fn name_of(block: &Value) -> Option<&'static str> {
    (block.get("toolset_name").and_then(Value::as_str) == Some(COMPUTER)).then_some(COMPUTER)
}

/// A member's arguments as everybody else has them.
pub(super) fn with_action(member: &str, input: Value) -> Value {
    let mut all = Map::new();
    all.insert(ACTION.into(), json!(member));
    if let Value::Object(input) = input {
        all.extend(input.into_iter().filter(|(name, _)| name != ACTION));
    }
    Value::Object(all)
}

/// The member and its arguments that a call of the conversation stands for. None for other tools, and
/// for what only our own schema has, such as the clipboard.
pub(super) fn member(call: &ToolCall) -> Option<(&str, Map<String, Value>)> {
    if call.name != COMPUTER {
        return None;
    }
    let action = call.input.get(ACTION)?.as_str()?;
    let mut input = call.input.as_object()?.clone();
    input.remove(ACTION);
    MEMBERS.contains(&action).then_some((action, input))
}

/// Marks a block as the toolset's.
pub(super) fn claim(block: &mut Value) {
    block["toolset_name"] = json!(COMPUTER);
}
