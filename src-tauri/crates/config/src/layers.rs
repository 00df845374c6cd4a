//! Settings in layers: defaults, then the file, then the environment, then flags. Later ones win.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};
use toml_edit::{DocumentMut, Value};

use crate::{
    Environment, Errors, Origin, Schema, SettingsError, file,
    key::{Place, dotted, segments},
    reading,
};

/// The layers of one start of the program. Nothing is silently ignored: an unknown name or a value
/// that does not fit is an error with its place, and all of them are told at once.
#[derive(Debug)]
pub struct Layers {
    schema: Schema,
    file: Option<PathBuf>,
    /// Setting, value as text, where it was given; later ones win.
    texts: Vec<(String, String, Origin)>,
    errors: Vec<SettingsError>,
}

impl Layers {
    /// Only the defaults so far.
    pub fn new(schema: Schema) -> Self {
        Self {
            schema,
            file: None,
            texts: Vec::new(),
            errors: Vec::new(),
        }
    }

    /// Adds the settings file; a missing one is as good as an empty one.
    pub fn file(mut self, path: &Path) -> Self {
        self.file = Some(path.to_owned());
        self
    }

    /// Adds what variables say, given which variable (first) stands for which setting (second), as
    /// [`crate::env_vars::settings`] lists them.
    pub fn environment(
        mut self,
        environment: &Environment,
        variables: impl IntoIterator<Item = (&'static str, &'static str)>,
    ) -> Self {
        for (variable, key) in variables {
            let Some(value) = environment.get(variable) else {
                continue;
            };
            let at = Origin::Variable(variable.to_owned());
            match value.to_str() {
                Some(text) => self.texts.push((key.to_owned(), text.to_owned(), at)),
                None => self.errors.push(SettingsError::NotText { at }),
            }
        }
        self
    }

    /// Adds a flag: the setting it stands for, the flag as typed, its value.
    pub fn flag(mut self, key: &str, flag: &str, value: impl Into<String>) -> Self {
        self.texts
            .push((key.to_owned(), value.into(), Origin::Flag(flag.to_owned())));
        self
    }

    /// Puts the layers together. `T` has `#[serde(default)]`, so that any part may be missing.
    pub fn load<T: Default + Serialize + DeserializeOwned>(self) -> Result<Settings<T>, Errors> {
        let Self {
            schema,
            file,
            texts,
            mut errors,
        } = self;
        let defaults = defaults::<T>()?;
        let mut given = Vec::new();
        if let Some(path) = &file {
            match from_file::<T>(schema, &defaults, path) {
                Ok(values) => given.extend(values),
                Err(wrong) => errors.extend(wrong.0),
            }
        }
        for (key, text, at) in texts {
            match from_text::<T>(schema, &defaults, &key, &text, &at) {
                Ok((path, value)) => given.push((path, value, at)),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(Errors(errors));
        }
        let mut document = defaults;
        let mut origins = BTreeMap::new();
        for (path, value, at) in given {
            reading::put(document.as_table_mut(), &path, value);
            origins.insert(dotted(&path), at);
        }
        match reading::parse(document.clone()) {
            Ok(values) => Ok(Settings {
                values,
                schema,
                document,
                origins,
            }),
            Err(message) => Err(SettingsError::Combination(message).into()),
        }
    }
}

/// Settings as they apply, and where each comes from.
#[derive(Debug, Clone)]
pub struct Settings<T> {
    /// The values.
    pub values: T,
    schema: Schema,
    document: DocumentMut,
    origins: BTreeMap<String, Origin>,
}

/// One line of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Dotted name.
    pub key: String,
    /// Value as TOML, if there is one.
    pub value: Option<String>,
    /// Who gave it.
    pub origin: Origin,
    /// What the setting does.
    pub about: &'static str,
}

impl<T> Settings<T> {
    /// Where the value of a setting comes from.
    pub fn origin(&self, key: &str) -> &Origin {
        self.origins.get(key).unwrap_or(&Origin::Default)
    }

    /// All settings in the order of the schema; those with chosen names only where somebody chose.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        for key in self.schema.keys {
            let pattern: Vec<_> = key.path.split('.').collect();
            let mut found = Vec::new();
            collect(
                self.document.as_item(),
                &pattern,
                &mut Vec::new(),
                &mut found,
            );
            if found.is_empty() && !pattern.contains(&"*") {
                found.push((key.path.to_owned(), None));
            }
            entries.extend(found.into_iter().map(|(name, value)| Entry {
                origin: self.origin(&name).clone(),
                about: key.about,
                key: name,
                value,
            }));
        }
        entries
    }

    /// One setting as [`Self::entries`] has it.
    pub fn entry(&self, key: &str) -> Option<Entry> {
        self.entries().into_iter().find(|entry| entry.key == key)
    }
}

fn collect(
    item: &toml_edit::Item,
    pattern: &[&str],
    path: &mut Vec<String>,
    found: &mut Vec<(String, Option<String>)>,
) {
    let [first, rest @ ..] = pattern else {
        let value = item.clone().into_value().ok().map(|mut value| {
            value.decor_mut().clear();
            value.to_string().trim().to_owned()
        });
        found.push((dotted(path), value));
        return;
    };
    let Some(table) = item.as_table_like() else {
        return;
    };
    for (name, below) in table
        .iter()
        .filter(|(name, _)| *first == "*" || first == name)
    {
        path.push(name.to_owned());
        collect(below, rest, path, found);
        path.pop();
    }
}

pub(crate) fn defaults<T: Default + Serialize>() -> Result<DocumentMut, SettingsError> {
    toml_edit::ser::to_document(&T::default())
        .map_err(|error| SettingsError::Defaults(error.to_string()))
}

/// Reads a text as the value of a setting.
pub(crate) fn from_text<T: DeserializeOwned>(
    schema: Schema,
    defaults: &DocumentMut,
    key: &str,
    text: &str,
    at: &Origin,
) -> Result<(Vec<String>, Value), SettingsError> {
    let unknown = || SettingsError::UnknownKey {
        at: at.clone(),
        key: key.to_owned(),
        nearest: schema.nearest(key).map(str::to_owned),
    };
    let path = segments(key).map_err(|_| unknown())?;
    if !matches!(schema.place(&path), Place::Setting) {
        return Err(unknown());
    }
    match reading::first_fitting::<T>(defaults, &path, text) {
        Ok(value) => Ok((path, value)),
        Err(message) => Err(SettingsError::BadValue {
            at: at.clone(),
            key: key.to_owned(),
            message,
        }),
    }
}

type Given = (Vec<String>, Value, Origin);

/// Every setting in the file, or everything that is wrong with it.
fn from_file<T: DeserializeOwned>(
    schema: Schema,
    defaults: &DocumentMut,
    path: &Path,
) -> Result<Vec<Given>, Errors> {
    let Some(content) = file::read(path)? else {
        return Ok(Vec::new());
    };
    let document = content.parse()?;
    let mut walk = Walk {
        schema,
        content: &content,
        found: Vec::new(),
        errors: Vec::new(),
    };
    walk.table(document.as_table(), &mut Vec::new());
    let Walk {
        found, mut errors, ..
    } = walk;
    for (path, value, at) in &found {
        if let Err(message) = reading::fits::<T>(defaults, path, value) {
            errors.push(SettingsError::BadValue {
                at: at.clone(),
                key: dotted(path),
                message,
            });
        }
    }
    if errors.is_empty() {
        Ok(found)
    } else {
        Err(Errors(errors))
    }
}

/// Takes a document apart into settings.
struct Walk<'a> {
    schema: Schema,
    content: &'a file::Content,
    found: Vec<Given>,
    errors: Vec<SettingsError>,
}

impl Walk<'_> {
    fn table(&mut self, table: &dyn toml_edit::TableLike, path: &mut Vec<String>) {
        for (name, item) in table.iter() {
            path.push(name.to_owned());
            let key_span = table.get_key_value(name).and_then(|(key, _)| key.span());
            let key_at = self.content.origin(key_span);
            match (self.schema.place(path), item.as_table_like()) {
                (Place::Setting, _) => {
                    let at = item
                        .span()
                        .map_or(key_at, |span| self.content.origin(Some(span)));
                    if let Ok(value) = item.clone().into_value() {
                        self.found.push((path.clone(), value, at));
                    }
                }
                (Place::Table, Some(below)) => self.table(below, path),
                (Place::Table, None) => self.errors.push(SettingsError::BadValue {
                    at: key_at,
                    key: dotted(path),
                    message: "it is a table that holds settings".to_owned(),
                }),
                (Place::Nowhere, _) => {
                    self.errors.push(SettingsError::UnknownKey {
                        at: key_at,
                        key: dotted(path),
                        nearest: self.schema.nearest_place(path).map(str::to_owned),
                    });
                }
            }
            path.pop();
        }
    }
}
