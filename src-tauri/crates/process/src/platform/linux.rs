//! Linux: sessions and `/proc` for trees, Landlock and seccomp for the sandbox.

mod calls;
mod end;
mod files;
mod own_file;
mod peer;
mod probe;
mod process_table;
mod start;

pub(crate) use end::{end, end_run, members, reap, terminate};
pub(crate) use files::support;
pub use own_file::give_back_start;
pub(crate) use peer::peer;
pub(crate) use probe::self_test;
pub(crate) use start::spawn;

use crate::Mark;

/// Makes this process the parent of every descendant whose own parent ends, so that a program
/// that forks twice stays in reach and is collected when it ends. Call it once, early, in a
/// process that runs commands.
pub fn become_subreaper() -> std::io::Result<()> {
    // SAFETY: prctl with integer arguments only; it touches no memory of ours.
    let result = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
    if result == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// The parents of a process, nearest first.
pub(crate) fn parents(pid: u32) -> Vec<u32> {
    let mut parents = Vec::new();
    let mut current = pid;
    while let Some(process) = process_table::Process::read(current) {
        let parent = process.parent;
        if parent == 0 || parent == current || parents.contains(&parent) {
            break;
        }
        parents.push(parent);
        current = parent;
    }
    parents
}

/// The run named in the environment a process was started with.
pub(crate) fn carried_run(pid: u32) -> Option<String> {
    process_table::variable(pid, crate::mark::RUN_VARIABLE)
}

/// The mark a process carries.
pub(crate) fn mark_of(pid: u32) -> Option<Mark> {
    process_table::mark(pid)
}
