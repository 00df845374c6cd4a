use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

const STRICT: Rules = Rules {
    comments: false,
    trailing_commas: false,
    json5: false,
};
const JSONC: Rules = Rules {
    comments: true,
    trailing_commas: true,
    json5: false,
};
const JSON5: Rules = Rules {
    json5: true,
    ..JSONC
};

fn said(text: &str, rules: Rules) -> Result<Value, usize> {
    match parse(text, rules) {
        Ok(root) => Ok(root.map_or(Value::Null, |root| root.value())),
        Err(fault) => Err(fault.at),
    }
}

/// A value with everything JSON has.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9_f64).prop_map(Value::from),
        "[a-z\"\\\\/é👍\n\t]{0,8}".prop_map(Value::from),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z ]{0,4}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    /// What another writer writes is read as it was meant.
    #[test]
    fn strict_json_is_read_as_others_read_it(value in value(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
        let text = text.expect("text");
        // Not every fraction survives being written and read.
        let value: Value = serde_json::from_str(&text).expect("JSON");
        for rules in [STRICT, JSONC, JSON5] {
            prop_assert_eq!(said(&text, rules), Ok(value.clone()));
        }
    }

    /// Strict JSON is what others take for it: whatever is done to a text, both readers agree.
    #[test]
    fn broken_json_is_refused_as_others_refuse_it(
        value in value(),
        at: prop::sample::Index,
        what in "[,:{}\\[\\]\"0-9a-z+.\\- /*]{0,2}",
        cut in 0..3_usize,
    ) {
        let text = value.to_string();
        let places: Vec<_> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let from = at.index(places.len());
        let to = (from + cut).min(places.len() - 1);
        let text = format!("{}{what}{}", &text[..places[from]], &text[places[to]..]);
        let theirs = serde_json::from_str::<Value>(&text);
        let ours = parse(&text, STRICT);
        match theirs {
            Ok(theirs) => prop_assert_eq!(ours.ok().flatten().map(|root| root.value()), Some(theirs), "{}", text),
            // Numbers stay as they are written here, however large.
            Err(error) if error.to_string().contains("number out of range") => {}
            Err(_) => prop_assert!(ours.is_err() || text.trim().is_empty(), "{} was read", text),
        }
    }

    /// No text makes the reader fail otherwise than by saying so.
    #[test]
    fn any_text_is_read_or_refused(text in "[\\PC\n\r\t]{0,40}") {
        for rules in [STRICT, JSONC, JSON5] {
            if let Err(fault) = parse(&text, rules) {
                prop_assert!(fault.at <= text.len());
            }
        }
    }
}

/// A `//` within a text begins no comment, and what a comment holds is not read.
#[test]
fn comments_are_told_from_texts() {
    let text = "// first\n{ \"url\": \"https://x//y\", /* \"no\": { */ \"b\": [1, 2,], } // end";
    assert_eq!(
        said(text, JSONC),
        Ok(json!({ "url": "https://x//y", "b": [1, 2] }))
    );
    assert_eq!(said(text, STRICT), Err(0), "strict JSON has no comments");
    assert_eq!(said("{\"a\": 1,}", STRICT), Err(7), "and no trailing comma");
    assert_eq!(said("{\"a\": 1 /* open", JSONC), Err(8));
}

/// What JSON5 adds is read: names, quotes, escapes, numbers, line ends within texts.
#[test]
fn json5_is_read() {
    let text = "{unquoted: 'it\\'s', $b_1: \"a\\\nb\", 'c\\x41': +0x1F, d: .5, e: -Infinity, f: 5., g: NaN, h: '\\v\\0', ä: 1e3}";
    let said = said(text, JSON5).expect("JSON5");
    assert_eq!(said["unquoted"], "it's");
    assert_eq!(said["$b_1"], "ab");
    assert_eq!(said["cA"], "\0+0x1F", "kept as it is written");
    assert_eq!(said["e"], "\0-Infinity");
    assert_eq!(said["h"], "\u{b}\0");
    assert_eq!(said["ä"], json!(1e3));
    for wrong in [
        "{a: 1 b: 2}",
        "{a: 01}",
        "{1a: 1}",
        "{a: '\n'}",
        "{a: '\\1'}",
    ] {
        assert!(parse(wrong, JSON5).is_err(), "{wrong}");
    }
}

/// Half a surrogate pair, as programs leave it that cut texts anywhere, does not make a file
/// unreadable.
#[test]
fn half_a_pair_is_read() {
    assert_eq!(
        said(
            r#"["\ud83d", "\ud83d\udc4d", "\udc4d\ud83d", "\ud83dx"]"#,
            STRICT
        ),
        Ok(json!(["\u{fffd}", "👍", "\u{fffd}\u{fffd}", "\u{fffd}x"]))
    );
}

/// Of a key given twice the last one counts.
#[test]
fn the_last_of_two_members_counts() {
    let root = parse(r#"{"a": 1, "a": {"b": 2}}"#, STRICT).ok().flatten();
    let root = root.expect("a map");
    assert_eq!(root.member("a").map(|(index, _)| index), Some(1));
    assert_eq!(root.value(), json!({ "a": { "b": 2 } }));
}

/// A text of brackets only does not exhaust the stack.
#[test]
fn depth_is_bounded() {
    assert!(parse(&"[".repeat(100_000), STRICT).is_err());
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    assert!(parse(&deep, STRICT).is_ok());
}
