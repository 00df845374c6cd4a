//! Did a test leave processes, keys or buttons behind?

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::ConnectionExt;

use crate::home::{MARK_VARIABLE, Mark, TestHome};
use crate::screen::TestScreen;
use crate::wait::{poll, wait_until};

/// How long processes may take to end before they count as left behind.
const PATIENCE: Duration = Duration::from_secs(5);

/// A process that belongs to a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub id: u32,
    /// Parent's id.
    pub parent: u32,
    /// Command line, words joined by spaces; the name in brackets where it is empty.
    pub command: String,
}

/// Knows a test's processes by their mark, or by the temporary home they live in.
///
/// A command in a sandbox has a cleared environment, so a process also counts when its working
/// folder or its command line lies in the home, or when it descends from one that counts.
#[derive(Debug)]
pub struct LeakCheck {
    mark: Mark,
    root: PathBuf,
    before: Vec<u32>,
}

impl LeakCheck {
    /// Begins to watch; processes that already run (a screen of the test) don't count later.
    pub fn start(home: &TestHome) -> Self {
        let mut check = Self {
            mark: home.mark().clone(),
            root: home.root().to_owned(),
            before: Vec::new(),
        };
        check.before = check.processes().iter().map(|process| process.id).collect();
        check
    }

    /// The test's processes that were not there at the start.
    pub fn processes(&self) -> Vec<Process> {
        let all = all_processes();
        let mut ours: Vec<u32> = all
            .keys()
            .copied()
            .filter(|id| *id != std::process::id() && belongs(*id, &self.mark, &self.root))
            .collect();
        loop {
            let more: Vec<u32> = all
                .values()
                .filter(|process| ours.contains(&process.parent) && !ours.contains(&process.id))
                .map(|process| process.id)
                .collect();
            if more.is_empty() {
                break;
            }
            ours.extend(more);
        }
        ours.retain(|id| !self.before.contains(id));
        ours.sort_unstable();
        ours.iter().filter_map(|id| all.get(id).cloned()).collect()
    }

    /// Waits up to `limit` until none is left, and says which are.
    pub fn wait_gone(&self, limit: Duration) -> Vec<Process> {
        // A process that is just being replaced by its program belongs to nobody for a moment.
        let gone = wait_until(limit, || {
            self.processes().is_empty() && {
                std::thread::sleep(Duration::from_millis(20));
                self.processes().is_empty()
            }
        });
        if gone { Vec::new() } else { self.processes() }
    }

    /// Fails the test when a process outlives it by more than five seconds.
    pub fn assert_no_leak(&self) {
        let left = self.wait_gone(PATIENCE);
        assert!(left.is_empty(), "processes were left behind: {left:#?}");
    }
}

/// A test that fails midway leaves nothing behind either: a detached runner would go on for ever.
impl Drop for LeakCheck {
    fn drop(&mut self) {
        for process in self.processes() {
            let id = i32::try_from(process.id)
                .ok()
                .and_then(rustix::process::Pid::from_raw);
            if let Some(id) = id {
                // One that ended meanwhile is what was wanted.
                let _gone = rustix::process::kill_process(id, rustix::process::Signal::KILL);
            }
        }
    }
}

fn belongs(id: u32, mark: &Mark, root: &Path) -> bool {
    let folder = PathBuf::from(format!("/proc/{id}"));
    let wanted = format!("{MARK_VARIABLE}={}", mark.as_str());
    let marked = fs::read(folder.join("environ")).is_ok_and(|environment| {
        environment
            .split(|byte| *byte == 0)
            .any(|entry| entry == wanted.as_bytes())
    });
    let root_text = root.to_string_lossy();
    marked
        || fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd.starts_with(root))
        || fs::read(folder.join("cmdline"))
            .is_ok_and(|line| String::from_utf8_lossy(&line).contains(root_text.as_ref()))
}

/// Every process of the machine that is not a zombie.
fn all_processes() -> BTreeMap<u32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return BTreeMap::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|id| Some((id, describe(id)?)))
        .collect()
}

fn describe(id: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name is in brackets and may hold blanks and brackets itself.
    let (head, tail) = stat.rsplit_once(')')?;
    let mut fields = tail.split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    let line = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&line).replace('\0', " ");
    let command = if words.trim().is_empty() {
        format!("[{}]", head.split_once('(')?.1)
    } else {
        words.trim().to_owned()
    };
    Some(Process {
        id,
        parent,
        command,
    })
}

/// What is held down on a display.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pressed {
    /// X11 key codes.
    pub keys: Vec<u8>,
    /// Buttons 1 to 5, and modifiers, as the bits of an X11 key and button mask.
    pub mask: u16,
}

impl Pressed {
    /// Nothing is held down. A lock (Caps Lock, Num Lock) is a state and not a key held down.
    pub fn is_empty(&self) -> bool {
        /// Lock and Mod2, by convention Caps Lock and Num Lock; bits 13 and 14 are the layout.
        const LATCHED: u16 = 0x0002 | 0x0010 | 0x6000;
        self.keys.is_empty() && self.mask & !LATCHED == 0
    }
}

/// Asks the display which keys and buttons are down.
pub fn pressed(screen: &TestScreen) -> Result<Pressed> {
    let connection = screen.connection();
    let root = connection.setup().roots[screen.root_index()].root;
    let keymap = connection.query_keymap()?.reply()?.keys;
    let mask = connection.query_pointer(root)?.reply()?.mask;
    let keys = (0..=255_u8)
        .filter(|code| keymap[usize::from(code / 8)] & (1 << (code % 8)) != 0)
        .collect();
    Ok(Pressed {
        keys,
        mask: mask.into(),
    })
}

/// Waits up to `limit` until nothing is held down, and returns what then still is.
pub fn wait_released(screen: &TestScreen, limit: Duration) -> Result<Pressed> {
    let released = poll(limit, || match pressed(screen) {
        Ok(state) if !state.is_empty() => None,
        other => Some(other),
    });
    released.unwrap_or_else(|| pressed(screen))
}
