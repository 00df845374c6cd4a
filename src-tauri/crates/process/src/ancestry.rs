//! Whether the calling process came out of a run: who did must not approve anything.

use std::net::SocketAddr;

use crate::{Mark, platform};

/// How a process is known to descend from a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descent {
    /// It carries `OPENSPACE_RUN_ID` itself.
    Own {
        /// The run.
        run: String,
    },
    /// A parent of it does.
    Parent {
        /// The run.
        run: String,
        /// The parent.
        pid: u32,
    },
    /// It was started by one of the given processes, which execute runs.
    Runner {
        /// That process.
        pid: u32,
    },
    /// It carries the mark of a run, although its environment was changed.
    Marked(Mark),
}

impl Descent {
    /// The run, where it is known by name.
    pub fn run(&self) -> Option<&str> {
        match self {
            Self::Own { run } | Self::Parent { run, .. } => Some(run),
            Self::Runner { .. } | Self::Marked(_) => None,
        }
    }
}

/// Tells whether this process descends from a run. `runners` are the processes that execute runs
/// now (the instances table): their descendants count even when nothing else gives them away.
pub fn descent(runners: &[u32]) -> Option<Descent> {
    let own = std::env::var_os(crate::mark::RUN_VARIABLE)
        .filter(|run| !run.is_empty())
        .map(|run| Descent::Own {
            run: run.to_string_lossy().into_owned(),
        });
    own.or_else(|| descent_of(std::process::id(), runners))
}

/// As [`descent`], of another process: only what can be seen of it from outside.
pub fn descent_of(pid: u32, runners: &[u32]) -> Option<Descent> {
    let own = platform::carried_run(pid)
        .filter(|run| !run.is_empty())
        .map(|run| Descent::Own { run });
    own.or_else(|| descent_of_parents(pid, runners))
        .or_else(|| platform::mark_of(pid).map(Descent::Marked))
}

/// The process at the other end of a loopback connection, on systems that tell: `client` is its
/// address, `server` ours.
pub fn peer(client: SocketAddr, server: SocketAddr) -> Option<u32> {
    platform::peer(client, server)
}

/// The run this process descends from: its id, or an empty text where only the descent is known.
pub fn is_descendant_of_run(runners: &[u32]) -> Option<String> {
    descent(runners).map(|descent| descent.run().unwrap_or_default().to_owned())
}

/// The parents of a process, nearest first, as far as they can be seen.
pub fn parents(pid: u32) -> Vec<u32> {
    platform::parents(pid)
}

fn descent_of_parents(pid: u32, runners: &[u32]) -> Option<Descent> {
    parents(pid).into_iter().find_map(|parent| {
        if let Some(run) = platform::carried_run(parent).filter(|run| !run.is_empty()) {
            return Some(Descent::Parent { run, pid: parent });
        }
        runners
            .contains(&parent)
            .then_some(Descent::Runner { pid: parent })
    })
}
