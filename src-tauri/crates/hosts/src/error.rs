//! Why a host's file could not be read or changed. Nothing was changed then, unless the error says so.

use std::{io, path::PathBuf};

use crate::{
    custom::Part,
    dialect::{Fault, What, position},
};

/// Why something with a host did not work, in terms of what can be done about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no such host: another name was meant.
    #[error("there is no host `{id}`")]
    UnknownHost {
        /// The name as given.
        id: String,
        /// The name that was probably meant.
        nearest: Option<&'static str>,
    },
    /// The host is not on this machine.
    #[error("{host} was not found on this machine")]
    NotFound {
        /// Its name.
        host: &'static str,
        /// Where its file would be.
        path: PathBuf,
    },
    /// The host has no file for a project.
    #[error("{host} has no file of its own for a project")]
    NoProjectFile {
        /// Its name.
        host: &'static str,
    },
    /// The file is not what the host reads: it has to be put right first.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Unparsable {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column in characters, counted from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// Something else stands where servers belong.
    #[error("{}:{line}: `{key}` holds a {found} where a map belongs", path.display())]
    WrongShape {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// The member; empty for the whole file.
        key: String,
        /// What it is instead.
        found: &'static str,
    },
    /// The entry cannot be cut out or put in without touching something else.
    #[error("{}:{line}: this cannot be changed without touching something else", path.display())]
    Entangled {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
    },
    /// The file is there and cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something else than a file lies there.
    #[error("{} is not a file", path.display())]
    NotAFile {
        /// The place.
        path: PathBuf,
    },
    /// A link that leads nowhere.
    #[error("{} is a link to something that is not there", path.display())]
    DanglingLink {
        /// The link.
        path: PathBuf,
    },
    /// The file is not UTF-8 text.
    #[error("{} is not UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Larger than any configuration.
    #[error("{} is too large to be a configuration", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// Replacing it would take it from its owner.
    #[error("{} belongs to another user", path.display())]
    OtherOwner {
        /// The file.
        path: PathBuf,
    },
    /// Somebody took the right to write it away.
    #[error("{} is write-protected", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be written and is as it was.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another program changed the file at the same time: try again.
    #[error("{} was changed by another program at the same time", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The host keeps its file locked.
    #[error("{} is locked by {host}", path.display())]
    Locked {
        /// The host's name.
        host: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// Somebody else's entry has our name.
    #[error("{} already has another entry named `openspace`", path.display())]
    Different {
        /// The file.
        path: PathBuf,
        /// The entry as JSON, without secrets.
        entry: String,
    },
    /// Somebody else's skill has the name of one of ours, and was left alone.
    #[error("{} is not ours", path.display())]
    ForeignSkill {
        /// The skill's name.
        skill: &'static str,
        /// Its folder.
        path: PathBuf,
    },
    /// The host itself refuses the file with our entry, which was taken out again.
    #[error("{host} does not accept the file: {message}")]
    Refused {
        /// The host's name.
        host: &'static str,
        /// What it says.
        message: String,
    },
    /// Nobody waits for the host to look at its file any more. The file is as it was.
    #[error("{host} was not waited for")]
    Stopped {
        /// The host's name.
        host: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// What was written was not wanted after all, and could not be taken out again: it may be there,
    /// and is known to be ours. The copy of the file stays.
    #[error("{} could not be put back: {source}", path.display())]
    NotPutBack {
        /// The host's name.
        host: &'static str,
        /// Its name in commands.
        id: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<Error>,
    },
    /// The entry needs a program that stays where it is, and there is none.
    #[error("{} cannot be copied to {}: {source}", from.display(), to.display())]
    NoLauncher {
        /// The program.
        from: PathBuf,
        /// Where it should go.
        to: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is no change of ours to take back, or somebody changed the file since.
    #[error("there is no change to {} that could be taken back", path.display())]
    NothingToUndo {
        /// The file.
        path: PathBuf,
    },
    /// An agent cannot be named like this.
    #[error("this cannot be the {part:?} of an agent")]
    Unnameable {
        /// What makes no sense.
        part: Part,
    },
    /// The file belongs to a host that is known.
    #[error("{} is the file of {host}", path.display())]
    Taken {
        /// Whose it is.
        host: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// The host is in the table, and stays there.
    #[error("{host} was named by nobody")]
    NotCustom {
        /// Its name.
        host: &'static str,
    },
    /// Our entry is in the file of an agent that is to be forgotten.
    #[error("{} still has our entry", path.display())]
    StillRegistered {
        /// Its name.
        host: &'static str,
        /// Its name in commands.
        id: &'static str,
        /// The file.
        path: PathBuf,
    },
    /// Our own list of what was registered cannot be used.
    #[error("{} cannot be used: {message}", path.display())]
    Ledger {
        /// The list.
        path: PathBuf,
        /// Why.
        message: String,
    },
}

impl Error {
    /// What a fault in a text means for the file that holds it.
    pub(crate) fn of(fault: Fault, path: PathBuf, text: &str) -> Self {
        let (line, column) = position(text, fault.at);
        match fault.what {
            What::Syntax(message) => Self::Unparsable {
                path,
                line,
                column,
                message,
            },
            What::Shape { key, found } => Self::WrongShape {
                path,
                line,
                key,
                found,
            },
            What::Unsafe => Self::Entangled { path, line },
        }
    }

    /// The file is as it was, and pasting our entry by hand is the way out.
    pub fn pasting_helps(&self) -> bool {
        matches!(
            self,
            Self::Unparsable { .. }
                | Self::WrongShape { .. }
                | Self::Entangled { .. }
                | Self::Unreadable { .. }
                | Self::NotAFile { .. }
                | Self::DanglingLink { .. }
                | Self::NotText { .. }
                | Self::TooLarge { .. }
                | Self::OtherOwner { .. }
                | Self::ReadOnly { .. }
                | Self::Unwritable { .. }
                | Self::Locked { .. }
                | Self::Refused { .. }
        )
    }
}
