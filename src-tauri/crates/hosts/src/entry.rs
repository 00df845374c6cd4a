//! Our entry in a host's file: written, read, and told from others.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Host,
    dialect::Step,
    host::{Command, Shape},
    mask::{self, MASK},
};

/// What our entry is called in every host.
pub const NAME: &str = "openspace";
/// The variable of an entry that says whose entry it is, so that the server knows who started it. What
/// a host calls itself does not tell: several share a name, and many have none of their own.
pub const MARK: &str = "OPENSPACE_HOST_ID";
/// The variables that say where our files lie. The first one overrides the others.
pub(crate) const FOLDERS: [&str; 3] = ["OPENSPACE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"];
/// What starts our server.
pub(crate) const ARGUMENTS: [&str; 1] = ["mcp"];

/// What a host is to start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// The program, by an absolute path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables; those of a new entry are not secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
}

/// A variable that we write into entries ourselves.
pub(crate) fn is_own(name: &str) -> bool {
    name == MARK || FOLDERS.contains(&name)
}

impl Launch {
    /// The program looks like ours, by its name and what it is asked to do.
    pub(crate) fn looks_ours(&self) -> bool {
        let command = Path::new(&self.command);
        let name = command.file_stem().and_then(std::ffi::OsStr::to_str);
        command.is_absolute()
            && match name {
                Some("openspace") => self.args == ARGUMENTS,
                Some("openspace-mcp") => self.args.is_empty() || self.args == ARGUMENTS,
                _ => false,
            }
    }

    /// To be shown: a person may have added variables that are secret.
    #[must_use]
    pub fn without_secrets(mut self) -> Self {
        for (name, value) in &mut self.env {
            if mask::holds_secret(name) {
                MASK.clone_into(value);
            }
        }
        self
    }

    /// Is the same program of the same installation: what a person added to the variables does not
    /// count, nor does where the system's folders lie.
    pub(crate) fn starts_as(&self, other: &Self) -> bool {
        let [home, ..] = FOLDERS;
        self.command == other.command
            && self.args == other.args
            && self.env.get(home) == other.env.get(home)
    }
}

impl Host {
    /// Our entry for this host. With `trust` the host is told to let our tools run without asking.
    pub(crate) fn entry(&self, launch: &Launch, trust: bool) -> Value {
        let Shape {
            first,
            command,
            env,
            last,
        } = self.shape;
        let mut entry = Map::new();
        let fixed = |entry: &mut Map<String, Value>, members: &[(&str, crate::host::Fixed)]| {
            for (key, value) in members {
                entry.insert((*key).to_owned(), value.value());
            }
        };
        fixed(&mut entry, first);
        match command {
            Command::Apart(key) => {
                entry.insert(key.to_owned(), launch.command.clone().into());
                entry.insert("args".to_owned(), launch.args.clone().into());
            }
            Command::Together(key) => {
                let all: Vec<_> = [&launch.command].into_iter().chain(&launch.args).collect();
                entry.insert(key.to_owned(), all.into_iter().cloned().collect());
            }
        }
        if !launch.env.is_empty() {
            let variables = launch.env.iter();
            let variables: Map<_, _> = variables
                .map(|(name, value)| (name.clone(), value.clone().into()))
                .collect();
            entry.insert(env.to_owned(), variables.into());
        }
        fixed(&mut entry, last);
        if let Some((key, value)) = self.timeout {
            entry.insert(key.to_owned(), value.into());
        }
        if let Some((key, value)) = self.trust.filter(|_| trust) {
            entry.insert(key.to_owned(), value.value());
        }
        entry.into()
    }

    /// What an entry starts; none when it starts nothing on this machine.
    pub(crate) fn launch(&self, entry: &Value) -> Option<Launch> {
        let texts = |value: &Value| -> Option<Vec<String>> {
            let items = value.as_array()?.iter();
            items.map(|item| item.as_str().map(str::to_owned)).collect()
        };
        let (command, args) = match self.shape.command {
            Command::Apart(key) => (
                entry.get(key)?.as_str()?.to_owned(),
                entry.get("args").map_or(Some(Vec::new()), texts)?,
            ),
            Command::Together(key) => {
                let mut all = texts(entry.get(key)?)?;
                if all.is_empty() {
                    return None;
                }
                (all.remove(0), all)
            }
        };
        let env = entry.get(self.shape.env).and_then(Value::as_object);
        let env = env.into_iter().flatten().map(|(name, value)| {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), value)
        });
        Some(Launch {
            command,
            args,
            env: env.collect(),
        })
    }

    /// The host is told not to start it.
    pub(crate) fn is_off(entry: &Value) -> bool {
        let flag = |key: &str| entry.get(key).and_then(Value::as_bool);
        flag("disabled") == Some(true)
            || flag("enabled") == Some(false)
            || flag("active") == Some(false)
    }

    /// Where the program stands within an entry.
    pub(crate) fn command_steps(&self) -> Vec<Step<'static>> {
        match self.shape.command {
            Command::Apart(key) => vec![Step::Key(key)],
            Command::Together(key) => vec![Step::Key(key), Step::Index(0)],
        }
    }

    /// The members of an entry that say what is started.
    pub(crate) fn command_keys(&self) -> Vec<&'static str> {
        match self.shape.command {
            Command::Apart(key) => vec![key, "args"],
            Command::Together(key) => vec![key],
        }
    }

    /// The host can be told to let our tools run without asking.
    pub fn can_trust(&self) -> bool {
        self.trust.is_some()
    }

    /// The longest time a call may take, as we set it, with the host's name for it.
    pub fn timeout(&self) -> Option<(&'static str, u64)> {
        self.timeout
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::HOSTS;

    fn launch() -> Launch {
        Launch {
            command: "/usr/bin/openspace".to_owned(),
            args: vec!["mcp".to_owned()],
            env: [("OPENSPACE_HOME".to_owned(), "/data".to_owned())].into(),
        }
    }

    fn host(id: &str) -> &'static Host {
        HOSTS.iter().find(|host| host.id == id).expect(id)
    }

    /// Whatever a host calls the parts, they are read as they were written.
    #[test]
    fn every_host_reads_its_own_entry() {
        for host in HOSTS {
            let entry = host.entry(&launch(), true);
            assert_eq!(host.launch(&entry), Some(launch()), "{}", host.id);
            assert!(!Host::is_off(&entry), "{}", host.id);
            let steps = host.command_steps();
            let command = steps.iter().try_fold(&entry, |value, step| match step {
                Step::Key(key) => value.get(key),
                Step::Index(index) => value.get(index),
            });
            assert_eq!(command, Some(&json!("/usr/bin/openspace")), "{}", host.id);
        }
    }

    /// The forms that differ, written out.
    #[test]
    fn entries_have_the_form_of_their_host() {
        let of = |id: &str| host(id).entry(&launch(), false);
        assert_eq!(
            of("opencode"),
            json!({ "type": "local", "command": ["/usr/bin/openspace", "mcp"], "environment": { "OPENSPACE_HOME": "/data" } })
        );
        assert_eq!(
            of("goose"),
            json!({ "name": "openspace", "type": "stdio", "enabled": true, "cmd": "/usr/bin/openspace", "args": ["mcp"],
                    "envs": { "OPENSPACE_HOME": "/data" }, "timeout": 600 })
        );
        assert_eq!(
            of("codex"),
            json!({ "command": "/usr/bin/openspace", "args": ["mcp"], "env": { "OPENSPACE_HOME": "/data" }, "tool_timeout_sec": 600 })
        );
        assert_eq!(of("nanobot")["toolTimeout"], 1200);
        assert_eq!(of("vscode")["type"], "stdio");
        assert_eq!(of("copilot")["tools"], json!(["*"]));
        assert_eq!(
            host("codex").entry(&launch(), true)["default_tools_approval_mode"],
            "approve"
        );
    }

    /// Of variables that a person added to our entry, secret ones are not shown.
    #[test]
    fn added_secrets_are_not_shown() {
        let mut added = launch();
        added.env.insert("MY_API_KEY".into(), "sk-1".into());
        let shown = added.without_secrets().env;
        assert_eq!(shown["MY_API_KEY"], "…");
        assert_eq!(shown["OPENSPACE_HOME"], "/data");
    }

    /// A program of another system that has our name is not taken for ours.
    #[test]
    fn ours_is_known_by_path_and_arguments() {
        let looks = |command: &str, args: &[&str]| {
            let args = args.iter().map(|arg| (*arg).to_owned()).collect();
            Launch {
                command: command.to_owned(),
                args,
                env: BTreeMap::new(),
            }
            .looks_ours()
        };
        assert!(looks("/opt/x/openspace", &["mcp"]));
        assert!(looks("/opt/x/openspace-mcp", &[]));
        assert!(!looks("openspace-mcp", &[]), "found on the search path");
        assert!(!looks("/opt/x/openspace", &["serve"]));
        assert!(!looks("/usr/bin/npx", &["mcp"]));
    }
}
