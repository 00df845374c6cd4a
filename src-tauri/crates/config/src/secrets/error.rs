//! What can be wrong with secrets, in terms of who can put it right. No text holds a secret.

use std::{io, path::PathBuf};

use crate::KeychainError;

/// Why secrets cannot be had or kept. Whatever it is, the file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretsError {
    /// The keychain gave or took nothing.
    #[error(transparent)]
    Keychain(#[from] KeychainError),
    /// The file is there and its key is not in the keychain: the keychain was reset, or the file is
    /// another machine's.
    #[error("`{path}` was encrypted with a key that is not in this keychain", path = .path.display())]
    KeyMissing {
        /// The file.
        path: PathBuf,
    },
    /// A passphrase protects the file, and none was given yet.
    #[error("a passphrase protects the keys, and it was not given yet")]
    NeedsPassphrase,
    /// It is not that passphrase, or somebody changed the file.
    #[error("the passphrase is wrong, or the file was damaged")]
    WrongPassphrase,
    /// The key is there and does not fit.
    #[error("`{path}` does not open: it was damaged, or encrypted with another key", path = .path.display())]
    DoesNotOpen {
        /// The file.
        path: PathBuf,
    },
    /// It is no file of ours any more.
    #[error("`{path}` is damaged: {what}", path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, as a clause.
        what: &'static str,
    },
    /// A later version of the program wrote it.
    #[error("`{path}` was written by a newer version (format {version})", path = .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        version: u64,
    },
    /// The file holds plain text, which is used only where the variable asks for it.
    #[error("`{path}` holds keys in plain text, and `{variable}` is not `1`", path = .path.display(), variable = super::PLAINTEXT_VARIABLE)]
    PlainRefused {
        /// The file.
        path: PathBuf,
    },
    /// Another process is at it for too long.
    #[error("another process is changing the keys and does not finish")]
    Busy,
    /// It is there and cannot be read: mend its permissions.
    #[error("cannot read `{path}`: {source}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It could not be written and is as it was.
    #[error("cannot write `{path}`: {source}; nothing was changed", path = .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The system gives no random numbers, or too little memory for the passphrase.
    #[error("the system lacks what encryption needs: {0}")]
    System(&'static str),
}
