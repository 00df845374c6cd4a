//! Who connected to our MCP server, and which host that was.
//!
//! The entry that started the server says whose it is. Where none does (an older entry, one pasted by
//! hand, HTTP) the client's own name tells it, if no other host shares that. Everything a client says
//! of itself is kept short, and only shown.

use openspace_hosts::{Host, VERIFIER};
use openspace_store::{Client, Store};
use serde::Serialize;

use crate::{App, Environment, failure::Result, refuse_runs};

/// Longest name and longest version that are kept, letters.
const LONGEST_NAME: usize = 60;
const LONGEST_VERSION: usize = 30;
/// The database, which is not made just because somebody looked at the tools.
const DATABASE: &str = "openspace.db";

/// A client as it introduces itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Introduction {
    /// The host whose entry started the server, as the entry says.
    pub entry: Option<String>,
    /// What the client calls itself.
    pub name: String,
    /// The version it says it is.
    pub version: String,
    /// The version of the protocol it asked for.
    pub protocol: String,
}

/// A client that connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostClient {
    /// What it calls itself.
    pub name: String,
    /// The version it says it is.
    pub version: String,
    /// The version of the protocol it asked for.
    pub protocol: String,
    /// When it connected last, Unix milliseconds.
    pub at: i64,
}

/// Keeps that a client connected, for a process that has opened nothing. Where there is no database
/// yet, nobody has looked at hosts, and none is made.
///
/// # Errors
/// What keeps the database from being written; [`crate::Code::Forbidden`] for a run.
pub fn client_connected(environment: &Environment, client: &Introduction) -> Result<()> {
    let paths = crate::app::paths(environment)?;
    if !paths.data.join(DATABASE).is_file() {
        return Ok(());
    }
    keep(&Store::open(&paths.data)?, client)
}

impl App {
    /// The same for a process that has.
    pub fn client_connected(&self, client: &Introduction) -> Result<()> {
        keep(&self.store, client)
    }

    /// Every client that connected with the host it belongs to, the last one first.
    pub(super) fn host_clients(
        &self,
        known: &[&'static Host],
    ) -> Result<Vec<(Option<&'static Host>, HostClient)>> {
        let clients = self.store.read_blocking(|db| db.clients().list())?;
        let told = clients.into_iter().map(|(client, at)| {
            let host = belongs_to(&client, known);
            let shown = HostClient {
                name: client.name,
                version: client.version,
                protocol: client.protocol,
                at,
            };
            (host, shown)
        });
        Ok(told.collect())
    }

    /// Those that connected and belong to no host that is known, the last one first.
    ///
    /// # Errors
    /// [`crate::Code::Forbidden`] for a run.
    pub fn other_clients(&self) -> Result<Vec<HostClient>> {
        self.refuse_runs("look at hosts")?;
        let known = self.known_hosts()?;
        let clients = self.host_clients(&known)?.into_iter();
        Ok(clients
            .filter_map(|(host, client)| host.is_none().then_some(client))
            .collect())
    }
}

fn keep(store: &Store, client: &Introduction) -> Result<()> {
    if client.name == VERIFIER {
        return Ok(());
    }
    let runners = crate::app::runners(store)?;
    refuse_runs(&runners, "pass for a host")?;
    let entry = client.entry.as_deref().unwrap_or_default();
    let client = Client {
        mark: plain(entry, LONGEST_NAME),
        name: plain(&client.name, LONGEST_NAME),
        version: plain(&client.version, LONGEST_VERSION),
        protocol: plain(&client.protocol, LONGEST_VERSION),
    };
    store.call_blocking(move |db| db.clients().connected(&client))?;
    Ok(())
}

fn belongs_to(client: &Client, known: &[&'static Host]) -> Option<&'static Host> {
    let marked = known.iter().find(|host| host.id == client.mark);
    let named = || known.iter().find(|host| host.is_client(&client.name));
    marked.or_else(named).copied()
}

/// What can be shown on a line without passing for anything else.
fn plain(text: &str, most: usize) -> String {
    let shown = |letter: &char| letter.is_alphanumeric() || " .-_+/:()@".contains(*letter);
    let kept: String = text.chars().filter(shown).take(most).collect();
    kept.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(mark: &str, name: &str) -> Client {
        Client {
            mark: mark.to_owned(),
            name: name.to_owned(),
            version: String::new(),
            protocol: String::new(),
        }
    }

    /// The entry tells whose it is; a name only where no entry does, and only one that one host has.
    #[test]
    fn a_client_belongs_to_the_host_whose_entry_started_it() {
        let known: Vec<_> = openspace_hosts::HOSTS.iter().collect();
        let of = |mark, name| belongs_to(&client(mark, name), &known).map(|host| host.id);
        assert_eq!(of("qwen", "gemini-cli-mcp-client"), Some("qwen"));
        assert_eq!(of("nanobot", "mcp"), Some("nanobot"));
        assert_eq!(of("", "codex-mcp-client"), Some("codex"));
        assert_eq!(of("gone-agent", "Claude-Code"), Some("claude-code"));
        assert_eq!(of("", "mcp"), None);
        assert_eq!(of("", ""), None);
    }

    /// What a client calls itself is kept on one line, short, and without letters that hide.
    #[test]
    fn what_a_client_says_is_bounded() {
        assert_eq!(plain(" a\u{202e}b\n<b>c</b>\u{1b}[0m ", 60), "abbc/b0m");
        assert_eq!(plain("Visual Studio Code - Insiders", 60).len(), 29);
        assert_eq!(plain(&"x".repeat(9_000), LONGEST_NAME).len(), LONGEST_NAME);
    }
}
