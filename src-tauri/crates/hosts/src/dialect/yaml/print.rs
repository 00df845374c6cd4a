//! Values as YAML that readers of both versions understand alike.

use serde_json::Value;

use super::{
    super::{json, layout::Layout},
    plain,
};

/// Words that some readers take for something else than text.
const WORDS: [&str; 10] = [
    "y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan",
];

/// A text, without quotes where none are needed.
pub(crate) fn text(text: &str) -> String {
    let harmless = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-'));
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/');
    let word = WORDS.contains(&text.to_ascii_lowercase().as_str());
    if harmless && begins && !word && matches!(plain(text), Value::String(_)) {
        text.to_owned()
    } else {
        json::print::quoted(text)
    }
}

/// A member in lines of its own, without a line end after the last.
pub(crate) fn member(key: &str, value: &Value, layout: &Layout, indent: &str) -> String {
    let key = text(key);
    match value {
        Value::Object(map) if !map.is_empty() => {
            let inner = format!("{indent}{}", layout.unit);
            let members = map.iter().map(|(key, value)| {
                format!("{}{}", layout.eol, member(key, value, layout, &inner))
            });
            format!("{indent}{key}:{}", members.collect::<String>())
        }
        other => format!("{indent}{key}: {}", flow(other)),
    }
}

/// On one line.
pub(crate) fn flow(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let members: Vec<_> = map
                .iter()
                .map(|(key, value)| format!("{}: {}", text(key), flow(value)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::String(value) => text(value),
        scalar => scalar.to_string(),
    }
}
