use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const AT: At<'_> = At {
    path: &["mcpServers"],
    name: "openspace",
};

fn entry() -> Value {
    json!({ "command": "/usr/bin/openspace", "args": ["mcp"], "env": { "OPENSPACE_HOME": "/da ta" } })
}

/// Every byte of `before` is in `after`, in the same order.
fn holds(after: &str, before: &str) -> bool {
    let mut bytes = after.bytes();
    before
        .bytes()
        .all(|byte| bytes.by_ref().any(|other| other == byte))
}

/// What must be true of any text to which an entry can be added.
fn assert_kept(dialect: Dialect, before: &str, at: At<'_>) -> String {
    let after = dialect
        .add(before, at, &entry())
        .unwrap_or_else(|fault| panic!("{fault:?}\n{before}"));
    assert!(
        holds(&after, before),
        "something was lost:\n{before}\n{after}"
    );
    assert_eq!(
        find(&dialect.read(&after).expect("text"), at),
        Some(&entry()),
        "{after}"
    );
    let splice = Splice::between(before, &after);
    assert_eq!(splice.undo(&after).as_deref(), Some(before));
    assert_eq!(splice.undo_elsewhere(&after).as_deref(), Some(before));
    let said = dialect.read(before).expect("text");
    let created = at.path.len() - existing(&said, at.path);
    let removed = dialect
        .remove(&after, at, created)
        .unwrap_or_else(|fault| panic!("{fault:?}\n{after}"));
    assert_eq!(
        rest(dialect.read(&removed).expect("text"), at),
        rest(said, at)
    );
    assert_eq!(find(&dialect.read(&removed).expect("text"), at), None);
    let marks = |text: &str| (text.matches("//").count(), text.matches('#').count());
    assert_eq!(
        marks(&removed),
        marks(before),
        "no comment is lost:\n{after}\n{removed}"
    );
    after
}

fn existing(said: &Value, path: &[&str]) -> usize {
    let mut value = Some(said);
    path.iter()
        .take_while(|key| {
            value = value.and_then(|value| value.get(key));
            value.is_some()
        })
        .count()
}

/// A file of servers, as people write and programs leave them.
fn jsonc() -> impl Strategy<Value = String> {
    let trivia = prop::sample::select(vec![
        "",
        "",
        " ",
        "\n",
        "\n  ",
        "\r\n\t",
        " // note, with \"quotes\": { [\n",
        "/* a, b */",
        "\n\n    ",
    ]);
    let scalar = prop::sample::select(vec![
        "1",
        "true",
        "null",
        "\"https://x//y\"",
        "[]",
        "{}",
        "[1, 2]",
        "{\"env\": {}}",
        "\"\\u00e9\\\"\"",
    ]);
    let key = prop::sample::select(vec!["\"a\"", "\"b c\"", "\"mcpServers2\"", "\"é\""]);
    let member = (trivia.clone(), key, trivia.clone(), scalar, trivia.clone())
        .prop_map(|(a, key, b, value, c)| format!("{a}{key}:{b}{value}{c}"));
    let members = (prop::collection::vec(member, 0..4), any::<bool>());
    let map = (members, trivia.clone()).prop_map(|((members, trailing), inner)| {
        let comma = if trailing && !members.is_empty() {
            ","
        } else {
            ""
        };
        format!("{{{}{comma}{inner}}}", members.join(","))
    });
    let servers = (trivia.clone(), map.clone(), trivia.clone())
        .prop_map(|(a, map, b)| format!("{a}\"mcpServers\":{map}{b}"));
    let root = (map, prop::option::of(servers), any::<bool>(), trivia).prop_map(
        |(map, servers, first, end)| {
            let Some(servers) = servers else {
                return format!("{map}{end}");
            };
            let inside = &map[1..map.len() - 1];
            let empty = inside.trim().is_empty();
            if empty || first {
                let comma = if empty { "" } else { "," };
                format!("{{{servers}{comma}{inside}}}{end}")
            } else {
                let comma = if inside.trim_end().ends_with(',') || ends_with_comma(inside) {
                    ""
                } else {
                    ","
                };
                format!("{{{inside}{comma}{servers}}}{end}")
            }
        },
    );
    root.prop_filter("must be JSONC", |text| Dialect::Jsonc.read(text).is_ok())
}

fn ends_with_comma(inside: &str) -> bool {
    Dialect::Jsonc.read(&format!("{{{inside}\"x\":1}}")).is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Whatever a file looks like, only our entry is added, and taking it away leads back.
    #[test]
    fn jsonc_is_kept(text in jsonc()) {
        assert_kept(Dialect::Jsonc, &text, AT);
        assert_kept(Dialect::Json5, &text, AT);
    }

    /// The same for a file with tables, inline tables, dotted keys and comments.
    #[test]
    fn toml_is_kept(
        lines in prop::collection::vec(prop::sample::select(vec![
            "[mcp_servers.a]\ncommand = 'x' # why\nargs = []",
            "[mcp_servers.\"b c\".env]\nK = \"v\"",
            "# alone", "", "[[list]]\nn = 1", "[list2]\n\"odd key\" = 1979-05-27",
            "[deep.er]\na.b.c = [\n  1, # one\n  2,\n]",
        ]), 0..6).prop_map(|mut lines| { lines.sort_unstable(); lines.dedup(); lines }),
        head in prop::sample::select(vec!["", "model = \"o\"\n", "# top\n\n", "a.b = 1\n", "mcp_servers.z.command = \"y\"\n"]),
        end in prop::sample::select(vec!["", "\n", "\n\n", "\n# end"]),
        windows: bool,
    ) {
        let text = format!("{head}{}{end}", lines.join("\n"));
        let text = if windows { text.replace('\n', "\r\n") } else { text };
        let at = At { path: &["mcp_servers"], name: "openspace" };
        // A table given by dotted keys takes no second kind of entry in every order.
        prop_assume!(Dialect::Toml.read(&text).is_ok());
        let after = assert_kept(Dialect::Toml, &text, at);
        prop_assert!(after.starts_with(text.trim_end_matches(['\r', '\n'])));
    }

    /// The same for YAML in lines and in braces.
    #[test]
    fn yaml_is_kept(
        head in prop::sample::select(vec!["", "# top\n", "---\n", "GOOSE_MODEL: x # why\n", "é: |\n  two\n\n  lines\n", "list:\n- a\n- b: 1\n"]),
        servers in prop::sample::select(vec![
            "", "mcpServers:\n", "mcpServers: # none yet\n", "mcpServers: {}\n", "mcpServers: {a: {cmd: x}}\n", "mcpServers: {a: 1,}\n",
            "mcpServers:\n  a:\n    cmd: x # c\n    envs: {}\n", "mcpServers:\n    a:\n        args:\n        - x\n        - \"y\"\n",
            "mcpServers:\n  a:\n    about: >-\n      long\n      text\n  # end of servers\n", "\"mcpServers\":\n  'a': {}\n",
        ]),
        tail in prop::sample::select(vec!["", "# end\n", "z: [1, 2]\n", "zz:\n  y: é\n\n"]),
        windows: bool,
        cut: bool,
    ) {
        let text = format!("{head}{servers}{tail}");
        let text = if windows { text.replace('\n', "\r\n") } else { text };
        let text = if cut { text.trim_end_matches(['\r', '\n']) } else { &text };
        prop_assume!(Dialect::Yaml.read(text).is_ok());
        assert_kept(Dialect::Yaml, text, AT);
    }
}

/// A key deep in an entry is replaced, and nothing around it.
#[test]
fn a_text_is_replaced_in_place() {
    let steps = [
        Step::Key("mcpServers"),
        Step::Key("openspace"),
        Step::Key("command"),
    ];
    for (dialect, before, after) in [
        (
            Dialect::Jsonc,
            "{ // c\n  \"mcpServers\": {\"openspace\": {\"command\" : \"/old\", \"x\": 1},},\n}",
            "{ // c\n  \"mcpServers\": {\"openspace\": {\"command\" : \"C:\\\\new\", \"x\": 1},},\n}",
        ),
        (
            Dialect::Yaml,
            "mcpServers:\n  openspace:\n    command: /old # here\n",
            "mcpServers:\n  openspace:\n    command: \"C:\\\\new\" # here\n",
        ),
        (
            Dialect::Toml,
            "[mcpServers.openspace]\ncommand = \"/old\" # here\n",
            "[mcpServers.openspace]\ncommand = 'C:\\new' # here\n",
        ),
    ] {
        assert_eq!(dialect.set(before, &steps, "C:\\new").as_deref(), Ok(after));
        assert!(
            dialect.set(before, &steps[..2], "x").is_err(),
            "a map is no text"
        );
    }
    let steps = [Step::Key("mcp"), Step::Key("command"), Step::Index(1)];
    assert_eq!(
        Dialect::Jsonc
            .set("{\"mcp\": {\"command\": [\"a\", \"b\"]}}", &steps, "c")
            .as_deref(),
        Ok("{\"mcp\": {\"command\": [\"a\", \"c\"]}}")
    );
}

/// Where a list or a text stands in the place of our map, nothing is guessed.
#[test]
fn another_shape_is_refused() {
    for (dialect, text) in [
        (Dialect::Json, "{\"mcpServers\": []}"),
        (Dialect::Json, "{\"mcpServers\": null}"),
        (Dialect::Json, "[]"),
        (Dialect::Toml, "mcpServers = 1"),
        (Dialect::Yaml, "mcpServers: [a]"),
        (Dialect::Yaml, "- a"),
        (Dialect::Yaml, "x: &a {}\nmcpServers: *a"),
    ] {
        let fault = dialect.add(text, AT, &entry()).expect_err(text);
        assert!(
            matches!(fault.what, What::Shape { .. }),
            "{text}: {fault:?}"
        );
    }
    let two = Dialect::Yaml
        .add("a: 1\n---\nb: 2\n", AT, &entry())
        .expect_err("two documents");
    assert!(matches!(two.what, What::Syntax(_)));
}
