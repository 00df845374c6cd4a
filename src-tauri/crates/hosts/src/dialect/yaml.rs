//! YAML with the place of every part. The reading is `saphyr-parser`'s; cutting and joining is ours.

pub(crate) mod edit;
pub(crate) mod print;

use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput};
use serde_json::{Number, Value};

use super::{
    Fault,
    tree::{Kind, Member, Node},
};

/// Deeper is no configuration.
const DEEPEST: usize = 128;

/// Reads a text of one document; none when there is nothing in it but white space and comments.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Fault> {
    let mut reader = Reader {
        parser: Parser::new_from_str(text),
        places: Places::of(text),
        text,
        depth: 0,
    };
    let mut root = None;
    let mut documents = 0;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    let at = reader.places.range(span).start;
                    return Err(Fault::syntax(
                        at,
                        "there is more than one document in this file",
                    ));
                }
            }
            Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
            value => root = Some(reader.node(value, span)?),
        }
    }
    // A document that is begun and has nothing in it.
    Ok(root.filter(|root| !is_nothing(root)))
}

/// A value that is not written at all.
pub(crate) fn is_nothing(node: &Node) -> bool {
    node.kind == Kind::Scalar(Value::Null) && node.span.is_empty()
}

struct Reader<'a> {
    parser: Parser<'a, StrInput<'a>>,
    places: Places,
    text: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Fault> {
        match self.parser.next_event() {
            Some(Ok(next)) => Ok(next),
            Some(Err(error)) => Err(self.fault(&error)),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    fn fault(&self, error: &ScanError) -> Fault {
        let at = self.places.byte(error.marker().index());
        Fault::syntax(at, error.info())
    }

    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Node, Fault> {
        let range = self.places.range(span);
        if self.depth > DEEPEST {
            return Err(Fault::syntax(range.start, "this is nested too deeply"));
        }
        self.depth += 1;
        let node = match event {
            Event::MappingStart(..) => self.map(range)?,
            Event::SequenceStart(..) => self.list(range)?,
            // Nothing is written here: the parser gives the place of what comes next.
            Event::Scalar(text, ScalarStyle::Plain, _, None) if text.is_empty() => Node {
                span: range.start..range.start,
                kind: Kind::Scalar(Value::Null),
            },
            Event::Scalar(text, style, _, tag) => Node {
                kind: Kind::Scalar(match tag {
                    None if style == ScalarStyle::Plain => plain(&text),
                    None => Value::String(text.into_owned()),
                    Some(tag) => Value::String(format!("\0{tag} {text}")),
                }),
                span: range,
            },
            // What it stands for is written elsewhere.
            _ => Node {
                kind: Kind::Scalar(Value::String(format!("\0{}", &self.text[range.clone()]))),
                span: range,
            },
        };
        self.depth -= 1;
        Ok(node)
    }

    fn map(&mut self, open: Range<usize>) -> Result<Node, Fault> {
        let flow = self.text[open.start..].starts_with('{');
        let mut members: Vec<Member> = Vec::new();
        let close = loop {
            let (event, span) = self.next()?;
            if event == Event::MappingEnd {
                break self.places.range(span);
            }
            let key = self.node(event, span)?;
            let (event, span) = self.next()?;
            let mut value = self.node(event, span)?;
            if is_nothing(&value) {
                value.span = key.span.end..key.span.end;
            }
            let comma = flow.then(|| comma(self.text, value.span.end)).flatten();
            members.push(Member {
                key: match key.kind {
                    Kind::Scalar(Value::String(text)) => text,
                    Kind::Scalar(_) => self.text[key.span.clone()].to_owned(),
                    Kind::List(_) | Kind::Map(_) => format!("\0{}", key.span.start),
                },
                key_span: key.span,
                value,
                comma,
            });
        };
        let end = match members.last() {
            Some(last) if !flow => last.value.span.end,
            _ => close.end,
        };
        Ok(Node {
            span: open.start..end,
            kind: Kind::Map(members),
        })
    }

    fn list(&mut self, open: Range<usize>) -> Result<Node, Fault> {
        let flow = self.text[open.start..].starts_with('[');
        let mut items = Vec::new();
        let close = loop {
            let (event, span) = self.next()?;
            if event == Event::SequenceEnd {
                break self.places.range(span);
            }
            items.push(self.node(event, span)?);
        };
        let end = match items.last() {
            Some(last) if !flow => last.span.end,
            _ => close.end,
        };
        Ok(Node {
            span: open.start..end,
            kind: Kind::List(items),
        })
    }
}

/// The comma after a value in braces.
fn comma(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        if rest.starts_with('#') {
            at += rest.find('\n')?;
        } else {
            return rest.starts_with(',').then_some(at);
        }
    }
}

/// What an unquoted scalar is, by the core schema.
pub(crate) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    let numeric = text.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    numeric
        .then(|| text.parse::<Number>().ok())
        .flatten()
        .map_or_else(|| Value::String(text.to_owned()), Value::Number)
}

/// From characters, which the parser counts, to bytes.
struct Places {
    /// Where each character begins; empty for a text in which both are the same.
    starts: Vec<usize>,
    length: usize,
}

impl Places {
    fn of(text: &str) -> Self {
        let starts = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(at, _)| at).collect()
        };
        Self {
            starts,
            length: text.len(),
        }
    }

    fn byte(&self, index: usize) -> usize {
        if self.starts.is_empty() {
            index.min(self.length)
        } else {
            self.starts.get(index).copied().unwrap_or(self.length)
        }
    }

    fn range(&self, span: Span) -> Range<usize> {
        self.byte(span.start.index())..self.byte(span.end.index())
    }
}
