//! JSON Schemas that every vendor takes.

use serde_json::Value;

const TYPES: &[&str] = &[
    "object", "array", "string", "integer", "number", "boolean", "null",
];

/// What is wrong with the schema of a tool's arguments.
pub(super) fn faults(schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if schema["type"] != "object" {
        faults.push("type: Input should be 'object'".to_owned());
        return faults;
    }
    for word in ["oneOf", "anyOf", "allOf"] {
        if schema.get(word).is_some() {
            faults.push(format!(
                "input_schema does not support oneOf, allOf, or anyOf at the top level ({word})"
            ));
        }
    }
    inspect(schema, schema, "$", &mut faults);
    faults
}

fn inspect(schema: &Value, root: &Value, place: &str, faults: &mut Vec<String>) {
    let Some(fields) = schema.as_object() else {
        if !schema.is_boolean() {
            faults.push(format!("{place}: a schema must be an object"));
        }
        return;
    };
    for kind in kinds(&schema["type"]) {
        if !TYPES.contains(&kind) {
            faults.push(format!("{place}: '{kind}' is not a type"));
        }
        if kind == "array" && schema.get("items").is_none() {
            faults.push(format!("{place}: array schema missing items"));
        }
    }
    if schema["enum"].as_array().is_some_and(Vec::is_empty) {
        faults.push(format!("{place}: enum is empty"));
    }
    if let Some(target) = schema["$ref"].as_str() {
        let found = target
            .strip_prefix('#')
            .is_some_and(|pointer| root.pointer(pointer).is_some());
        if !found {
            faults.push(format!("{place}: `{target}` leads nowhere"));
        }
    }
    let properties = schema["properties"].as_object();
    for required in schema["required"].as_array().into_iter().flatten() {
        let known = required
            .as_str()
            .is_some_and(|name| properties.is_some_and(|all| all.contains_key(name)));
        if !known {
            faults.push(format!("{place}: required {required} is no property"));
        }
    }
    for (name, inner) in properties.into_iter().flatten() {
        let fine = (1..=64).contains(&name.len())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
        if !fine {
            faults.push(format!(
                "{place}: property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$' (`{name}`)"
            ));
        }
        inspect(inner, root, &format!("{place}.{name}"), faults);
    }
    if let Some(items) = fields.get("items") {
        inspect(items, root, &format!("{place}[]"), faults);
    }
    for word in ["oneOf", "anyOf", "allOf"] {
        for inner in schema[word].as_array().into_iter().flatten() {
            inspect(inner, root, &format!("{place}({word})"), faults);
        }
    }
}

fn kinds(value: &Value) -> Vec<&str> {
    match value {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}
