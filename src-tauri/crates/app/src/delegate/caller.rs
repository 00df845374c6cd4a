//! Who hands tasks over, and whether the person answers questions through them.

use openspace_hosts::{HOSTS, Host, is_shared_name};
use openspace_store::{Answer, Approval, Decision, Run};

use super::{host_name, origin};
use crate::{App, Code, Failure, failure::Result};

/// A host that calls: the one whose entry started the server, where the entry says so, else a client by
/// the name it gives itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostCaller {
    /// What it is called where its tasks come from.
    pub name: String,
    /// What a person calls it who switches something on for it. None where its name is that of
    /// several, and no entry tells which it is.
    known_as: Vec<String>,
}

impl HostCaller {
    fn of(host: Option<&Host>, client: &str) -> Self {
        if let Some(host) = host {
            return Self {
                name: host.id.to_owned(),
                known_as: names(host),
            };
        }
        let its = HOSTS.iter().find(|host| host.is_client(client));
        let own = (!is_shared_name(client)).then(|| host_name(client));
        Self {
            name: client.to_owned(),
            known_as: own
                .into_iter()
                .chain(its.into_iter().flat_map(names))
                .collect(),
        }
    }

    /// It handed this run over.
    fn began(&self, run: &Run) -> bool {
        run.origin == origin(&self.name)
    }
}

/// What a host is called in settings.
fn names(host: &Host) -> Vec<String> {
    let clients = host.clients().iter().copied();
    [host.id]
        .into_iter()
        .chain(clients)
        .map(host_name)
        .collect()
}

impl App {
    /// Who calls: `entry` is what the entry says that started the server, `client` what the client
    /// calls itself.
    pub fn host_caller(&self, entry: Option<&str>, client: &str) -> HostCaller {
        let host = entry.and_then(|id| {
            let of_table = HOSTS.iter().find(|host| host.id == id);
            let named = || self.hosts().find(id).ok().filter(|host| host.id == id);
            of_table.or_else(named)
        });
        HostCaller::of(host, client)
    }

    /// Whether this question of a run may be put to the person through the host that handed the task
    /// over: where a person switched that on for it, and never for what is risky or cannot be undone.
    /// It is over the moment they switch it off, and where the settings cannot be read.
    pub fn may_answer_through(&self, caller: &HostCaller, run: &Run, approval: &Approval) -> bool {
        if approval.run != run.id
            || !caller.began(run)
            || approval.risk == "high"
            || approval.irreversible
        {
            return false;
        }
        if let Err(failure) = self.reload_settings() {
            tracing::warn!(%failure, "nothing is answered through hosts");
            return false;
        }
        let values = self.values();
        let mut switched_on = values.mcp.approve_through.iter();
        switched_on.any(|it| caller.known_as.contains(&host_name(it)))
    }

    /// Takes an answer that came through a host. True when this was the first answer. It holds for
    /// this once and is recorded as the host's.
    ///
    /// # Errors
    /// [`Code::Forbidden`] where it may not come from there, for whoever was started by a run, and
    /// while another run moves the mouse.
    pub async fn answer_through_host(
        &self,
        approval: &Approval,
        decision: Decision,
        caller: &HostCaller,
    ) -> Result<bool> {
        self.refuse_runs("answer questions")?;
        let run = approval.run.clone();
        let run = self.store.read(move |db| db.runs().get(&run)).await?;
        if !self.may_answer_through(caller, &run, approval) || decision == Decision::AllowForRun {
            return Err(Failure::new(
                Code::Forbidden,
                "this is answered in the window of OpenSpace or in a terminal",
            )
            .hint("openspace approve"));
        }
        if decision != Decision::Deny {
            self.refuse_while_controlled(Some(approval)).await?;
        }
        let answer = Answer {
            decision,
            edited: None,
            note: None,
        };
        self.answer(approval, answer, &origin(&caller.name)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The entry tells which host it is, whatever the client calls itself; a name does only where no
    /// other host has it.
    #[test]
    fn a_host_is_known_by_its_entry_or_by_a_name_of_its_own() {
        let host = |id| openspace_hosts::find(id).ok();
        let known = |host, client| HostCaller::of(host, client).known_as;
        assert_eq!(known(host("nanobot"), "mcp"), ["nanobot"]);
        assert_eq!(
            known(host("nanobot"), "claude-code"),
            ["nanobot"],
            "what it calls itself does not count"
        );
        assert_eq!(known(host("codex"), "x"), ["codex", "codex-mcp-client"]);
        for shared in ["mcp", "MCP", " mcp ", "", "Cline", "unknown"] {
            assert!(known(None, shared).is_empty(), "{shared:?}");
        }
        assert_eq!(known(None, "My Agent"), ["my-agent"]);
        let codex = known(None, "codex-mcp-client");
        assert!(codex.contains(&"codex".to_owned()), "{codex:?}");
    }
}
