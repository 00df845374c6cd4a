//! Output as a model can read it: text without control sequences, the middle left out when long.

use openspace_grounding::ArtefactId;

use crate::capture::Captured;

/// Bytes of text from the beginning, and as many from the end.
const HALF: usize = 16 * 1024 - 256;
/// Raw bytes that are looked at for one half: control sequences and overwritten progress lines
/// take room that is not shown.
const WINDOW: usize = 1024 * 1024;

/// Text for the model, and whether some of the output is missing in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rendered {
    head: String,
    tail: Option<String>,
    total: u64,
}

impl Rendered {
    pub(crate) fn new(captured: &Captured) -> Self {
        let bytes = &captured.kept;
        let total = captured.total;
        if bytes.len() <= 2 * WINDOW && captured.tail.is_empty() {
            let text = clean(bytes);
            if text.len() <= 2 * HALF {
                return Self {
                    head: text,
                    tail: None,
                    total,
                };
            }
            return Self {
                head: first(&text),
                tail: Some(last(&text)),
                total,
            };
        }
        let head = clean(&bytes[..bytes.len().min(WINDOW)]);
        let end = if captured.tail.is_empty() {
            clean(&bytes[bytes.len().saturating_sub(WINDOW)..])
        } else {
            clean(&captured.tail)
        };
        Self {
            head: first(&head),
            tail: Some(last(&end)),
            total,
        }
    }

    /// Some of the output is left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.tail.is_some()
    }

    /// The text, with a note where something is left out and where to find it.
    pub(crate) fn text(&self, whole: Option<&ArtefactId>, lost: u64) -> String {
        let Some(tail) = &self.tail else {
            return self.head.clone();
        };
        let whole = whole.map_or_else(
            || "it was not kept".to_owned(),
            |id| format!("it is kept as artefact `{id}`: page through it with read_artefact"),
        );
        let lost = if lost > 0 {
            format!(", {lost} bytes of the middle were too much to keep")
        } else {
            String::new()
        };
        format!(
            "{}\n[… cut here; the whole output has {} bytes, {whole}{lost} …]\n{tail}",
            self.head.trim_end_matches('\n'),
            self.total
        )
    }
}

/// Up to [`HALF`] bytes from the beginning, at a line's end where one is near.
fn first(text: &str) -> String {
    let mut end = HALF.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    match text[..end].rfind('\n') {
        Some(line) if line > end / 2 => text[..line].to_owned(),
        _ => text[..end].to_owned(),
    }
}

/// Up to [`HALF`] bytes from the end, at a line's beginning where one is near.
fn last(text: &str) -> String {
    let mut start = text.len().saturating_sub(HALF);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    match text[start..].find('\n') {
        Some(line) if line < HALF / 2 && start > 0 => text[start + line + 1..].to_owned(),
        _ => text[start..].to_owned(),
    }
}

/// Decodes, takes out escape sequences (ECMA-48), plays carriage returns and backspaces as a
/// terminal would, drops other control characters.
pub(crate) fn clean(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut result = String::with_capacity(text.len());
    let mut line = String::new();
    // Set by a carriage return: the next character starts the line afresh.
    let mut returned = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' | '\u{9b}' => skip_sequence(character, &mut characters),
            '\n' => {
                result.push_str(&line);
                result.push('\n');
                line.clear();
                returned = false;
            }
            '\r' => returned = true,
            '\u{8}' => {
                line.pop();
            }
            '\t' => line.push('\t'),
            other if other.is_control() => {}
            other => {
                if std::mem::take(&mut returned) {
                    line.clear();
                }
                line.push(other);
            }
        }
    }
    result.push_str(&line);
    result
}

fn skip_sequence(start: char, characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let kind = if start == '\u{9b}' {
        Some('[')
    } else {
        characters.next()
    };
    match kind {
        // Control sequence: parameters, then one final byte.
        Some('[') => {
            for character in characters.by_ref() {
                if ('\u{40}'..='\u{7e}').contains(&character) {
                    break;
                }
            }
        }
        // Strings (titles, links): up to BEL or ESC \.
        Some(']' | 'P' | '^' | '_' | 'X') => {
            while let Some(character) = characters.next() {
                if character == '\u{7}' {
                    break;
                }
                if character == '\u{1b}' {
                    characters.next_if_eq(&'\\');
                    break;
                }
            }
        }
        // Character sets: one more.
        Some('(' | ')' | '*' | '+' | '#' | '%' | ' ') => {
            characters.next();
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(bytes: &[u8]) -> Captured {
        Captured {
            kept: bytes.to_vec(),
            total: bytes.len() as u64,
            ..Captured::default()
        }
    }

    /// Colours, titles, progress lines and broken text become plain text.
    #[test]
    fn control_sequences_are_played_or_removed() {
        for (raw, shown) in [
            (&b"\x1b[1;31mred\x1b[0m"[..], "red"),
            (b"\x1b]0;title\x07text", "text"),
            (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
            (b"10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
            (b"a\x08b", "b"),
            (b"\xff\xfeok", "\u{fffd}\u{fffd}ok"),
            (b"\x1b(Bplain\x00\x07", "plain"),
            ("字\u{9b}1mé".as_bytes(), "字é"),
            (b"\x1b[", ""),
        ] {
            assert_eq!(clean(raw), shown, "{raw:?}");
        }
    }

    /// Short output is shown whole, long output loses its middle and says so.
    #[test]
    fn long_output_is_cut_in_the_middle() {
        let short = Rendered::new(&captured(b"one\ntwo\n"));
        assert!(!short.is_cut());
        assert_eq!(short.text(None, 0), "one\ntwo\n");

        let lines: Vec<String> = (0..100_000).map(|line| format!("line {line}\n")).collect();
        let long = Rendered::new(&captured(lines.concat().as_bytes()));
        assert!(long.is_cut());
        let id = ArtefactId::random();
        let text = long.text(Some(&id), 0);
        assert!(text.len() <= 32 * 1024, "{} bytes", text.len());
        assert!(text.starts_with("line 0\nline 1\n"));
        assert!(text.ends_with("line 99998\nline 99999\n"));
        assert!(text.contains(id.as_str()), "names the artefact");
    }

    /// Text without any line ends is cut between characters.
    #[test]
    fn cuts_fall_between_characters() {
        let text = "é".repeat(40_000);
        let cut = Rendered::new(&captured(text.as_bytes())).text(None, 0);
        assert!(cut.starts_with('é') && cut.ends_with('é') && !cut.contains('\u{fffd}'));
    }
}
