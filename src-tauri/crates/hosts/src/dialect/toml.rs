//! TOML: read by `toml_edit`, which knows where everything lies, and cut and joined at those places.

use std::ops::Range;

use serde_json::{Map, Value};
use toml_edit::{Document, InlineTable, Item, Table, TableLike};

use super::{
    Fault,
    edit::Edit,
    layout::{eol, line_end, line_start, next_line, previous_line_end},
    tree::{Step, kind_of},
};

pub(crate) fn parse(text: &str) -> Result<Document<&str>, Fault> {
    Document::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        Fault::syntax(at, error.message().trim().replace('\n', "; "))
    })
}

/// What the text says.
pub(crate) fn value(document: &Document<&str>) -> Value {
    of_table(document.as_table())
}

fn of_table(table: &dyn TableLike) -> Value {
    let members = table
        .iter()
        .map(|(key, item)| (key.to_owned(), of_item(item)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn of_item(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => of_value(value),
        Item::Table(table) => of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| of_table(table)).collect(),
    }
}

fn of_value(value: &toml_edit::Value) -> Value {
    use toml_edit::Value as Toml;
    match value {
        Toml::String(text) => Value::String(text.value().clone()),
        Toml::Integer(number) => (*number.value()).into(),
        Toml::Float(number) => {
            let number = *number.value();
            // JSON has neither infinity nor NaN.
            serde_json::Number::from_f64(number)
                .map_or_else(|| Value::String(format!("\0{number}")), Value::Number)
        }
        Toml::Boolean(value) => (*value.value()).into(),
        Toml::Datetime(time) => Value::String(format!("\0{}", time.value())),
        Toml::Array(items) => items.iter().map(of_value).collect(),
        Toml::InlineTable(table) => of_table(table),
    }
}

/// Adds a table below `path`.
pub(crate) fn insert(
    text: &str,
    document: &Document<&str>,
    path: &[&str],
    name: &str,
    entry: &Value,
) -> Result<Vec<Edit>, Fault> {
    let mut table = document.as_table();
    for (depth, key) in path.iter().enumerate() {
        match table.get(key) {
            None => break,
            Some(Item::Table(below)) => table = below,
            Some(Item::Value(toml_edit::Value::InlineTable(inline))) => {
                return insert_inline(inline, &path[depth + 1..], name, entry);
            }
            Some(other) => {
                let at = other.span().map_or(0, |span| span.start);
                return Err(Fault::shape(at, key, kind_of(&of_item(other))));
            }
        }
    }
    let eol = eol(text);
    let gap = match text {
        "" => "",
        _ if text.ends_with("\n\n") || text.ends_with("\n\r\n") => "",
        _ if text.ends_with('\n') => eol,
        _ => &eol.repeat(2),
    };
    let header: Vec<_> = path.iter().chain([&name]).map(|key| bare(key)).collect();
    let mut section = format!("{gap}[{}]", header.join("."));
    for (key, value) in entry.as_object().into_iter().flatten() {
        let line = format!("{eol}{} = {}", bare(key), print(value));
        section.push_str(&line);
    }
    if text.is_empty() || text.ends_with('\n') {
        section.push_str(eol);
    }
    Ok(vec![Edit::insert(text.len(), section)])
}

/// Adds a member to the table at the end of `path`, in a line of its own or within braces.
pub(crate) fn put(
    text: &str,
    document: &Document<&str>,
    path: &[&str],
    name: &str,
    value: &Value,
) -> Result<Vec<Edit>, Fault> {
    let mut table = document.as_table();
    for (depth, key) in path.iter().enumerate() {
        match table.get(key) {
            Some(Item::Table(below)) => table = below,
            Some(Item::Value(toml_edit::Value::InlineTable(inline))) => {
                return insert_inline(inline, &path[depth + 1..], name, value);
            }
            other => {
                let span = other.and_then(Item::span);
                return Err(Fault::unsafe_at(span.map_or(0, |span| span.start)));
            }
        }
    }
    // The keys of a dotted table are written somewhere else, under longer names.
    let header = table
        .span()
        .filter(|_| !table.is_dotted() && !table.is_implicit());
    let header = header.ok_or(Fault::unsafe_at(0))?;
    let last = places(table).into_iter().map(|(_, value)| value.end).max();
    let end = line_end(text, last.unwrap_or(header.end).max(header.end));
    let line = format!("{}{} = {}", eol(text), bare(name), print(value));
    Ok(vec![Edit::insert(end, line)])
}

fn insert_inline(
    table: &InlineTable,
    path: &[&str],
    name: &str,
    entry: &Value,
) -> Result<Vec<Edit>, Fault> {
    let span = table.span().ok_or(Fault::unsafe_at(0))?;
    if let Some((first, rest)) = path.split_first() {
        return match table.get(first) {
            Some(toml_edit::Value::InlineTable(below)) => insert_inline(below, rest, name, entry),
            Some(other) => Err(Fault::shape(span.start, first, kind_of(&of_value(other)))),
            None => Err(Fault::unsafe_at(span.start)),
        };
    }
    let member = format!("{} = {}", bare(name), print(entry));
    let last = table
        .iter()
        .filter_map(|(_, value)| value.span())
        .map(|span| span.end)
        .max();
    Ok(vec![match last {
        Some(end) => Edit::insert(end, format!(", {member}")),
        None => Edit::insert(span.start + 1, format!(" {member} ")),
    }])
}

/// Removes what stands at the end of `path`, wherever its parts are.
pub(crate) fn remove(text: &str, document: &Document<&str>, path: &[&str]) -> Vec<Edit> {
    let Some((last, above)) = path.split_last() else {
        return Vec::new();
    };
    let mut table: &dyn TableLike = document.as_table();
    for key in above {
        let Some(below) = table.get(key).and_then(Item::as_table_like) else {
            return Vec::new();
        };
        table = below;
    }
    let mut ranges = Vec::new();
    match table.get_key_value(last) {
        Some((_, Item::Table(section))) => sections(text, section, &mut ranges),
        Some((key, item)) => {
            let (Some(key), Some(value)) = (key.span(), item.span()) else {
                return Vec::new();
            };
            ranges.push(if is_inline(document, above) {
                with_comma(text, key.start..value.end)
            } else {
                line_start(text, key.start)..next_line(text, value.end)
            });
        }
        None => {}
    }
    ranges.sort_by_key(|range| range.start);
    ranges.dedup();
    ranges.into_iter().map(Edit::remove).collect()
}

fn is_inline(document: &Document<&str>, path: &[&str]) -> bool {
    let mut item = document.as_item();
    path.iter().any(|key| {
        let Some(below) = item.get(key) else {
            return false;
        };
        item = below;
        below.is_inline_table()
    })
}

/// A member of an inline table with the comma that only it needs.
fn with_comma(text: &str, range: Range<usize>) -> Range<usize> {
    let after = text[range.end..].trim_start();
    if let Some(behind) = after.strip_prefix(',') {
        let behind = behind.trim_start();
        return range.start..text.len() - behind.len();
    }
    let before = text[..range.start].trim_end();
    match before.strip_suffix(',') {
        Some(before) => before.len()..range.end,
        None => range,
    }
}

/// The lines of a table and of every table below it.
fn sections(text: &str, table: &Table, ranges: &mut Vec<Range<usize>>) {
    let mut own = table.span().filter(|_| !table.is_dotted());
    for (key, item) in places(table) {
        match own.as_mut() {
            Some(own) => own.end = own.end.max(item.end),
            None => ranges.push(line_start(text, key.start)..next_line(text, item.end)),
        }
    }
    if let Some(own) = own {
        let start = line_start(text, own.start);
        let before = previous_line_end(text, start);
        let blank = before < start && line_start(text, before) == before;
        ranges.push(if blank { before } else { start }..next_line(text, own.end));
    }
    for (_, item) in table {
        match item {
            Item::Table(below) if !below.is_dotted() => sections(text, below, ranges),
            Item::ArrayOfTables(tables) => {
                tables
                    .iter()
                    .for_each(|below| sections(text, below, ranges));
            }
            Item::Table(_) | Item::Value(_) | Item::None => {}
        }
    }
}

/// The keys and values of a table with their places, those of dotted keys included.
fn places(table: &Table) -> Vec<(Range<usize>, Range<usize>)> {
    let mut found = Vec::new();
    for (key, item) in table {
        match item {
            Item::Value(value) => {
                let key = table.key(key).and_then(toml_edit::Key::span);
                found.extend(key.zip(value.span()));
            }
            Item::Table(below) if below.is_dotted() => found.extend(places(below)),
            Item::Table(_) | Item::ArrayOfTables(_) | Item::None => {}
        }
    }
    found
}

/// Replaces a scalar by a text.
pub(crate) fn set(document: &Document<&str>, steps: &[Step<'_>], value: &str) -> Option<Edit> {
    let mut item = document.as_item();
    let mut element: Option<&toml_edit::Value> = None;
    for step in steps {
        match step {
            Step::Key(key) if element.is_none() => item = item.get(key)?,
            Step::Index(index) if element.is_none() => {
                element = Some(item.as_array()?.get(*index)?);
            }
            Step::Key(_) | Step::Index(_) => return None,
        }
    }
    let range = match element {
        Some(value) => value.span()?,
        None => item.as_value()?.span()?,
    };
    Some(Edit {
        range,
        new: print(&Value::String(value.to_owned())),
    })
}

/// A value on one line.
pub(crate) fn print(value: &Value) -> String {
    match value {
        Value::String(text) => toml_edit::Value::from(text.as_str()).to_string(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(print).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let members: Vec<_> = map
                .iter()
                .map(|(key, value)| format!("{} = {}", bare(key), print(value)))
                .collect();
            format!("{{ {} }}", members.join(", "))
        }
        scalar => scalar.to_string(),
    }
}

/// A key, quoted where it has to be.
fn bare(key: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !key.is_empty() && key.bytes().all(plain) {
        key.to_owned()
    } else {
        print(&Value::String(key.to_owned()))
    }
}
