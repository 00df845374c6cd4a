//! Keys and a model that nanobot or openclaw already have, for whoever has given none to us.
//!
//! Only what is named here is read, by its exact name and of the right type. A value that points
//! elsewhere (`${NAME}`, a reference to a store of secrets) is not followed. Values are
//! [`Secret`]s; where each is from can be told.

mod nanobot;
mod openclaw;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use openspace_config::Secret;
use serde_json::Value;

use crate::{Dialect, Error, Machine};

/// Larger is no configuration.
const LARGEST: u64 = 4 * 1024 * 1024;
/// Longer is no key.
const LONGEST_KEY: usize = 32 * 1024;

/// A model provider as settings and variables name it.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// First part of a model's name.
    pub provider: &'static str,
    /// Variables that may hold its key.
    pub keys: &'static [&'static str],
    /// Variables that may hold its address.
    pub bases: &'static [&'static str],
}

/// Where something was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The host whose file it is.
    pub host: &'static str,
    /// The file.
    pub file: PathBuf,
    /// The place in it, such as `providers.anthropic.apiKey`.
    pub place: String,
}

/// A key with what belongs to it. They go together: a key is never sent to an address that was
/// given elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lent {
    /// Where it was found.
    pub origin: Origin,
    /// The key.
    pub key: Secret<String>,
    /// The address it is for, where it is not the provider's own.
    pub base: Option<String>,
    /// Headers that go with it.
    pub headers: BTreeMap<String, Secret<String>>,
}

/// What the hosts of a machine could lend.
pub struct Credentials {
    sources: Vec<Source>,
    /// Files that could not be read.
    pub problems: Vec<Error>,
}

/// The file of one host.
struct Source {
    kind: Kind,
    file: PathBuf,
    said: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Nanobot,
    Openclaw,
}

impl Credentials {
    /// Reads the files of the hosts that lend something.
    pub fn read(machine: &Machine) -> Self {
        let mut read = Self {
            sources: Vec::new(),
            problems: Vec::new(),
        };
        let files = [
            (Kind::Nanobot, nanobot::file(machine), Dialect::Json),
            (Kind::Openclaw, openclaw::file(machine), Dialect::Json5),
        ];
        for (kind, file, dialect) in files {
            let Some(file) = file else { continue };
            match load(&file, dialect) {
                Ok(Some(said)) => read.sources.push(Source { kind, file, said }),
                Ok(None) => {}
                Err(error) => read.problems.push(error),
            }
        }
        read
    }

    /// The key of a provider, from the first host that has one.
    pub fn key(&self, names: &Names) -> Option<Lent> {
        self.sources.iter().find_map(|source| match source.kind {
            Kind::Nanobot => nanobot::key(source, names),
            Kind::Openclaw => openclaw::key(source, names),
        })
    }

    /// The model that a host uses, as `provider/model`, if it also has a key for it.
    pub fn model(&self, providers: &[Names]) -> Option<(String, Origin)> {
        self.sources.iter().find_map(|source| match source.kind {
            Kind::Nanobot => nanobot::model(source, providers),
            // Its models have names of its own.
            Kind::Openclaw => None,
        })
    }

    /// The key of the skill community with its address, from the first host that passes one to us.
    pub fn community(&self) -> Option<Lent> {
        self.sources.iter().find_map(|source| {
            let (block, place) = source.block()?;
            let key = secret(block.get("OPENSPACE_API_KEY")?)?;
            Some(Lent {
                origin: source.origin(format!("{place}.OPENSPACE_API_KEY")),
                key,
                base: block.get("OPENSPACE_API_BASE").and_then(address),
                headers: BTreeMap::new(),
            })
        })
    }

    /// Everything that could be lent, by its places.
    pub fn overview(&self, providers: &[Names]) -> Vec<Origin> {
        let keys = self.sources.iter().flat_map(|source| {
            providers.iter().filter_map(|names| match source.kind {
                Kind::Nanobot => nanobot::key(source, names),
                Kind::Openclaw => openclaw::key(source, names),
            })
        });
        let model = self.model(providers).map(|(_, origin)| origin);
        let mut places = Vec::new();
        for origin in keys
            .chain(self.community())
            .map(|lent| lent.origin)
            .chain(model)
        {
            if !places.contains(&origin) {
                places.push(origin);
            }
        }
        places
    }

    /// What is there and was not taken.
    pub fn refused(&self, providers: &[Names]) -> Vec<Origin> {
        self.sources
            .iter()
            .flat_map(|source| {
                match source.kind {
                    Kind::Nanobot => nanobot::places(providers),
                    Kind::Openclaw => openclaw::places(providers),
                }
                .into_iter()
                .filter(|place| {
                    let value = source.at(place);
                    value.is_some_and(|value| is_given(value) && secret(value).is_none())
                })
                .map(|place| source.origin(place.join(".")))
                .collect::<Vec<_>>()
            })
            .collect()
    }
}

/// Values may be keys, so only names are shown.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let files: Vec<_> = self.sources.iter().map(|source| &source.file).collect();
        f.debug_struct("Credentials")
            .field("files", &files)
            .field("problems", &self.problems)
            .finish()
    }
}

impl Source {
    fn origin(&self, place: String) -> Origin {
        Origin {
            host: match self.kind {
                Kind::Nanobot => "nanobot",
                Kind::Openclaw => "openclaw",
            },
            file: self.file.clone(),
            place,
        }
    }

    fn at(&self, place: &[&str]) -> Option<&Value> {
        place
            .iter()
            .try_fold(&self.said, |value, key| value.get(key))
    }

    /// The variables that the host gives our server, and where they stand.
    fn block(&self) -> Option<(&serde_json::Map<String, Value>, String)> {
        let places: &[&[&str]] = match self.kind {
            Kind::Nanobot => &nanobot::BLOCKS,
            Kind::Openclaw => &[openclaw::BLOCK],
        };
        places.iter().find_map(|place| {
            let map = self.at(place)?.as_object()?;
            Some((map, place.join(".")))
        })
    }
}

/// A value that can be a key.
fn secret(value: &Value) -> Option<Secret<String>> {
    let text = value.as_str()?.trim();
    let key = !text.is_empty()
        && text.len() <= LONGEST_KEY
        && !text.starts_with("${")
        && text.bytes().all(|byte| byte.is_ascii_graphic());
    key.then(|| Secret::new(text.to_owned()))
}

/// Something stands there.
fn is_given(value: &Value) -> bool {
    !value.is_null() && value.as_str() != Some("")
}

/// An address of HTTP.
fn address(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    let web = text.starts_with("https://") || text.starts_with("http://");
    web.then(|| text.to_owned())
}

/// Headers, given as a map or as its text.
fn headers(value: Option<&Value>) -> BTreeMap<String, Secret<String>> {
    let parsed;
    let map = match value {
        Some(Value::Object(map)) => map,
        Some(Value::String(text)) => {
            parsed = serde_json::from_str::<serde_json::Map<_, _>>(text).unwrap_or_default();
            &parsed
        }
        _ => return BTreeMap::new(),
    };
    map.iter()
        .filter_map(|(name, value)| Some((name.clone(), Secret::new(value.as_str()?.to_owned()))))
        .collect()
}

/// What a file says; none when there is none.
fn load(file: &Path, dialect: Dialect) -> Result<Option<Value>, Error> {
    let path = || file.to_owned();
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(source) => {
            return Err(Error::Unreadable {
                path: path(),
                source,
            });
        }
    };
    if !metadata.is_file() {
        return Err(Error::NotAFile { path: path() });
    }
    if metadata.len() > LARGEST {
        return Err(Error::TooLarge { path: path() });
    }
    // What another user wrote there is no word of this person's.
    #[cfg(unix)]
    {
        let owner = std::os::unix::fs::MetadataExt::uid(&metadata);
        if owner != 0 && owner != rustix::process::geteuid().as_raw() {
            return Err(Error::OtherOwner { path: path() });
        }
    }
    let bytes = fs::read(file).map_err(|source| Error::Unreadable {
        path: path(),
        source,
    })?;
    let text = String::from_utf8(bytes).map_err(|_| Error::NotText { path: path() })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let said = dialect
        .read(text)
        .map_err(|fault| Error::of(fault, path(), text))?;
    Ok(Some(said))
}

#[cfg(test)]
mod tests;
