//! Ending a tree: ask, freeze, kill, until nothing is left.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, kill_process_group, pidfd_open,
    pidfd_send_signal, waitpid,
};

use super::process_table::{Process, Search, mark, variable};
use crate::{
    Error, Killed, Tree,
    mark::{COMMAND_VARIABLE, RUN_VARIABLE},
};

/// How long processes may take to end by themselves. Killing starts early enough to be done
/// within a second.
const GRACE: Duration = Duration::from_millis(400);
/// When to give up on what does not go away.
const LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);
/// Scans in one attempt to freeze a tree that keeps growing.
const FREEZES: usize = 32;

pub(crate) fn terminate(tree: &Tree) {
    // As long as the leader is not collected, its id cannot belong to anybody else.
    if Process::read(tree.root).is_some_and(|process| process.started == tree.started) {
        signal_group(tree.root, Signal::TERM);
    }
}

pub(crate) fn end(tree: &Tree) -> Result<Killed, Error> {
    let carries = carries_mark_of(tree);
    let search = Search::new(Some((tree.root, tree.started)), &carries);
    let result = end_all(search, Some(tree.root));
    reap(tree);
    result
}

pub(crate) fn end_run(run: &str) -> Result<Killed, Error> {
    let carries = |pid| {
        mark(pid).is_some_and(|mark| mark.is_of_run(run))
            || variable(pid, RUN_VARIABLE).is_some_and(|value| value == run)
    };
    end_all(Search::new(None, &carries), None)
}

pub(crate) fn members(tree: &Tree) -> Vec<u32> {
    let carries = carries_mark_of(tree);
    Search::new(Some((tree.root, tree.started)), &carries)
        .scan()
        .into_iter()
        .filter(|process| !process.zombie)
        .map(|process| process.pid)
        .collect()
}

pub(crate) fn reap(tree: &Tree) {
    let carries = carries_mark_of(tree);
    let members = Search::new(Some((tree.root, tree.started)), &carries).scan();
    collect(&members, Some(tree.root));
}

fn carries_mark_of(tree: &Tree) -> impl Fn(u32) -> bool {
    let wanted = tree.mark;
    let command = wanted.command_id();
    move |pid| match mark(pid) {
        Some(found) => found == wanted,
        // The limit could not be set when this process itself was limited before.
        None => variable(pid, COMMAND_VARIABLE).is_some_and(|value| value == command),
    }
}

fn end_all(mut search: Search<'_>, root: Option<u32>) -> Result<Killed, Error> {
    let begin = Instant::now();
    let mut killed = Killed::default();
    let mut asked = HashSet::new();
    loop {
        let alive = alive(&mut search, root);
        killed.processes = killed.processes.max(alive.len());
        if alive.is_empty() {
            killed.took = begin.elapsed();
            return Ok(killed);
        }
        if begin.elapsed() > LIMIT {
            return Err(Error::Survivors {
                pids: alive.iter().map(|process| process.pid).collect(),
            });
        }
        if begin.elapsed() < GRACE {
            let new: Vec<_> = alive
                .into_iter()
                .filter(|process| asked.insert((process.pid, process.started)))
                .collect();
            signal_all(&new, Signal::TERM);
        } else {
            killed.forced = true;
            kill_frozen(&mut search, root);
        }
        std::thread::sleep(PAUSE);
    }
}

/// Stops everything before killing anything: what is stopped cannot fork, so a tree that grows
/// faster than it is killed stands still first.
fn kill_frozen(search: &mut Search<'_>, root: Option<u32>) {
    let mut stopped = HashSet::new();
    let mut all = Vec::new();
    for _ in 0..FREEZES {
        all = alive(search, root);
        let new: Vec<_> = all
            .iter()
            .filter(|process| stopped.insert((process.pid, process.started)))
            .copied()
            .collect();
        if new.is_empty() {
            break;
        }
        signal_all(&new, Signal::STOP);
    }
    signal_all(&all, Signal::KILL);
}

fn alive(search: &mut Search<'_>, root: Option<u32>) -> Vec<Process> {
    let members = search.scan();
    collect(&members, root);
    members
        .into_iter()
        .filter(|process| !process.zombie)
        .collect()
}

/// Collects ended processes that were left to us. The root is collected by whoever started it, and
/// without a root only what is no leader of a session is surely nobody's.
fn collect(members: &[Process], root: Option<u32>) {
    let own = std::process::id();
    for process in members {
        let ours = root.map_or(process.session != process.pid, |root| process.pid != root);
        if process.zombie && process.parent == own && ours {
            let _ = waitpid(pid(process.pid), WaitOptions::NOHANG);
        }
    }
}

fn signal_all(processes: &[Process], signal: Signal) {
    // One call reaches a whole group, those included that fork at this moment.
    let groups: HashSet<u32> = processes.iter().map(|process| process.group).collect();
    for group in groups {
        if processes
            .iter()
            .any(|process| process.group == group && is_same(process))
        {
            signal_group(group, signal);
        }
    }
    for process in processes {
        signal_one(process, signal);
    }
}

fn signal_group(group: u32, signal: Signal) {
    // Group 0 and 1 would mean ourselves or everything; our own may hold what must be spared.
    if group > 1
        && group
            != rustix::process::getpgrp()
                .as_raw_nonzero()
                .get()
                .cast_unsigned()
        && let Some(group) = pid(group)
    {
        let _ = kill_process_group(group, signal);
    }
}

/// A descriptor pins the process, the start time proves that it pinned the right one.
fn signal_one(process: &Process, signal: Signal) {
    let Some(pid) = pid(process.pid) else { return };
    match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(descriptor) if is_same(process) => {
            let _ = pidfd_send_signal(descriptor, signal);
        }
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::MFILE) if is_same(process) => {
            let _ = kill_process(pid, signal);
        }
        // Already gone, or another process by now.
        Ok(_) | Err(_) => {}
    }
}

fn is_same(process: &Process) -> bool {
    Process::read(process.pid).is_some_and(|now| now.started == process.started)
}

fn pid(raw: u32) -> Option<Pid> {
    Pid::from_raw(raw.cast_signed())
}
