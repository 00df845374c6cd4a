//! Which program an action reaches, and whether it may be reached at all.

use std::fmt::Write as _;

use openspace_grounding::ScreenApp;

use crate::{Key, Window, key};

/// What nobody may click or type into, whatever a policy says.
pub trait OffLimits: Send + Sync {
    /// The window belongs to OpenSpace or waits for an answer to it.
    fn is_own(&self, window: &Window) -> bool;

    /// The keys that stop a run, pressed together; empty when there are none.
    fn stop_chord(&self) -> Vec<Key>;
}

/// Stands for text in a terminal that is not known: pastes, texts that broke off. No policy can read a
/// line with it as a command.
pub(crate) const UNKNOWN: char = '\u{16}';
/// A line nobody ends must not grow for ever; its end is what is judged.
const LONGEST: usize = 40_000;

/// Whether a window must not be touched: it is ours, or its title carries the marker.
pub(crate) fn is_own(
    off_limits: Option<&dyn OffLimits>,
    marker: Option<&str>,
    window: &Window,
) -> bool {
    marker.is_some_and(|marker| !marker.is_empty() && window.title.contains(marker))
        || off_limits.is_some_and(|off_limits| off_limits.is_own(window))
}

/// Window classes that run what is typed into them, beside those whose names say so.
const TERMINALS: [&str; 38] = [
    "alacritty",
    "albert",
    "cmd",
    "com.mitchellh.ghostty",
    "conhost",
    "console",
    "contour",
    "dmenu",
    "eterm",
    "foot",
    "footclient",
    "fuzzel",
    "ghostty",
    "gmrun",
    "guake",
    "hyper",
    "kgx",
    "kitty",
    "konsole",
    "krunner",
    "mintty",
    "org.gnome.console",
    "org.gnome.ptyxis",
    "org.kde.konsole",
    "org.kde.krunner",
    "powershell",
    "ptyxis",
    "pwsh",
    "rio",
    "rofi",
    "rxvt",
    "sakura",
    "st",
    "tabby",
    "tilda",
    "tilix",
    "urxvt",
    "yakuake",
];

/// The same for run dialogs and launchers that end in nothing telling.
const RUNNERS: [&str; 6] = [
    "lxqt-runner",
    "ulauncher",
    "wofi",
    "xfce4-appfinder",
    "xfrun4",
    "terminator",
];

/// Whether what is typed into a window of this class is run.
pub fn is_terminal(class: &str) -> bool {
    let class = class.to_lowercase();
    TERMINALS.contains(&class.as_str())
        || RUNNERS.contains(&class.as_str())
        || class.contains("terminal")
        || class.contains("terminology")
        || class.contains("wezterm")
        || class.contains("iterm")
        || class.ends_with("term")
        || class.starts_with("st-")
        || class.starts_with("warp")
}

/// The program behind a window; the bare screen where there is none. An own window has no title here:
/// it may tell of other tasks.
pub(crate) fn app_of(window: Option<&Window>, own: bool) -> ScreenApp {
    let Some(window) = window else {
        return ScreenApp {
            name: "desktop".into(),
            title: String::new(),
            terminal: false,
            own: false,
        };
    };
    let name = if window.class.is_empty() {
        "unknown".into()
    } else {
        window.class.to_lowercase()
    };
    ScreenApp {
        terminal: is_terminal(&name),
        name,
        title: if own {
            String::new()
        } else {
            window.title.clone()
        },
        own,
    }
}

/// What a chord sends to a terminal, so that a policy sees the same line the terminal will.
pub(crate) fn terminal_input(chord: &key::Chord) -> String {
    const CONTROL: [u32; 2] = [0xffe3, 0xffe4];
    const ALT: [u32; 4] = [0xffe7, 0xffe8, 0xffe9, 0xffea];
    let pressed = |wanted: &[u32]| chord.modifiers.iter().any(|key| wanted.contains(&key.0));
    let mut line = String::new();
    for one in &chord.keys {
        if pressed(&ALT) {
            line.push('\u{1b}');
        }
        match (key::to_char(*one), one.0) {
            (Some(character), _) if pressed(&CONTROL) => match character.to_ascii_uppercase() {
                upper @ '@'..='_' => line.push(char::from(upper as u8 & 0x1f)),
                other => line.push(other),
            },
            (Some(character), _) => line.push(character),
            (None, 0xff08) => line.push('\u{8}'),
            (None, 0xff1b) => line.push('\u{1b}'),
            (None, 0xffff) => line.push('\u{7f}'),
            (None, 0xff52) => line.push_str("\u{1b}[A"),
            (None, 0xff54) => line.push_str("\u{1b}[B"),
            (None, 0xff53) => line.push_str("\u{1b}[C"),
            (None, 0xff51) => line.push_str("\u{1b}[D"),
            // Whatever else it is, it must not look like plain text.
            (None, other) => {
                let _ = write!(line, "\u{1b}[{other:x}~");
            }
        }
    }
    line
}

/// Whether a chord pastes the clipboard.
pub(crate) fn is_paste(chord: &key::Chord) -> bool {
    let control = chord
        .modifiers
        .iter()
        .any(|key| matches!(key.0, 0xffe3 | 0xffe4 | 0xffeb));
    let shift = chord
        .modifiers
        .iter()
        .any(|key| matches!(key.0, 0xffe1 | 0xffe2));
    chord.keys.iter().any(|key| match key.0 {
        0x56 | 0x76 => control,
        0xff63 => shift,
        0x1008_ff6d => true,
        _ => false,
    })
}

/// The unfinished line after `typed` was added: what follows the last Return; what was rubbed out
/// or given up is gone.
pub(crate) fn pending_after(pending: &str, typed: &str) -> String {
    let mut line = String::new();
    for character in pending.chars().chain(typed.chars()) {
        match character {
            '\n' | '\u{3}' | '\u{15}' => line.clear(),
            '\u{8}' => {
                line.pop();
            }
            other => line.push(other),
        }
    }
    if line.len() > LONGEST {
        line = line.chars().skip(line.chars().count() / 2).collect();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &str) -> String {
        terminal_input(&key::parse_chord(text, key::KeyOptions::default()).unwrap())
    }

    /// Terminals and run dialogs are known by class, editors are not among them.
    #[test]
    fn terminals_are_known() {
        for class in [
            "xterm",
            "Gnome-terminal-server",
            "org.kde.konsole",
            "rofi",
            "st-256color",
        ] {
            assert!(is_terminal(class), "{class}");
        }
        for class in [
            "mousepad",
            "chromium",
            "gimp",
            "steam",
            "libreoffice-writer",
        ] {
            assert!(!is_terminal(class), "{class}");
        }
    }

    /// Chords reach the policy as the control characters they are.
    #[test]
    fn chords_become_control_characters() {
        assert_eq!(sent("Return"), "\n");
        assert_eq!(sent("ctrl+c"), "\u{3}");
        assert_eq!(sent("ctrl+m"), "\r");
        assert_eq!(sent("Up"), "\u{1b}[A");
        assert_eq!(sent("alt+b"), "\u{1b}b");
        assert!(sent("F5").starts_with('\u{1b}'));
    }

    /// A line typed in pieces is remembered until it is run, rubbed out or given up.
    #[test]
    fn unfinished_lines() {
        let line = pending_after("", "rm -rf ");
        assert_eq!(pending_after(&line, "/tmp/x"), "rm -rf /tmp/x");
        assert_eq!(pending_after(&line, "x\nls"), "ls");
        assert_eq!(pending_after("lss", "\u{8}"), "ls");
        assert_eq!(pending_after("ls", "\u{3}"), "");
    }
}
