//! Every environment variable, declared once: what it does, or what does its work now.
//!
//! The list holds all variables of the Python system this one succeeds, so that a person who moves
//! over gets an answer instead of silence.

mod table;

use std::fmt::Write as _;

use crate::{Environment, nearest::nearest};

pub use table::VARIABLES;

/// An environment variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it means, as a phrase.
    pub about: &'static str,
    /// What becomes of it.
    pub status: Status,
}

/// What becomes of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It sets this setting, above the file and below flags.
    Setting(&'static str),
    /// It is a key or an address of this model provider; `model` is the one in use.
    Provider(&'static str),
    /// It is honoured by itself; there is no setting for it.
    Direct,
    /// It is no longer read; what to use instead, as an order.
    Replaced(&'static str),
    /// It belongs to a part that this version does not have, named here.
    NotYet(&'static str),
}

/// Something to say about a variable that is set. Values are never part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// It has no effect any more.
    Replaced {
        /// The variable.
        name: &'static str,
        /// What to do instead.
        instead: &'static str,
    },
    /// It has no effect yet.
    NotYet {
        /// The variable.
        name: &'static str,
        /// The part it belongs to.
        part: &'static str,
    },
    /// It is not one of ours although it looks like it.
    Unknown {
        /// The variable.
        name: String,
        /// The one that was probably meant.
        nearest: Option<&'static str>,
    },
}

impl std::fmt::Display for Notice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Replaced { name, instead } => write!(f, "`{name}` has no effect: {instead}"),
            Self::NotYet { name, part } => {
                write!(
                    f,
                    "`{name}` has no effect: {part} is not part of this version"
                )
            }
            Self::Unknown {
                name,
                nearest: Some(nearest),
            } => {
                write!(f, "`{name}` has no effect; did you mean `{nearest}`?")
            }
            Self::Unknown {
                name,
                nearest: None,
            } => {
                write!(f, "`{name}` has no effect: there is no such variable")
            }
        }
    }
}

/// What to tell a person about the `OPENSPACE_*` variables that are set without effect. Those of
/// other programs are left alone, even where the old system read them too.
pub fn review(environment: &Environment) -> Vec<Notice> {
    environment
        .iter()
        .filter_map(|(name, _)| name.to_str())
        .filter(|name| name.starts_with(PREFIX))
        .filter_map(|name| {
            let Some(variable) = VARIABLES.iter().find(|variable| variable.name == name) else {
                return Some(Notice::Unknown {
                    name: name.to_owned(),
                    nearest: meant(name),
                });
            };
            match variable.status {
                Status::Replaced(instead) => Some(Notice::Replaced {
                    name: variable.name,
                    instead,
                }),
                Status::NotYet(part) => Some(Notice::NotYet {
                    name: variable.name,
                    part,
                }),
                Status::Setting(_) | Status::Provider(_) | Status::Direct => None,
            }
        })
        .collect()
}

/// The variable that was probably meant. The prefix all share says nothing, so it is not compared.
fn meant(name: &str) -> Option<&'static str> {
    let rest_of = |variable: &'static Variable| variable.name.strip_prefix(PREFIX);
    let rest = nearest(
        name.strip_prefix(PREFIX)?,
        VARIABLES.iter().filter_map(rest_of),
    )?;
    let found = VARIABLES
        .iter()
        .find(|variable| rest_of(variable) == Some(rest))?;
    Some(found.name)
}

const PREFIX: &str = "OPENSPACE_";

/// Variables that set a setting, with that setting, for [`crate::Layers::environment`].
pub fn settings() -> impl Iterator<Item = (&'static str, &'static str)> {
    VARIABLES
        .iter()
        .filter_map(|variable| match variable.status {
            Status::Setting(key) => Some((variable.name, key)),
            Status::Provider(_) | Status::Direct | Status::Replaced(_) | Status::NotYet(_) => None,
        })
}

/// Variables that hold keys or addresses of a model provider, in the order they are tried.
pub fn of_provider(provider: &str) -> impl Iterator<Item = &'static Variable> {
    VARIABLES.iter().filter(
        move |variable| matches!(variable.status, Status::Provider(name) if name == provider),
    )
}

/// The reference as a Markdown table, for the README.
pub fn markdown() -> String {
    let mut table = String::from("| Variable | Meaning | What becomes of it |\n|---|---|---|\n");
    for Variable {
        name,
        about,
        status,
    } in VARIABLES
    {
        let fate = match status {
            Status::Setting(key) => format!("sets `{key}`"),
            Status::Provider("model") => "honoured, for the model in use".to_owned(),
            Status::Provider(provider) => format!("honoured, for {provider}"),
            Status::Direct => "honoured".to_owned(),
            Status::Replaced(instead) => format!("no longer read: {instead}"),
            Status::NotYet(part) => format!("not yet read: {part} is not part of this version"),
        };
        // Writing to a `String` cannot fail.
        let _ = writeln!(table, "| `{name}` | {about} | {fate} |");
    }
    table
}
