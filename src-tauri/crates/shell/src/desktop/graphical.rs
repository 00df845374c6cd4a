//! Which programs are known to have windows: what a rule for all programs may open.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    Places, Program, TERMINALS,
    entry::{Entry, words},
    shortcut,
};

/// Folders of shortcuts within folders of shortcuts.
const DEPTH: usize = 4;

impl Places {
    /// An application of the system's menu with these arguments, an application bundle, or the
    /// owner of a window.
    pub(super) fn is_graphical(&self, program: &Program) -> bool {
        is_bundle(&program.path)
            || self.has_entry(program)
            || self.has_shortcut(&program.path)
            || self.shows_window(&program.path)
    }

    /// One executable with several names, of which one is that of a terminal: a link keeps its
    /// target's name for everybody to see, a second name for the same file does not.
    pub(super) fn is_terminal_by_another_name(&self, path: &Path) -> bool {
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            let Ok(own) = fs::metadata(path) else {
                return false;
            };
            own.nlink() > 1
                && self.path.iter().any(|folder| {
                    TERMINALS.iter().any(|name| {
                        fs::metadata(folder.join(name))
                            .is_ok_and(|other| (other.dev(), other.ino()) == (own.dev(), own.ino()))
                    })
                })
        }
        #[cfg(not(unix))]
        {
            let _ = (path, TERMINALS);
            false
        }
    }

    fn has_entry(&self, program: &Program) -> bool {
        let identity = identity(&program.path);
        self.data
            .iter()
            .filter(|folder| !self.is_writable(folder))
            .flat_map(|folder| Entry::all(folder))
            .filter(|(_, entry)| !entry.terminal)
            .any(|(_, entry)| self.names(&entry, &identity, program))
    }

    /// The entry starts this program, and not only something that this program starts in turn:
    /// `flatpak run org.example` says nothing about `flatpak`.
    fn names(&self, entry: &Entry, wanted: &Path, program: &Program) -> bool {
        let words = words(&entry.exec);
        let mut words = words.as_slice();
        // Sets variables, then becomes the program.
        if words
            .first()
            .is_some_and(|word| word == "env" || word.ends_with("/env"))
        {
            let at = words.iter().skip(1).position(|word| !word.contains('='));
            words = at.map_or(&[], |at| &words[at + 1..]);
        }
        let Some((first, arguments)) = words.split_first() else {
            return false;
        };
        let given = arguments.iter().all(|word| word.starts_with('-'))
            || program.arguments.starts_with(arguments);
        given
            && self
                .executable(first)
                .is_some_and(|path| identity(&path) == wanted)
    }

    fn has_shortcut(&self, path: &Path) -> bool {
        self.start_menu
            .iter()
            .filter(|folder| !self.is_writable(folder))
            .any(|folder| leads_to(folder, path, 0))
    }

    fn shows_window(&self, path: &Path) -> bool {
        let Some(windows) = &self.windows else {
            return false;
        };
        let wanted = identity(path);
        windows().into_iter().any(|process| {
            fs::read_link(format!("/proc/{process}/exe")).is_ok_and(|program| program == wanted)
        })
    }

    fn is_writable(&self, folder: &Path) -> bool {
        let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        self.writable
            .iter()
            .any(|writable| folder.starts_with(writable))
    }
}

/// The executable a path leads to. Programs that share one and act by the name they are called by
/// are told apart by that name.
fn identity(path: &Path) -> PathBuf {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match target.file_name().and_then(|name| name.to_str()) {
        Some("snap" | "busybox") => path.to_owned(),
        _ => target,
    }
}

/// `Name.app/Contents/MacOS/Name`, as macOS lays applications out.
fn is_bundle(path: &Path) -> bool {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut folders = path.ancestors().skip(1);
    folders
        .next()
        .is_some_and(|folder| folder.ends_with("Contents/MacOS"))
        && folders
            .nth(1)
            .is_some_and(|bundle| bundle.extension().is_some_and(|end| end == "app"))
}

fn leads_to(folder: &Path, path: &Path, depth: usize) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|entry| {
        if entry.is_dir() {
            return depth < DEPTH && leads_to(&entry, path, depth + 1);
        }
        let is_shortcut = entry
            .extension()
            .is_some_and(|end| end.eq_ignore_ascii_case("lnk"));
        is_shortcut
            && fs::read(&entry)
                .ok()
                .and_then(|bytes| shortcut::target(&bytes))
                .is_some_and(|target| target.eq_ignore_ascii_case(&path.to_string_lossy()))
    })
}
