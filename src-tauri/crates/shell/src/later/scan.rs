//! A bounded look at the files of the writable folders that something runs later.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet, VecDeque},
    ffi::{OsStr, OsString},
    fs::{self, Metadata},
    path::{Component, Path, PathBuf},
    time::{Duration, Instant},
};

use openspace_grounding::{
    Folders,
    policy::{RUNS_LATER, runs_later},
};
use tokio_util::sync::CancellationToken;

use super::git_config;
use crate::{
    path,
    place::{Place, Thing},
    workspace::{Print, print},
};

/// Most entries of folders that are looked at. Known places come first, then what lies nearest.
const ENTRIES: usize = 400_000;
/// Longest look.
const TIME: Duration = Duration::from_secs(5);
/// Most files that are kept an eye on.
const ITEMS: usize = 8192;
/// Largest file whose content is held in memory to be put back.
pub(super) const HELD: u64 = 1024 * 1024;
/// All contents together.
const HELD_TOTAL: u64 = 64 * 1024 * 1024;
/// Folders within a folder of hooks or settings.
const DEPTH: usize = 8;

/// Device and number of a folder: stays the same when it is renamed.
pub(super) type Identity = (u64, u64);

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// All of it counts.
    Whole,
    /// Settings of git: only those count that run something.
    Config,
    /// Leads git to a folder: `.git` as a file or link, `commondir`.
    Pointer,
}

/// A file as it was found.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) role: Role,
    pub(super) thing: Thing,
    /// The folder whose meaning makes the file run (the work tree, the bare repository).
    pub(super) anchor: PathBuf,
    pub(super) anchor_identity: Identity,
    /// The git folder it belongs to.
    pub(super) git: Option<PathBuf>,
    /// Where a pointer leads.
    pub(super) leads_to: Option<PathBuf>,
    pub(super) print: Print,
}

/// A `.git` folder, or one that is laid out like it.
#[derive(Debug, Clone, Copy)]
pub(super) struct GitFolder {
    pub(super) identity: Identity,
    pub(super) parent: Identity,
}

/// Where commands may write.
#[derive(Debug, Clone)]
pub(super) struct Roots {
    pub(super) folders: Vec<PathBuf>,
    left_out: Vec<PathBuf>,
    /// Folder of every work tree the person's own settings take hooks from.
    hooks: Vec<PathBuf>,
}

impl Roots {
    /// Reads the settings of the person and of the machine.
    pub(super) fn new(folders: &Folders, home: &Path) -> Self {
        let given = std::iter::once(&folders.workspace).chain(&folders.allowed);
        let mut left_out = folders.protected.clone();
        // Thrown away after the run, and nobody works there.
        left_out.push(folders.scratch.clone());
        Self {
            folders: given.cloned().collect(),
            left_out,
            hooks: hooks_everywhere(home),
        }
    }

    pub(super) fn contain(&self, path: &Path) -> bool {
        self.folders.iter().any(|root| path.starts_with(root)) && !self.leaves_out(path)
    }

    fn leaves_out(&self, path: &Path) -> bool {
        self.left_out.iter().any(|folder| path.starts_with(folder))
    }
}

/// The files at one moment.
#[derive(Debug, Clone)]
pub(super) struct Picture {
    pub(super) items: BTreeMap<PathBuf, Item>,
    pub(super) gits: BTreeMap<PathBuf, GitFolder>,
    /// Folders outside of git folders that settings take hooks from.
    hook_folders: BTreeSet<PathBuf>,
    /// There was more than is looked at.
    pub(super) incomplete: bool,
    #[cfg(unix)]
    pub(super) taken: std::time::SystemTime,
}

impl Picture {
    /// Blocks for up to five seconds. With an `earlier` picture its places are looked at first, and
    /// hooks are where they were then. With `trust_prints` files that seem untouched are not read
    /// again: quick, but a change within the clock's resolution is missed. Once it is cancelled, what it
    /// answers is nothing to compare with.
    pub(super) fn take(
        roots: &Roots,
        earlier: Option<&Self>,
        trust_prints: bool,
        cancel: &CancellationToken,
    ) -> Self {
        let mut scan = Scan {
            roots,
            earlier,
            trust_prints,
            cancel,
            begun: Instant::now(),
            entries: 0,
            held: 0,
            sought: HashSet::new(),
            seen: HashSet::new(),
            queue: VecDeque::new(),
            picture: Self {
                items: BTreeMap::new(),
                gits: BTreeMap::new(),
                hook_folders: BTreeSet::new(),
                incomplete: false,
                #[cfg(unix)]
                taken: std::time::SystemTime::now(),
            },
        };
        scan.known();
        scan.queue.extend(roots.folders.iter().cloned());
        while let Some(folder) = scan.queue.pop_front() {
            if scan.is_spent() {
                scan.picture.incomplete = true;
                break;
            }
            scan.folder(&folder);
        }
        let hooks: Vec<PathBuf> = match earlier {
            Some(earlier) => earlier.hook_folders.iter().cloned().collect(),
            None => scan.configured(),
        };
        for folder in hooks {
            scan.tree(&folder, &folder, None, 0);
            scan.picture.hook_folders.insert(folder);
        }
        scan.picture
    }

    /// A change of this file could be one of those that are looked for.
    pub(super) fn concerns(&self, path: &Path) -> bool {
        let mut folders = self.hook_folders.iter().chain(self.gits.keys());
        runs_later(path)
            || self.items.contains_key(path)
            || folders.any(|folder| path.starts_with(folder))
    }
}

struct Scan<'a> {
    roots: &'a Roots,
    earlier: Option<&'a Picture>,
    trust_prints: bool,
    cancel: &'a CancellationToken,
    begun: Instant,
    entries: usize,
    held: u64,
    /// Git folders of the earlier picture, wherever they are now.
    sought: HashSet<Identity>,
    seen: HashSet<PathBuf>,
    queue: VecDeque<PathBuf>,
    picture: Picture,
}

impl Scan<'_> {
    fn is_spent(&self) -> bool {
        self.entries > ENTRIES
            || self.picture.items.len() > ITEMS
            || self.begun.elapsed() > TIME
            || self.cancel.is_cancelled()
    }

    /// What the earlier picture had, so that no flood of files can hide it.
    fn known(&mut self) {
        let Some(earlier) = self.earlier else { return };
        self.sought = earlier.gits.values().map(|git| git.identity).collect();
        for path in earlier.gits.keys() {
            if is_folder(path) {
                self.git(path);
            }
        }
        for (path, item) in &earlier.items {
            if item.git.is_none() {
                self.item(path, item.role, &item.anchor, None);
            }
        }
    }

    fn folder(&mut self, folder: &Path) {
        if self.roots.leaves_out(folder) || !self.seen.insert(folder.to_owned()) {
            return;
        }
        let mut entries: Vec<(OsString, bool)> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .take(ENTRIES)
            .map(|entry| {
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                (entry.file_name(), is_folder)
            })
            .collect();
        entries.sort();
        self.entries += entries.len();
        let has = |name: &str| {
            let name = OsStr::new(name);
            entries
                .binary_search_by(|entry| entry.0.as_os_str().cmp(name))
                .is_ok()
        };
        let laid_out = has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
        let is_dot = folder.file_name() == Some(OsStr::new(".git"));
        let moved = || identity(folder).is_some_and(|identity| self.sought.contains(&identity));
        if is_dot || laid_out || moved() {
            self.git(folder);
            return;
        }
        for (name, is_folder) in entries {
            let path = folder.join(&name);
            if name == ".git" && !is_folder {
                self.item(&path, Role::Pointer, folder, None);
                self.hooks_of_work_tree(folder);
            } else if let Some(anchor) = anchor_of(&path, &name) {
                if is_folder {
                    self.tree(&path, &anchor, None, 0);
                } else {
                    self.item(&path, Role::Whole, &anchor, None);
                }
            } else if is_folder {
                self.queue.push_back(path);
            }
        }
    }

    /// A git folder, and those of its submodules and worktrees.
    fn git(&mut self, git: &Path) {
        let Some(own) = identity(git) else { return };
        let parent = git.parent().unwrap_or(git);
        let folder = GitFolder {
            identity: own,
            parent: identity(parent).unwrap_or(own),
        };
        if self.picture.gits.insert(git.to_owned(), folder).is_some() {
            return;
        }
        // A bare repository is used from within; `.git` from the folder around it.
        let is_dot = git.file_name() == Some(OsStr::new(".git"));
        let anchor = if is_dot { parent } else { git };
        for name in ["config", "config.worktree"] {
            self.item(&git.join(name), Role::Config, anchor, Some(git));
        }
        self.item(&git.join("commondir"), Role::Pointer, anchor, Some(git));
        let hooks = git.join("hooks");
        if is_folder(&hooks) {
            self.tree(&hooks, anchor, Some(git), 0);
        } else {
            self.item(&hooks, Role::Whole, anchor, Some(git));
            if let Ok(target) = path::follow(&hooks)
                && target != hooks
                && self.roots.contain(&target)
                && self
                    .earlier
                    .is_none_or(|earlier| earlier.hook_folders.contains(&target))
            {
                self.picture.hook_folders.insert(target);
            }
        }
        self.hooks_of_work_tree(anchor);
        for inner in ["modules", "worktrees"] {
            if is_folder(&git.join(inner)) {
                self.queue.push_back(git.join(inner));
            }
        }
    }

    /// Where the person's own settings take hooks from in every work tree.
    fn hooks_of_work_tree(&mut self, work: &Path) {
        for name in &self.roots.hooks {
            let folder = work.join(name);
            if is_folder(&folder) {
                self.tree(&folder, work, None, 0);
            }
        }
    }

    /// Everything in a folder of hooks or settings.
    fn tree(&mut self, folder: &Path, anchor: &Path, git: Option<&Path>, depth: usize) {
        if depth > DEPTH || self.is_spent() {
            self.picture.incomplete = true;
            return;
        }
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            self.entries += 1;
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.tree(&path, anchor, git, depth + 1);
            } else if !(git.is_some() && is_sample(&path)) {
                self.item(&path, Role::Whole, anchor, git);
            }
        }
    }

    fn item(&mut self, path: &Path, role: Role, anchor: &Path, git: Option<&Path>) {
        if self.picture.items.contains_key(path) {
            return;
        }
        let Ok(metadata) = fs::symlink_metadata(path) else {
            return;
        };
        let Some(anchor_identity) = identity(anchor) else {
            return;
        };
        let print = print(&metadata);
        let same = self
            .earlier
            .filter(|_| self.trust_prints)
            .and_then(|earlier| earlier.items.get(path))
            .filter(|item| item.print == print);
        let thing = if let Some(item) = same {
            item.thing.clone()
        } else {
            let room = HELD_TOTAL.saturating_sub(self.held).min(HELD);
            match Place::open(path, false).and_then(|place| place.thing(room)) {
                Ok(thing) => thing,
                // Gone meanwhile, or a link was put in its way: the next look tells.
                Err(_) => return,
            }
        };
        if let Thing::File {
            content: Some(content),
            ..
        } = &thing
        {
            self.held += content.len() as u64;
        }
        let leads_to = (role == Role::Pointer)
            .then(|| leads_to(path, &thing))
            .flatten();
        if let Some(target) = &leads_to
            && self.roots.contain(target)
            && is_folder(target)
        {
            self.git(target);
        }
        self.picture.items.insert(
            path.to_owned(),
            Item {
                role,
                thing,
                anchor: anchor.to_owned(),
                anchor_identity,
                git: git.map(Path::to_owned),
                leads_to,
                print,
            },
        );
    }

    /// Where the repository these settings belong to is worked in.
    fn work_trees(&self, settings: &Item) -> Vec<PathBuf> {
        let mut works = vec![settings.anchor.clone()];
        let Some(git) = &settings.git else {
            return works;
        };
        for (path, pointer) in &self.picture.items {
            let Some(target) = pointer.leads_to.as_ref().filter(|_| pointer.git.is_none()) else {
                continue;
            };
            let shared = self.picture.items.get(&target.join("commondir"));
            let shared = shared.and_then(|item| item.leads_to.as_ref());
            if target == git || shared == Some(git) {
                works.extend(path.parent().map(Path::to_owned));
            }
        }
        works
    }

    /// Folders the settings take hooks from, as far as a command could write there.
    fn configured(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = self.picture.hook_folders.iter().cloned().collect();
        for item in self.picture.items.values() {
            let Thing::File {
                content: Some(content),
                ..
            } = &item.thing
            else {
                continue;
            };
            if item.role != Role::Config {
                continue;
            }
            let works = self.work_trees(item);
            for entry in git_config::parse(content).unwrap_or_default() {
                let named = works.iter().filter_map(|work| entry.hook_folder(work));
                folders.extend(
                    named
                        .filter_map(|folder| path::follow(&folder).ok())
                        // Not the whole workspace, of which every file would be a hook.
                        .filter(|folder| {
                            self.roots.contain(folder) && !self.roots.folders.contains(folder)
                        }),
                );
            }
        }
        folders
    }
}

/// Folders below every work tree that the settings of the person and of the machine name as the
/// place of hooks. Files these settings include are not read.
fn hooks_everywhere(home: &Path) -> Vec<PathBuf> {
    let files = [
        home.join(".gitconfig"),
        home.join(".config/git/config"),
        PathBuf::from("/etc/gitconfig"),
    ];
    let mut folders = Vec::new();
    for text in files.iter().filter_map(|file| fs::read(file).ok()) {
        for entry in git_config::parse(&text).unwrap_or_default() {
            let folder = entry.hook_folder(Path::new(""));
            folders.extend(folder.filter(|folder| {
                // An absolute one is nobody's work tree, and the tree itself is all of it.
                folder
                    .components()
                    .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
                    && folder
                        .components()
                        .any(|part| matches!(part, Component::Normal(_)))
            }));
        }
    }
    folders
}

/// Hooks that git leaves alone because of their name, as `git init` makes them.
fn is_sample(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("sample"))
}

/// The folder in which a name of the list gets its meaning, when this is one.
fn anchor_of(path: &Path, name: &OsStr) -> Option<PathBuf> {
    RUNS_LATER
        .iter()
        .filter(|pattern| {
            let last = pattern.rsplit('/').next().unwrap_or(pattern);
            name == last && path.ends_with(pattern)
        })
        .find_map(|pattern| path.ancestors().nth(pattern.split('/').count()))
        .map(Path::to_owned)
}

/// Where git goes from here.
fn leads_to(path: &Path, thing: &Thing) -> Option<PathBuf> {
    let folder = path.parent()?;
    let target = match thing {
        Thing::Link(target) => folder.join(target),
        Thing::File {
            content: Some(content),
            ..
        } => {
            let text = String::from_utf8_lossy(content);
            let text = text.trim_end_matches(['\n', '\r']);
            folder.join(text.strip_prefix("gitdir: ").unwrap_or(text))
        }
        Thing::File { .. } | Thing::Folder | Thing::Other => return None,
    };
    path::follow(&target).ok()
}

/// A folder, and no link to one.
pub(super) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Device and number of what is at the path, without following a link.
pub(super) fn identity(path: &Path) -> Option<Identity> {
    fs::symlink_metadata(path)
        .ok()
        .map(|metadata| number(&metadata))
}

#[cfg(unix)]
fn number(metadata: &Metadata) -> Identity {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

/// Nothing is compared where there is no sandbox; all folders are one there.
#[cfg(not(unix))]
fn number(_metadata: &Metadata) -> Identity {
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The look before a command hears a stop: it goes into no further folder.
    #[test]
    fn a_cancelled_look_ends_at_once() {
        let workspace = tempfile::tempdir().expect("a folder");
        let hooks = workspace.path().join("deep/.git/hooks");
        fs::create_dir_all(&hooks).expect("folders");
        fs::write(hooks.join("pre-commit"), "true").expect("written");
        let folders = Folders {
            workspace: workspace.path().to_owned(),
            allowed: Vec::new(),
            protected: Vec::new(),
            scratch: workspace.path().join("scratch"),
        };
        let roots = Roots::new(&folders, workspace.path());
        let cancel = CancellationToken::new();
        let whole = Picture::take(&roots, None, false, &cancel);
        assert_eq!((whole.items.len(), whole.incomplete), (1, false));
        cancel.cancel();
        let cut = Picture::take(&roots, None, false, &cancel);
        assert_eq!((cut.items.len(), cut.incomplete), (0, true));
    }
}
