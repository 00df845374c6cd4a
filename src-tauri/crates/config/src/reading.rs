//! From text and documents to values that a schema accepts.

use serde::de::DeserializeOwned;
use toml_edit::{DocumentMut, InlineTable, Item, TableLike, Value};

/// What a text without a type may mean, the plainest reading first: the text itself, a word for yes
/// or no, a TOML value, JSON (what the old system's variables hold), a list with commas.
pub(crate) fn readings(text: &str) -> Vec<Value> {
    let trimmed = text.trim();
    let word = match trimmed.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1" => Some(true),
        "false" | "no" | "off" | "0" => Some(false),
        _ => None,
    };
    let list = trimmed
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let readings = [
        Some(Value::from(text)),
        word.map(Value::from),
        trimmed.parse::<Value>().ok(),
        serde_json::from_str::<serde_json::Value>(trimmed)
            .ok()
            .and_then(|json| from_json(&json)),
        Some(list.collect()),
    ];
    readings.into_iter().flatten().collect()
}

/// TOML has no null, so neither has a setting.
fn from_json(json: &serde_json::Value) -> Option<Value> {
    Some(match json {
        serde_json::Value::Null => return None,
        serde_json::Value::Bool(value) => Value::from(*value),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => Value::from(integer),
            None => Value::from(number.as_f64()?),
        },
        serde_json::Value::String(text) => Value::from(text.as_str()),
        serde_json::Value::Array(items) => {
            Value::Array(items.iter().map(from_json).collect::<Option<_>>()?)
        }
        serde_json::Value::Object(fields) => {
            let mut table = InlineTable::new();
            for (name, value) in fields {
                table.insert(name, from_json(value)?);
            }
            Value::InlineTable(table)
        }
    })
}

/// The first reading of `text` that fits `T` as the value of the setting, else why none does.
pub(crate) fn first_fitting<T: DeserializeOwned>(
    defaults: &DocumentMut,
    path: &[String],
    text: &str,
) -> Result<Value, String> {
    let mut reasons = Vec::new();
    for reading in readings(text) {
        match fits::<T>(defaults, path, &reading) {
            Ok(()) => return Ok(reading),
            Err(reason) => reasons.push((reading, reason)),
        }
    }
    // A reading of the right type tells more than one of the wrong type, and a number out of range is
    // better explained as a number than as a text.
    let telling = reasons
        .iter()
        .position(|(_, reason)| !reason.starts_with("invalid type"))
        .or_else(|| {
            reasons.iter().rposition(|(reading, _)| {
                reading.is_integer() || reading.is_float() || reading.is_inline_table()
            })
        });
    Err(reasons.swap_remove(telling.unwrap_or(0)).1)
}

/// Whether `T` accepts the value for this setting, everything else being as built in.
pub(crate) fn fits<T: DeserializeOwned>(
    defaults: &DocumentMut,
    path: &[String],
    value: &Value,
) -> Result<(), String> {
    let mut document = defaults.clone();
    put(document.as_table_mut(), path, value.clone());
    parse::<T>(document).map(drop)
}

/// The document as a `T`, else the reason in one line.
pub(crate) fn parse<T: DeserializeOwned>(document: DocumentMut) -> Result<T, String> {
    toml_edit::de::from_document(document)
        .map_err(|error| error.message().trim().replace('\n', "; "))
}

/// Puts a value at a path, making the tables on the way. Never rendered, so inline tables will do.
pub(crate) fn put(table: &mut dyn TableLike, path: &[String], value: Value) {
    let [first, rest @ ..] = path else { return };
    if rest.is_empty() {
        table.insert(first, Item::Value(value));
        return;
    }
    if table.get(first).is_none_or(|item| !item.is_table_like()) {
        table.insert(first, Item::Value(Value::InlineTable(InlineTable::new())));
    }
    if let Some(below) = table.get_mut(first).and_then(Item::as_table_like_mut) {
        put(below, rest, value);
    }
}
