//! Temporary homes, and the mark by which a test's processes are known.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use tempfile::TempDir;

/// The variable that carries a [`Mark`].
pub const MARK_VARIABLE: &str = "OPENSPACE_TEST_ID";

/// A random word all processes of one test carry in their environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// A mark nobody else has.
    pub fn new() -> Self {
        Self(random_word())
    }

    /// The word, the value of [`MARK_VARIABLE`].
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Default for Mark {
    fn default() -> Self {
        Self::new()
    }
}

/// Sixteen random hexadecimal digits.
pub(crate) fn random_word() -> String {
    let mut bytes = [0; 8];
    if getrandom::fill(&mut bytes).is_err() {
        bytes = u64::from(std::process::id()).to_le_bytes();
    }
    format!("{:016x}", u64::from_le_bytes(bytes))
}

/// A home folder with the usual layout, removed on drop.
#[derive(Debug)]
pub struct TestHome {
    folder: TempDir,
    mark: Mark,
}

impl TestHome {
    /// Makes the folders.
    pub fn new() -> Result<Self> {
        Self::with_mark(Mark::new())
    }

    /// Makes the folders for a test that already has a mark.
    pub fn with_mark(mark: Mark) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("openspace-test-")
            .tempdir()
            .context("making a temporary home")?;
        let home = Self { folder, mark };
        let folders = [
            "home/.config",
            "home/.cache",
            "home/.local/share",
            "home/.local/state",
            "data",
            "run",
            "tmp",
            "workspace",
        ];
        for name in folders {
            fs::create_dir_all(home.root().join(name))?;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Programs refuse a runtime folder that others can enter.
            fs::set_permissions(home.root().join("run"), fs::Permissions::from_mode(0o700))?;
        }
        Ok(home)
    }

    /// The folder that holds everything.
    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    /// The value of `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The value of `OPENSPACE_HOME`: the database, settings, frames.
    pub fn data(&self) -> PathBuf {
        self.root().join("data")
    }

    /// The value of `XDG_RUNTIME_DIR`, mode 0700.
    pub fn runtime(&self) -> PathBuf {
        self.root().join("run")
    }

    /// A folder for a task to work in.
    pub fn workspace(&self) -> PathBuf {
        self.root().join("workspace")
    }

    /// The mark in [`TestHome::environment`].
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// The whole environment of a child: search path, language, the folders, the mark.
    /// It has no display and a session bus that cannot be reached; a screen adds its own.
    pub fn environment(&self) -> BTreeMap<String, String> {
        let home = self.home();
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let search = std::env::var("PATH").unwrap_or_else(|_| "/usr/bin:/bin".to_owned());
        [
            ("PATH", search),
            ("LANG", "C.UTF-8".to_owned()),
            ("HOME", text(home.clone())),
            ("XDG_CONFIG_HOME", text(home.join(".config"))),
            ("XDG_CACHE_HOME", text(home.join(".cache"))),
            ("XDG_DATA_HOME", text(home.join(".local/share"))),
            ("XDG_STATE_HOME", text(home.join(".local/state"))),
            ("XDG_RUNTIME_DIR", text(self.runtime())),
            ("TMPDIR", text(self.root().join("tmp"))),
            ("OPENSPACE_HOME", text(self.data())),
            // Without this GTK starts a bus of its own that nobody ends.
            ("DBUS_SESSION_BUS_ADDRESS", "disabled:".to_owned()),
            (MARK_VARIABLE, self.mark.as_str().to_owned()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}
