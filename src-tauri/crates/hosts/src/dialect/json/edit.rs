//! Adding and removing members without touching anything else.

use serde_json::Value;

use super::{Rules, print};
use crate::dialect::{
    edit::Edit,
    layout::{Layout, indent, line_end, previous_line_end, starts_line},
    tree::{Kind, Member, Node},
};

const USUAL_UNIT: &str = "  ";

/// How the text is indented: as the first member of its root is.
pub(crate) fn layout(text: &str, root: Option<&Node>) -> Layout {
    let first = root.and_then(|root| match &root.kind {
        Kind::Map(members) => members.first(),
        Kind::Scalar(_) | Kind::List(_) => None,
    });
    let unit = first
        .filter(|first| starts_line(text, first.key_span.start))
        .map(|first| indent(text, first.key_span.start))
        .filter(|unit| !unit.is_empty())
        .unwrap_or(USUAL_UNIT);
    Layout::new(text, unit)
}

/// Adds a map with one member to a text that holds nothing yet.
pub(crate) fn insert_root(text: &str, layout: &Layout, value: &Value) -> Edit {
    let value = print::pretty(value, layout, "");
    let eol = layout.eol;
    let new = if text.is_empty() || text.ends_with('\n') {
        format!("{value}{eol}")
    } else {
        format!("{eol}{value}")
    };
    Edit::insert(text.len(), new)
}

/// Adds a member at the end of a map.
pub(crate) fn insert(
    text: &str,
    rules: Rules,
    layout: &Layout,
    map: &Node,
    key: &str,
    value: &Value,
) -> Vec<Edit> {
    let Kind::Map(members) = &map.kind else {
        return Vec::new();
    };
    match members.last() {
        Some(last) => insert_after(text, rules, layout, members, last, key, value),
        None => vec![insert_first(text, rules, layout, map, key, value)],
    }
}

fn insert_after(
    text: &str,
    rules: Rules,
    layout: &Layout,
    members: &[Member],
    last: &Member,
    key: &str,
    value: &Value,
) -> Vec<Edit> {
    let trailing = if last.comma.is_some() { "," } else { "" };
    let comma = last
        .comma
        .is_none()
        .then(|| Edit::insert(last.value.span.end, ","));
    let key = print::quoted(key);
    let (at, new) = if starts_line(text, last.key_span.start) {
        let indent = indent(text, last.key_span.start);
        let value = print::pretty(value, layout, indent);
        (
            end_with_comments(text, rules, last.end()),
            format!("{}{indent}{key}: {value}{trailing}", layout.eol),
        )
    } else {
        let first = members.first().unwrap_or(last);
        let spaced = text[first.key_span.end..first.value.span.start].ends_with([' ', '\t']);
        let space = if spaced { " " } else { "" };
        let value = print::compact(value, spaced);
        (last.end(), format!("{space}{key}:{space}{value}{trailing}"))
    };
    comma.into_iter().chain([Edit::insert(at, new)]).collect()
}

fn insert_first(
    text: &str,
    rules: Rules,
    layout: &Layout,
    map: &Node,
    key: &str,
    value: &Value,
) -> Edit {
    let key = print::quoted(key);
    let inside = &text[map.span.start + 1..map.span.end - 1];
    // A whole file on one line stays on it, unless it is nothing but empty braces.
    let one_line = !text.contains('\n') && text.trim() != "{}" && inside.trim().is_empty();
    if one_line {
        let spaced = text.contains("\": ");
        let space = if spaced { " " } else { "" };
        let value = print::compact(value, spaced);
        return Edit::insert(map.span.start + 1, format!("{key}:{space}{value}"));
    }
    let indent = indent(text, map.span.start);
    let inner = format!("{indent}{}", layout.unit);
    let value = print::pretty(value, layout, &inner);
    let comments = inside.trim_end().len();
    let rest = &inside[comments..];
    let mut new = format!("{}{inner}{key}: {value}", layout.eol);
    if !rest.contains('\n') {
        new.push_str(layout.eol);
        new.push_str(indent);
    }
    debug_assert!(comments == 0 || rules.comments || rules.json5);
    Edit::insert(map.span.start + 1 + comments, new)
}

/// Removes a member, with the comma that only it needs and the line that only it fills.
pub(crate) fn remove(text: &str, rules: Rules, map: &Node, index: usize) -> Vec<Edit> {
    let Kind::Map(members) = &map.kind else {
        return Vec::new();
    };
    let member = &members[index];
    let previous = index.checked_sub(1).and_then(|index| members.get(index));
    let next = members.get(index + 1);
    if previous.is_none() && next.is_none() {
        let before = &text[map.span.start + 1..member.key_span.start];
        let after = &text[member.end()..map.span.end - 1];
        if before.trim().is_empty() && after.trim().is_empty() {
            return vec![Edit::remove(map.span.start + 1..map.span.end - 1)];
        }
    }
    let end = end_with_comments(text, rules, member.end());
    let alone = starts_line(text, member.key_span.start)
        && (text[end..]
            .trim_start_matches([' ', '\t'])
            .starts_with(['\n', '\r'])
            || next.is_none());
    let needless_comma = previous
        .filter(|_| next.is_none() && member.comma.is_none())
        .and_then(|previous| previous.comma);
    let range = if alone {
        previous_line_end(text, member.key_span.start)..end
    } else if next.is_some() {
        let after = &text[member.end()..];
        let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
        member.key_span.start..member.end() + blank
    } else {
        let from = previous.map_or(member.key_span.start, Member::end);
        from..member.end()
    };
    match needless_comma {
        Some(comma) if comma + 1 >= range.start => vec![Edit::remove(comma..range.end)],
        Some(comma) => vec![Edit::remove(comma..comma + 1), Edit::remove(range)],
        None => vec![Edit::remove(range)],
    }
}

/// Where what follows on the same line as a comment ends; `from` when nothing does.
fn end_with_comments(text: &str, rules: Rules, from: usize) -> usize {
    let mut end = from;
    let mut at = from;
    if !rules.comments {
        return end;
    }
    loop {
        let rest = &text[at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let comment = &rest[blank..];
        if comment.starts_with("//") {
            return line_end(text, at + blank);
        }
        let Some(inside) = comment.strip_prefix("/*") else {
            break;
        };
        let Some(length) = inside.find("*/") else {
            break;
        };
        if inside[..length].contains('\n') {
            break;
        }
        at += blank + length + 4;
        end = at;
    }
    end
}
