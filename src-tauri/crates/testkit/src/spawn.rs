//! Children that end when the test does: own process group, killed on drop.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::wait::{poll, wait_until};

/// How long a group may take to end after being asked, before it is killed.
const GRACE: Duration = Duration::from_millis(800);

/// A child that leads its own process group.
#[derive(Debug)]
pub struct Spawned {
    child: Child,
    name: String,
}

impl Spawned {
    /// Starts `command` with exactly the given environment, as the leader of a new group.
    pub fn start(mut command: Command, environment: &BTreeMap<String, String>) -> Result<Self> {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
        Self::start_leader(command, environment)
    }

    /// As [`Spawned::start`] for a program that makes itself a leader (`setsid`).
    pub(crate) fn start_leader(
        mut command: Command,
        environment: &BTreeMap<String, String>,
    ) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command
            .env_clear()
            .envs(environment)
            .spawn()
            .with_context(|| format!("starting `{name}`; is it installed?"))?;
        Ok(Self { child, name })
    }

    /// Process id, which is also the id of the group.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether the child itself (not its children) still runs.
    pub fn running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Waits for the child itself; `None` when it still runs after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        poll(limit, || self.child.try_wait().ok().flatten())
    }

    /// The child's pipes.
    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Sends a signal to the whole group; a group that is gone is fine.
    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            kill_process_group(pid, signal).ok();
        }
    }

    /// Sends a signal to the child itself, as `kill` does; one that is gone is fine. What it started
    /// hears nothing: a web view that is just starting its processes aborts where those end before
    /// they have said who they are.
    pub fn signal_alone(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            kill_process(pid, signal).ok();
        }
    }

    /// The program's name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        self.signal(Signal::TERM);
        wait_until(GRACE, || !self.running());
        // Also when the leader is gone: its children may have outlived it in the same group.
        self.signal(Signal::KILL);
        self.child.wait().ok();
    }
}

/// A command whose input is empty and whose output goes to `log`.
pub(crate) fn quiet(program: impl AsRef<OsStr>, log: &Path) -> Result<Command> {
    let file = File::options().create(true).append(true).open(log)?;
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file);
    Ok(command)
}
