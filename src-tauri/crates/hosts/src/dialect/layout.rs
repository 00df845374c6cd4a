//! How a text is laid out: its line ends, its indentation, where its lines begin.

/// What new lines of a text should look like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) eol: &'static str,
    /// One level of indentation.
    pub(crate) unit: String,
}

impl Layout {
    /// Line ends as most lines have them, and this indentation.
    pub(crate) fn new(text: &str, unit: impl Into<String>) -> Self {
        Self {
            eol: eol(text),
            unit: unit.into(),
        }
    }
}

/// The line end that most lines have.
pub(crate) fn eol(text: &str) -> &'static str {
    let windows = text.matches("\r\n").count();
    if windows * 2 > text.matches('\n').count() {
        "\r\n"
    } else {
        "\n"
    }
}

/// Where the line begins that holds this byte.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// Where the line ends that holds this byte, before its line end.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |found| at + found);
    if text[at..end].ends_with('\r') && end < text.len() {
        end - 1
    } else {
        end
    }
}

/// Where the next line begins, or the end of the text.
pub(crate) fn next_line(text: &str, at: usize) -> usize {
    text[at..]
        .find('\n')
        .map_or(text.len(), |found| at + found + 1)
}

/// Where the line before this one ends, before its line end; the beginning of the text on the first.
pub(crate) fn previous_line_end(text: &str, at: usize) -> usize {
    let start = line_start(text, at);
    let Some(before) = text[..start].strip_suffix('\n') else {
        return start;
    };
    before.strip_suffix('\r').unwrap_or(before).len()
}

/// The white space that a line begins with.
pub(crate) fn indent(text: &str, at: usize) -> &str {
    let line = &text[line_start(text, at)..];
    let rest = line.trim_start_matches([' ', '\t']);
    &line[..line.len() - rest.len()]
}

/// Only white space stands before this byte in its line.
pub(crate) fn starts_line(text: &str, at: usize) -> bool {
    text[line_start(text, at)..at]
        .bytes()
        .all(|byte| matches!(byte, b' ' | b'\t'))
}

/// Line and column of a byte, both counted from 1, the column in characters.
pub(crate) fn position(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let line = text[..at].matches('\n').count() + 1;
    let column = text[line_start(text, at)..at].chars().count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_with_either_end() {
        let text = "a\r\n  bc\r\nd";
        assert_eq!(eol(text), "\r\n");
        assert_eq!((line_start(text, 6), line_end(text, 5)), (3, 7));
        assert_eq!((next_line(text, 4), previous_line_end(text, 5)), (9, 1));
        assert_eq!(indent(text, 6), "  ");
        assert!(starts_line(text, 5) && !starts_line(text, 6));
        assert_eq!(position(text, 6), (2, 4));
        assert_eq!(line_end(text, 9), 10, "the last line has no end");
    }

    /// A carriage return at the end of a text ends no line.
    #[test]
    fn a_lone_carriage_return_is_content() {
        assert_eq!(line_end("a\r", 0), 2);
        assert_eq!(eol("a\nb\r\nc\n"), "\n");
    }
}
