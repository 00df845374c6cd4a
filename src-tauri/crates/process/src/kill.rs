//! Ending single processes and groups at once, without asking.

#[cfg(unix)]
use rustix::process::{Pid, Signal};

/// Kills a process. The caller knows that the id is still that process's, for instance by a lock it
/// holds. One that is gone already is fine.
pub fn kill_process(pid: u32) {
    #[cfg(unix)]
    if let Some(pid) = to_pid(pid) {
        let _gone = rustix::process::kill_process(pid, Signal::KILL);
    }
    #[cfg(windows)]
    crate::platform::kill(pid);
}

/// Kills a process group. The caller knows that the id is still that group's. One that is gone
/// already is fine. Windows has no groups: there its leader ends, and the rest with the job it is in.
pub fn kill_group(pid: u32) {
    #[cfg(unix)]
    if let Some(pid) = to_pid(pid) {
        let _gone = rustix::process::kill_process_group(pid, Signal::KILL);
    }
    #[cfg(windows)]
    crate::platform::kill(pid);
}

#[cfg(unix)]
fn to_pid(pid: u32) -> Option<Pid> {
    // 1 is the system's first process, and as a group it would mean everybody.
    i32::try_from(pid)
        .ok()
        .filter(|pid| *pid > 1)
        .and_then(Pid::from_raw)
}
