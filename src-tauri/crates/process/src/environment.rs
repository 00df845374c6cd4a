//! What a child learns about the process that started it: next to nothing.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
};

use crate::Error;

/// Variables every child may have.
const ALLOWED: &[&str] = &[
    "PATH", "HOME", "LANG", "LANGUAGE", "TERM", "TZ", "USER", "LOGNAME", "SHELL", "TMPDIR",
];
/// Variables without which nothing starts on Windows.
const ALLOWED_WINDOWS: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];
/// Variables a program with a window needs to find the screen, and nothing else does.
const DESKTOP: &[&str] = &[
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "DBUS_SESSION_BUS_ADDRESS",
    "XDG_RUNTIME_DIR",
    "XDG_SESSION_TYPE",
    "XDG_CURRENT_DESKTOP",
    "XDG_DATA_DIRS",
    "GTK_MODULES",
    "NO_AT_BRIDGE",
    "QT_ACCESSIBILITY",
    "QT_LINUX_ACCESSIBILITY_ALWAYS_ON",
];

/// The variables of a child.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Picks what every child may have out of `source` (`PATH`, `HOME`, the language, the user):
    /// no keys, no tokens, no display.
    pub fn allowed<K, V>(source: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        Self {
            variables: pick(source, is_allowed),
        }
    }

    /// [`Environment::allowed`] of the calling process.
    pub fn of_this_process() -> Self {
        Self::allowed(std::env::vars_os())
    }

    /// Adds what a program with a window needs to find the screen.
    pub fn with_desktop<K, V>(mut self, source: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        self.variables
            .extend(pick(source, |name| DESKTOP.contains(&name)));
        self
    }

    /// Adds or replaces one variable. Our own (`OPENSPACE_…`) are refused: they carry keys and
    /// tell a child which run it belongs to.
    pub fn set(
        &mut self,
        name: impl Into<OsString>,
        value: impl Into<OsString>,
    ) -> Result<(), Error> {
        let name = name.into();
        let bytes = name.as_encoded_bytes();
        if bytes.is_empty()
            || bytes.contains(&b'=')
            || bytes.contains(&0)
            || bytes.to_ascii_uppercase().starts_with(b"OPENSPACE_")
        {
            return Err(Error::VariableRefused {
                name: name.to_string_lossy().into_owned(),
            });
        }
        self.variables.insert(name, value.into());
        Ok(())
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// All variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

fn pick<K, V>(
    source: impl IntoIterator<Item = (K, V)>,
    wanted: impl Fn(&str) -> bool,
) -> BTreeMap<OsString, OsString>
where
    K: Into<OsString>,
    V: Into<OsString>,
{
    source
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .filter(|(name, _)| name.to_str().is_some_and(&wanted))
        .collect()
}

fn is_allowed(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    ALLOWED.contains(&name)
        || name.starts_with("LC_")
        || cfg!(windows)
            && (ALLOWED.contains(&upper.as_str()) || ALLOWED_WINDOWS.contains(&upper.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: [(&str, &str); 7] = [
        ("PATH", "/usr/bin"),
        ("LC_ALL", "C"),
        ("ANTHROPIC_API_KEY", "sk-secret"),
        ("OPENSPACE_LLM_API_KEY", "sk-secret"),
        ("SSH_AUTH_SOCK", "/run/agent"),
        ("DISPLAY", ":0"),
        ("LD_PRELOAD", "/tmp/evil.so"),
    ];

    /// Keys, sockets, loaders' variables and the display stay behind.
    #[test]
    fn only_harmless_variables_are_passed_on() {
        let names: Vec<_> = Environment::allowed(SOURCE).variables.into_keys().collect();
        assert_eq!(names, ["LC_ALL", "PATH"], "an allow-list, not a block-list");
    }

    /// Programs with windows get the display, still no keys.
    #[test]
    fn the_desktop_is_passed_on_when_asked() {
        let environment = Environment::allowed(SOURCE).with_desktop(SOURCE);
        assert_eq!(environment.get("DISPLAY"), Some(OsStr::new(":0")));
        assert_eq!(environment.get("OPENSPACE_LLM_API_KEY"), None);
    }

    /// Our own variables cannot be given by hand.
    #[test]
    fn our_own_variables_are_refused() {
        let mut environment = Environment::default();
        for name in [
            "OPENSPACE_LLM_API_KEY",
            "openspace_run_id",
            "",
            "A=B",
            "A\0B",
        ] {
            assert!(
                environment.set(name, "x").is_err(),
                "`{name}` must be refused"
            );
        }
        assert!(environment.set("MY_OPTION", "1").is_ok());
    }
}
