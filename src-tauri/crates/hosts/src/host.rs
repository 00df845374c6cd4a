//! What there is to know about a host.

use std::path::PathBuf;

use serde_json::Value;

use crate::{Dialect, Machine, machine::Place};

/// An agent program that can use our tools. Everything that tells one host from another is in these
/// fields, and the hosts themselves are in [`HOSTS`](crate::HOSTS).
#[derive(Debug, Clone, Copy)]
pub struct Host {
    /// Its name in commands.
    pub id: &'static str,
    /// Its name.
    pub name: &'static str,
    /// A person named it; it is not in the table.
    pub custom: bool,
    /// What its client calls itself, where that tells it from every other host.
    pub(crate) clients: &'static [&'static str],
    /// Programs and folders that are there where it is installed.
    pub(crate) signs: Signs,
    /// Places of its file that a variable gives; those of the first that is set are the only ones that
    /// count.
    pub(crate) moved: &'static [Place],
    /// Usual places of its file, the one to begin with first.
    pub(crate) files: &'static [Place],
    /// The file of a project, from the project's folder.
    pub project: Option<&'static str>,
    /// Format of its files.
    pub dialect: Dialect,
    /// The map of servers within its file.
    pub(crate) key: &'static [&'static str],
    /// The map of servers of another version of the host, where the file already has it.
    pub(crate) other_key: Option<&'static [&'static str]>,
    /// What an entry looks like.
    pub(crate) shape: Shape,
    /// The key with the longest time a call may take, and what we set it to.
    pub(crate) timeout: Option<(&'static str, u64)>,
    /// The key with which the host lets our tools run without asking.
    pub(crate) trust: Option<(&'static str, Fixed)>,
    /// What keeps the host from writing its file at the same time.
    pub(crate) lock: Lock,
    /// A command of the host that checks its file.
    pub(crate) check: Option<&'static [&'static str]>,
    /// What the host lets our server know of its environment.
    pub(crate) passes: Passes,
    /// How many tools it takes altogether.
    pub most_tools: Option<u32>,
    /// Places of the folder of its skills; the first that there can be on a machine counts.
    pub(crate) skills: &'static [Place],
}

impl Host {
    /// Where its file may lie on a machine, the place to begin with first.
    pub(crate) fn places(&self, machine: &Machine) -> Vec<PathBuf> {
        let set = self.moved.iter().find(|place| place.on(machine).is_some());
        let moved = self.moved.iter();
        let moved = moved.filter(|place| set.is_some_and(|set| set.is_beside(place)));
        let usual = self.files.iter().filter(|_| set.is_none());
        let places = moved.chain(usual);
        places.filter_map(|place| place.on(machine)).collect()
    }

    /// What its client calls itself, where no other does.
    pub fn clients(&self) -> &'static [&'static str] {
        self.clients
    }

    /// A client that calls itself this is this host's, for all that is known.
    pub fn is_client(&self, name: &str) -> bool {
        self.clients
            .iter()
            .any(|client| client.eq_ignore_ascii_case(name))
    }
}

/// What gives a host away.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signs {
    pub(crate) programs: &'static [&'static str],
    pub(crate) folders: &'static [Place],
}

/// The form of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    /// Members before the command.
    pub(crate) first: &'static [(&'static str, Fixed)],
    pub(crate) command: Command,
    /// The member with the variables.
    pub(crate) env: &'static str,
    /// Members after it.
    pub(crate) last: &'static [(&'static str, Fixed)],
}

/// How an entry names what is to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// The program in one member, its arguments in `args`.
    Apart(&'static str),
    /// Both in one list.
    Together(&'static str),
}

/// A value that is the same in every entry of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fixed {
    Text(&'static str),
    Flag(bool),
    Texts(&'static [&'static str]),
}

impl Fixed {
    pub(crate) fn value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Flag(flag) => flag.into(),
            Self::Texts(texts) => texts.to_vec().into(),
        }
    }
}

/// What keeps a host from writing its file while we do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lock {
    /// Nothing; that the file changed is noticed.
    None,
    /// A folder beside the file, named like it with `.lock`, as the npm package `proper-lockfile`
    /// makes it.
    Folder,
}

/// What a host lets a server of ours know of its own environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passes {
    /// All of it.
    Everything,
    /// All but what has one of these words in its name.
    Without(&'static [&'static str]),
    /// These, and the few that the SDKs of the protocol pass.
    Little(&'static [&'static str]),
}
