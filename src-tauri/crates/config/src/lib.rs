//! Folders, layered settings, environment variables and secrets: the mechanism, not the schema.
//!
//! [`Environment`] is a snapshot taken once in `main`; nothing below reads the process's own. From it
//! [`Paths`] finds the folders, [`DesktopSession`] the screen and the bus, [`Layers`] the settings
//! (defaults < file < environment < flags) and [`env_vars`] what to say about every variable.
//! [`SettingsFile`] changes one setting in the file and leaves the rest of it alone. [`Vault`] keeps
//! keys and tokens in an encrypted file whose own key is in the [`Keychain`] or under a passphrase.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod env_vars;
pub mod environment;
pub mod error;
pub mod file;
pub mod key;
pub mod keychain;
pub mod layers;
mod nearest;
pub mod paths;
mod reading;
pub mod secret;
pub mod secrets;
pub mod session;
pub mod system;

pub use environment::Environment;
pub use error::{Errors, Origin, PathsError, SettingsError};
pub use file::SettingsFile;
pub use key::{Key, Schema};
pub use keychain::{Keychain, KeychainError};
pub use layers::{Layers, Settings};
pub use paths::Paths;
pub use secret::Secret;
pub use secrets::{SecretsError, Vault};
pub use session::{DesktopSession, Found, FoundIn};
pub use system::System;
