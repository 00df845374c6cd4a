//! A change to a text that says exactly which bytes it touches.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A part of a text and what takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) range: Range<usize>,
    pub(crate) new: String,
}

impl Edit {
    pub(crate) fn insert(at: usize, new: impl Into<String>) -> Self {
        Self {
            range: at..at,
            new: new.into(),
        }
    }

    pub(crate) fn remove(range: Range<usize>) -> Self {
        Self {
            range,
            new: String::new(),
        }
    }
}

/// One edit as it was made, to be taken back: where it lies in the text it led to, what was there
/// before, and what is there now. The empty one takes nothing back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Splice {
    pub(crate) at: usize,
    pub(crate) old: String,
    pub(crate) new: String,
}

impl Splice {
    /// The splice that leads from one text to the other, with as little in it as possible.
    pub(crate) fn between(before: &str, after: &str) -> Self {
        let mut start = before
            .bytes()
            .zip(after.bytes())
            .take_while(|(left, right)| left == right)
            .count();
        while !before.is_char_boundary(start) || !after.is_char_boundary(start) {
            start -= 1;
        }
        let (old, new) = (&before[start..], &after[start..]);
        let mut end = old
            .bytes()
            .rev()
            .zip(new.bytes().rev())
            .take_while(|(left, right)| left == right)
            .count();
        while !old.is_char_boundary(old.len() - end) || !new.is_char_boundary(new.len() - end) {
            end -= 1;
        }
        Self {
            at: start,
            old: old[..old.len() - end].to_owned(),
            new: new[..new.len() - end].to_owned(),
        }
    }

    /// Takes the edit back in the very text it led to.
    pub(crate) fn undo(&self, after: &str) -> Option<String> {
        let end = self.at.checked_add(self.new.len())?;
        (after.get(self.at..end)? == self.new)
            .then(|| format!("{}{}{}", &after[..self.at], self.old, &after[end..]))
    }

    /// Takes the edit back in a text that was changed elsewhere since, if what was written is still
    /// there word for word, and only once.
    pub(crate) fn undo_elsewhere(&self, text: &str) -> Option<String> {
        if self.new.is_empty() {
            return None;
        }
        let (before, after) = text.split_once(&self.new)?;
        let again = text[before.len() + 1..].contains(&self.new);
        (!again).then(|| format!("{before}{}{after}", self.old))
    }
}

/// The text with all edits made. They are in order and do not overlap.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for edit in edits {
        result.push_str(&text[done..edit.range.start]);
        result.push_str(&edit.new);
        done = edit.range.end;
    }
    result.push_str(&text[done..]);
    result
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever two texts are, the splice between them leads back.
        #[test]
        fn a_splice_leads_back(before in "[aé\n]{0,12}", after in "[aé\n]{0,12}") {
            let splice = Splice::between(&before, &after);
            prop_assert_eq!(splice.undo(&after), Some(before));
        }
    }

    /// A text that changed elsewhere is restored as well, unless it is not clear what was ours.
    #[test]
    fn a_splice_is_found_in_a_changed_text() {
        let splice = Splice::between("a\nz\n", "a\nours\nz\n");
        assert_eq!(
            splice.undo_elsewhere("b\na\nours\ny\n").as_deref(),
            Some("b\na\ny\n")
        );
        assert_eq!(splice.undo_elsewhere("ours\nours\n"), None);
        assert_eq!(splice.undo_elsewhere("a\n"), None);
    }
}
