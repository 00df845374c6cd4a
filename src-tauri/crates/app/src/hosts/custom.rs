//! Agents that a person names, with their file.

use std::path::{Path, PathBuf};

use openspace_hosts::{Dialect, NewCustom, real};

use super::HostState;
use crate::{App, Code, failure::Result, protected::protected_paths};

/// What a person says of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHost {
    /// Its name.
    pub name: String,
    /// Its file, there or not.
    pub file: PathBuf,
    /// How the file is written.
    pub format: Dialect,
    /// The map of servers within it: its key, or the keys on the way to it with dots between them.
    pub key: String,
}

impl App {
    /// Makes a host of an agent that a person names. Nothing is written into its file.
    ///
    /// # Errors
    /// What makes no sense, the file of another host or of ours, and whatever keeps a file that is
    /// there from being read.
    pub fn add_host(&self, new: NewHost) -> Result<HostState> {
        self.refuse_runs("name hosts")?;
        if self.is_ours(&new.file) {
            let values = [("file", new.file.display().to_string())];
            return Err(self.said(Code::InvalidRequest, "own_file", &values));
        }
        let hosts = self.hosts();
        let host = hosts.name(&NewCustom {
            name: new.name,
            file: new.file,
            dialect: new.format,
            key: new.key,
        });
        let host = host.map_err(|error| self.host_failure(&error))?;
        let report = hosts.look(host, &openspace_hosts::Scope::User);
        self.host_view(report.map_err(|error| self.host_failure(&error))?)
    }

    /// Forgets such an agent.
    ///
    /// # Errors
    /// While our entry is in its file, and for a host that nobody named.
    pub fn forget_host(&self, id: &str) -> Result<()> {
        self.refuse_runs("forget hosts")?;
        let hosts = self.hosts();
        let host = self.host(&hosts, id)?;
        hosts
            .forget(host)
            .map_err(|error| self.host_failure(&error))
    }

    /// The file is one of our own, which no entry belongs into.
    fn is_ours(&self, file: &Path) -> bool {
        let file = real(file);
        protected_paths(&self.paths, &[])
            .iter()
            .any(|ours| file.starts_with(real(ours)))
    }
}
