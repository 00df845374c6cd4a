//! Keys and tokens of this user, in one encrypted file beside the database.
//!
//! # The file `secrets`, version 1
//!
//! One line of JSON, the head, which anybody may read and nobody can change unnoticed:
//!
//! ```json
//! {"openspace_secrets":1,"protection":"passphrase","names":["provider:openai"],"argon2id":{"memory_kib":65536,"passes":3,"lanes":4,"salt":"…32 hexadecimal digits…"}}
//! ```
//!
//! `names` says which secrets there are, so that a program that needs none of them opens nothing.
//! `protection` is `keychain` (the key is in the keychain of the system), `passphrase` (the key is
//! derived from one by Argon2id with the parameters beside it) or `none`.
//!
//! After the newline: 24 random bytes, and the secrets as a JSON object of texts, encrypted with
//! XChaCha20-Poly1305 (RFC 8439 with the extended nonce of draft-irtf-cfrg-xchacha-03) under the
//! 32-byte key, that nonce, and the head with its newline as additional data; the last 16 bytes are
//! the tag. A nonce of that length may be chosen at random for every writing. With `none` the JSON
//! object follows as it is: only where an environment variable asked for it.
//!
//! The file is readable by its owner only and replaced as a whole: staged beside it, synchronised,
//! renamed, while a lock file keeps other processes from doing the same. A file that cannot be
//! opened is never written over.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use crate::{DesktopSession, Environment, Keychain, Paths, Secret, file};

mod error;
mod key;
mod sealed;

pub use error::SecretsError;
pub use key::{DataKey, Derivation};
pub use sealed::Protection;
use sealed::Sealed;

/// The variable by which a person allows keys in plain text, with the value `1`.
pub const PLAINTEXT_VARIABLE: &str = "OPENSPACE_SECRETS_PLAINTEXT";
/// Keys and tokens are a few kilobytes; what is larger is no file of ours.
const MOST_BYTES: u64 = 4 * 1024 * 1024;
/// Another process holds the lock while it asks the keychain, twice at most: three seconds to read,
/// six to write.
const LOCK_LIMIT: Duration = Duration::from_secs(10);
const LOCK_POLL: Duration = Duration::from_millis(20);

/// Secrets by name.
pub type Contents = BTreeMap<String, Secret<String>>;
type Result<T, E = SecretsError> = std::result::Result<T, E>;

/// Where a secret is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// In the memory of this process, until it ends.
    Session,
    /// In the file, protected like this.
    File(Protection),
}

/// What the file's secrets are to be protected by.
#[derive(Debug, Clone)]
pub enum Protect {
    /// A key in the keychain of the system.
    Keychain,
    /// A passphrase that is asked for once per process.
    Passphrase(Secret<String>),
}

/// What can be told without opening anything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overview {
    /// How the file is protected; `None` while there is none.
    pub protection: Option<Protection>,
    /// Names in the file.
    pub names: Vec<String>,
    /// Names in the memory of this process.
    pub session: Vec<String>,
    /// A passphrase is needed first, and none was given in this process.
    pub needs_passphrase: bool,
}

/// The secrets of one data folder. Calls block: for the keychain up to three seconds, for the
/// derivation of a key from a passphrase about as long as a blink.
#[derive(Debug)]
pub struct Vault {
    path: PathBuf,
    keychain: Keychain,
    plaintext: bool,
    memory: Mutex<Memory>,
}

/// What this process knows and no file holds.
#[derive(Debug, Default)]
struct Memory {
    session: Contents,
    derived: Option<(Derivation, DataKey)>,
}

impl Vault {
    /// The secrets beside the database. Nothing is read or opened yet.
    pub fn new(paths: &Paths, session: &DesktopSession, environment: &Environment) -> Self {
        // The account must be the same however the folder is spelt.
        let folder = fs::canonicalize(&paths.data).unwrap_or_else(|_| paths.data.clone());
        Self {
            path: paths.secrets(),
            keychain: Keychain::new(session, folder.to_string_lossy()),
            plaintext: environment.text(PLAINTEXT_VARIABLE) == Some("1"),
            memory: Mutex::default(),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What can be told without opening anything.
    pub fn overview(&self) -> Result<Overview> {
        let sealed = self.load()?;
        let memory = self.memory();
        let needs_passphrase = sealed
            .as_ref()
            .and_then(Sealed::derivation)
            .is_some_and(|derivation| memory.key_for(derivation).is_none());
        Ok(Overview {
            protection: sealed.as_ref().map(Sealed::protection),
            names: sealed
                .map(|sealed| sealed.names().to_vec())
                .unwrap_or_default(),
            session: memory.session.keys().cloned().collect(),
            needs_passphrase,
        })
    }

    /// A secret and where it is kept. The file is opened only if it holds one of that name.
    pub fn get(&self, name: &str) -> Result<Option<(Secret<String>, Kept)>> {
        if let Some(secret) = self.memory().session.get(name) {
            return Ok(Some((secret.clone(), Kept::Session)));
        }
        let Some(sealed) = self.load()?.filter(|sealed| sealed.has(name)) else {
            return Ok(None);
        };
        let mut contents = self.open(&sealed)?;
        let kept = Kept::File(sealed.protection());
        Ok(contents.remove(name).map(|secret| (secret, kept)))
    }

    /// All secrets of the file.
    pub fn all(&self) -> Result<Contents> {
        match self.load()?.filter(|sealed| !sealed.names().is_empty()) {
            Some(sealed) => self.open(&sealed),
            None => Ok(Contents::new()),
        }
    }

    /// Keeps a secret in the file, in place of the one of that name, and says how it is protected:
    /// as the file is, in a new one by the keychain.
    pub fn set(&self, name: &str, secret: Secret<String>) -> Result<Protection> {
        let protection = self.change(|contents| {
            contents.insert(name.to_owned(), secret);
        })?;
        self.memory().session.remove(name);
        Ok(protection)
    }

    /// Keeps a secret in memory until this process ends. It goes before one in the file.
    pub fn set_for_session(&self, name: &str, secret: Secret<String>) {
        self.memory().session.insert(name.to_owned(), secret);
    }

    /// Removes a secret from memory and file. Whether there was one.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let in_memory = self.memory().session.remove(name).is_some();
        if !self.load()?.is_some_and(|sealed| sealed.has(name)) {
            return Ok(in_memory);
        }
        self.change(|contents| {
            contents.remove(name);
        })?;
        Ok(true)
    }

    /// Protects what the file holds, or will hold, in another way.
    pub fn protect(&self, with: Protect) -> Result<()> {
        let _lock = self.lock()?;
        let sealed = self.load()?;
        let contents = match &sealed {
            // Away from plain text is always allowed.
            Some(sealed) if sealed.protection() == Protection::None => sealed.plain(&self.path)?,
            Some(sealed) => self.open(sealed)?,
            None => Contents::new(),
        };
        match with {
            Protect::Keychain => {
                let key = self.key_in_keychain()?;
                self.store(&Sealed::seal(Protection::Keychain, None, &key, &contents)?)
            }
            Protect::Passphrase(passphrase) => {
                let derivation = Derivation::new()?;
                let key = derivation.key(&passphrase)?;
                let sealed = Sealed::seal(
                    Protection::Passphrase,
                    Some(derivation.clone()),
                    &key,
                    &contents,
                )?;
                self.store(&sealed)?;
                self.memory().derived = Some((derivation, key));
                Ok(())
            }
        }
    }

    /// Tries a passphrase and remembers the key it gives until this process ends.
    ///
    /// # Errors
    /// [`SecretsError::WrongPassphrase`], or what is wrong with the file. Where no passphrase is
    /// needed nothing happens.
    pub fn unlock(&self, passphrase: &Secret<String>) -> Result<()> {
        let Some(sealed) = self.load()? else {
            return Ok(());
        };
        let Some(derivation) = sealed.derivation() else {
            return Ok(());
        };
        let key = derivation.key(passphrase)?;
        sealed.open(&key).ok_or(SecretsError::WrongPassphrase)?;
        self.memory().derived = Some((derivation.clone(), key));
        Ok(())
    }

    /// Opens the file, changes its contents and writes it back, with nobody between.
    fn change(&self, edit: impl FnOnce(&mut Contents)) -> Result<Protection> {
        let _lock = self.lock()?;
        let Some(sealed) = self.load()? else {
            let mut contents = Contents::new();
            edit(&mut contents);
            if self.plaintext {
                self.store(&Sealed::unprotected(&contents)?)?;
                return Ok(Protection::None);
            }
            let key = self.key_in_keychain()?;
            self.store(&Sealed::seal(Protection::Keychain, None, &key, &contents)?)?;
            return Ok(Protection::Keychain);
        };
        let mut contents = self.open(&sealed)?;
        edit(&mut contents);
        let protection = sealed.protection();
        let new = match protection {
            Protection::None => Sealed::unprotected(&contents)?,
            Protection::Keychain | Protection::Passphrase => Sealed::seal(
                protection,
                sealed.derivation().cloned(),
                &self.key(&sealed)?,
                &contents,
            )?,
        };
        self.store(&new)?;
        Ok(protection)
    }

    fn open(&self, sealed: &Sealed) -> Result<Contents> {
        if sealed.protection() == Protection::None {
            return if self.plaintext {
                sealed.plain(&self.path)
            } else {
                Err(SecretsError::PlainRefused {
                    path: self.path.clone(),
                })
            };
        }
        let key = self.key(sealed)?;
        sealed.open(&key).ok_or_else(|| SecretsError::DoesNotOpen {
            path: self.path.clone(),
        })
    }

    /// The key of a file that is there. None is made: it would not open it.
    fn key(&self, sealed: &Sealed) -> Result<DataKey> {
        match sealed.derivation() {
            Some(derivation) => self
                .memory()
                .key_for(derivation)
                .cloned()
                .ok_or(SecretsError::NeedsPassphrase),
            None => self
                .keychain
                .key()?
                .ok_or_else(|| SecretsError::KeyMissing {
                    path: self.path.clone(),
                }),
        }
    }

    /// The key in the keychain; made at first need. The lock is held, so no other process makes
    /// another one for this folder at the same time.
    fn key_in_keychain(&self) -> Result<DataKey> {
        if let Some(key) = self.keychain.key()? {
            return Ok(key);
        }
        let key = DataKey::random()?;
        let folder = self.path.parent().unwrap_or(&self.path);
        let label = format!("OpenSpace: key of {}", folder.display());
        Ok(self.keychain.keep(&key, &label)?)
    }

    fn load(&self) -> Result<Option<Sealed>> {
        let unreadable = |source| SecretsError::Unreadable {
            path: self.path.clone(),
            source,
        };
        let damaged = |what| SecretsError::Damaged {
            path: self.path.clone(),
            what,
        };
        let metadata = match fs::symlink_metadata(&self.path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        if !metadata.is_file() {
            return Err(damaged("it is not a file"));
        }
        if metadata.len() > MOST_BYTES {
            return Err(damaged("it is too large"));
        }
        let bytes = fs::read(&self.path).map_err(unreadable)?;
        Sealed::parse(bytes, &self.path).map(Some)
    }

    fn store(&self, sealed: &Sealed) -> Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        file::replace(folder, &self.path, &sealed.bytes()).map_err(|source| {
            SecretsError::Unwritable {
                path: self.path.clone(),
                source,
            }
        })
    }

    fn lock(&self) -> Result<File> {
        let unwritable = |source| SecretsError::Unwritable {
            path: self.path.clone(),
            source,
        };
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.path.with_file_name(".secrets.lock"))
            .map_err(unwritable)?;
        let deadline = Instant::now() + LOCK_LIMIT;
        loop {
            match lock.try_lock() {
                Ok(()) => return Ok(lock),
                Err(fs::TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(LOCK_POLL);
                }
                Err(fs::TryLockError::WouldBlock) => return Err(SecretsError::Busy),
                Err(fs::TryLockError::Error(source)) => return Err(unwritable(source)),
            }
        }
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory {
    fn key_for(&self, derivation: &Derivation) -> Option<&DataKey> {
        self.derived
            .as_ref()
            .filter(|(of, _)| of == derivation)
            .map(|(_, key)| key)
    }
}
