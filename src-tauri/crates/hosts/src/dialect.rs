//! The formats of hosts' files. Every change is worked out on the text, so that no byte is touched
//! that is not ours, and then checked on what the text says.

mod edit;
mod json;
mod layout;
mod toml;
mod tree;
mod yaml;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(crate) use edit::Splice;
pub(crate) use layout::position;
pub(crate) use tree::Step;

use json::Rules;
use tree::{Kind, Node, kind_of};

/// A format as a host reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// JSON and nothing else.
    Json,
    /// JSON with comments.
    CommentedJson,
    /// JSON with comments and commas after the last value.
    Jsonc,
    /// JSON5.
    Json5,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// Why a text cannot be read or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The byte at which it was noticed.
    pub(crate) at: usize,
    pub(crate) what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// The host cannot read it either.
    Syntax(String),
    /// Something else stands where our map should be.
    Shape { key: String, found: &'static str },
    /// It is written in a way that cannot be changed without touching something else.
    Unsafe,
}

impl Fault {
    fn syntax(at: usize, message: impl Into<String>) -> Self {
        Self {
            at,
            what: What::Syntax(message.into()),
        }
    }

    fn shape(at: usize, key: &str, found: &'static str) -> Self {
        Self {
            at,
            what: What::Shape {
                key: key.to_owned(),
                found,
            },
        }
    }

    fn unsafe_at(at: usize) -> Self {
        Self {
            at,
            what: What::Unsafe,
        }
    }
}

/// Where an entry stands: the keys of the maps around it, and its own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At<'a> {
    pub(crate) path: &'a [&'a str],
    pub(crate) name: &'a str,
}

impl<'a> At<'a> {
    fn keys(self) -> Vec<&'a str> {
        self.path.iter().copied().chain([self.name]).collect()
    }

    /// The way to a part of the entry.
    pub(crate) fn steps(self, within: &[Step<'a>]) -> Vec<Step<'a>> {
        let outer = self.keys().into_iter().map(Step::Key);
        outer.chain(within.iter().copied()).collect()
    }
}

/// The parts a text consists of.
enum Document<'a> {
    Tree(Option<Node>, Rules),
    Yaml(Option<Node>),
    Toml(toml_edit::Document<&'a str>),
}

impl Dialect {
    /// The name people know it by.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json | Self::CommentedJson => "JSON",
            Self::Jsonc => "JSONC",
            Self::Json5 => "JSON5",
            Self::Toml => "TOML",
            Self::Yaml => "YAML",
        }
    }

    fn parse(self, text: &str) -> Result<Document<'_>, Fault> {
        let rules = |comments, trailing_commas, json5| Rules {
            comments,
            trailing_commas,
            json5,
        };
        let rules = match self {
            Self::Json => rules(false, false, false),
            Self::CommentedJson => rules(true, false, false),
            Self::Jsonc => rules(true, true, false),
            Self::Json5 => rules(true, true, true),
            Self::Toml => return toml::parse(text).map(Document::Toml),
            Self::Yaml => return yaml::parse(text).map(Document::Yaml),
        };
        Ok(Document::Tree(json::parse(text, rules)?, rules))
    }

    /// What a text says; a map without members when it says nothing.
    pub(crate) fn read(self, text: &str) -> Result<Value, Fault> {
        let root = match self.parse(text)? {
            Document::Toml(document) => return Ok(toml::value(&document)),
            Document::Tree(root, _) | Document::Yaml(root) => root,
        };
        Ok(root.map_or_else(|| Map::new().into(), |root| root.value()))
    }

    /// Adds an entry that is not there yet.
    pub(crate) fn add(self, text: &str, at: At<'_>, entry: &Value) -> Result<String, Fault> {
        let edits = match self.parse(text)? {
            Document::Toml(document) => toml::insert(text, &document, at.path, at.name, entry)?,
            Document::Tree(root, rules) => {
                let layout = json::edit::layout(text, root.as_ref());
                match place(root.as_ref(), at, entry)? {
                    Place::Nowhere { key, value } => {
                        let root = Map::from_iter([(key.to_owned(), value)]).into();
                        vec![json::edit::insert_root(text, &layout, &root)]
                    }
                    Place::In { map, key, value } => {
                        json::edit::insert(text, rules, &layout, map, key, &value)
                    }
                    Place::Below { holder, .. } => {
                        let at = holder.value.span.start;
                        return Err(Fault::shape(at, &holder.key, kind_of(&Value::Null)));
                    }
                }
            }
            Document::Yaml(root) => {
                let layout = yaml::edit::layout(text, root.as_ref());
                match place(root.as_ref(), at, entry)? {
                    Place::Nowhere { key, value } => {
                        vec![yaml::edit::insert_root(text, &layout, key, &value)]
                    }
                    Place::In { map, key, value } => {
                        yaml::edit::insert(text, &layout, map, key, &value)?
                    }
                    Place::Below { holder, key, value } => {
                        yaml::edit::insert_below(text, &layout, holder, key, &value)?
                    }
                }
            }
        };
        self.added(text, &edits, at, entry)
    }

    /// Gives a map that is there one more member. Where a whole entry would get a section of its own,
    /// this is a line.
    pub(crate) fn put(self, text: &str, at: At<'_>, value: &Value) -> Result<String, Fault> {
        let Document::Toml(document) = self.parse(text)? else {
            return self.add(text, at, value);
        };
        let edits = toml::put(text, &document, at.path, at.name, value)?;
        self.added(text, &edits, at, value)
    }

    /// The text with these edits, if they add just that.
    fn added(
        self,
        text: &str,
        edits: &[edit::Edit],
        at: At<'_>,
        entry: &Value,
    ) -> Result<String, Fault> {
        let after = edit::apply(text, edits);
        let said = self.read(&after).ok();
        let same = said.as_ref().is_some_and(|said| {
            find(said, at) == Some(entry)
                && self
                    .read(text)
                    .is_ok_and(|before| rest(before, at) == rest(said.clone(), at))
        });
        if same {
            Ok(after)
        } else {
            Err(Fault::unsafe_at(
                edits.first().map_or(0, |edit| edit.range.start),
            ))
        }
    }

    /// Removes an entry, and the maps around it that hold nothing else, at most `created` of them.
    pub(crate) fn remove(self, text: &str, at: At<'_>, created: usize) -> Result<String, Fault> {
        let keys = at.keys();
        let edits = match self.parse(text)? {
            Document::Toml(document) => toml::remove(text, &document, &keys),
            Document::Tree(root, rules) => {
                let root = root.as_ref();
                let (map, index, _) = holder(root, &keys, created).ok_or(Fault::unsafe_at(0))?;
                json::edit::remove(text, rules, map, index)
            }
            Document::Yaml(root) => {
                let root = root.as_ref();
                let (map, index, above) =
                    holder(root, &keys, created).ok_or(Fault::unsafe_at(0))?;
                yaml::edit::remove(text, map, index, above)?
            }
        };
        let after = edit::apply(text, &edits);
        self.check_removed(text, &after, at)
            .then_some(after)
            .ok_or_else(|| Fault::unsafe_at(edits.first().map_or(0, |edit| edit.range.start)))
    }

    /// Replaces a text within an entry, and nothing around it.
    pub(crate) fn set(self, text: &str, steps: &[Step<'_>], value: &str) -> Result<String, Fault> {
        let scalar = |root: Option<&Node>, new: String| {
            let node = root?.follow(steps)?;
            let range = node.span.clone();
            matches!(node.kind, Kind::Scalar(_)).then_some(edit::Edit { range, new })
        };
        let edit = match self.parse(text)? {
            Document::Toml(document) => toml::set(&document, steps, value),
            Document::Tree(root, _) => scalar(root.as_ref(), json::print::quoted(value)),
            Document::Yaml(root) => scalar(root.as_ref(), yaml::print::text(value)),
        };
        let edit = edit.ok_or(Fault::unsafe_at(0))?;
        let after = edit::apply(text, std::slice::from_ref(&edit));
        let mut expected = self.read(text)?;
        let replaced = steps
            .iter()
            .try_fold(&mut expected, |node, step| match step {
                Step::Key(key) => node.get_mut(key),
                Step::Index(index) => node.get_mut(index),
            })
            .map(|node| *node = value.into());
        if replaced.is_some() && self.read(&after).is_ok_and(|said| said == expected) {
            Ok(after)
        } else {
            Err(Fault::unsafe_at(edit.range.start))
        }
    }

    /// Whether two texts say the same but for the entry, which the second one does not have in the
    /// form the first one has.
    pub(crate) fn check_removed(self, before: &str, after: &str, at: At<'_>) -> bool {
        let (Ok(before), Ok(after)) = (self.read(before), self.read(after)) else {
            return false;
        };
        find(&before, at) != find(&after, at) && rest(before, at) == rest(after, at)
    }

    /// An entry with the maps around it, to be pasted into a file.
    pub(crate) fn snippet(self, at: At<'_>, entry: &Value) -> String {
        self.add("", at, entry)
            .unwrap_or_else(|_| entry.to_string())
    }
}

/// The entry in what a text says.
pub(crate) fn find<'a>(said: &'a Value, at: At<'_>) -> Option<&'a Value> {
    at.keys().iter().try_fold(said, |value, key| value.get(key))
}

/// What a text says without the entry, and without maps around it that are left empty.
fn rest(mut said: Value, at: At<'_>) -> Value {
    drop_entry(&mut said, &at.keys());
    said
}

fn drop_entry(value: &mut Value, keys: &[&str]) {
    let (Some(map), Some((key, below))) = (value.as_object_mut(), keys.split_first()) else {
        return;
    };
    if let Some(inner) = map.get_mut(*key)
        && !below.is_empty()
    {
        drop_entry(inner, below);
        let empty = inner.is_null() || inner.as_object().is_some_and(Map::is_empty);
        if !empty {
            return;
        }
    }
    map.shift_remove(*key);
}

/// Where something is to be added, and what.
enum Place<'a> {
    /// In a text that holds nothing.
    Nowhere { key: &'a str, value: Value },
    /// In this map.
    In {
        map: &'a Node,
        key: &'a str,
        value: Value,
    },
    /// As the value of a key that has none.
    Below {
        holder: &'a tree::Member,
        key: &'a str,
        value: Value,
    },
}

/// The innermost map there is, and the entry with the maps that are missing around it.
fn place<'a>(root: Option<&'a Node>, at: At<'a>, entry: &Value) -> Result<Place<'a>, Fault> {
    let nested = |from: usize| {
        let inner = at.path[from..].iter().chain([&at.name]);
        let value = inner.rev().fold(entry.clone(), |value, key| {
            Map::from_iter([((*key).to_owned(), value)]).into()
        });
        // The outermost key is what is added; its value is the rest.
        let Value::Object(map) = value else {
            return Value::Null;
        };
        map.into_iter()
            .next()
            .map_or(Value::Null, |(_, value)| value)
    };
    let key_at = |depth: usize| at.path.get(depth).copied().unwrap_or(at.name);
    let Some(mut map) = root else {
        return Ok(Place::Nowhere {
            key: key_at(0),
            value: nested(0),
        });
    };
    if !matches!(map.kind, Kind::Map(_)) {
        return Err(Fault::shape(map.span.start, "", kind_of(&map.value())));
    }
    for (depth, key) in at.path.iter().enumerate() {
        let Some((_, member)) = map.member(key) else {
            return Ok(Place::In {
                map,
                key,
                value: nested(depth),
            });
        };
        if yaml::is_nothing(&member.value) {
            return Ok(Place::Below {
                holder: member,
                key: key_at(depth + 1),
                value: nested(depth + 1),
            });
        }
        if !matches!(member.value.kind, Kind::Map(_)) {
            let found = kind_of(&member.value.value());
            return Err(Fault::shape(member.value.span.start, key, found));
        }
        map = &member.value;
    }
    Ok(Place::In {
        map,
        key: at.name,
        value: entry.clone(),
    })
}

/// The map that holds what is to be removed, its place in it, and the member that holds the map:
/// for an entry that is alone in a map that we made, that map goes with it.
fn holder<'a>(
    root: Option<&'a Node>,
    keys: &[&str],
    created: usize,
) -> Option<(&'a Node, usize, Option<&'a tree::Member>)> {
    let mut chain = Vec::new();
    let mut node = root?;
    for key in keys {
        let (index, member) = node.member(key)?;
        chain.push((node, index, member));
        node = &member.value;
    }
    let mut removed = chain.len() - 1;
    for _ in 0..created {
        let Kind::Map(members) = &chain[removed].0.kind else {
            break;
        };
        if removed == 0 || members.len() > 1 {
            break;
        }
        removed -= 1;
    }
    let (map, index, _) = chain[removed];
    let above = removed.checked_sub(1).map(|above| chain[above].2);
    Some((map, index, above))
}

#[cfg(test)]
mod tests;
