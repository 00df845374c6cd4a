//! Which windows are ours, so that no picture of a run shows them.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use openspace_gui::{IsOurs, Owner};
use openspace_store::Store;

/// How the window system classes the windows of the app, of whichever installation. The practice
/// window has another class: runs may use it.
const CLASS: &str = "openspace-desktop";
/// How long a process counts as alive without another look.
const FRESH: Duration = Duration::from_secs(1);

/// Tells windows of ours from others: a process of this store shows them, or they say so themselves.
pub fn ours(store: Store) -> IsOurs {
    let processes = Mutex::new(Processes::default());
    Arc::new(move |owner: Owner<'_>| {
        let is_ours = |pid| {
            let mut processes = processes.lock().unwrap_or_else(PoisonError::into_inner);
            processes.has(pid, || alive(&store))
        };
        owner.class == CLASS || owner.pid.is_some_and(is_ours)
    })
}

fn alive(store: &Store) -> Option<HashSet<u32>> {
    match store.read_blocking(|db| db.instances().alive()) {
        Ok(alive) => Some(alive.into_iter().map(|row| row.pid).collect()),
        Err(error) => {
            tracing::warn!(%error, "asking which processes are ours");
            None
        }
    }
}

/// Processes, as far as they were asked about. Pictures are taken many times a second, and the store is
/// not read for each.
#[derive(Default)]
struct Processes {
    ours: HashSet<u32>,
    others: HashSet<u32>,
    read: Option<Instant>,
}

impl Processes {
    /// Whether it is one of ours. Whoever is new is looked up at once: a process of ours is in the store
    /// before it shows a window. What cannot be read stays as it was.
    fn has(&mut self, pid: u32, alive: impl FnOnce() -> Option<HashSet<u32>>) -> bool {
        let fresh = self.read.is_some_and(|read| read.elapsed() < FRESH);
        if !fresh || !(self.ours.contains(&pid) || self.others.contains(&pid)) {
            if let Some(alive) = alive() {
                self.others.retain(|pid| !alive.contains(pid));
                self.ours = alive;
                self.read = Some(Instant::now());
            }
            if !self.ours.contains(&pid) {
                self.others.insert(pid);
            }
        }
        self.ours.contains(&pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The store is read for a process that is new, and again after a while; a failing one changes
    /// nothing.
    #[test]
    fn the_store_is_read_seldom() {
        let mut processes = Processes::default();
        let mut reads = 0;
        let mut is_ours = |pid, alive: Option<&[u32]>| {
            processes.has(pid, || {
                reads += 1;
                alive.map(|alive| alive.iter().copied().collect())
            })
        };
        for _ in 0..3 {
            assert!(is_ours(7, Some(&[7])) && !is_ours(8, Some(&[7])));
        }
        assert!(is_ours(9, Some(&[7, 9])), "it has just begun");
        assert!(!is_ours(10, None) && is_ours(9, None));
        assert_eq!(reads, 4);
        processes.read = Instant::now().checked_sub(FRESH);
        assert!(
            !processes.has(9, || Some(HashSet::from([7]))),
            "it has ended"
        );
    }

    /// A window that says it is the app's is, and the practice window is not.
    #[test]
    fn classes_tell() {
        let folder = tempfile::tempdir().expect("a folder");
        let ours = ours(Store::open(folder.path()).expect("a store"));
        let is_ours = |class| ours(Owner { pid: None, class });
        assert!(is_ours(CLASS));
        assert!(!is_ours("openspace-practice") && !is_ours(""));
        let own = Owner {
            pid: Some(std::process::id()),
            class: "",
        };
        assert!(!ours(own), "this process uses no store as one of ours");
    }
}
