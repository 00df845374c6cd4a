//! What a file of maps, lists and scalars says, and where each part of it lies.

use std::ops::Range;

use serde_json::{Map, Value};

/// A value and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Scalar(Value),
    List(Vec<Node>),
    Map(Vec<Member>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
    /// Where the comma behind the value is, if there is one.
    pub(crate) comma: Option<usize>,
}

impl Member {
    /// Where the member ends, with its comma.
    pub(crate) fn end(&self) -> usize {
        self.comma.map_or(self.value.span.end, |comma| comma + 1)
    }
}

/// A step into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Node {
    /// The member of that name; the last one where there are several, as the hosts' parsers have it.
    pub(crate) fn member(&self, key: &str) -> Option<(usize, &Member)> {
        match &self.kind {
            Kind::Map(members) => members
                .iter()
                .enumerate()
                .rfind(|(_, member)| member.key == key),
            Kind::Scalar(_) | Kind::List(_) => None,
        }
    }

    /// The value at the end of some steps.
    pub(crate) fn follow(&self, steps: &[Step<'_>]) -> Option<&Self> {
        steps.iter().try_fold(self, |node, step| match step {
            Step::Key(key) => node.member(key).map(|(_, member)| &member.value),
            Step::Index(index) => match &node.kind {
                Kind::List(items) => items.get(*index),
                Kind::Scalar(_) | Kind::Map(_) => None,
            },
        })
    }

    /// What it says, without the places.
    pub(crate) fn value(&self) -> Value {
        match &self.kind {
            Kind::Scalar(value) => value.clone(),
            Kind::List(items) => items.iter().map(Self::value).collect(),
            Kind::Map(members) => members
                .iter()
                .map(|member| (member.key.clone(), member.value.value()))
                .collect::<Map<_, _>>()
                .into(),
        }
    }
}

/// What a value is called in messages.
pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "map",
    }
}
