//! From a turn to bytes on the wire, and the ways those go wrong.

mod chat;
mod messages;
mod play;
mod responses;

use serde_json::{Value, json};

pub(super) use play::{Dropped, play};

use super::refusal::{self, error_body};
use super::seen::{Dialect, Part, SeenRequest};
use super::turn::{Call, Fault, Stop, Turn, Usage};

/// An answer before it is sent: a status, a type, and the pieces of the body.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: String,
    pub(super) retry_after: Option<String>,
    pub(super) pieces: Vec<Vec<u8>>,
}

impl Answer {
    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            content_type: "application/json".to_owned(),
            retry_after: None,
            pieces: vec![body.to_string().into_bytes()],
        }
    }
}

/// The signature of a thinking block, which must come back with the same text.
pub(super) fn signature(thinking: &str) -> String {
    blake3::hash(thinking.as_bytes()).to_hex().to_string()
}

/// What a turn looks like in the request's dialect.
pub(super) fn render(turn: &Turn, seen: &SeenRequest) -> Answer {
    let dialect = seen.dialect;
    let failed =
        |status: u16, message: &str| Answer::json(status, &error_body(dialect, status, message));
    match &turn.fault {
        Some(Fault::Status { code, retry_after }) => Answer {
            retry_after: retry_after.clone(),
            ..failed(*code, refusal::usual_message(dialect, *code))
        },
        Some(Fault::ImageRejected) => {
            let images = seen.images();
            let place = images
                .first()
                .map_or("messages.0.content.0", |image| &image.place);
            failed(400, &refusal::image_too_large(dialect, place))
        }
        Some(Fault::ContextTooLong) => failed(400, refusal::too_long(dialect)),
        Some(Fault::OverloadedMidStream) if !seen.stream => {
            failed(529, refusal::usual_message(dialect, 529))
        }
        Some(Fault::Html) => page(),
        Some(Fault::Raw {
            code,
            content_type,
            body,
        }) => Answer {
            status: *code,
            content_type: content_type.clone(),
            retry_after: None,
            pieces: vec![body.clone().into_bytes()],
        },
        Some(fault) => spoil(whole(turn, seen), fault, dialect),
        None => whole(turn, seen),
    }
}

/// The answer without its fault.
fn whole(turn: &Turn, seen: &SeenRequest) -> Answer {
    let spoken = Spoken::new(turn, seen);
    if !seen.stream {
        let body = match seen.dialect {
            Dialect::Messages => messages::body(&spoken),
            Dialect::Chat => chat::body(&spoken),
            Dialect::Responses => responses::body(&spoken),
        };
        return Answer::json(200, &body);
    }
    let mut pieces = match seen.dialect {
        Dialect::Messages => messages::stream(&spoken),
        Dialect::Chat => chat::stream(&spoken, seen),
        Dialect::Responses => responses::stream(&spoken),
    };
    if let Some(bytes) = turn.fragments {
        let all = pieces.concat();
        pieces = all.chunks(bytes).map(<[u8]>::to_vec).collect();
    }
    Answer {
        status: 200,
        content_type: "text/event-stream; charset=utf-8".to_owned(),
        retry_after: None,
        pieces,
    }
}

/// Damages the body. What happens to the connection is up to [`play`].
fn spoil(mut answer: Answer, fault: &Fault, dialect: Dialect) -> Answer {
    if *fault == Fault::InvalidUtf8 {
        let all = answer.pieces.concat();
        answer.pieces = vec![with_bad_bytes(&all)];
        return answer;
    }
    if answer.pieces.len() == 1 {
        let whole = answer.pieces.remove(0);
        let (first, second) = whole.split_at(whole.len() / 2);
        answer.pieces = vec![first.to_vec(), second.to_vec()];
    }
    answer.pieces.truncate(answer.pieces.len() / 2);
    if *fault == Fault::OverloadedMidStream {
        let body = error_body(dialect, 529, refusal::usual_message(dialect, 529));
        answer.pieces.push(match dialect {
            Dialect::Messages => event("error", &body),
            Dialect::Chat => data(&body),
            Dialect::Responses => event(
                "error",
                &json!({"type": "error", "code": "server_error", "message": body["error"]["message"], "param": null}),
            ),
        });
    }
    answer
}

/// Puts bytes that are no UTF-8 into the first visible text.
fn with_bad_bytes(body: &[u8]) -> Vec<u8> {
    let text = b"goes wrong";
    let place = body
        .windows(text.len())
        .position(|window| window == text)
        .or_else(|| body.windows(8).position(|window| window == b"\"text\":\""))
        .map_or(body.len() / 2, |place| place + 8);
    let mut bad = body.to_vec();
    bad.splice(place..place, [0xFF, 0xFE, 0xC3]);
    bad
}

fn page() -> Answer {
    Answer {
        status: 200,
        content_type: "text/html; charset=utf-8".to_owned(),
        retry_after: None,
        pieces: vec![
            b"<!DOCTYPE html><html><head><title>Sign in</title></head><body><h1>Welcome to the guest network</h1></body></html>".to_vec(),
        ],
    }
}

/// A turn with everything a format needs to write it down.
struct Spoken<'a> {
    id: String,
    model: &'a str,
    turn: &'a Turn,
    /// Calls with their ids.
    calls: Vec<(String, &'a Call)>,
    usage: Usage,
    /// Computer actions are called as members of the toolset.
    toolset: bool,
}

impl<'a> Spoken<'a> {
    fn new(turn: &'a Turn, seen: &'a SeenRequest) -> Self {
        let prefix = match seen.dialect {
            Dialect::Messages => "toolu_01",
            Dialect::Chat | Dialect::Responses => "call_",
        };
        let calls = turn
            .calls
            .iter()
            .map(|call| (format!("{prefix}{}", crate::home::random_word()), call))
            .collect();
        Self {
            id: crate::home::random_word(),
            model: &seen.model,
            turn,
            calls,
            usage: turn.usage.unwrap_or_else(|| estimate(turn, seen)),
            toolset: seen
                .tool("computer")
                .is_some_and(|tool| tool.hosted.as_deref() == Some(super::rules::TOOLSET)),
        }
    }

    /// Whether the turn was cut or declined.
    fn stop(&self) -> Option<Stop> {
        self.turn.stop
    }
}

/// About what a service would count: four letters a token, 28 x 28 px a token.
fn estimate(turn: &Turn, seen: &SeenRequest) -> Usage {
    let letters: usize = seen
        .parts()
        .map(|part| match part {
            Part::Text(text) => text.len(),
            Part::Result(result) => result.text.len(),
            Part::Call { input, .. } => input.to_string().len(),
            Part::Image(_) | Part::Reasoning => 0,
        })
        .sum();
    let patches: u32 = seen
        .images()
        .iter()
        .map(|image| image.width.div_ceil(28) * image.height.div_ceil(28))
        .sum();
    let written: usize = turn.calls.iter().map(|call| call.arguments.len()).sum();
    Usage {
        input: (letters / 4) as u64 + u64::from(patches) + 1,
        output: ((turn.text.len() + written) / 4) as u64 + 1,
        ..Usage::default()
    }
}

/// A server-sent event with a name.
fn event(name: &str, data: &Value) -> Vec<u8> {
    format!("event: {name}\ndata: {data}\n\n").into_bytes()
}

/// A server-sent event without a name.
fn data(data: &Value) -> Vec<u8> {
    format!("data: {data}\n\n").into_bytes()
}

/// A text in pieces as a model streams it: about a word each, larger for very long ones.
fn morsels(text: &str) -> Vec<&str> {
    let size = (text.len() / 400).max(12);
    let mut rest = text;
    let mut morsels = Vec::new();
    while !rest.is_empty() {
        let cut = (size..rest.len()).find(|at| rest.is_char_boundary(*at));
        let cut = cut.unwrap_or(rest.len());
        let (first, more) = rest.split_at(cut);
        morsels.push(first);
        rest = more;
    }
    morsels
}
