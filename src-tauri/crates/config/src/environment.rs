//! A snapshot of environment variables.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

/// Environment variables as they were when the program started. An empty value counts as unset, as
/// the XDG Base Directory specification has it and as people expect of `NAME= command`.
///
/// Values may be keys, so `Debug` prints names only.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// The variables of this process. Only `main` and tests of it call this.
    pub fn of_this_process() -> Self {
        std::env::vars_os().collect()
    }

    /// The value of a variable, if it is set and not empty.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0
            .get(&normal(name.as_ref()))
            .filter(|value| !value.is_empty())
            .map(OsString::as_os_str)
    }

    /// The value of a variable, if it is set, not empty and Unicode.
    pub fn text(&self, name: impl AsRef<OsStr>) -> Option<&str> {
        self.get(name)?.to_str()
    }

    /// Whether a variable is set and not empty.
    pub fn has(&self, name: impl AsRef<OsStr>) -> bool {
        self.get(name).is_some()
    }

    /// Sets a variable in this snapshot; the process's own stays as it is.
    pub fn insert(&mut self, name: impl Into<OsString>, value: impl Into<OsString>) {
        self.0.insert(normal(&name.into()), value.into());
    }

    /// Drops a variable from this snapshot.
    pub fn remove(&mut self, name: impl AsRef<OsStr>) {
        self.0.remove(&normal(name.as_ref()));
    }

    /// All variables that are set, sorted by name, empty ones left out.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

/// Windows does not tell `Path` from `PATH`.
fn normal(name: &OsStr) -> OsString {
    if cfg!(windows) {
        name.to_ascii_uppercase()
    } else {
        name.to_owned()
    }
}

impl<N: Into<OsString>, V: Into<OsString>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let mut environment = Self::default();
        for (name, value) in pairs {
            environment.insert(name, value);
        }
        environment
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}
