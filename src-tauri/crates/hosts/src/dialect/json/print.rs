//! Values as JSON text that every dialect reads.

use serde_json::Value;

use super::super::layout::Layout;

/// A text in double quotes.
pub(crate) fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// Over several lines, lists of scalars on one. `indent` is that of the line it begins on.
pub(crate) fn pretty(value: &Value, layout: &Layout, indent: &str) -> String {
    match value {
        Value::Object(map) if !map.is_empty() => {
            let inner = format!("{indent}{}", layout.unit);
            let members: Vec<_> = map
                .iter()
                .map(|(key, value)| {
                    let value = pretty(value, layout, &inner);
                    format!("{}{inner}{}: {value}", layout.eol, quoted(key))
                })
                .collect();
            format!("{{{}{}{indent}}}", members.join(","), layout.eol)
        }
        other => compact(other, true),
    }
}

/// On one line, with or without spaces after commas and colons.
pub(crate) fn compact(value: &Value, spaced: bool) -> String {
    let space = if spaced { " " } else { "" };
    let comma = format!(",{space}");
    match value {
        Value::Object(map) => {
            let members: Vec<_> = map
                .iter()
                .map(|(key, value)| format!("{}:{space}{}", quoted(key), compact(value, spaced)))
                .collect();
            format!("{{{}}}", members.join(&comma))
        }
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| compact(item, spaced)).collect();
            format!("[{}]", items.join(&comma))
        }
        scalar => scalar.to_string(),
    }
}
