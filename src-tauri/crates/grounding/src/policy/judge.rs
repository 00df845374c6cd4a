//! The rows of the table: each action against preset, rules and what was allowed in the run.

use std::path::{Path, PathBuf};

use super::{
    Destination, Grants, Part, Permission, Policy, Preset, Reason, Risk, RuleEffect, RuleScope,
    Subject, destination,
    later::{in_bare_repository, runs_later},
    paths::contains,
    protected::Met,
};
use crate::{Action, Denied};

mod command;
mod screen;

/// How many targets a question names; the actions have them all.
pub(crate) const SHOWN: usize = 20;

/// One thing to be asked, and what an answer for the run would allow.
pub(crate) struct Concern {
    pub(crate) part: Part,
    pub(crate) permission: Option<Permission>,
}

pub(crate) type Verdict = Result<Vec<Concern>, Denied>;

/// Places that are read as if they were allowed: programs and settings that are the same for everybody.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/opt",
    "/etc",
    "/dev",
    "/proc",
    "/sys",
    "/System",
    "/Library",
    "/Applications",
    "/nix",
    "/snap",
];

pub(crate) fn denied<T>(reason: impl Into<String>) -> Result<T, Denied> {
    Err(Denied {
        reason: reason.into(),
    })
}

fn concern(
    subject: Subject,
    risk: Risk,
    reason: Reason,
    reversible: bool,
    permission: Option<Permission>,
) -> Concern {
    Concern {
        part: Part {
            subject,
            risk,
            reason,
            reversible,
        },
        permission,
    }
}

impl Policy {
    pub(super) fn judge(&self, action: &Action, grants: &Grants) -> Verdict {
        match action {
            Action::Read { path } => self.read(path, grants),
            Action::Write {
                path,
                keeps_copy: true,
            } => self.write(path, grants),
            Action::Write {
                path,
                keeps_copy: false,
            }
            | Action::Delete { path } => self.delete(path),
            Action::Command(command) => self.command(command, grants),
            Action::Launch(launch) => self.launch(launch, grants),
            Action::Fetch { url } => self.fetch(url),
            Action::McpTool {
                server,
                tool,
                read_only,
            } => self.mcp_tool(server, tool, *read_only, grants),
            Action::Screen { app, access } => self.screen(app, *access, grants),
            Action::TypedCommand { app, line } => self.typed(app, line, grants),
        }
    }

    fn always(&self) -> bool {
        self.inputs.preset == Preset::AskEveryTime
    }

    fn ruled(&self, effect: RuleEffect, covers: impl Fn(&RuleScope) -> bool) -> bool {
        self.inputs
            .rules
            .iter()
            .any(|rule| rule.effect == effect && covers(&rule.scope))
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        self.inputs.folders.workspace.join(path)
    }

    fn resolved(&self, path: &Path) -> PathBuf {
        self.inputs.paths.resolve(&self.absolute(path))
    }

    /// The last row: refused before anything else is looked at.
    fn guard(&self, path: &Path, with_parents: bool) -> Result<(), Denied> {
        let met = self.protected.meets(
            path,
            &self.inputs.folders.workspace,
            self.inputs.paths.as_ref(),
        );
        match met {
            Some(Met::Inside) => denied(format!(
                "`{}` holds credentials, settings of an agent or files of OpenSpace, which are off limits",
                path.display()
            )),
            Some(Met::Above) if with_parents => denied(format!(
                "`{}` contains credentials, settings of an agent or files of OpenSpace, which must not be moved or deleted; name what is to go more exactly",
                path.display()
            )),
            Some(Met::Above) | None => Ok(()),
        }
    }

    /// In the workspace, a folder that was allowed, or the run's own scratch folder.
    fn is_allowed(&self, resolved: &Path) -> bool {
        let folders = &self.inputs.folders;
        contains(&folders.workspace, resolved)
            || contains(&folders.scratch, resolved)
            || folders
                .allowed
                .iter()
                .any(|folder| contains(folder, resolved))
    }

    /// Below the folder that is thrown away after the run anyway.
    fn is_scratch(&self, resolved: &Path) -> bool {
        let scratch = &self.inputs.folders.scratch;
        resolved != scratch && contains(scratch, resolved)
    }

    fn folder_of(&self, resolved: &Path) -> PathBuf {
        if self.inputs.paths.is_folder(resolved) {
            return resolved.to_path_buf();
        }
        // Never a whole disk because of one file in its root.
        match resolved.parent() {
            Some(parent) if parent.parent().is_some() => parent.to_path_buf(),
            _ => resolved.to_path_buf(),
        }
    }

    fn read(&self, path: &Path, grants: &Grants) -> Verdict {
        self.guard(path, false)?;
        let path = self.resolved(path);
        if self.ruled(RuleEffect::Deny, |scope| {
            scope.covers_read(&path, RuleEffect::Deny)
        }) {
            return denied(format!(
                "a rule of the person forbids reading `{}`",
                path.display()
            ));
        }
        if self.is_allowed(&path)
            || self.ruled(RuleEffect::Allow, |scope| {
                scope.covers_read(&path, RuleEffect::Allow)
            })
            || (!self.always() && grants.reads(&path))
        {
            return Ok(Vec::new());
        }
        let folder = self.folder_of(&path);
        Ok(vec![concern(
            Subject::Read {
                folder: folder.clone(),
            },
            Risk::Low,
            Reason::OtherFolder,
            true,
            Some(Permission::Read { folder }),
        )])
    }

    fn write(&self, path: &Path, grants: &Grants) -> Verdict {
        self.guard(path, false)?;
        let path = self.resolved(path);
        self.write_forbidden(&path)?;
        if self.runs_later(&path) {
            return Ok(vec![concern(
                Subject::Write { folder: path },
                Risk::High,
                Reason::RunsLater,
                true,
                None,
            )]);
        }
        let allowed = self.is_allowed(&path);
        if (allowed && !self.always())
            || self.ruled(RuleEffect::Allow, |scope| scope.covers_write(&path))
            || (!self.always() && grants.writes(&path))
        {
            return Ok(Vec::new());
        }
        let folder = self.folder_of(&path);
        let (risk, reason) = if allowed {
            (Risk::Low, Reason::AskAlways)
        } else {
            (Risk::Medium, Reason::OtherFolder)
        };
        Ok(vec![concern(
            Subject::Write {
                folder: folder.clone(),
            },
            risk,
            reason,
            true,
            Some(Permission::Write { folder }),
        )])
    }

    /// Something else will run what is written there.
    fn runs_later(&self, path: &Path) -> bool {
        runs_later(path) || in_bare_repository(path, self.inputs.paths.as_ref())
    }

    fn write_forbidden(&self, path: &Path) -> Result<(), Denied> {
        if self.ruled(RuleEffect::Deny, |scope| scope.covers_write(path)) {
            return denied(format!(
                "a rule of the person forbids writing to `{}`",
                path.display()
            ));
        }
        Ok(())
    }

    fn delete(&self, path: &Path) -> Verdict {
        self.guard(path, true)?;
        let resolved = self.resolved(path);
        self.write_forbidden(&resolved)?;
        if self.is_scratch(&resolved) && !self.always() {
            return Ok(Vec::new());
        }
        Ok(vec![deletion(vec![resolved.display().to_string()])])
    }

    fn fetch(&self, url: &str) -> Verdict {
        match destination(url) {
            None => denied(format!("`{url}` is not an address that can be read")),
            Some(Destination::Blank) => Ok(Vec::new()),
            Some(Destination::File(_) | Destination::Other(_)) => denied(format!(
                "`{url}` is no web address; files are read with the file tools"
            )),
            Some(
                Destination::Loopback(host)
                | Destination::Private(host)
                | Destination::Metadata(host),
            ) => denied(format!(
                "`{host}` is on this machine or its network; only public addresses are fetched"
            )),
            Some(Destination::Public(host)) => self.fetch_public(host),
        }
    }

    fn fetch_public(&self, host: String) -> Verdict {
        self.host_forbidden(&host)?;
        if !self.always() || self.ruled(RuleEffect::Allow, |scope| scope.covers_host(&host)) {
            return Ok(Vec::new());
        }
        Ok(vec![concern(
            Subject::Fetch { host },
            Risk::Low,
            Reason::AskAlways,
            true,
            None,
        )])
    }

    fn host_forbidden(&self, host: &str) -> Result<(), Denied> {
        if self.ruled(RuleEffect::Deny, |scope| scope.covers_host(host)) {
            return denied(format!("a rule of the person forbids `{host}`"));
        }
        Ok(())
    }

    fn mcp_tool(&self, server: &str, tool: &str, read_only: bool, grants: &Grants) -> Verdict {
        if server.eq_ignore_ascii_case("openspace") {
            return denied(
                "OpenSpace does not use its own server: do the task with the other tools",
            );
        }
        if self.ruled(RuleEffect::Deny, |scope| scope.covers_tool(server, tool)) {
            return denied(format!(
                "a rule of the person forbids the tool `{tool}` of `{server}`"
            ));
        }
        let listed = || {
            self.inputs
                .hands_off
                .tools
                .iter()
                .any(|pattern| pattern.matches(server, tool))
        };
        let free = match self.inputs.preset {
            Preset::AskEveryTime => false,
            Preset::AskForRisky => read_only || grants.tool(tool, server),
            Preset::HandsOff => read_only || listed() || grants.tool(tool, server),
        };
        if free || self.ruled(RuleEffect::Allow, |scope| scope.covers_tool(server, tool)) {
            return Ok(Vec::new());
        }
        let (server, tool) = (server.to_owned(), tool.to_owned());
        let (risk, reason) = if read_only {
            (Risk::Low, Reason::AskAlways)
        } else {
            (Risk::Medium, Reason::OtherSystem)
        };
        Ok(vec![concern(
            Subject::McpTool {
                server: server.clone(),
                tool: tool.clone(),
                read_only,
            },
            risk,
            reason,
            read_only,
            Some(Permission::McpTool { server, tool }),
        )])
    }
}

fn deletion(targets: Vec<String>) -> Concern {
    let count = targets.len();
    concern(
        Subject::Delete {
            targets: targets.into_iter().take(SHOWN).collect(),
            count,
        },
        Risk::High,
        Reason::Irreversible,
        false,
        None,
    )
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|folder| path.starts_with(folder))
}
