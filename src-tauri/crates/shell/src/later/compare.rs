//! What changed between two looks, and what has to be done about it.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::{
    Approval,
    git_config::{self, Entry},
    scan::{Identity, Item, Picture, Role, Roots, identity, is_folder},
};
use crate::place::Thing;

/// One thing to put back.
#[derive(Debug, Clone)]
pub(super) enum Change {
    /// A git folder was renamed or moved out of its work tree.
    Moved { from: PathBuf, to: PathBuf },
    /// It was not there.
    New { path: PathBuf, leads_away: bool },
    /// It was different, or is gone.
    Different {
        path: PathBuf,
        old: Box<Item>,
        gone: bool,
    },
    /// Settings that run something came into it; `content` is without them.
    Settings {
        path: PathBuf,
        content: Vec<u8>,
        names: Vec<String>,
    },
}

/// Two pictures of the same folders.
pub(super) struct Comparison<'a> {
    pub(super) roots: &'a Roots,
    pub(super) before: &'a Picture,
    pub(super) after: &'a Picture,
    pub(super) approvals: &'a [Approval],
    /// Commands run: what is gone may be on its way (`rm -r`, `mv`), and runs nothing meanwhile.
    pub(super) is_underway: bool,
}

/// What identifies a file when the folders around it are renamed.
type Key = (Identity, PathBuf);

fn key(path: &Path, item: &Item) -> Key {
    let within = path.strip_prefix(&item.anchor).unwrap_or(path);
    (item.anchor_identity, within.to_owned())
}

impl Comparison<'_> {
    /// Git folders that were taken out of a work tree that stayed where it was.
    pub(super) fn moved(&self) -> Vec<Change> {
        if self.is_underway {
            return Vec::new();
        }
        let dots = self.before.gits.iter().filter(|(path, git)| {
            path.ends_with(".git")
                && path.parent().and_then(identity) == Some(git.parent)
                && identity(path) != Some(git.identity)
        });
        dots.filter_map(|(to, git)| {
            let mut found = self.after.gits.iter();
            let (from, _) = found.find(|(_, now)| now.identity == git.identity)?;
            // `git submodule absorbgitdirs` does this: the same folder is used as before.
            let pointer = self.after.items.get(to);
            let absorbed = pointer.and_then(|item| item.leads_to.as_ref()) == Some(from)
                && from.iter().any(|part| part == "modules");
            (!absorbed).then(|| Change::Moved {
                from: from.clone(),
                to: to.clone(),
            })
        })
        .collect()
    }

    /// Everything else, and the picture as it will be once that is put back.
    pub(super) fn changes(&self) -> (Vec<Change>, Picture) {
        let mut known: HashMap<Key, (&PathBuf, &Item)> = HashMap::new();
        for (path, item) in &self.before.items {
            known.insert(key(path, item), (path, item));
        }
        let mut next = self.after.clone();
        if self.is_underway {
            // Where they belong is asked once the command has ended.
            let known = self.before.gits.iter();
            next.gits
                .extend(known.map(|(path, git)| (path.clone(), *git)));
        }
        let mut changes = Vec::new();
        for (path, now) in &self.after.items {
            let old = known.remove(&key(path, now)).map(|(_, item)| item);
            let Some(change) = self.judge(path, old, now) else {
                continue;
            };
            if self.is_approved(path, now.role, false) {
                continue;
            }
            match (&change, old) {
                (Change::Different { .. } | Change::Settings { .. }, Some(old)) => {
                    let old = Item {
                        anchor: now.anchor.clone(),
                        git: now.git.clone(),
                        ..old.clone()
                    };
                    next.items.insert(path.clone(), old);
                }
                _ => {
                    next.items.remove(path);
                }
            }
            changes.push(change);
        }
        let mut gone: Vec<(&PathBuf, &Item)> = known.into_values().collect();
        gone.sort_by_key(|(path, _)| *path);
        for (path, item) in gone {
            if self.is_underway {
                next.items.insert(path.clone(), item.clone());
                continue;
            }
            // The whole folder is gone or went elsewhere: there is nothing that could run it.
            let stays = identity(&item.anchor) == Some(item.anchor_identity)
                && item.git.as_deref().is_none_or(is_folder);
            if stays && !self.is_approved(path, item.role, true) {
                next.items.insert(path.clone(), item.clone());
                changes.push(Change::Different {
                    path: path.clone(),
                    old: Box::new(item.clone()),
                    gone: true,
                });
            }
        }
        (changes, next)
    }

    fn is_approved(&self, path: &Path, role: Role, is_gone: bool) -> bool {
        self.approvals
            .iter()
            .any(|approval| approval.covers(path, role, is_gone))
    }

    fn judge(&self, path: &Path, old: Option<&Item>, now: &Item) -> Option<Change> {
        if old.is_some_and(|old| is_same(old, now)) {
            return None;
        }
        if old.is_none() && self.before.incomplete && self.is_older(path) {
            return None;
        }
        let put_back = || match old {
            Some(old) => Change::Different {
                path: path.to_owned(),
                old: Box::new(old.clone()),
                gone: false,
            },
            None => Change::New {
                path: path.to_owned(),
                leads_away: now.role == Role::Pointer,
            },
        };
        match now.role {
            Role::Whole => Some(put_back()),
            Role::Pointer => {
                // What it leads to is looked at as well, as long as it stays in reach.
                let in_reach = now
                    .leads_to
                    .as_ref()
                    .is_some_and(|target| self.roots.contain(target));
                let replaces = old.is_some() || self.before.gits.contains_key(path);
                let same_place = |target: &PathBuf| {
                    self.before.gits.get(path).map(|git| git.identity) == identity(target)
                };
                let fine = in_reach && (!replaces || now.leads_to.as_ref().is_some_and(same_place));
                (!fine).then(put_back)
            }
            Role::Config => self.settings(path, old, now, put_back),
        }
    }

    fn settings(
        &self,
        path: &Path,
        old: Option<&Item>,
        now: &Item,
        put_back: impl Fn() -> Change,
    ) -> Option<Change> {
        let Some(content) = content(&now.thing) else {
            return Some(put_back());
        };
        let Some(entries) = git_config::parse(content) else {
            return Some(put_back());
        };
        let folder = path.parent().unwrap_or(path);
        let runs = |entry: &&Entry| entry.runs_something(folder, &self.roots.folders);
        let before = old.and_then(|old| content_entries(&old.thing));
        let mut lost: Vec<&Entry> = before.iter().flatten().filter(runs).collect();
        let mut added: Vec<&Entry> = Vec::new();
        for entry in entries.iter().filter(runs) {
            let same = |known: &&Entry| (&known.key, &known.value) == (&entry.key, &entry.value);
            match lost.iter().position(same) {
                Some(at) => {
                    lost.remove(at);
                }
                None => added.push(entry),
            }
        }
        // An old file nobody could read is no measure for the new one.
        if !lost.is_empty() || (old.is_some() && before.is_none()) {
            return Some(put_back());
        }
        if added.is_empty() {
            return None;
        }
        let mut names: Vec<String> = added.iter().map(|entry| entry.key.clone()).collect();
        names.dedup();
        let left = git_config::without(content, &added);
        let kept = git_config::parse(&left);
        let clean = kept
            .as_ref()
            .is_some_and(|kept| kept.len() + added.len() == entries.len());
        if !clean {
            return Some(put_back());
        }
        // Without empty sections where that is all that came.
        let said = |entries: &Option<Vec<Entry>>| -> Option<Vec<(String, Option<String>)>> {
            let entries = entries.as_ref()?.iter();
            Some(
                entries
                    .map(|entry| (entry.key.clone(), entry.value.clone()))
                    .collect(),
            )
        };
        let as_before = old.and_then(|old| self::content(&old.thing));
        let left = match as_before {
            Some(old) if said(&before) == said(&kept) => old.to_vec(),
            _ => left,
        };
        Some(Change::Settings {
            path: path.to_owned(),
            content: left,
            names,
        })
    }

    /// It had not been seen because there was too much to look at, but was there: this time cannot
    /// be set by a program.
    fn is_older(&self, path: &Path) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let begun = self.before.taken.duration_since(std::time::UNIX_EPOCH);
            let begun = begun.map_or(0, |time| time.as_secs().cast_signed());
            std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.ctime() < begun)
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            true
        }
    }
}

fn content(thing: &Thing) -> Option<&[u8]> {
    match thing {
        Thing::File { content, .. } => content.as_deref(),
        Thing::Link(_) | Thing::Folder | Thing::Other => None,
    }
}

fn content_entries(thing: &Thing) -> Option<Vec<Entry>> {
    git_config::parse(content(thing)?)
}

fn is_same(old: &Item, now: &Item) -> bool {
    match (&old.thing, &now.thing) {
        // Too large to be held: only whether it was touched can be told.
        (Thing::File { content: None, .. }, Thing::File { content: None, .. }) => {
            old.print == now.print
        }
        (
            Thing::File {
                content: before,
                facts: old,
            },
            Thing::File {
                content: after,
                facts: now,
            },
        ) => old.same_rights(now) && before == after,
        (old, now) => old == now,
    }
}
