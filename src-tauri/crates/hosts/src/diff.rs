//! Changes line by line, in the unified format (POSIX `diff -u`), for a person to read.

use diffy::{DiffOptions, PatchFormatter};

/// Lines around a change.
const CONTEXT: usize = 2;

/// What changes in the file of this name; empty when nothing does.
pub(crate) fn unified(name: &str, before: &str, after: &str) -> String {
    let patch = DiffOptions::new()
        .set_context_len(CONTEXT)
        .create_patch(before, after);
    if patch.hunks().is_empty() {
        return String::new();
    }
    let formatter = PatchFormatter::new().suppress_blank_empty(false);
    let text = formatter.fmt_patch(&patch).to_string();
    // Its own two lines at the top would show a name that is not plain ASCII in escapes.
    let hunks = text.splitn(3, '\n').nth(2).unwrap_or_default();
    format!("--- {name}\n+++ {name}\n{hunks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_what_is_around_it() {
        assert_eq!(
            unified("é.json", "1\n2\n\n4\n5\n6\n", "1\n2\n\nvier\n5\n6"),
            "--- é.json\n+++ é.json\n@@ -2,5 +2,5 @@\n 2\n \n-4\n+vier\n 5\n-6\n+6\n\
             \\ No newline at end of file\n"
        );
        assert_eq!(unified("a", "", "1\n"), "--- a\n+++ a\n@@ -0,0 +1 @@\n+1\n");
        assert_eq!(unified("a", "1\n", "1\n"), "");
    }
}
