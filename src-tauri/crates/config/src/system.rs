//! Where the operating system keeps what it knows about its users and their sessions.

use std::path::PathBuf;

/// Places that are asked when the environment is silent. [`System::here`] is this machine; tests
/// give others.
#[derive(Debug, Clone)]
pub struct System {
    /// The user who runs us; none on Windows.
    pub uid: Option<u32>,
    /// The list of users, `/etc/passwd`.
    pub passwd: PathBuf,
    /// The processes, `/proc`.
    pub processes: PathBuf,
    /// The folder with one runtime folder per user, `/run/user`.
    pub runtimes: PathBuf,
    /// The folder with the sockets of X servers, `/tmp/.X11-unix`.
    pub x_sockets: PathBuf,
}

impl System {
    /// This machine.
    pub fn here() -> Self {
        Self {
            uid: uid(),
            passwd: "/etc/passwd".into(),
            processes: "/proc".into(),
            runtimes: "/run/user".into(),
            x_sockets: "/tmp/.X11-unix".into(),
        }
    }

    /// The runtime folder that the login made for our user, if it is there.
    pub(crate) fn runtime(&self) -> Option<PathBuf> {
        let folder = self.runtimes.join(self.uid?.to_string());
        folder.is_dir().then_some(folder)
    }

    /// The home folder in the list of users.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let uid = self.uid?.to_string();
        let users = std::fs::read_to_string(&self.passwd).ok()?;
        // name:password:uid:gid:comment:home:shell, see passwd(5).
        users
            .lines()
            .map(|line| line.split(':').collect::<Vec<_>>())
            .find(|fields| fields.len() >= 7 && fields[2] == uid)
            .map(|fields| PathBuf::from(fields[5]))
            .filter(|home| home.is_absolute())
    }
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "there is none on Windows")]
fn uid() -> Option<u32> {
    Some(rustix::process::getuid().as_raw())
}

#[cfg(not(unix))]
fn uid() -> Option<u32> {
    None
}
