//! Adding and removing members, in lines of their own or within braces.

use serde_json::Value;

use super::print;
use crate::dialect::{
    Fault,
    edit::Edit,
    layout::{Layout, indent, line_end, line_start, next_line, previous_line_end, starts_line},
    tree::{Kind, Member, Node},
};

const USUAL_UNIT: &str = "  ";

/// How the text is indented: as the first map within its root is.
pub(crate) fn layout(text: &str, root: Option<&Node>) -> Layout {
    let inner = root.and_then(|root| match &root.kind {
        Kind::Map(members) => members.iter().find_map(|member| match &member.value.kind {
            Kind::Map(inner) if !is_flow(text, &member.value) => inner.first(),
            Kind::Map(_) | Kind::Scalar(_) | Kind::List(_) => None,
        }),
        Kind::Scalar(_) | Kind::List(_) => None,
    });
    let unit = inner.map_or(USUAL_UNIT, |inner| indent(text, inner.key_span.start));
    Layout::new(text, if unit.is_empty() { USUAL_UNIT } else { unit })
}

fn is_flow(text: &str, map: &Node) -> bool {
    text[map.span.start..].starts_with('{')
}

/// Adds a member to a text that holds nothing yet.
pub(crate) fn insert_root(text: &str, layout: &Layout, key: &str, value: &Value) -> Edit {
    let member = print::member(key, value, layout, "");
    let eol = layout.eol;
    let new = if text.is_empty() || text.ends_with('\n') {
        format!("{member}{eol}")
    } else {
        format!("{eol}{member}")
    };
    Edit::insert(text.len(), new)
}

/// Adds a member at the end of a map.
pub(crate) fn insert(
    text: &str,
    layout: &Layout,
    map: &Node,
    key: &str,
    value: &Value,
) -> Result<Vec<Edit>, Fault> {
    let Kind::Map(members) = &map.kind else {
        return Ok(Vec::new());
    };
    if is_flow(text, map) {
        return Ok(insert_flow(map, members, key, value));
    }
    let Some(first) = members.first() else {
        return Err(Fault::unsafe_at(map.span.start));
    };
    if !starts_line(text, first.key_span.start) {
        return Err(Fault::unsafe_at(first.key_span.start));
    }
    let indent = indent(text, first.key_span.start);
    Ok(vec![insert_lines(
        text,
        layout,
        content_end(text, map),
        &print::member(key, value, layout, indent),
    )])
}

/// Gives a key that has no value yet a map with one member.
pub(crate) fn insert_below(
    text: &str,
    layout: &Layout,
    parent: &Member,
    key: &str,
    value: &Value,
) -> Result<Vec<Edit>, Fault> {
    if !starts_line(text, parent.key_span.start) {
        return Err(Fault::unsafe_at(parent.key_span.start));
    }
    let indent = format!("{}{}", indent(text, parent.key_span.start), layout.unit);
    Ok(vec![insert_lines(
        text,
        layout,
        parent.key_span.end,
        &print::member(key, value, layout, &indent),
    )])
}

/// Puts lines after the one in which something ends.
fn insert_lines(text: &str, layout: &Layout, end: usize, lines: &str) -> Edit {
    let eol = layout.eol;
    if end > 0 && text[..end].ends_with('\n') {
        return Edit::insert(end, format!("{lines}{eol}"));
    }
    Edit::insert(line_end(text, end), format!("{eol}{lines}"))
}

fn insert_flow(map: &Node, members: &[Member], key: &str, value: &Value) -> Vec<Edit> {
    let member = format!("{}: {}", print::text(key), print::flow(value));
    match members.last() {
        None => vec![Edit::insert(map.span.start + 1, member)],
        Some(last) => match last.comma {
            Some(comma) => vec![Edit::insert(comma + 1, format!(" {member},"))],
            None => vec![Edit::insert(last.value.span.end, format!(", {member}"))],
        },
    }
}

/// Where the last thing in a node ends; a text over several lines ends at the beginning of the next.
fn content_end(text: &str, node: &Node) -> usize {
    match &node.kind {
        Kind::Map(members) if !is_flow(text, node) => members
            .last()
            .map_or(node.span.end, |last| content_end(text, &last.value)),
        Kind::List(items) if !text[node.span.start..].starts_with('[') => items
            .last()
            .map_or(node.span.end, |last| content_end(text, last)),
        Kind::Map(_) | Kind::List(_) | Kind::Scalar(_) => node.span.end,
    }
}

/// Removes a member. `holder` is the member whose value the map is, if it has one.
pub(crate) fn remove(
    text: &str,
    map: &Node,
    index: usize,
    holder: Option<&Member>,
) -> Result<Vec<Edit>, Fault> {
    let Kind::Map(members) = &map.kind else {
        return Ok(Vec::new());
    };
    let member = &members[index];
    if is_flow(text, map) {
        return Ok(remove_flow(text, map, members, index));
    }
    if !starts_line(text, member.key_span.start) {
        return Err(Fault::unsafe_at(member.key_span.start));
    }
    let end = content_end(text, &member.value);
    let from = line_start(text, member.key_span.start);
    let to = if text[..end].ends_with('\n') && end > from {
        end
    } else {
        next_line(text, end)
    };
    let lines = if text[..to].ends_with('\n') {
        from..to
    } else {
        previous_line_end(text, from)..to
    };
    let mut edits = Vec::new();
    if members.len() == 1
        && let Some(holder) = holder
    {
        // A map that is left empty has to be written as one.
        let rest = &text[holder.key_span.end..];
        let colon = rest.find(':').unwrap_or_default();
        edits.push(Edit::insert(holder.key_span.end + colon + 1, " {}"));
    }
    edits.push(Edit::remove(lines));
    Ok(edits)
}

fn remove_flow(text: &str, map: &Node, members: &[Member], index: usize) -> Vec<Edit> {
    let member = &members[index];
    let range = match (index.checked_sub(1), members.get(index + 1)) {
        (None, None) => map.span.start + 1..map.span.end - 1,
        (_, Some(next)) => member.key_span.start..next.key_span.start,
        (Some(previous), None) if member.comma.is_none() => {
            members[previous].value.span.end..member.value.span.end
        }
        (Some(previous), None) => members[previous].end()..member.end(),
    };
    debug_assert!(range.end <= text.len());
    vec![Edit::remove(range)]
}
