//! How the server stands through which other agents reach the app over HTTP.

use openspace_gui::platform::HAS_CLIPBOARD;
use openspace_store::{Db, InstanceId, InstanceKind, NewEvent};
use serde::{Deserialize, Serialize};

use super::{Call, Caller, Nothing, choice, payload};
use crate::{App, Code, Failure, agents::TOKEN_FILE, failure::Result};

/// Where the app keeps how its server stands.
const SERVER: &str = "desktop.mcp";
/// Topic of the events that tell of it.
const TOPIC: &str = "mcp";

choice! {
    /// Whether other agents can connect to the app over HTTP.
    pub enum McpState {
        /// The settings do not want it.
        Off,
        /// It is about to listen.
        Starting,
        /// It listens.
        Listening,
        /// Another program has the port; it is tried again and again.
        PortTaken,
        /// It cannot listen; it is tried again and again.
        Failed,
        /// The app does not run.
        AppClosed,
    }
}

payload! {
    /// How the server of the app stands.
    pub struct McpServerView {
        /// Whether agents can connect.
        pub state: McpState,
        /// The port of the settings.
        pub port: u16,
        /// Where it listens.
        pub url: Option<String>,
        /// A port that is free, where the one of the settings is not.
        pub free_port: Option<u16>,
        /// What the system said, where it does not listen.
        pub reason: Option<String>,
        /// The file with the token that opens it.
        pub token_file: String,
        /// Whether what an agent needs can be put on the clipboard here.
        pub can_copy: bool,
    }
}

/// How the server stands, as it tells itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum McpReport {
    /// Nobody wants it.
    Off,
    /// It listens there.
    Listening(String),
    /// Another program has the port; this one is free.
    PortTaken(Option<u16>),
    /// It cannot listen, and why.
    Failed(String),
}

#[derive(Serialize, Deserialize)]
struct Reported {
    instance: InstanceId,
    server: McpServerView,
}

impl App {
    /// Keeps how the server of this process stands, for every surface that shows it.
    pub async fn report_mcp(&self, port: u16, report: McpReport) -> Result<()> {
        let (mut url, mut free_port, mut reason) = (None, None, None);
        let state = match report {
            McpReport::Off => McpState::Off,
            McpReport::Listening(at) => {
                url = Some(at);
                McpState::Listening
            }
            McpReport::PortTaken(free) => {
                free_port = free;
                McpState::PortTaken
            }
            McpReport::Failed(why) => {
                reason = Some(why);
                McpState::Failed
            }
        };
        let server = McpServerView {
            url,
            free_port,
            reason,
            ..self.mcp_view(state, port)
        };
        let instance = self.instance.id().clone();
        let value = serde_json::to_value(Reported { instance, server }).unwrap_or_default();
        let told = NewEvent {
            topic: TOPIC.to_owned(),
            key: "server".to_owned(),
            kind: "mcp.changed".to_owned(),
            v: 1,
            payload: serde_json::json!({}),
        };
        let keep = move |db: &Db<'_>| {
            db.ui_state().set(SERVER, Some(&value))?;
            db.events().append(told)
        };
        self.store.call(keep).await?;
        Ok(())
    }

    /// How the server of the app stands, whichever process asks.
    pub async fn mcp_now(&self) -> Result<McpServerView> {
        let wanted = self.values().mcp.clone();
        let (reported, runs) = self
            .store
            .read(|db| {
                let value = db.ui_state().get(SERVER)?;
                // What cannot be read was written by another version, which is gone.
                let reported =
                    value.and_then(|value| serde_json::from_value::<Reported>(value).ok());
                let reported = match reported {
                    Some(it) if db.instances().is_alive(&it.instance)? => Some(it.server),
                    _ => None,
                };
                let alive = db.instances().alive()?;
                let mut kinds = alive.into_iter().map(|row| row.kind);
                Ok((reported, kinds.any(|kind| kind == InstanceKind::Desktop)))
            })
            .await?;
        let changed = |server: &McpServerView| {
            wanted.serve && (server.state == McpState::Off || server.port != wanted.port)
        };
        Ok(match reported {
            Some(server) if !changed(&server) => server,
            Some(_) => self.mcp_view(McpState::Starting, wanted.port),
            None if !wanted.serve => self.mcp_view(McpState::Off, wanted.port),
            None if runs => self.mcp_view(McpState::Starting, wanted.port),
            None => self.mcp_view(McpState::AppClosed, wanted.port),
        })
    }

    fn mcp_view(&self, state: McpState, port: u16) -> McpServerView {
        McpServerView {
            state,
            port,
            url: None,
            free_port: None,
            reason: None,
            token_file: self.paths.data.join(TOKEN_FILE).display().to_string(),
            can_copy: HAS_CLIPBOARD && self.desktop.display().is_some(),
        }
    }
}

/// A value that only the server itself writes.
pub(super) fn is_told_by_the_server(key: &str) -> bool {
    key == SERVER
}

impl Call<'_> {
    pub(super) async fn mcp_server(&self, _: Nothing) -> Result<McpServerView> {
        self.app.mcp_now().await
    }

    pub(super) async fn mcp_copy(&self, _: Nothing) -> Result<Nothing> {
        if self.caller == Caller::Page {
            // Its token opens the pages, and never what agents use.
            return Err(Failure::new(
                Code::Forbidden,
                "a page in a browser may not have the token",
            )
            .hint("copy it in the window of OpenSpace"));
        }
        self.app.copy_mcp_connection().await?;
        Ok(Nothing {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Surface,
        desk::double::{Seat, seat},
    };

    /// Copying is offered only where there is a clipboard to copy to.
    #[tokio::test(flavor = "multi_thread")]
    async fn copying_wants_a_clipboard() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().display().to_string();
        for (display, can_copy) in [(None, false), (Some(":7"), cfg!(target_os = "linux"))] {
            let variables = [
                ("HOME", Some(home.as_str())),
                ("OPENSPACE_HOME", Some(&home)),
                ("DISPLAY", display),
            ];
            let environment = variables
                .into_iter()
                .filter_map(|(name, value)| Some((name, value?)))
                .collect();
            let surface = Surface {
                kind: InstanceKind::Desktop,
                claims_runs: false,
                asks_on_terminal: false,
                program: folder.path().join("openspace"),
                web_view: None,
            };
            let app = App::open(environment, surface, &[]).expect("it opens");
            let server = app.mcp_now().await.expect("told");
            assert_eq!(server.can_copy, can_copy, "{display:?}");
        }
    }

    /// What is told is what is kept, until the settings want something else.
    #[tokio::test(flavor = "multi_thread")]
    async fn it_stands_as_it_was_told() {
        let Seat { desk, .. } = seat();
        let app = desk.app();
        let now = async || app.mcp_now().await.expect("told");
        assert_eq!(now().await.state, McpState::Off);
        let write = |text: &str| {
            std::fs::write(&app.paths.config, text).expect("written");
            app.reload_settings().expect("right");
        };
        write("[mcp]\nserve = true\nport = 8091\n");
        assert_eq!(
            (now().await.state, now().await.port),
            (McpState::Starting, 8091)
        );
        let url = "http://127.0.0.1:8091/mcp".to_owned();
        let listening = McpReport::Listening(url.clone());
        app.report_mcp(8091, listening).await.expect("kept");
        assert_eq!(
            (now().await.state, now().await.url),
            (McpState::Listening, Some(url))
        );
        assert!(now().await.token_file.ends_with("mcp-token"));
        write("[mcp]\nserve = true\nport = 8092\n");
        assert_eq!(
            now().await.state,
            McpState::Starting,
            "another port is wanted"
        );
        let taken = McpReport::PortTaken(Some(8093));
        app.report_mcp(8092, taken).await.expect("kept");
        assert_eq!(
            (now().await.state, now().await.free_port),
            (McpState::PortTaken, Some(8093))
        );
        // Until it has ended it is told as it is.
        write("");
        assert_eq!(now().await.state, McpState::PortTaken);
        app.report_mcp(8092, McpReport::Off).await.expect("kept");
        assert_eq!(now().await.state, McpState::Off);
    }
}
