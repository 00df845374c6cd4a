//! The computer toolset of the Messages API: its entry, its calls and their results.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::refusal::Refusal;
use crate::model::rules::TOOLSET;

/// All that the entry may hold.
const FIELDS: [&str; 4] = ["type", "configs", "cache_control", "allowed_callers"];
const MEMBERS: [&str; 17] = [
    "cursor_position",
    "double_click",
    "hold_key",
    "key",
    "left_click",
    "left_click_drag",
    "left_mouse_down",
    "left_mouse_up",
    "middle_click",
    "mouse_move",
    "right_click",
    "screenshot",
    "scroll",
    "triple_click",
    "type",
    "wait",
    "zoom",
];

pub(super) fn check(body: &Value) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut refuse = |message: String| refusals.push(Refusal::new("toolset", message));
    let list = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let mut offered = false;
    for tool in list(&body["tools"]) {
        if tool["type"] != TOOLSET {
            continue;
        }
        offered = true;
        for field in tool.as_object().into_iter().flat_map(|it| it.keys()) {
            if !FIELDS.contains(&field.as_str()) {
                refuse(format!(
                    "tools.{TOOLSET}.{field}: Extra inputs are not permitted"
                ));
            }
        }
    }
    let mut called = BTreeMap::new();
    for message in list(&body["messages"]) {
        for block in list(&message["content"]) {
            let toolset = block["toolset_name"].as_str().map(str::to_owned);
            let id = |field: &str| block[field].as_str().unwrap_or_default().to_owned();
            match block["type"].as_str() {
                Some("tool_use") => {
                    if toolset.is_some() {
                        let member = id("name");
                        if toolset.as_deref() != Some("computer")
                            || !MEMBERS.contains(&member.as_str())
                        {
                            refuse(format!("`{member}` is no member of {toolset:?}"));
                        }
                        if !offered {
                            refuse(format!(
                                "`{member}` belongs to a toolset that is not declared"
                            ));
                        }
                        if !block["input"]["action"].is_null() {
                            refuse(format!("`{member}` has no argument `action`"));
                        }
                    }
                    called.insert(id("id"), toolset);
                }
                Some("tool_result") => {
                    let id = id("tool_use_id");
                    if called.get(&id).is_some_and(|of_call| *of_call != toolset) {
                        refuse(format!(
                            "the result of `{id}` names the toolset {toolset:?}, its call {:?}",
                            called[&id]
                        ));
                    }
                }
                _ => {}
            }
        }
    }
    refusals
}
