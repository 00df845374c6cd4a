//! Where our files lie.

use std::path::{Path, PathBuf};

use crate::{Environment, PathsError, System};

/// The folders of this user. Several hosts start us with almost no environment, and all processes
/// must still agree on them, so every folder is found even with an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Database, frames, artefacts, locks of instances.
    pub data: PathBuf,
    /// The settings file.
    pub config: PathBuf,
    /// What can be made again.
    pub cache: PathBuf,
    /// Locks of the login session, such as control of the screen. Independent of `OPENSPACE_HOME`,
    /// because two data folders still share one mouse.
    pub runtime: PathBuf,
    /// The person's home folder, where hosts keep their files.
    pub home: PathBuf,
}

impl Paths {
    /// The folders of this user on this machine.
    pub fn find(environment: &Environment) -> Result<Self, PathsError> {
        Self::find_on(environment, &System::here())
    }

    /// The folders as `system` tells.
    pub fn find_on(environment: &Environment, system: &System) -> Result<Self, PathsError> {
        let own = own_home(environment, system)?;
        let home = home(environment, system)
            .or_else(|| own.clone())
            .ok_or(PathsError::NoHome)?;
        let usual = Usual::of(environment, &home);
        let runtime = environment
            .get("XDG_RUNTIME_DIR")
            .map(PathBuf::from)
            .filter(|folder| cfg!(unix) && folder.is_absolute() && folder.is_dir())
            .or_else(|| system.runtime())
            .map_or_else(|| usual.data.join("run"), |folder| folder.join("openspace"));
        Ok(match own {
            Some(folder) => Self {
                config: folder.join("settings.toml"),
                cache: folder.join("cache"),
                data: folder,
                runtime,
                home,
            },
            None => Self {
                data: usual.data,
                config: usual.config,
                cache: usual.cache,
                runtime,
                home,
            },
        })
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.data.join("openspace.db")
    }

    /// The file of keys and tokens.
    pub fn secrets(&self) -> PathBuf {
        self.data.join("secrets")
    }

    /// Makes the folders that are missing, readable by this user only.
    pub fn create(&self) -> Result<(), PathsError> {
        let config = self.config.parent().unwrap_or(&self.data);
        for folder in [&self.data, config, &self.cache, &self.runtime] as [&Path; 4] {
            create_private(folder).map_err(|source| PathsError::Create {
                path: folder.to_owned(),
                source,
            })?;
        }
        Ok(())
    }
}

/// Makes a folder and its parents; those that are new are for this user only.
pub fn create_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The folder that overrides all others. `~/` is expanded, since host configurations pass values
/// that no shell has seen.
fn own_home(environment: &Environment, system: &System) -> Result<Option<PathBuf>, PathsError> {
    let Some(value) = environment.get("OPENSPACE_HOME").map(PathBuf::from) else {
        return Ok(None);
    };
    if let Ok(rest) = value.strip_prefix("~") {
        let home = home(environment, system).ok_or(PathsError::NoHome)?;
        return Ok(Some(home.join(rest)));
    }
    if value.is_absolute() {
        Ok(Some(value))
    } else {
        Err(PathsError::Relative { value })
    }
}

/// The home folder: what the environment says, then the list of users, then what other processes of
/// this user were told (users of a directory service are in no list on this machine).
fn home(environment: &Environment, system: &System) -> Option<PathBuf> {
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    environment
        .get(variable)
        .map(PathBuf::from)
        .filter(|home| home.is_absolute())
        .or_else(|| system.home())
        .or_else(|| crate::session::home_of_others(system))
}

/// Where the platform wants things.
struct Usual {
    data: PathBuf,
    config: PathBuf,
    cache: PathBuf,
}

impl Usual {
    fn of(environment: &Environment, home: &Path) -> Self {
        let folder = |variable: &str, otherwise: &str| {
            environment
                .get(variable)
                .map(PathBuf::from)
                // The XDG Base Directory specification: relative paths are invalid and to be ignored.
                .filter(|path| path.is_absolute())
                .unwrap_or_else(|| home.join(otherwise))
        };
        if cfg!(windows) {
            let local = folder("LOCALAPPDATA", "AppData/Local").join("OpenSpace");
            Self {
                config: folder("APPDATA", "AppData/Roaming").join("OpenSpace/settings.toml"),
                cache: local.join("cache"),
                data: local,
            }
        } else if cfg!(target_os = "macos") {
            let support = home.join("Library/Application Support/OpenSpace");
            Self {
                config: support.join("settings.toml"),
                cache: home.join("Library/Caches/OpenSpace"),
                data: support,
            }
        } else {
            Self {
                data: folder("XDG_DATA_HOME", ".local/share").join("openspace"),
                config: folder("XDG_CONFIG_HOME", ".config").join("openspace/settings.toml"),
                cache: folder("XDG_CACHE_HOME", ".cache").join("openspace"),
            }
        }
    }
}
