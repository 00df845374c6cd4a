//! Installed programs: where they are, and which of them run what is typed into them.

use std::{
    fs,
    path::{Path, PathBuf},
};

mod entry;
mod graphical;
mod shortcut;

use entry::{Entry, words};

/// Terminal emulators, shells, interpreters, and programs that run other programs: opening one is
/// as good as running a command without a sandbox.
const TERMINALS: &[&str] = &[
    "alacritty",
    "awk",
    "bash",
    "busybox",
    "cmd",
    "contour",
    "cool-retro-term",
    "csh",
    "dash",
    "dbus-launch",
    "dbus-run-session",
    "deepin-terminal",
    "deno",
    "doas",
    "dmenu_run",
    "emacs",
    "env",
    "fish",
    "flatpak-spawn",
    "foot",
    "footclient",
    "gdb",
    "ghostty",
    "gnome-terminal",
    "guake",
    "hyper",
    "iterm2",
    "kgx",
    "kitty",
    "konsole",
    "krunner",
    "ksh",
    "ld-linux-x86-64.so.2",
    "lua",
    "lxterminal",
    "make",
    "mate-terminal",
    "mintty",
    "mlterm",
    "nice",
    "node",
    "nohup",
    "nu",
    "perl",
    "php",
    "pkexec",
    "powershell",
    "ptyxis",
    "pwsh",
    "python",
    "qterminal",
    "rofi",
    "roxterm",
    "ruby",
    "rxvt",
    "sakura",
    "screen",
    "setsid",
    "sh",
    "ssh",
    "st",
    "stdbuf",
    "su",
    "sudo",
    "systemd-run",
    "tclsh",
    "terminal",
    "terminator",
    "terminology",
    "tilda",
    "tilix",
    "timeout",
    "tmux",
    "urxvt",
    "uxterm",
    "watch",
    "wezterm",
    "wezterm-gui",
    "wish",
    "wofi",
    "x-terminal-emulator",
    "xargs",
    "xfce4-appfinder",
    "xfce4-terminal",
    "xonsh",
    "xterm",
    "xvfb-run",
    "yakuake",
    "zsh",
    "zutty",
];

/// Runs what is typed into it, or what it is given as an argument. `name` is an executable's base
/// name; versions at its end (`python3.11`) do not count.
pub fn is_terminal(name: &str) -> bool {
    let name = name.to_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    let unversioned = name.trim_end_matches(|character: char| {
        character.is_ascii_digit() || character == '.' || character == '-'
    });
    TERMINALS.contains(&name) || TERMINALS.contains(&unversioned)
}

/// An installed program, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// The executable, as it is to be called: a link keeps its name, because some programs act
    /// by the name they are called by.
    pub path: PathBuf,
    /// Arguments its entry in the menu prescribes.
    pub arguments: Vec<String>,
    /// Lower-case base name of the executable the path leads to.
    pub name: String,
    /// See [`is_terminal`]; true when the name it is called by, or the one it leads to, is one.
    pub terminal: bool,
    /// The system's menu knows it as an application with windows of its own, or it shows one. Never
    /// with `terminal`.
    pub graphical: bool,
}

impl Program {
    fn at(path: PathBuf, arguments: Vec<String>, terminal: bool) -> Self {
        let called = base_name(&path);
        let target =
            fs::canonicalize(&path).map_or_else(|_| called.clone(), |path| base_name(&path));
        // One executable stands for all snaps, and for all of busybox.
        let name = if matches!(target.as_str(), "snap" | "busybox") {
            called.clone()
        } else {
            target.clone()
        };
        Self {
            terminal: terminal || is_terminal(&called) || is_terminal(&target),
            path,
            arguments,
            name,
            graphical: false,
        }
    }
}

/// Ids of the processes that show a window now.
pub type WindowOwners = std::sync::Arc<dyn Fn() -> Vec<u32> + Send + Sync>;

/// Where programs are looked for.
#[derive(Clone, Default)]
pub struct Places {
    /// Folders of executables, first one wins.
    pub path: Vec<PathBuf>,
    /// Folders with `applications/*.desktop` (XDG base directories), first one wins.
    pub data: Vec<PathBuf>,
    /// Folders of the Start menu, with its shortcuts.
    pub start_menu: Vec<PathBuf>,
    /// Where a run may write: an entry there says nothing about a program.
    pub writable: Vec<PathBuf>,
    /// Who shows a window now, where that can be told.
    pub windows: Option<WindowOwners>,
}

impl Places {
    /// Finds a program by path, by the name of a command, or by the name of an application
    /// (identifier or title of its desktop entry, whatever the case).
    pub fn find(&self, program: &str) -> Option<Program> {
        let mut found = self.lookup(program)?;
        found.terminal |= self.is_terminal_by_another_name(&found.path);
        found.graphical = !found.terminal && self.is_graphical(&found);
        Some(found)
    }

    fn lookup(&self, program: &str) -> Option<Program> {
        if program.contains('/') {
            let path = PathBuf::from(program);
            return is_executable(&path).then(|| Program::at(path, Vec::new(), false));
        }
        self.command(program)
            .map(|path| Program::at(path, Vec::new(), false))
            .or_else(|| self.application(program))
    }

    /// The executable a word of an `Exec` line means.
    fn executable(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            Some(PathBuf::from(program)).filter(|path| is_executable(path))
        } else {
            self.command(program)
        }
    }

    fn command(&self, name: &str) -> Option<PathBuf> {
        self.path
            .iter()
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|path| is_executable(path))
    }

    fn application(&self, wanted: &str) -> Option<Program> {
        let wanted = wanted.trim_end_matches(".desktop");
        let mut by_title = None;
        for folder in &self.data {
            for (id, entry) in Entry::all(folder) {
                let short = id.rsplit('.').next().unwrap_or(&id);
                if id.eq_ignore_ascii_case(wanted) || short.eq_ignore_ascii_case(wanted) {
                    return self.start(&entry);
                }
                if by_title.is_none() && entry.title.to_lowercase() == wanted.to_lowercase() {
                    by_title = Some(entry);
                }
            }
        }
        by_title.and_then(|entry| self.start(&entry))
    }

    fn start(&self, entry: &Entry) -> Option<Program> {
        let mut words = words(&entry.exec).into_iter();
        let path = self.executable(&words.next()?)?;
        Some(Program::at(path, words.collect(), entry.terminal))
    }
}

fn base_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().to_lowercase()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &Path) -> bool {
    path.is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions and cases do not hide an interpreter.
    #[test]
    fn terminals_are_known() {
        for name in [
            "xterm",
            "python3.11",
            "Bash",
            "perl5",
            "gnome-terminal",
            "cmd.exe",
        ] {
            assert!(is_terminal(name), "{name}");
        }
        for name in ["mousepad", "chromium", "gimp-2.10", "st0rm", "makepad"] {
            assert!(!is_terminal(name), "{name}");
        }
    }
}
