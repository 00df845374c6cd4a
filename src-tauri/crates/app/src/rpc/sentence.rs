//! A sentence of the catalogue with its values, to be put into words by whoever shows it.

use std::{collections::BTreeMap, path::Path};

use openspace_agent::{Limit, Reason as RunReason, Used};
use openspace_grounding::{
    Access, Action,
    policy::{Permission, Reason, Subject},
};

use super::payload;
use crate::Catalogue;

payload! {
    /// A key of the catalogue and the values for its places.
    pub struct Sentence {
        /// Key of the catalogue.
        pub key: String,
        /// Values by name.
        pub params: BTreeMap<String, String>,
    }
}

impl Sentence {
    /// Without values.
    pub fn new(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            params: BTreeMap::new(),
        }
    }

    /// With one more value.
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.params.insert(name.to_owned(), value.into());
        self
    }

    /// In words.
    pub fn render(&self, catalogue: &Catalogue) -> String {
        let params: Vec<(&str, &str)> = self
            .params
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        catalogue.render(&self.key, &params)
    }

    /// What an action does, exactly.
    pub fn of_action(action: &Action) -> Self {
        let about = |key: &str| Self::new(format!("approval.action.{key}"));
        match action {
            Action::Read { path } => about("read").with("path", shown(path)),
            Action::Write { path, .. } => about("write").with("path", shown(path)),
            Action::Delete { path } => about("delete").with("path", shown(path)),
            Action::Command(command) => about(match (command.sandboxed, command.network) {
                (false, _) => "command_unsandboxed",
                (true, true) => "command_network",
                (true, false) => "command",
            })
            .with("folder", shown(&command.folder))
            .with("line", &command.line),
            Action::Launch(launch) => about("launch")
                .with("program", shown(&launch.program))
                .with("arguments", launch.arguments.join(" ")),
            Action::Fetch { url } => about("fetch").with("url", url),
            Action::McpTool { server, tool, .. } => {
                about("mcp_tool").with("server", server).with("tool", tool)
            }
            Action::Screen { app, access } => {
                about(&format!("screen.{}", level(*access))).with("app", &app.name)
            }
            Action::TypedCommand { app, line } => about("typed_command")
                .with("app", &app.name)
                .with("line", line),
        }
    }

    /// What a part of a question is about: verb and object, as a title.
    pub fn of_subject(subject: &Subject) -> Self {
        let about = |key: &str| Self::new(format!("approval.subject.{key}"));
        match subject {
            Subject::Read { folder } => about("read").with("folder", shown(folder)),
            Subject::Write { folder } => about("write").with("folder", shown(folder)),
            Subject::Delete { targets, count } => match targets.as_slice() {
                [target] if *count == 1 => about("delete").with("target", target),
                _ => about("delete_many").with("count", count.to_string()),
            },
            Subject::Command { programs } => about("command").with("programs", list(programs)),
            Subject::OutsideSandbox { programs } => {
                about("outside_sandbox").with("programs", list(programs))
            }
            Subject::TypedCommand { app } => about("typed_command").with("app", app),
            Subject::Network { hosts } if hosts.is_empty() => about("network"),
            Subject::Network { hosts } => about("network_hosts").with("hosts", list(hosts)),
            Subject::McpTool { server, tool, .. } => {
                about("mcp_tool").with("server", server).with("tool", tool)
            }
            Subject::Fetch { host } => about("fetch").with("host", host),
            Subject::App { app, access } => {
                about(&format!("app.{}", level(*access))).with("app", app)
            }
            Subject::Open { address } => about("open").with("address", address),
        }
    }

    /// Why something is asked.
    pub fn of_reason(reason: Reason) -> Self {
        Self::new(format!("approval.reason.{}", name_of(&reason)))
    }

    /// Why a run stands where it stands.
    pub fn of_run_reason(reason: &RunReason, used: &Used) -> Self {
        let about = |key: &str| Self::new(format!("reason.{key}"));
        match reason {
            RunReason::Paused { pause } => about(&format!("paused.{}", name_of(pause))),
            RunReason::WaitingForModel => about("waiting_for_model"),
            RunReason::WaitingForScreen => about("waiting_for_screen"),
            RunReason::Limit { limit } => {
                let used = match limit {
                    Limit::Steps => used.steps.to_string(),
                    Limit::Time => format!("{} s", used.active_ms / 1_000),
                    Limit::Tokens => used.usage.total().to_string(),
                    Limit::Cost => format!("{:.2} USD", used.cost.unwrap_or_default()),
                };
                about(&format!("limit.{}", name_of(limit))).with("used", used)
            }
            RunReason::Question { text } => about("question").with("text", text),
            RunReason::GaveUp { text } => about("gave_up").with("text", text),
            RunReason::Refused => about("refused"),
            RunReason::NoEffect { actions } => {
                about("no_effect").with("count", actions.to_string())
            }
            RunReason::EmptyReplies => about("empty_replies"),
            RunReason::Model { message, .. } => about("model").with("message", message),
            RunReason::NotStarted { message } => about("not_started").with("message", message),
            RunReason::Internal { message } => about("internal").with("message", message),
        }
    }

    /// What would be allowed for the rest of the run.
    pub fn of_permission(permission: &Permission) -> Self {
        let about = |key: &str| Self::new(format!("approval.permission.{key}"));
        match permission {
            Permission::Read { folder } => about("read").with("folder", shown(folder)),
            Permission::Write { folder } => about("write").with("folder", shown(folder)),
            Permission::Network => about("network"),
            Permission::App { app, access } => {
                about(&format!("app.{}", level(*access))).with("app", app)
            }
            Permission::McpTool { server, tool } => {
                about("mcp_tool").with("server", server).with("tool", tool)
            }
        }
    }
}

/// The name of something as it is stored.
fn name_of(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|name| name.as_str().map(str::to_owned))
        .unwrap_or_default()
}

pub(crate) fn level(access: Access) -> &'static str {
    match access {
        Access::Look => "look",
        Access::Click => "click",
        Access::Full => "full",
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn list(items: &[String]) -> String {
    items.join(", ")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use openspace_agent::Pause;
    use openspace_grounding::{ProgramLaunch, ScreenApp, ShellCommand};

    use super::*;
    use crate::Language;

    fn app() -> ScreenApp {
        ScreenApp {
            name: "mousepad".to_owned(),
            title: "notes".to_owned(),
            terminal: false,
            own: false,
        }
    }

    fn actions() -> Vec<Action> {
        let path = PathBuf::from("/tmp/a");
        let command = |sandboxed, network| {
            Action::Command(ShellCommand {
                line: "ls".to_owned(),
                folder: path.clone(),
                sandboxed,
                network,
            })
        };
        let mut actions = vec![
            Action::Read { path: path.clone() },
            Action::Write {
                path: path.clone(),
                keeps_copy: true,
            },
            Action::Delete { path: path.clone() },
            command(true, false),
            command(true, true),
            command(false, false),
            Action::Launch(ProgramLaunch {
                program: path.clone(),
                arguments: vec!["x".to_owned()],
                graphical: true,
                app: app(),
            }),
            Action::Fetch {
                url: "https://example.org/".to_owned(),
            },
            Action::McpTool {
                server: "s".to_owned(),
                tool: "t".to_owned(),
                read_only: true,
            },
            Action::TypedCommand {
                app: app(),
                line: "ls\n".to_owned(),
            },
        ];
        actions.extend(
            [Access::Look, Access::Click, Access::Full]
                .map(|access| Action::Screen { app: app(), access }),
        );
        actions
    }

    fn subjects() -> Vec<Subject> {
        let folder = PathBuf::from("/tmp");
        let one = vec!["a".to_owned()];
        let mut subjects = vec![
            Subject::Read {
                folder: folder.clone(),
            },
            Subject::Write { folder },
            Subject::Delete {
                targets: one.clone(),
                count: 1,
            },
            Subject::Delete {
                targets: one.clone(),
                count: 14,
            },
            Subject::Command {
                programs: one.clone(),
            },
            Subject::OutsideSandbox {
                programs: one.clone(),
            },
            Subject::TypedCommand {
                app: "xterm".to_owned(),
            },
            Subject::Network { hosts: Vec::new() },
            Subject::Network { hosts: one },
            Subject::McpTool {
                server: "s".to_owned(),
                tool: "t".to_owned(),
                read_only: false,
            },
            Subject::Fetch {
                host: "example.org".to_owned(),
            },
            Subject::Open {
                address: "mailto:a@b".to_owned(),
            },
        ];
        subjects.extend(
            [Access::Look, Access::Click, Access::Full].map(|access| Subject::App {
                app: "chromium".to_owned(),
                access,
            }),
        );
        subjects
    }

    fn reasons() -> Vec<RunReason> {
        let words = || "words".to_owned();
        let mut reasons = vec![
            RunReason::WaitingForModel,
            RunReason::WaitingForScreen,
            RunReason::Question { text: words() },
            RunReason::GaveUp { text: words() },
            RunReason::Refused,
            RunReason::NoEffect { actions: 1 },
            RunReason::NoEffect { actions: 6 },
            RunReason::EmptyReplies,
            RunReason::Model {
                message: words(),
                retryable: false,
            },
            RunReason::NotStarted { message: words() },
            RunReason::Internal { message: words() },
        ];
        let pauses = [
            Pause::Asked,
            Pause::HumanInput,
            Pause::TakeOver,
            Pause::ScreenLocked,
            Pause::ScreenOff,
        ];
        reasons.extend(pauses.map(|pause| RunReason::Paused { pause }));
        let limits = [Limit::Steps, Limit::Time, Limit::Tokens, Limit::Cost];
        reasons.extend(limits.map(|limit| RunReason::Limit { limit }));
        reasons
    }

    /// Every sentence exists in every language and has a place for each of its values.
    #[test]
    fn every_sentence_is_in_every_language() {
        for language in [Language::English, Language::SimplifiedChinese] {
            let catalogue = Catalogue::load(language).expect("the catalogue loads");
            let permissions = [
                Permission::Read {
                    folder: "/tmp".into(),
                },
                Permission::Write {
                    folder: "/tmp".into(),
                },
                Permission::Network,
                Permission::App {
                    app: "chromium".to_owned(),
                    access: Access::Full,
                },
                Permission::McpTool {
                    server: "s".to_owned(),
                    tool: "t".to_owned(),
                },
            ];
            let sentences = actions()
                .iter()
                .map(Sentence::of_action)
                .chain(subjects().iter().map(Sentence::of_subject))
                .chain(permissions.iter().map(Sentence::of_permission))
                .chain(
                    reasons()
                        .iter()
                        .map(|it| Sentence::of_run_reason(it, &Used::default())),
                )
                .collect::<Vec<_>>();
            for sentence in sentences {
                assert!(
                    catalogue.has(&sentence.key),
                    "{language:?}: {}",
                    sentence.key
                );
                let text = sentence.render(&catalogue);
                assert!(!text.contains('…'), "{language:?}: {text}");
                for value in sentence.params.values() {
                    assert!(text.contains(value), "{language:?}: {text} lacks {value}");
                }
            }
        }
    }
}
