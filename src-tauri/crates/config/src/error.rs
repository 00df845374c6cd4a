//! What can be wrong with folders and settings, in terms of who can put it right.

use std::{fmt, io, path::PathBuf};

/// Why the folders cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// Nothing says where this user's files are.
    #[error(
        "cannot find a home folder: `HOME` is not set and this user has no entry in the list of \
         users; set `OPENSPACE_HOME` to an absolute path"
    )]
    NoHome,
    /// A relative path would mean another folder in every process.
    #[error("`OPENSPACE_HOME` is `{value}`: give an absolute path", value = .value.display())]
    Relative {
        /// The path as given.
        value: PathBuf,
    },
    /// A folder could not be made.
    #[error("cannot create the folder `{path}`: {source}", path = .path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Where a value was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nobody gave it.
    Default,
    /// The settings file.
    File {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
    },
    /// An environment variable, by name.
    Variable(String),
    /// A command line flag, as typed.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line, column } => write!(f, "{}:{line}:{column}", path.display()),
            Self::Variable(name) => write!(f, "environment variable `{name}`"),
            Self::Flag(name) => write!(f, "`{name}`"),
        }
    }
}

/// Why settings cannot be used, or one of them not set. Texts name the place and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The file is there and cannot be read: mend its permissions.
    #[error("cannot read `{path}`: {source}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something else lies where the file belongs: move it away.
    #[error("`{path}` is not a file: move it away, settings belong there", path = .path.display())]
    NotAFile {
        /// The place.
        path: PathBuf,
    },
    /// The file is not UTF-8: save it as UTF-8.
    #[error("{at}: this is not UTF-8 text; save the file as UTF-8")]
    NotText {
        /// The first byte that is wrong.
        at: Origin,
    },
    /// The file is not TOML.
    #[error("{at}: {message}")]
    Syntax {
        /// Where reading stopped.
        at: Origin,
        /// What the parser expected.
        message: String,
    },
    /// There is no such setting.
    #[error("{at}: there is no setting `{key}`{hint}", hint = did_you_mean(.nearest.as_deref()))]
    UnknownKey {
        /// Where it was named.
        at: Origin,
        /// The name.
        key: String,
        /// The name that was probably meant.
        nearest: Option<String>,
    },
    /// The setting cannot have that value.
    #[error("{at}: `{key}` cannot be that: {message}")]
    BadValue {
        /// Where it was given.
        at: Origin,
        /// The setting.
        key: String,
        /// What it should be.
        message: String,
    },
    /// Each setting is fine by itself, but not all of them together.
    #[error("these settings do not go together: {0}")]
    Combination(String),
    /// The file could not be written and is as it was.
    #[error("cannot write `{path}`: {source}; nothing was changed", path = .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The schema's own defaults do not fit it: a mistake in the program.
    #[error("the built-in defaults are not valid: {0}")]
    Defaults(String),
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// Everything that is wrong, so that it can be put right in one go. Never empty.
#[derive(Debug)]
pub struct Errors(pub Vec<SettingsError>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Errors {}

impl From<SettingsError> for Errors {
    fn from(error: SettingsError) -> Self {
        Self(vec![error])
    }
}
