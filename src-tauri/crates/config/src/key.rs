//! Names of settings, and which of them exist.

use crate::nearest::nearest;

/// A setting. The whole list is the schema's face: `config list`, the reference and every message
/// about an unknown name come from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Its dotted name. A segment `*` stands for a name that the person chooses; what lies below it
    /// is one value.
    pub path: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
}

/// All settings there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schema {
    /// Every setting once, in the order of the reference.
    pub keys: &'static [Key],
}

/// What a name is.
pub(crate) enum Place {
    /// A setting.
    Setting,
    /// A table that holds settings.
    Table,
    /// Nothing.
    Nowhere,
}

impl Schema {
    /// The key that describes a setting, if there is one of that name.
    pub fn get(&self, path: &str) -> Option<&'static Key> {
        let segments = segments(path).ok()?;
        self.keys
            .iter()
            .find(|key| matches(key, &segments) == Some(true))
    }

    /// The name that was probably meant.
    pub fn nearest(&self, path: &str) -> Option<&'static str> {
        nearest(path, self.keys.iter().map(|key| key.path))
    }

    /// The name that was probably meant, when a table may be meant too.
    pub(crate) fn nearest_place(&self, segments: &[String]) -> Option<&'static str> {
        let beginnings = self.keys.iter().filter_map(|key| {
            let dots = key.path.match_indices('.').map(|(at, _)| at);
            let end = dots
                .chain([key.path.len()])
                .nth(segments.len().checked_sub(1)?)?;
            Some(&key.path[..end])
        });
        let path = dotted(segments);
        nearest(&path, beginnings).or_else(|| self.nearest(&path))
    }

    pub(crate) fn place(&self, segments: &[String]) -> Place {
        let mut place = Place::Nowhere;
        for key in self.keys {
            match matches(key, segments) {
                Some(true) => return Place::Setting,
                Some(false) => place = Place::Table,
                None => {}
            }
        }
        place
    }
}

/// Whether `segments` name the key (`true`) or a table above it (`false`).
fn matches(key: &Key, segments: &[String]) -> Option<bool> {
    let mut parts = key.path.split('.');
    for segment in segments {
        let part = parts.next()?;
        if part != "*" && part != segment {
            return None;
        }
    }
    Some(parts.next().is_none())
}

/// The segments of a dotted name, quoted ones taken apart as TOML does.
pub(crate) fn segments(path: &str) -> Result<Vec<String>, String> {
    toml_edit::Key::parse(path)
        .map(|keys| keys.iter().map(|key| key.get().to_owned()).collect())
        .map_err(|error| error.message().trim().to_owned())
}

/// The dotted name of segments, quoted where TOML wants it.
pub(crate) fn dotted(segments: &[String]) -> String {
    let quoted = segments.iter().map(|segment| {
        toml_edit::Key::new(segment.as_str())
            .display_repr()
            .into_owned()
    });
    quoted.collect::<Vec<_>>().join(".")
}
