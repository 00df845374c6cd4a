//! The settings file: read without losing anything, changed one setting at a time.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    ops::Range,
    path::{Path, PathBuf},
};

use serde::{Serialize, de::DeserializeOwned};
use toml_edit::{Document, DocumentMut, Item, Table, TableLike, Value};

use crate::{
    Origin, Schema, SettingsError,
    key::{Place, dotted, segments},
    layers,
    paths::create_private,
};

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The settings file, to be changed. Comments, order and spacing of everything else stay.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    path: PathBuf,
    schema: Schema,
}

impl SettingsFile {
    /// The file at `path`; it need not exist.
    pub fn new(path: impl Into<PathBuf>, schema: Schema) -> Self {
        Self {
            path: path.into(),
            schema,
        }
    }

    /// Sets a setting to what `text` says, if `T` accepts it. The file may be wrong elsewhere, so
    /// that this can put it right, but it must be TOML.
    pub fn set<T>(&self, key: &str, text: &str) -> Result<(), SettingsError>
    where
        T: Default + Serialize + DeserializeOwned,
    {
        let at = Origin::Flag(key.to_owned());
        let defaults = layers::defaults::<T>()?;
        let (path, value) = layers::from_text::<T>(self.schema, &defaults, key, text, &at)?;
        self.change(|document| {
            put_formatted(document.as_table_mut(), &path, value).map_err(|table| {
                SettingsError::BadValue {
                    at,
                    key: dotted(&path[..table]),
                    message: "it is a table that holds settings".to_owned(),
                }
            })
        })
    }

    /// Takes a setting out of the file, so that its default applies again. Whether it was there.
    /// Also removes names that are unknown, since that is how one gets rid of them.
    pub fn unset(&self, key: &str) -> Result<bool, SettingsError> {
        let unknown = || SettingsError::UnknownKey {
            at: Origin::Flag(key.to_owned()),
            key: key.to_owned(),
            nearest: self.schema.nearest(key).map(str::to_owned),
        };
        let path = segments(key).map_err(|_| unknown())?;
        let mut removed = false;
        self.change(|document| {
            removed = remove(document.as_table_mut(), &path);
            if removed || matches!(self.schema.place(&path), Place::Setting) {
                Ok(())
            } else {
                Err(unknown())
            }
        })?;
        Ok(removed)
    }

    fn change(
        &self,
        edit: impl FnOnce(&mut DocumentMut) -> Result<(), SettingsError>,
    ) -> Result<(), SettingsError> {
        let unwritable = |source| SettingsError::Unwritable {
            path: self.path.clone(),
            source,
        };
        // A link into somebody's collection of configurations stays a link.
        let target = match fs::canonicalize(&self.path) {
            Ok(target) => target,
            Err(_) => self.path.clone(),
        };
        let folder = target
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        create_private(folder).map_err(unwritable)?;
        // Two processes that change different settings at once must not lose one of them.
        let _lock = lock(folder, &target).map_err(unwritable)?;
        let content = read(&target)?.unwrap_or_else(|| Content::empty(&target));
        let mut document = content.parse()?.into_mut();
        // In a file without settings all comments are at its end; they stay above what is added.
        let mut head = String::new();
        if document.is_empty() {
            document
                .trailing()
                .as_str()
                .unwrap_or_default()
                .clone_into(&mut head);
            document.set_trailing("");
            if !head.is_empty() && !head.ends_with('\n') {
                head.push('\n');
            }
        }
        edit(&mut document)?;
        let text = content.styled(&format!("{head}{document}"));
        if text != content.raw {
            replace(folder, &target, text.as_bytes()).map_err(unwritable)?;
        }
        Ok(())
    }
}

fn lock(folder: &Path, target: &Path) -> io::Result<File> {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(folder.join(format!(".{name}.lock")))?;
    file.lock()?;
    Ok(file)
}

/// Either the old content or the new one is there at any moment, and only this user can read it.
pub(crate) fn replace(folder: &Path, target: &Path, content: &[u8]) -> io::Result<()> {
    let mut staged = tempfile::NamedTempFile::new_in(folder)?;
    staged.write_all(content)?;
    staged.as_file().sync_all()?;
    staged.persist(target)?;
    // The rename itself is made durable where folders can be synchronised at all.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Replaces or adds a value and keeps the comment behind it. The error is how many segments lead to
/// something that is no table.
fn put_formatted(
    table: &mut dyn TableLike,
    path: &[String],
    mut value: Value,
) -> Result<(), usize> {
    let [first, rest @ ..] = path else {
        return Ok(());
    };
    if rest.is_empty() {
        match table.get_mut(first) {
            Some(Item::Value(old)) => {
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            Some(old) => *old = Item::Value(value),
            None => {
                table.insert(first, Item::Value(value));
            }
        }
        return Ok(());
    }
    if table.get(first).is_none_or(Item::is_none) {
        let mut below = Table::new();
        // `[mcp.servers.files]` needs no `[mcp]` above it.
        below.set_implicit(rest.len() > 1);
        table.insert(first, Item::Table(below));
    }
    let below = table
        .get_mut(first)
        .and_then(Item::as_table_like_mut)
        .ok_or(1_usize)?;
    put_formatted(below, rest, value).map_err(|depth| depth + 1)
}

fn remove(table: &mut dyn TableLike, path: &[String]) -> bool {
    match path {
        [] => false,
        [last] => table.remove(last).is_some(),
        [first, rest @ ..] => table
            .get_mut(first)
            .and_then(Item::as_table_like_mut)
            .is_some_and(|below| remove(below, rest)),
    }
}

/// What a file holds.
#[derive(Debug)]
pub(crate) struct Content {
    path: PathBuf,
    raw: String,
}

impl Content {
    fn empty(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            raw: String::new(),
        }
    }

    /// The text without the mark that some editors put in front.
    fn text(&self) -> &str {
        self.raw.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.raw)
    }

    pub(crate) fn parse(&self) -> Result<Document<&str>, SettingsError> {
        Document::parse(self.text()).map_err(|error| SettingsError::Syntax {
            at: self.origin(error.span()),
            message: error.message().trim().replace('\n', "; "),
        })
    }

    /// Where a byte of [`Self::text`] is.
    pub(crate) fn origin(&self, span: Option<Range<usize>>) -> Origin {
        let before = span.map_or("", |span| self.text().get(..span.start).unwrap_or_default());
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Origin::File {
            path: self.path.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// New text with the mark and the line ends that this one has.
    fn styled(&self, text: &str) -> String {
        let carriage_returns = self.raw.matches("\r\n").count();
        let windows = carriage_returns > 0 && carriage_returns == self.raw.matches('\n').count();
        let text = if windows {
            text.replace("\r\n", "\n").replace('\n', "\r\n")
        } else {
            text.to_owned()
        };
        if self.raw.starts_with(BYTE_ORDER_MARK) {
            format!("{BYTE_ORDER_MARK}{text}")
        } else {
            text
        }
    }
}

/// The content of a file; none when it is not there.
pub(crate) fn read(path: &Path) -> Result<Option<Content>, SettingsError> {
    let bytes = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(SettingsError::NotAFile {
                path: path.to_owned(),
            });
        }
        Ok(_) => fs::read(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !path.is_symlink() => {
            return Ok(None);
        }
        Err(error) => Err(error),
    };
    let bytes = bytes.map_err(|source| SettingsError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    match String::from_utf8(bytes) {
        Ok(raw) => Ok(Some(Content {
            path: path.to_owned(),
            raw,
        })),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let raw = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            let content = Content {
                path: path.to_owned(),
                raw,
            };
            let end = content.text().len();
            Err(SettingsError::NotText {
                at: content.origin(Some(end..end)),
            })
        }
    }
}
