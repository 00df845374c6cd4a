//! JSON Schemas of the tools, for models without a hosted computer tool.

use openspace_grounding::Coordinates;
use serde_json::{Value, json};

/// The actions by name.
pub(super) const ACTIONS: [&str; 19] = [
    "screenshot",
    "zoom",
    "left_click",
    "right_click",
    "middle_click",
    "double_click",
    "triple_click",
    "mouse_move",
    "left_click_drag",
    "left_mouse_down",
    "left_mouse_up",
    "scroll",
    "key",
    "hold_key",
    "type",
    "wait",
    "cursor_position",
    "clipboard_read",
    "clipboard_write",
];

/// Those that need neither a picture nor a position.
const BLIND_ACTIONS: [&str; 7] = [
    "scroll",
    "key",
    "hold_key",
    "type",
    "wait",
    "clipboard_read",
    "clipboard_write",
];

/// The arguments by name.
pub(super) const FIELDS: [&str; 10] = [
    "action",
    "coordinate",
    "start_coordinate",
    "region",
    "text",
    "scroll_direction",
    "scroll_amount",
    "duration",
    "repeat",
    "monitor",
];

fn position(coordinates: Coordinates) -> &'static str {
    match coordinates {
        Coordinates::Pixels => "in whole pixels of the last screenshot, [0, 0] at its top left",
        Coordinates::Thousandths => {
            "on a scale from 0 to 1000 in both directions, [0, 0] at the top left"
        }
        Coordinates::Permille => {
            "on a scale from 0 to 999 in both directions, [0, 0] at the top left"
        }
    }
}

/// Schema of one action. Without `vision`, what needs a picture is left out.
pub fn computer_schema(coordinates: Coordinates, vision: bool) -> Value {
    let numbers = |count: u32, what: &str| {
        json!({
            "type": ["array", "null"],
            "items": { "type": "integer", "minimum": 0 },
            "minItems": count,
            "maxItems": count,
            "description": what,
        })
    };
    let at = position(coordinates);
    let mut properties = json!({
        "action": {
            "type": "string",
            "enum": if vision { &ACTIONS[..] } else { &BLIND_ACTIONS[..] },
            "description": "What to do.",
        },
        "text": {
            "type": ["string", "null"],
            "description": "type, clipboard_write: the text, \\n for Return. key, hold_key: a chord such as ctrl+shift+t or Return. Clicks, scroll and drag: modifiers held meanwhile, such as ctrl.",
        },
        "scroll_direction": {
            "type": ["string", "null"],
            "enum": ["up", "down", "left", "right", null],
            "description": "scroll only.",
        },
        "scroll_amount": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 100,
            "description": "scroll only: notches of the wheel, 3 when left out.",
        },
        "duration": {
            "type": ["number", "null"],
            "minimum": 0,
            "maximum": 100,
            "description": "wait, hold_key: seconds.",
        },
        "repeat": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": 100,
            "description": "key only: how often, once when left out.",
        },
    });
    if vision {
        properties["coordinate"] = numbers(
            2,
            &format!("[x, y] {at}. Left out: where the pointer is. Drag: where it ends."),
        );
        properties["start_coordinate"] = numbers(
            2,
            &format!("left_click_drag: where it starts, [x, y] {at}."),
        );
        properties["region"] = numbers(4, &format!("zoom: [x0, y0, x1, y1] {at}."));
        properties["monitor"] = json!({
            "type": ["string", "null"],
            "description": "screenshot only: name or number of the monitor to look at and act on from now on.",
        });
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": ["action"],
        "additionalProperties": false,
    })
}

/// Schema of several actions in a row.
pub fn batch_schema(coordinates: Coordinates, vision: bool) -> Value {
    json!({
        "type": "object",
        "properties": {
            "actions": {
                "type": "array",
                "minItems": 1,
                "maxItems": super::super::tool::MOST_IN_BATCH,
                "items": computer_schema(coordinates, vision),
                "description": "Done in order; the first that fails ends the batch. All positions refer to the last screenshot before the batch.",
            },
        },
        "required": ["actions"],
        "additionalProperties": false,
    })
}
