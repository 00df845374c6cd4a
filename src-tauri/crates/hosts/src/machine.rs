//! The machine as hosts see it: which system it is, where the home folder lies, what is set.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use openspace_config::Environment;

use crate::entry::FOLDERS;

/// What the second and the third of [`FOLDERS`] are where nobody sets them, below the home folder.
const USUAL: [&str; 2] = [".config", ".local/share"];

/// A system hosts run on. All three can be asked for everywhere, so that each is tested on every
/// machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and its like.
    Linux,
    /// macOS.
    MacOs,
    /// Windows.
    Windows,
}

impl Platform {
    /// The one this program was built for.
    pub fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Linux
        }
    }
}

/// Where hosts are looked for.
#[derive(Debug, Clone)]
pub struct Machine {
    /// The system.
    pub platform: Platform,
    /// The person's home folder.
    pub home: PathBuf,
    /// Variables, as the person's shell has them.
    pub environment: Environment,
}

impl Machine {
    /// This machine.
    pub fn here(home: impl Into<PathBuf>, environment: Environment) -> Self {
        Self {
            platform: Platform::here(),
            home: home.into(),
            environment,
        }
    }

    /// An absolute path given by a variable; `~/` is expanded, since no shell may have seen it.
    pub(crate) fn variable(&self, name: &str) -> Option<PathBuf> {
        let value = PathBuf::from(self.environment.get(name)?);
        match value.strip_prefix("~") {
            Ok(rest) => Some(self.home.join(rest)),
            Err(_) => Some(value).filter(|value| value.is_absolute()),
        }
    }

    /// The variables that say where our own files lie, with their values, as far as these make a
    /// difference: a server that is not told of them has other settings and another database.
    pub(crate) fn folders<'a>(
        &self,
        value: impl Fn(&'static str) -> Option<&'a str>,
    ) -> BTreeMap<String, String> {
        let [home, others @ ..] = FOLDERS;
        let given = |name: &'static str| value(name).filter(|value| !value.is_empty());
        let kept = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        // It stands for all of them.
        if let Some(folder) = given(home) {
            return BTreeMap::from([kept(home, folder)]);
        }
        let counts = self.platform == Platform::Linux;
        let unusual = |value: &str, usual: &str| {
            Path::new(value).is_absolute() && Path::new(value) != self.home.join(usual)
        };
        let others = others.into_iter().zip(USUAL).filter(|_| counts);
        others
            .filter_map(|(name, usual)| {
                let value = given(name).filter(|value| unusual(value, usual))?;
                Some(kept(name, value))
            })
            .collect()
    }

    /// Where a program lies that is started by its name.
    pub fn find_program(&self, name: &str) -> Option<PathBuf> {
        let endings: &[&str] = match self.platform {
            Platform::Windows => &[".exe", ".cmd", ".bat"],
            Platform::Linux | Platform::MacOs => &[""],
        };
        let path = self.environment.get("PATH")?;
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .flat_map(|folder| {
                endings
                    .iter()
                    .map(move |ending| folder.join(format!("{name}{ending}")))
            })
            .find(|file| is_program(file))
    }
}

/// A file that can be started.
pub(crate) fn is_program(file: &Path) -> bool {
    let Ok(metadata) = file.metadata() else {
        return false;
    };
    #[cfg(unix)]
    let runs = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let runs = true;
    metadata.is_file() && runs
}

/// A folder that a path begins from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The home folder.
    Home,
    /// `XDG_CONFIG_HOME` or `~/.config`, on Windows `APPDATA`.
    Config,
    /// The same, but `~/Library/Application Support` on macOS: where most desktop programs keep
    /// their settings.
    Support,
    /// Where desktop programs keep what they hold: `XDG_DATA_HOME` or `~/.local/share`.
    Data,
    /// `LOCALAPPDATA`, on Windows only.
    Local,
    /// What a variable says.
    Variable(&'static str),
    /// The folder named in a file of the home folder.
    Pointer(&'static str),
    /// None: the path is absolute.
    Nothing,
}

/// A path of a host, the same for every person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    base: Base,
    path: &'static str,
    only: Option<Platform>,
    not: Option<Platform>,
}

impl Place {
    const fn new(base: Base, path: &'static str) -> Self {
        Self {
            base,
            path,
            only: None,
            not: None,
        }
    }

    pub(crate) const fn home(path: &'static str) -> Self {
        Self::new(Base::Home, path)
    }

    pub(crate) const fn config(path: &'static str) -> Self {
        Self::new(Base::Config, path)
    }

    pub(crate) const fn support(path: &'static str) -> Self {
        Self::new(Base::Support, path)
    }

    pub(crate) const fn data(path: &'static str) -> Self {
        Self::new(Base::Data, path)
    }

    pub(crate) const fn local(path: &'static str) -> Self {
        Self::new(Base::Local, path)
    }

    pub(crate) const fn variable(name: &'static str, path: &'static str) -> Self {
        Self::new(Base::Variable(name), path)
    }

    pub(crate) const fn pointer(file: &'static str, path: &'static str) -> Self {
        Self::new(Base::Pointer(file), path)
    }

    pub(crate) const fn absolute(path: &'static str) -> Self {
        Self::new(Base::Nothing, path)
    }

    /// On this system only.
    pub(crate) const fn only(self, platform: Platform) -> Self {
        Self {
            only: Some(platform),
            ..self
        }
    }

    /// Not on this system.
    pub(crate) const fn not(self, platform: Platform) -> Self {
        Self {
            not: Some(platform),
            ..self
        }
    }

    /// Begins from the same folder as another.
    pub(crate) fn is_beside(&self, other: &Self) -> bool {
        self.base == other.base
    }

    /// Where it is on a machine, if it can be there at all.
    pub fn on(&self, machine: &Machine) -> Option<PathBuf> {
        let platform = machine.platform;
        if self.only.is_some_and(|only| only != platform) || self.not == Some(platform) {
            return None;
        }
        let home = |path: &str| machine.home.join(path);
        let or = |name: &str, path: &str| machine.variable(name).unwrap_or_else(|| home(path));
        let roaming = || or("APPDATA", "AppData/Roaming");
        let base = match (self.base, platform) {
            (Base::Home, _) => machine.home.clone(),
            (Base::Config | Base::Support | Base::Data, Platform::Windows) => roaming(),
            (Base::Support | Base::Data, Platform::MacOs) => home("Library/Application Support"),
            (Base::Config, Platform::Linux | Platform::MacOs)
            | (Base::Support, Platform::Linux) => or("XDG_CONFIG_HOME", ".config"),
            (Base::Data, Platform::Linux) => or("XDG_DATA_HOME", ".local/share"),
            (Base::Local, Platform::Windows) => or("LOCALAPPDATA", "AppData/Local"),
            (Base::Local, Platform::Linux | Platform::MacOs) => return None,
            (Base::Nothing, _) => PathBuf::new(),
            (Base::Variable(name), _) => machine.variable(name)?,
            (Base::Pointer(file), _) => {
                let folder = std::fs::read_to_string(home(file)).ok()?;
                Some(PathBuf::from(folder.trim())).filter(|folder| folder.is_absolute())?
            }
        };
        Some(if self.path.is_empty() {
            base
        } else {
            base.join(self.path)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(platform: Platform, variables: &[(&str, &str)]) -> Machine {
        Machine {
            platform,
            home: PathBuf::from("/home/ann"),
            environment: variables.iter().copied().collect(),
        }
    }

    /// Each system has its own folder for the settings of desktop programs.
    #[test]
    fn folders_are_those_of_the_system() {
        let support = Place::support("Code/User/mcp.json");
        let on = |platform, variables| support.on(&machine(platform, variables));
        assert_eq!(
            on(Platform::Linux, &[]),
            Some("/home/ann/.config/Code/User/mcp.json".into())
        );
        assert_eq!(
            on(Platform::Linux, &[("XDG_CONFIG_HOME", "/cfg")]),
            Some("/cfg/Code/User/mcp.json".into())
        );
        assert_eq!(
            on(Platform::MacOs, &[("XDG_CONFIG_HOME", "/cfg")]),
            Some("/home/ann/Library/Application Support/Code/User/mcp.json".into())
        );
        assert_eq!(
            on(Platform::Windows, &[("APPDATA", "/roam")]),
            Some("/roam/Code/User/mcp.json".into())
        );
    }

    /// What says nothing new about where our files lie is no difference: the usual place, a path that
    /// is ignored, what our own folder overrides, and another system's variables.
    #[test]
    fn folders_of_ours_count_where_they_make_a_difference() {
        let of = |platform, variables: &[(&'static str, &'static str)]| {
            let find = |name| variables.iter().find(|it| it.0 == name).map(|it| it.1);
            let folders = machine(platform, &[]).folders(find);
            folders.into_keys().collect::<Vec<_>>()
        };
        let moved = [("XDG_CONFIG_HOME", "/cfg"), ("XDG_DATA_HOME", "/data")];
        assert_eq!(
            of(Platform::Linux, &moved),
            ["XDG_CONFIG_HOME", "XDG_DATA_HOME"]
        );
        assert!(of(Platform::MacOs, &moved).is_empty());
        let usual = [
            ("XDG_CONFIG_HOME", "/home/ann/.config/"),
            ("XDG_DATA_HOME", "data"),
        ];
        assert!(of(Platform::Linux, &usual).is_empty());
        let own = [("OPENSPACE_HOME", "/own"), moved[0]];
        assert_eq!(of(Platform::Linux, &own), ["OPENSPACE_HOME"]);
    }

    /// A relative path would mean another file in every process, so it is not followed.
    #[test]
    fn variables_give_absolute_paths_only() {
        let place = Place::variable("CODEX_HOME", "config.toml");
        let on = |value| place.on(&machine(Platform::Linux, &[("CODEX_HOME", value)]));
        assert_eq!(on("/x"), Some("/x/config.toml".into()));
        assert_eq!(on("~/x"), Some("/home/ann/x/config.toml".into()));
        assert_eq!(on("x"), None);
        assert_eq!(
            Place::variable("FILE", "").on(&machine(Platform::Linux, &[("FILE", "/a.json")])),
            Some("/a.json".into())
        );
    }
}
