//! What a sandboxed command may touch.

use std::path::PathBuf;

use crate::platform;

/// Everything a sandboxed command may touch; what is not listed is refused.
///
/// On Linux (Landlock and seccomp) the child and all its descendants, for good:
/// - read and write below [`Sandbox::read_write`], read and execute below [`Sandbox::read_only`] and the system's
///   folders (`/usr`, `/etc` without its secrets, `/opt`, `/proc`, `/sys`, the harmless devices), nothing else. No
///   home, `/tmp`, `/run`, `/dev/shm` or `/dev/pts` unless listed. `/proc` shows other processes' names, but not
///   their environment, memory or files: Landlock refuses that for processes outside the sandbox;
/// - no sockets. With [`Sandbox::network`] IPv4 and IPv6 (which addresses is not judged here: private ones and
///   this machine's own are reachable), still no Unix sockets, because X11, D-Bus, Docker and key agents listen there;
/// - no tracing of other processes, mounts, namespaces, kernel keys, shared memory by number, typing into terminals;
///   root loses every privilege but those over files and users;
/// - no signals to processes outside (Linux 6.12; before that [`Gap::Signals`]).
///
/// Not covered, because Linux offers no way: seeing that a path exists, and changing owner, mode, times and
/// extended attributes of files that the person owns (their content stays out of reach).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    /// Folders (or files) to read, write and execute.
    pub read_write: Vec<PathBuf>,
    /// Folders (or files) to read and execute, besides the system's.
    pub read_only: Vec<PathBuf>,
    /// Not reachable, though below one of the folders above: around these every sibling is allowed
    /// by itself, so in the folders above them nothing new can be created and they cannot be
    /// listed. A folder above that lies inside a hidden one is reachable all the same.
    pub hidden: Vec<PathBuf>,
    /// It may open network connections.
    pub network: bool,
}

/// What this machine can enforce.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// Sandboxes work.
    Enforced {
        /// Version of the mechanism (Landlock's ABI).
        version: u32,
        /// What it does not cover here, though newer systems do.
        gaps: Vec<Gap>,
    },
    /// They do not: asking for one is an error, and commands must be judged accordingly.
    None {
        /// Why.
        reason: String,
    },
}

impl Support {
    /// What this machine can enforce. Cheap.
    pub fn detect() -> Self {
        platform::support()
    }

    /// Sandboxes work.
    pub fn is_enforced(&self) -> bool {
        matches!(self, Self::Enforced { .. })
    }
}

/// Something the sandbox does not cover on this system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gap {
    /// A command can send signals to the person's other processes (Linux before 6.12).
    Signals,
    /// A command can send control requests to the devices it may open (Linux before 6.10).
    DeviceControl,
}

/// What really happened when it was tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// What the system says it can do.
    pub support: Support,
    /// Each attempt, with its outcome. Empty where there is no sandbox.
    pub probes: Vec<Probe>,
}

impl Report {
    /// There is a sandbox, and it held.
    pub fn holds(&self) -> bool {
        self.support.is_enforced() && self.probes.iter().all(|probe| probe.held)
    }
}

/// One attempt from inside a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// What was tried.
    pub attempt: Attempt,
    /// It went as it must.
    pub held: bool,
}

/// What a self-test tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// Writing inside works.
    WriteInside,
    /// Reading the system's folders works.
    ReadSystem,
    /// Writing outside is refused.
    WriteOutside,
    /// Reading a secret outside is refused.
    ReadSecret,
    /// Opening a network connection is refused.
    Connect,
    /// Opening a Unix socket is refused.
    UnixSocket,
    /// Signalling a process outside is refused.
    Signal,
}

impl Attempt {
    /// All of them, in the order they are tried.
    pub const ALL: [Self; 7] = [
        Self::WriteInside,
        Self::ReadSystem,
        Self::WriteOutside,
        Self::ReadSecret,
        Self::Connect,
        Self::UnixSocket,
        Self::Signal,
    ];
}

/// Tries to break out of a sandbox, with harmless means, in a fresh folder below `scratch`.
/// Blocks for some milliseconds.
pub fn self_test(scratch: &std::path::Path) -> std::io::Result<Report> {
    platform::self_test(scratch)
}
