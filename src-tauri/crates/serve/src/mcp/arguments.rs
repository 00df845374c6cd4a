//! Reading what a model sent for a tool, against the schema it was given.
//!
//! A model that is told exactly which argument is wrong, and how it should be, sends it right the
//! second time. What does no harm is taken: numbers written as text, null and empty texts for nothing,
//! and arguments that do not exist, which are told of in the answer.

use openspace_app::{Code, Failure};
use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Arguments as the tool wants them.
pub(super) struct Read<T> {
    pub(super) arguments: T,
    /// Names that the tool does not know.
    pub(super) unknown: Vec<String>,
}

/// Checks `given` against a schema, adds the defaults, and reads it.
pub(super) fn read<T: DeserializeOwned>(
    schema: &JsonObject,
    given: Option<JsonObject>,
) -> Result<Read<T>, Failure> {
    let nothing = JsonObject::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&nothing);
    let required: Vec<_> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut arguments = JsonObject::new();
    let mut unknown = Vec::new();
    for (name, value) in given.unwrap_or_default() {
        match properties.get(&name) {
            None => unknown.push(name),
            Some(_) if value.is_null() => {}
            // Models that fill in every parameter leave those empty that they do not want.
            Some(_) if is_blank(&value) && !required.contains(&name.as_str()) => {}
            Some(property) => {
                let value = fitting(&name, property, value)?;
                arguments.insert(name, value);
            }
        }
    }
    for name in required {
        if arguments.get(name).is_none_or(is_blank) {
            return Err(wrong(format!("`{name}` is missing")));
        }
    }
    for (name, property) in properties {
        if let (false, Some(default)) = (arguments.contains_key(name), property.get("default")) {
            arguments.insert(name.clone(), default.clone());
        }
    }
    let arguments = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| wrong(format!("the arguments do not fit: {error}")))?;
    Ok(Read { arguments, unknown })
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

fn wrong(message: String) -> Failure {
    Failure::new(Code::InvalidRequest, message)
}

/// The value in the type the schema asks for.
fn fitting(name: &str, property: &Value, value: Value) -> Result<Value, Failure> {
    let kind = property
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let value = match (kind, value) {
        ("integer", value) => integer(name, property, &value)?,
        ("string", value @ Value::String(_))
        | ("boolean", value @ Value::Bool(_))
        | ("array", value @ Value::Array(_)) => value,
        ("boolean", Value::String(text)) if text == "true" || text == "false" => {
            json!(text == "true")
        }
        // One where several may be.
        ("array", value @ Value::String(_)) => json!([value]),
        (kind, _) => {
            return Err(wrong(format!("`{name}` must be {}", with_article(kind))));
        }
    };
    if let Value::Array(items) = &value
        && !items.iter().all(Value::is_string)
    {
        return Err(wrong(format!("`{name}` must be a list of strings")));
    }
    if let Some(allowed) = property.get("enum").and_then(Value::as_array)
        && !allowed.contains(&value)
    {
        let names: Vec<_> = allowed.iter().filter_map(Value::as_str).collect();
        return Err(wrong(format!(
            "`{name}` must be one of: {}",
            names.join(", ")
        )));
    }
    Ok(value)
}

fn with_article(kind: &str) -> String {
    match kind {
        "array" => "a list of strings".to_owned(),
        "integer" => "a whole number".to_owned(),
        other => format!("a {other}"),
    }
}

fn integer(name: &str, property: &Value, value: &Value) -> Result<Value, Failure> {
    let number = match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            number
                .as_f64()
                .filter(|it| it.fract() == 0.0)
                .map(|it| it as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    let bound = |key: &str| property.get(key).and_then(Value::as_i64);
    let (least, most) = (bound("minimum"), bound("maximum"));
    let fits = number.filter(|number| {
        least.is_none_or(|least| *number >= least) && most.is_none_or(|most| *number <= most)
    });
    fits.map(|number| json!(number)).ok_or_else(|| {
        let range = match (least, most) {
            (Some(least), Some(most)) => format!(" from {least} to {most}"),
            (Some(least), None) => format!(" of at least {least}"),
            (None, Some(most)) => format!(" of at most {most}"),
            (None, None) => String::new(),
        };
        wrong(format!("`{name}` must be a whole number{range}"))
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Arguments {
        task: String,
        wait: u64,
        steps: Option<u32>,
        #[serde(default)]
        dirs: Vec<String>,
        scope: String,
        import: bool,
    }

    fn schema() -> JsonObject {
        let schema = json!({
            "properties": {
                "task": { "type": "string" },
                "wait": { "type": "integer", "minimum": 0, "maximum": 600, "default": 25 },
                "steps": { "type": "integer", "minimum": 1 },
                "dirs": { "type": "array", "items": { "type": "string" } },
                "scope": { "type": "string", "enum": ["all", "local"], "default": "all" },
                "import": { "type": "boolean", "default": true },
            },
            "required": ["task"],
        });
        schema.as_object().expect("an object").clone()
    }

    fn given(value: Value) -> Result<Read<Arguments>, Failure> {
        let Value::Object(object) = value else {
            panic!("arguments are an object")
        };
        read(&schema(), Some(object))
    }

    /// What is left out has the default that the schema promises; what does no harm is taken.
    #[test]
    fn defaults_come_from_the_schema() {
        let read = given(json!({ "task": "x", "steps": null })).expect("fits");
        let defaults = Arguments {
            task: "x".to_owned(),
            wait: 25,
            steps: None,
            dirs: Vec::new(),
            scope: "all".to_owned(),
            import: true,
        };
        assert_eq!(read.arguments, defaults);
        let read = given(json!({
            "task": "x", "wait": "0", "steps": 3.0, "dirs": "/a", "import": "false", "why": 1,
        }))
        .expect("fits");
        assert_eq!(read.unknown, ["why"]);
        let arguments = read.arguments;
        assert_eq!((arguments.wait, arguments.steps), (0, Some(3)));
        assert_eq!(
            (arguments.dirs, arguments.import),
            (vec!["/a".to_owned()], false)
        );
    }

    /// Empty texts for everything that is not wanted are as good as nothing.
    #[test]
    fn an_empty_text_is_nothing() {
        let empty = json!({
            "task": "x", "wait": "", "steps": " ", "dirs": "", "scope": "", "import": "\n",
        });
        let read = given(empty).expect("fits");
        let nothing = given(json!({ "task": "x" })).expect("fits");
        assert_eq!(read.arguments, nothing.arguments);
    }

    /// What is wrong is named, with what would be right.
    #[test]
    fn a_wrong_argument_is_named() {
        for (value, message) in [
            (json!({}), "`task` is missing"),
            (json!({ "task": "  " }), "`task` is missing"),
            (json!({ "task": 1 }), "`task` must be a string"),
            (
                json!({ "task": "x", "wait": 601 }),
                "`wait` must be a whole number from 0 to 600",
            ),
            (
                json!({ "task": "x", "wait": 1.5 }),
                "`wait` must be a whole number from 0 to 600",
            ),
            (
                json!({ "task": "x", "steps": 0 }),
                "`steps` must be a whole number of at least 1",
            ),
            (
                json!({ "task": "x", "scope": "here" }),
                "`scope` must be one of: all, local",
            ),
            (
                json!({ "task": "x", "dirs": [1] }),
                "`dirs` must be a list of strings",
            ),
            (
                json!({ "task": "x", "import": "yes" }),
                "`import` must be a boolean",
            ),
        ] {
            let failure = given(value.clone()).err().expect("refused");
            assert_eq!(failure.message, message, "{value}");
            assert_eq!(failure.code, Code::InvalidRequest);
        }
    }
}
