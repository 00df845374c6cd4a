//! Where in its file an agent keeps its servers, as a person writes it.

use serde_json::Value;

/// The keys on the way to the map of servers: what is written is one key where the file has that as
/// one, and else has dots between keys, of which those with a dot in them stand in quotes.
pub(super) fn keys(text: &str, said: &Value) -> Option<Vec<String>> {
    if said.get(text).is_some() {
        return Some(vec![text.to_owned()]);
    }
    let mut keys = Vec::new();
    let mut rest = text;
    loop {
        let quoted = ['"', '\'']
            .into_iter()
            .find_map(|quote| Some((quote, rest.strip_prefix(quote)?)));
        let (key, after) = match quoted {
            Some((quote, rest)) => rest.split_once(quote)?,
            None => rest.split_at(rest.find('.').unwrap_or(rest.len())),
        };
        keys.push(key.to_owned());
        rest = match after.strip_prefix('.') {
            Some(rest) => rest,
            None if after.is_empty() => return Some(keys),
            None => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_are_read_as_the_file_has_them() {
        let said = json!({ "amp.mcpServers": {}, "amp": { "b": {} } });
        let read = |text: &str| keys(text, &said).map(|keys| keys.join("|"));
        for (text, expected) in [
            ("mcpServers", Some("mcpServers")),
            ("amp.mcpServers", Some("amp.mcpServers")),
            ("amp.b", Some("amp|b")),
            ("amp.\"mcpServers\"", Some("amp|mcpServers")),
            ("\"other.mcp\"", Some("other.mcp")),
            ("a.'b.c'.d", Some("a|b.c|d")),
            ("a..b", Some("a||b")),
            ("a.", Some("a|")),
            ("", Some("")),
            ("\"a", None),
            ("\"a\"b", None),
        ] {
            assert_eq!(read(text).as_deref(), expected, "{text:?}");
        }
    }
}
