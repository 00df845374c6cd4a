//! Changes in the unified format, line by line.

/// A line of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// What becomes of it.
    pub row: DiffRow,
    /// Its number before, where it was there.
    pub old: Option<u32>,
    /// Its number afterwards, where it is there.
    pub new: Option<u32>,
    /// What it says.
    pub text: String,
}

/// What becomes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffRow {
    /// It stays.
    Same,
    /// It is new.
    Added,
    /// It goes.
    Removed,
    /// Lines that stay were left out here.
    Gap,
    /// The line before has no end, since it is the last one.
    NoEnd,
}

/// The lines of a change in the unified format, with their numbers.
pub(super) fn lines(diff: &str) -> Vec<DiffLine> {
    let (mut old, mut new) = (0, 0);
    let mut lines = Vec::new();
    // The names of the files come first.
    for line in diff.lines().skip(2) {
        if let Some((from, to)) = hunk(line) {
            if from > 1 {
                lines.push(DiffLine {
                    row: DiffRow::Gap,
                    old: None,
                    new: None,
                    text: String::new(),
                });
            }
            (old, new) = (from, to);
            continue;
        }
        let (row, text) = match line.split_at_checked(1) {
            Some(("+", text)) => (DiffRow::Added, text),
            Some(("-", text)) => (DiffRow::Removed, text),
            Some(("\\", _)) => (DiffRow::NoEnd, ""),
            Some((" ", text)) => (DiffRow::Same, text),
            _ => (DiffRow::Same, line),
        };
        let before = matches!(row, DiffRow::Same | DiffRow::Removed).then_some(old);
        let after = matches!(row, DiffRow::Same | DiffRow::Added).then_some(new);
        old += u32::from(before.is_some());
        new += u32::from(after.is_some());
        lines.push(DiffLine {
            row,
            old: before,
            new: after,
            text: text.trim_end_matches('\r').to_owned(),
        });
    }
    lines
}

/// Where a part of a change begins, before and afterwards.
fn hunk(line: &str) -> Option<(u32, u32)> {
    let ranges = line.strip_prefix("@@ -")?.strip_suffix(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let first = |range: &str| {
        range
            .split(',')
            .next()
            .and_then(|number| number.parse().ok())
    };
    Some((first(old)?, first(new)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines carry the numbers they have in the file, before and afterwards.
    #[test]
    fn lines_are_numbered() {
        let diff = "--- f\n+++ f\n@@ -7,3 +7,4 @@\n seven\n-eight\n+8\n+and\n nine\n\\ No newline at end of file\n";
        let shown: Vec<_> = lines(diff)
            .into_iter()
            .map(|line| (line.row, line.old, line.new, line.text))
            .collect();
        let line = |row, old, new, text: &str| (row, old, new, text.to_owned());
        assert_eq!(
            shown,
            [
                line(DiffRow::Gap, None, None, ""),
                line(DiffRow::Same, Some(7), Some(7), "seven"),
                line(DiffRow::Removed, Some(8), None, "eight"),
                line(DiffRow::Added, None, Some(8), "8"),
                line(DiffRow::Added, None, Some(9), "and"),
                line(DiffRow::Same, Some(9), Some(10), "nine"),
                line(DiffRow::NoEnd, None, None, ""),
            ]
        );
        assert_eq!(lines(""), []);
    }

    /// A line of the file that looks like the beginning of a part is a line of the file.
    #[test]
    fn what_a_file_says_is_no_beginning() {
        let diff = "--- f\n+++ f\n@@ -0,0 +1 @@\n+@@ -3 +3 @@\n";
        let shown = lines(diff);
        assert_eq!(shown.len(), 1);
        assert_eq!((shown[0].new, &*shown[0].text), (Some(1), "@@ -3 +3 @@"));
    }
}
