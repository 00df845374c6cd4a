//! Names, descriptions and schemas of the tools.

use openspace_grounding::{Coordinates, Effect, Hosted, ToolSpec};
use serde_json::{Value, json};

use super::Kind;
use crate::{
    action::{batch_schema, computer_schema},
    geometry::Size,
};

/// The tools on offer, most useful first. `size` is that of the pictures, where it is known.
pub(crate) fn specs(
    coordinates: Coordinates,
    vision: bool,
    tree: bool,
    size: Option<Size>,
) -> Vec<(Kind, ToolSpec)> {
    if !vision && !tree {
        return Vec::new();
    }
    // A hosted tool writes pixels; a model that writes anything else would be misread.
    let hosted = size
        .filter(|_| vision && coordinates == Coordinates::Pixels)
        .map(|size| Hosted::Computer {
            width: size.width,
            height: size.height,
        });
    let mut specs = vec![
        (
            Kind::Computer,
            spec(
                "computer",
                COMPUTER,
                computer_schema(coordinates, vision),
                hosted,
            ),
        ),
        (
            Kind::Batch,
            spec(
                "computer_batch",
                BATCH,
                batch_schema(coordinates, vision),
                None,
            ),
        ),
    ];
    if tree {
        specs.push((
            Kind::Tree,
            spec("accessibility_tree", TREE, nothing(), None),
        ));
        specs.push((
            Kind::ClickElement,
            spec("click_element", CLICK_ELEMENT, element(), None),
        ));
    }
    specs
}

const COMPUTER: &str = "Looks at the screen and controls mouse and keyboard. Every action that may change \
something answers with a screenshot taken once the screen is still, and says when nothing changed. Zoom \
instead of guessing at small text.";
const BATCH: &str = "Does several computer actions in a row and answers with one screenshot at the end. \
Use it whenever the next actions are clear without looking in between, such as click, type, Return.";
const TREE: &str = "Lists the elements of the window in front with role, name and position, numbered for \
click_element.";
const CLICK_ELEMENT: &str =
    "Clicks the middle of an element from accessibility_tree, wherever it is now.";

fn spec(name: &str, description: &str, schema: Value, hosted: Option<Hosted>) -> ToolSpec {
    let effect = if name == "accessibility_tree" {
        Effect::Read
    } else {
        Effect::Control
    };
    ToolSpec {
        name: name.into(),
        description: description.into(),
        schema,
        effect,
        exclusive: true,
        open_world: false,
        backend: "gui",
        hosted,
    }
}

fn nothing() -> Value {
    json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false})
}

fn element() -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": {
                "type": "integer",
                "minimum": 1,
                "description": "Number of the element in the last accessibility_tree.",
            },
            "click": {
                "type": ["string", "null"],
                "enum": ["left", "double", "right", "middle", null],
                "description": "left when left out.",
            },
        },
        "required": ["id"],
        "additionalProperties": false,
    })
}
