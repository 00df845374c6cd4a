//! Showing parts of hosts' files without the secrets that others keep in them.

use serde_json::{Map, Value};

pub(crate) const MASK: &str = "…";
/// Parts of names whose values are secret.
const WORDS: [&str; 7] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "AUTHORIZATION",
    "CREDENTIAL",
];

pub(crate) fn holds_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    WORDS.iter().any(|word| name.contains(word))
}

/// A line of a file without the value of what is secret in it.
pub(crate) fn line(line: &str) -> String {
    let is_name = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '"' | '\'' | ' ')
    };
    let mut from = 0;
    while let Some(found) = line[from..].find([':', '=']) {
        let at = from + found;
        let name = line[..at].rfind(|character| !is_name(character));
        let name = &line[name.map_or(0, |before| before + 1)..at];
        let value = line[at + 1..].trim();
        if holds_secret(name) && !matches!(value, "" | "{" | "[" | "|" | ">") {
            return format!("{} {MASK}", &line[..=at]);
        }
        from = at + 1;
    }
    line.to_owned()
}

/// An entry without the values of secret variables and headers.
pub(crate) fn entry(value: &Value) -> Value {
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                let secret = holds_secret(key) && !value.is_object();
                let value = match value {
                    _ if secret => MASK.into(),
                    Value::Object(headers) if key.contains("eaders") => all(headers),
                    other => entry(other),
                };
                (key.clone(), value)
            })
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(entry).collect(),
        scalar => scalar.clone(),
    }
}

fn all(map: &Map<String, Value>) -> Value {
    map.keys()
        .map(|key| (key.clone(), MASK.into()))
        .collect::<Map<_, _>>()
        .into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Whatever the format, the value of a secret is not shown, and everything else is.
    #[test]
    fn lines_lose_their_secrets_only() {
        assert_eq!(line(r#"  "API_KEY": "sk-1","#), r#"  "API_KEY": …"#);
        assert_eq!(line("GITHUB_TOKEN = 'x'"), "GITHUB_TOKEN = …");
        assert_eq!(line("  authorization: Bearer x"), "  authorization: …");
        assert_eq!(
            line(r#"{"a": {"command": "x", "env": {"MY_SECRET": "y"}}}"#),
            r#"{"a": {"command": "x", "env": {"MY_SECRET": …"#
        );
        for harmless in [
            r#"  "command": "/usr/bin/openspace","#,
            r#"  "keys": {"#,
            "tool_timeout_sec = 600",
            "# comment",
        ] {
            assert_eq!(line(harmless), harmless);
        }
    }

    #[test]
    fn entries_lose_their_secrets_only() {
        let shown = entry(
            &json!({ "command": "x", "env": { "OPENSPACE_API_KEY": "k", "HOME": "/h" }, "headers": { "X": "y" } }),
        );
        assert_eq!(
            shown,
            json!({ "command": "x", "env": { "OPENSPACE_API_KEY": "…", "HOME": "/h" }, "headers": { "X": "…" } })
        );
    }
}
