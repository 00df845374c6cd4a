//! The settings there are: one schema for file, environment, flags and window.

use std::{collections::BTreeMap, path::PathBuf};

use openspace_config::{Key, Schema};
use serde::{Deserialize, Serialize};

mod checked;

/// Every setting with its value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Who decides.
    pub model: ModelSettings,
    /// How far a run goes.
    pub run: RunSettings,
    /// What a run may do without asking.
    pub policy: PolicySettings,
    /// How the screen is seen and used.
    pub screen: ScreenSettings,
    /// What is kept.
    pub storage: StorageSettings,
    /// What is written to the log.
    pub log: LogSettings,
    /// How the app behaves beside its window.
    pub desktop: DesktopSettings,
    /// What other agents on this machine may do.
    pub mcp: McpSettings,
    /// `en` or `zh-Hans`; without it the language of the system.
    pub language: Option<String>,
}

/// `[model]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// `provider/model`
    pub name: Option<String>,
    /// Address of the service, with or without `/v1`.
    pub base_url: Option<String>,
    /// Headers sent along.
    pub headers: BTreeMap<String, String>,
    /// Use the provider's own computer tool where it has one.
    pub hosted_computer: bool,
    /// Most tokens of one reply.
    pub max_reply_tokens: u32,
    /// Facts that differ from the built-in table, by `provider/model`.
    pub profiles: BTreeMap<String, openspace_llm::profile::Overrides>,
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            name: None,
            base_url: None,
            headers: BTreeMap::new(),
            hosted_computer: true,
            max_reply_tokens: 8_192,
            profiles: BTreeMap::new(),
        }
    }
}

/// `[run]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// Folder to work in; without it the current one.
    pub workspace: Option<PathBuf>,
    /// Back ends offered.
    #[serde(deserialize_with = "checked::backends")]
    pub backends: Vec<String>,
    /// Most turns of the model.
    pub max_steps: u32,
    /// Most minutes of work.
    #[serde(deserialize_with = "checked::limit")]
    pub max_minutes: Option<f64>,
    /// Most tokens.
    pub max_tokens: Option<u64>,
    /// Most US dollars.
    #[serde(deserialize_with = "checked::limit")]
    pub max_cost: Option<f64>,
}

impl Default for RunSettings {
    fn default() -> Self {
        Self {
            workspace: None,
            backends: ["shell", "gui"].map(str::to_owned).to_vec(),
            max_steps: 50,
            max_minutes: None,
            max_tokens: None,
            max_cost: None,
        }
    }
}

/// `[policy]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PolicySettings {
    /// `ask-always`, `ask-risky` or `hands-off`
    #[serde(deserialize_with = "checked::preset")]
    pub preset: String,
    /// Rules that allow, in the form of `--allow`.
    #[serde(deserialize_with = "checked::rules")]
    pub allow: Vec<String>,
    /// Rules that forbid, in the same form; they win.
    #[serde(deserialize_with = "checked::rules")]
    pub deny: Vec<String>,
    /// Folders that may be read and written without asking, besides the workspace.
    pub folders: Vec<PathBuf>,
    /// Paths that are never touched, besides the built-in ones.
    pub protected: Vec<PathBuf>,
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            preset: "ask-risky".to_owned(),
            allow: Vec::new(),
            deny: Vec::new(),
            folders: Vec::new(),
            protected: Vec::new(),
        }
    }
}

/// `[screen]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScreenSettings {
    /// Monitor to use, by name; without it the primary one.
    pub monitor: Option<String>,
    /// Longest wait for a still picture after an action, milliseconds.
    pub settle_ms: u64,
    /// Pause after each typed character, milliseconds.
    pub type_delay_ms: u64,
    /// What physical input does while a run controls the screen: `pause`, `stop` or `ignore`.
    #[serde(deserialize_with = "checked::human_input")]
    pub human_input: String,
    /// Read `cmd` in key names as Control, for models that think of another system.
    pub cmd_is_ctrl: bool,
    /// Size of a display of its own, `WIDTHxHEIGHT`.
    #[serde(deserialize_with = "checked::private_size")]
    pub private_size: String,
}

impl Default for ScreenSettings {
    fn default() -> Self {
        Self {
            monitor: None,
            settle_ms: 1_500,
            type_delay_ms: 1,
            human_input: "pause".to_owned(),
            cmd_is_ctrl: false,
            private_size: "1280x800".to_owned(),
        }
    }
}

/// `[storage]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageSettings {
    /// Days after which pictures of runs are removed.
    pub frames_days: u32,
    /// Gigabytes of pictures above which the oldest are removed.
    #[serde(deserialize_with = "checked::amount")]
    pub frames_gb: f64,
}

impl Default for StorageSettings {
    fn default() -> Self {
        Self {
            frames_days: 30,
            frames_gb: 5.0,
        }
    }
}

/// `[log]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// `error`, `warn`, `info`, `debug` or `trace`
    #[serde(deserialize_with = "checked::log_level")]
    pub level: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            level: "warn".to_owned(),
        }
    }
}

/// `[desktop]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DesktopSettings {
    /// Tell what happens while the window is not looked at.
    pub notifications: bool,
    /// Minimise the window while a run controls the monitor it lies on.
    pub step_aside: bool,
    /// Stops everything, whatever has the focus.
    #[serde(deserialize_with = "checked::hotkey")]
    pub hotkey_stop: String,
    /// Shows the open questions.
    #[serde(deserialize_with = "checked::hotkey")]
    pub hotkey_approvals: String,
    /// Begins a new task.
    #[serde(deserialize_with = "checked::hotkey")]
    pub hotkey_quick: String,
    /// Pauses everything.
    #[serde(deserialize_with = "checked::hotkey")]
    pub hotkey_pause: String,
    /// Windows are drawn without the graphics card, from the next start on (Linux).
    pub safe_graphics: bool,
}

impl Default for DesktopSettings {
    fn default() -> Self {
        Self {
            notifications: false,
            step_aside: true,
            hotkey_stop: "ctrl+alt+period".to_owned(),
            hotkey_approvals: "ctrl+alt+a".to_owned(),
            hotkey_quick: "ctrl+alt+space".to_owned(),
            hotkey_pause: "ctrl+alt+p".to_owned(),
            safe_graphics: false,
        }
    }
}

/// `[mcp]`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpSettings {
    /// The app serves other agents over HTTP while it runs.
    pub serve: bool,
    /// Where, on loopback.
    #[serde(deserialize_with = "checked::port")]
    pub port: u16,
    /// Hosts through which harmless questions may be answered, by the names they give themselves.
    pub approve_through: Vec<String>,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            serve: false,
            port: 8080,
            approve_through: Vec::new(),
        }
    }
}

macro_rules! keys {
    ($($path:literal: $about:literal,)*) => {
        /// Every setting once, in the order of the reference.
        pub const SCHEMA: Schema = Schema { keys: &[$(Key { path: $path, about: $about },)*] };
    };
}

keys! {
    "model.name": "Model as provider/model",
    "model.base_url": "Address of the service, with or without /v1",
    "model.headers": "Headers sent along with each request",
    "model.hosted_computer": "Use the provider's own computer tool where it has one",
    "model.max_reply_tokens": "Most tokens of one reply",
    "model.profiles.*": "Facts about a model that differ from the built-in table",
    "run.workspace": "Folder to work in; without it the current folder",
    "run.backends": "Back ends offered: shell, gui",
    "run.max_steps": "Most turns of the model",
    "run.max_minutes": "Most minutes of work; waiting for a person does not count",
    "run.max_tokens": "Most tokens",
    "run.max_cost": "Most US dollars; needs a model with a known price",
    "policy.preset": "How much to ask: ask-always, ask-risky or hands-off",
    "policy.allow": "Rules that allow without asking, such as gui:chromium",
    "policy.deny": "Rules that forbid; they win over everything that allows",
    "policy.folders": "Folders that may be read and written, besides the workspace",
    "policy.protected": "Paths that are never touched, besides the built-in ones",
    "screen.monitor": "Monitor to use; without it the primary one",
    "screen.settle_ms": "Longest wait for a still picture after an action",
    "screen.type_delay_ms": "Pause after each typed character",
    "screen.human_input": "What your own input does while a run has control: pause, stop or ignore",
    "screen.cmd_is_ctrl": "Read cmd in key names as Control",
    "screen.private_size": "Size of a display of its own, as WIDTHxHEIGHT",
    "storage.frames_days": "Days after which pictures of runs are removed",
    "storage.frames_gb": "Gigabytes of pictures above which the oldest are removed",
    "log.level": "What is logged: error, warn, info, debug or trace",
    "desktop.notifications": "Tell what happens while the window is not looked at",
    "desktop.step_aside": "Minimise the window while a run controls the monitor it lies on",
    "desktop.hotkey_stop": "Keys that stop everything, in any program; empty for none",
    "desktop.hotkey_approvals": "Keys that show the open questions; empty for none",
    "desktop.hotkey_quick": "Keys that begin a new task; empty for none",
    "desktop.hotkey_pause": "Keys that pause everything; empty for none",
    "desktop.safe_graphics": "Draw windows without the graphics card, from the next start on; Linux only",
    "mcp.serve": "Let other agents connect to the app over HTTP while it runs",
    "mcp.port": "Port of this machine they connect to",
    "mcp.approve_through": "Agents through which you may allow what is harmless, such as claude-code",
    "language": "en or zh-Hans; without it the language of the system",
}

#[cfg(test)]
mod tests {
    use openspace_config::Layers;

    use super::*;

    #[test]
    fn every_setting_is_in_the_schema_and_every_key_is_a_setting() {
        let settings = Layers::new(SCHEMA)
            .load::<Settings>()
            .expect("defaults load");
        assert_eq!(settings.values, Settings::default());
        let listed: Vec<_> = settings
            .entries()
            .into_iter()
            .map(|entry| entry.key)
            .collect();
        for key in SCHEMA.keys.iter().filter(|key| !key.path.contains('*')) {
            assert!(
                listed.contains(&key.path.to_owned()),
                "{} is listed",
                key.path
            );
        }
    }
}
