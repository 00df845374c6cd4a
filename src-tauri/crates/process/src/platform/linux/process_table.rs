//! Reading `/proc`; the formats are those of proc(5).

use std::{
    collections::{HashMap, HashSet},
    fs,
    os::unix::ffi::OsStrExt,
};

use crate::Mark;

/// One process as `/proc/<pid>/stat` shows it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// Ended, not yet collected by its parent.
    pub(crate) zombie: bool,
    /// Clock ticks since boot: with the id it names a process for good.
    pub(crate) started: u64,
}

impl Process {
    pub(crate) fn read(pid: u32) -> Option<Self> {
        let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name in brackets may hold anything, brackets and spaces included.
        let end = text.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(text.get(end + 1..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Self {
            pid,
            zombie: matches!(*fields.first()?, "Z" | "X" | "x"),
            parent: number(1)? as u32,
            group: number(2)? as u32,
            session: number(3)? as u32,
            started: number(19)?,
        })
    }
}

/// All process ids.
pub(crate) fn pids() -> Vec<u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// The mark a process carries in its limits. World-readable, and still there in a zombie.
pub(crate) fn mark(pid: u32) -> Option<Mark> {
    let text = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("Max file locks"))?;
    Mark::from_value(line.split_ascii_whitespace().next()?.parse().ok()?)
}

/// A variable of the environment a process was started with.
pub(crate) fn variable(pid: u32, name: &str) -> Option<String> {
    let text = fs::read(format!("/proc/{pid}/environ")).ok()?;
    text.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(
            std::ffi::OsStr::from_bytes(value)
                .to_string_lossy()
                .into_owned(),
        )
    })
}

/// Finds the members of a tree or a run, scan after scan.
pub(crate) struct Search<'a> {
    /// Belongs to us by what it carries itself.
    pub(crate) carries: &'a dyn Fn(u32) -> bool,
    /// Root of the tree and when it started, where there is one.
    pub(crate) root: Option<(u32, u64)>,
    /// Never touched: this process and its parents.
    spared: HashSet<u32>,
    /// Answers of earlier scans, so that a scan of thousands of processes stays cheap.
    known: HashMap<(u32, u64), bool>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(root: Option<(u32, u64)>, carries: &'a dyn Fn(u32) -> bool) -> Self {
        let own = std::process::id();
        let mut spared: HashSet<u32> = super::parents(own).into_iter().collect();
        spared.insert(own);
        Self {
            carries,
            root,
            spared,
            known: HashMap::new(),
        }
    }

    /// Members, zombies included.
    pub(crate) fn scan(&mut self) -> Vec<Process> {
        // A descendant is never older than the root, which spares reading the rest of the system.
        let oldest = self.root.map_or(0, |(_, started)| started);
        let processes: Vec<Process> = pids()
            .into_iter()
            .filter(|pid| !self.spared.contains(pid))
            .filter_map(Process::read)
            .filter(|process| process.started >= oldest)
            .collect();
        let root_reused = self.root.is_some_and(|(root, started)| {
            processes
                .iter()
                .any(|process| process.pid == root && process.started != started)
        });
        let mut members: HashSet<u32> = HashSet::new();
        for process in &processes {
            let in_session = !root_reused
                && self
                    .root
                    .is_some_and(|(root, _)| process.session == root || process.group == root);
            let key = (process.pid, process.started);
            let carries = *self
                .known
                .entry(key)
                .or_insert_with(|| (self.carries)(process.pid));
            if in_session || carries {
                members.insert(process.pid);
            }
        }
        // Children of members are members, whatever they carry.
        loop {
            let before = members.len();
            for process in &processes {
                if members.contains(&process.parent) {
                    members.insert(process.pid);
                }
            }
            if members.len() == before {
                break;
            }
        }
        processes
            .into_iter()
            .filter(|process| members.contains(&process.pid))
            .collect()
    }
}
