//! What a person is asked, and what an answer allows.
//!
//! Everything here is kinds and parameters, never sentences: surfaces have the words.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Origin, paths::contains};
use crate::{Access, Action};

/// A question to the person, as stored with the approval and drawn by every surface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// What is asked, the most serious part first; never empty.
    pub parts: Vec<Part>,
    /// Exactly what would happen: every action of the call, with full commands and paths.
    pub actions: Vec<Action>,
    /// The highest risk of the parts.
    pub risk: Risk,
    /// All of it can be undone.
    pub reversible: bool,
    /// What may be answered besides no, the narrowest first.
    pub offers: Vec<Grant>,
    /// Who wants it done.
    pub origin: Origin,
}

/// One thing that needs an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What it is.
    pub subject: Subject,
    /// How bad it can get.
    pub risk: Risk,
    /// Why the risk is what it is.
    pub reason: Reason,
    /// It can be undone.
    pub reversible: bool,
}

/// What a part of a question is about: the verb and its object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Subject {
    /// Read in a folder.
    Read {
        /// The folder, or the file where only that is meant.
        folder: PathBuf,
    },
    /// Write in a folder.
    Write {
        /// The folder.
        folder: PathBuf,
    },
    /// Delete, or overwrite without a copy.
    Delete {
        /// What, as written; at most 20, the actions have all of it.
        targets: Vec<String>,
        /// How many in all.
        count: usize,
    },
    /// Run a command in the sandbox.
    Command {
        /// The programs in it.
        programs: Vec<String>,
    },
    /// Run something outside the sandbox, or where there is none.
    OutsideSandbox {
        /// The programs in it.
        programs: Vec<String>,
    },
    /// Type a command into a program.
    TypedCommand {
        /// The program that would receive it.
        app: String,
    },
    /// Let commands use the network.
    Network {
        /// Hosts where known.
        hosts: Vec<String>,
    },
    /// Use a tool of an MCP server.
    McpTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// The server says that it only reads.
        read_only: bool,
    },
    /// Fetch an address.
    Fetch {
        /// Its host.
        host: String,
    },
    /// Use a program's window.
    App {
        /// The program.
        app: String,
        /// How far.
        access: Access,
    },
    /// Open something in a program that is neither a file nor a page.
    Open {
        /// What, as written.
        address: String,
    },
}

/// How bad it can get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Can be undone, or only looks.
    Low,
    /// Reaches beyond what was handed over.
    Medium,
    /// Cannot be undone or has no bounds.
    High,
}

/// Why something is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The person wants to be asked every time.
    AskAlways,
    /// Outside the allowed folders.
    OtherFolder,
    /// Cannot be brought back.
    Irreversible,
    /// What it does cannot be told beforehand.
    NotUnderstood,
    /// Contains letters that look like others or cannot be seen.
    Disguised,
    /// Wants more rights.
    Privilege,
    /// No sandbox holds it.
    NoSandbox,
    /// Makes something else act outside the sandbox.
    ReachesOut,
    /// Reaches other machines.
    Network,
    /// May change something elsewhere.
    OtherSystem,
    /// Acts with the person's own programs.
    OwnPrograms,
    /// Runs what is typed into it.
    Terminal,
    /// Reaches every file of the person.
    FileProgram,
    /// Changes the system.
    SystemSettings,
    /// It cannot be told which program it is.
    UnknownProgram,
    /// Will be run later by something outside the sandbox.
    RunsLater,
}

/// An answer that allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Grant {
    /// This call, this time.
    Once,
    /// The same for the rest of the run.
    Run {
        /// What is allowed from then on.
        permissions: Vec<Permission>,
    },
}

/// Something allowed for the rest of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Permission {
    /// Read below a folder.
    Read {
        /// The folder.
        folder: PathBuf,
    },
    /// Write, with a copy kept, and read below a folder.
    Write {
        /// The folder.
        folder: PathBuf,
    },
    /// Commands may use the network.
    Network,
    /// Use a program up to an access level.
    App {
        /// The program.
        app: String,
        /// How far.
        access: Access,
    },
    /// Call a tool of an MCP server.
    McpTool {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
}

/// What was allowed in this run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    permissions: Vec<Permission>,
}

impl Grants {
    /// Takes an answer in. [`Grant::Once`] leaves nothing behind: the caller runs the call it was
    /// given for and asks again next time.
    pub fn add(&mut self, grant: &Grant) {
        if let Grant::Run { permissions } = grant {
            for permission in permissions {
                if !self.permissions.contains(permission) {
                    self.permissions.push(permission.clone());
                }
            }
        }
    }

    /// What was allowed so far.
    pub fn permissions(&self) -> &[Permission] {
        &self.permissions
    }

    pub(crate) fn reads(&self, path: &Path) -> bool {
        self.permissions.iter().any(|permission| match permission {
            Permission::Read { folder } | Permission::Write { folder } => contains(folder, path),
            Permission::Network | Permission::App { .. } | Permission::McpTool { .. } => false,
        })
    }

    pub(crate) fn writes(&self, path: &Path) -> bool {
        self.permissions.iter().any(
            |permission| matches!(permission, Permission::Write { folder } if contains(folder, path)),
        )
    }

    pub(crate) fn network(&self) -> bool {
        self.permissions.contains(&Permission::Network)
    }

    pub(crate) fn app(&self, name: &str, wanted: Access) -> bool {
        self.permissions.iter().any(
            |permission| matches!(permission, Permission::App { app, access } if app == name && *access >= wanted),
        )
    }

    pub(crate) fn any_app(&self) -> bool {
        self.permissions
            .iter()
            .any(|permission| matches!(permission, Permission::App { .. }))
    }

    pub(crate) fn tool(&self, name: &str, of: &str) -> bool {
        self.permissions.iter().any(
            |permission| matches!(permission, Permission::McpTool { server, tool } if server == of && tool == name),
        )
    }
}

impl FromIterator<Permission> for Grants {
    fn from_iter<I: IntoIterator<Item = Permission>>(permissions: I) -> Self {
        Self {
            permissions: permissions.into_iter().collect(),
        }
    }
}
