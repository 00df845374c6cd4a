//! Reading what a model wrote, and describing what it may write.

use openspace_grounding::{Effect, ToolError, ToolSpec};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Reads arguments; the error names the field and what was expected.
pub(crate) fn parse<T: DeserializeOwned>(arguments: &Value) -> Result<T, ToolError> {
    // A model that needs no arguments may send none.
    let value = if arguments.is_null() {
        json!({})
    } else {
        arguments.clone()
    };
    serde_json::from_value(value).map_err(|error| ToolError::InvalidArguments(error.to_string()))
}

/// A tool of this back end.
pub(crate) fn spec(
    name: &str,
    description: &str,
    effect: Effect,
    required: &[&str],
    properties: &Value,
) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: description.trim_end().to_owned(),
        schema: json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        }),
        effect,
        exclusive: false,
        open_world: false,
        backend: "shell",
        hosted: None,
    }
}
