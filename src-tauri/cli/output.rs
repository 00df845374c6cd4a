//! What is printed: answers and JSON on standard output, everything else on standard error.

use std::io::{self, Write as _};

use openspace_app::Failure;
use serde::Serialize;

/// A line for the program or person that reads standard output. A closed pipe is no error: whoever
/// closed it wants nothing more.
pub(crate) fn line(text: &str) {
    let _closed = writeln!(io::stdout(), "{text}");
}

/// A line for the person who watches.
pub(crate) fn note(text: &str) {
    let _closed = writeln!(io::stderr(), "{text}");
}

/// One JSON object on a line of standard output.
pub(crate) fn json(value: &impl Serialize) {
    if let Ok(text) = serde_json::to_string(value) {
        line(&text);
    }
}

/// What went wrong, and what to do.
pub(crate) fn failure(failure: &Failure) {
    note(&format!("openspace: {failure}"));
    if let Some(hint) = &failure.hint {
        note(&format!("  hint: {hint}"));
    }
}

/// A duration as a person says it.
pub(crate) fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1_000;
    match seconds {
        0..60 => format!("{}.{} s", seconds, milliseconds % 1_000 / 100),
        60..3_600 => format!("{}:{:02} min", seconds / 60, seconds % 60),
        _ => format!("{}:{:02} h", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Text from a model, a screen or a program, without the control characters that could make a
/// terminal do or show something else.
pub(crate) fn harmless(text: &str) -> String {
    text.chars()
        .map(|c| {
            if c.is_control() && c != '\n' && c != '\t' {
                '�'
            } else {
                c
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_do_not_reach_the_terminal() {
        assert_eq!(harmless("a\u{1b}[2Jb\nc"), "a�[2Jb\nc");
    }

    #[test]
    fn durations_are_said_as_people_do() {
        let said: Vec<_> = [950, 61_000, 3_720_000].map(duration).to_vec();
        assert_eq!(said, ["0.9 s", "1:01 min", "1:02 h"]);
    }
}
