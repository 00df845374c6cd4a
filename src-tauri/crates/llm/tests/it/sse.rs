//! Events out of bytes.

use openspace_llm::sse::{Decoder, Event, Malformed};

fn event(name: &str, data: &str) -> Event {
    Event {
        name: name.into(),
        data: data.into(),
    }
}

/// However the bytes are cut, with any line ending, the same events come out.
#[test]
fn any_chunking_and_any_line_ending_give_the_same_events() {
    let text = "\u{feff}: comment\nevent: a\ndata: {\"x\":\ndata: \"北京 👍\"}\n\nid: 3\ndata:two\n\n\n: only a comment\n\ndata\n\n";
    let expected = vec![
        event("a", "{\"x\":\n\"北京 👍\"}"),
        event("message", "two"),
        event("message", ""),
    ];
    for ending in ["\n", "\r\n", "\r"] {
        let bytes = text.replace('\n', ending).into_bytes();
        for size in 1..=bytes.len() {
            let mut decoder = Decoder::new();
            let mut events = Vec::new();
            for piece in bytes.chunks(size) {
                events.extend(decoder.push(piece).unwrap());
            }
            events.extend(decoder.finish().unwrap());
            assert_eq!(events, expected, "{ending:?} in pieces of {size}");
        }
    }
}

/// The last event counts although its blank line is missing.
#[test]
fn the_last_event_needs_no_blank_line() {
    let mut decoder = Decoder::new();
    assert_eq!(decoder.push(b"data: [DONE]").unwrap(), vec![]);
    assert_eq!(decoder.finish().unwrap(), Some(event("message", "[DONE]")));
}

/// Bytes that are no text and events without an end are refused.
#[test]
fn what_is_no_text_or_has_no_end_is_refused() {
    assert_eq!(
        Decoder::new().push(b"data: \xff\xfe\n"),
        Err(Malformed::NotText)
    );
    let mut decoder = Decoder::new();
    let piece = vec![b'a'; 1024 * 1024];
    let result = (0..20).find_map(|_| decoder.push(&piece).err());
    assert_eq!(result, Some(Malformed::TooLong));
}
