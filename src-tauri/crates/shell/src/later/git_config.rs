//! Reads git's settings the way git does (git-config(1), "Syntax"), to know which of them run
//! something. What git would refuse is refused here too: nobody can say what it would mean.

use std::ops::Range;

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// `section.name` or `section.subsection.name`; section and name in lower case.
    pub(crate) key: String,
    /// None where there is no `=`, which git takes for `true`.
    pub(crate) value: Option<String>,
    /// Where it stands, from the first letter of its name to the end of its last line.
    pub(crate) place: Range<usize>,
}

/// All settings of a file, in their order. None where git would stop with an error, and for texts
/// with NUL characters, which end a value for git but not for whoever reads the file.
pub(crate) fn parse(text: &[u8]) -> Option<Vec<Entry>> {
    if text.contains(&0) {
        return None;
    }
    let start = if text.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    Reader { text, at: start }.entries()
}

/// `text` without these settings.
pub(crate) fn without(text: &[u8], entries: &[&Entry]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(text.len());
    let mut at = 0;
    for entry in entries {
        kept.extend_from_slice(&text[at..entry.place.start]);
        at = entry.place.end;
    }
    kept.extend_from_slice(&text[at..]);
    kept
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    /// The end counts as the end of a line, and so does a return before one.
    fn next(&mut self) -> u8 {
        let letter = self.text.get(self.at).copied().unwrap_or(b'\n');
        self.at += 1;
        if letter == b'\r' && self.text.get(self.at) == Some(&b'\n') {
            self.at += 1;
            return b'\n';
        }
        letter
    }

    fn is_over(&self) -> bool {
        self.at >= self.text.len()
    }

    fn entries(mut self) -> Option<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut section = String::new();
        let mut comment = false;
        while !self.is_over() {
            let begin = self.at;
            match self.next() {
                b'\n' => comment = false,
                _ if comment => {}
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {}
                b'#' | b';' => comment = true,
                b'[' => section = self.section()?,
                letter if letter.is_ascii_alphabetic() => {
                    let (name, value) = self.setting(letter)?;
                    // The end of the line stays: another section may begin on the same one.
                    let end = (self.at - 1).min(self.text.len());
                    entries.push(Entry {
                        key: format!("{section}.{name}"),
                        value,
                        place: begin..end,
                    });
                }
                _ => return None,
            }
        }
        Some(entries)
    }

    /// Behind `[`, up to and with `]`.
    fn section(&mut self) -> Option<String> {
        let mut name = String::new();
        loop {
            match self.next() {
                b']' => return Some(name),
                b' ' | b'\t' | b'\r' => {
                    self.subsection(&mut name)?;
                    return Some(name);
                }
                letter if letter.is_ascii_alphanumeric() || b"-.".contains(&letter) => {
                    name.push(letter.to_ascii_lowercase().into());
                }
                _ => return None,
            }
        }
    }

    /// `"subsection"]`, whose case counts.
    fn subsection(&mut self, name: &mut String) -> Option<()> {
        loop {
            match self.next() {
                b' ' | b'\t' | b'\r' => {}
                b'"' => break,
                _ => return None,
            }
        }
        let mut bytes = Vec::new();
        loop {
            match self.next() {
                b'\n' => return None,
                b'"' => break,
                b'\\' => match self.next() {
                    b'\n' => return None,
                    letter => bytes.push(letter),
                },
                letter => bytes.push(letter),
            }
        }
        name.push('.');
        name.push_str(&String::from_utf8_lossy(&bytes));
        (self.next() == b']').then_some(())
    }

    /// A name that begins with `first`, and its value.
    fn setting(&mut self, first: u8) -> Option<(String, Option<String>)> {
        let mut name = String::from(char::from(first.to_ascii_lowercase()));
        let mut letter = self.next();
        while letter.is_ascii_alphanumeric() || letter == b'-' {
            name.push(letter.to_ascii_lowercase().into());
            letter = self.next();
        }
        while letter == b' ' || letter == b'\t' {
            letter = self.next();
        }
        match letter {
            b'\n' => Some((name, None)),
            b'=' => Some((name, Some(self.value()?))),
            _ => None,
        }
    }

    fn value(&mut self) -> Option<String> {
        let mut value = Vec::new();
        // Length before the white space that may turn out to be at the end.
        let mut trimmed = None;
        let (mut quoted, mut comment) = (false, false);
        loop {
            match self.next() {
                b'\n' if quoted => return None,
                b'\n' => {
                    value.truncate(trimmed.unwrap_or(value.len()));
                    return Some(String::from_utf8_lossy(&value).into_owned());
                }
                _ if comment => {}
                letter @ (b' ' | b'\t' | b'\r' | 0x0b | 0x0c) if !quoted => {
                    trimmed = trimmed.or(Some(value.len()));
                    if !value.is_empty() {
                        value.push(letter);
                    }
                }
                b'#' | b';' if !quoted => comment = true,
                b'\\' => {
                    trimmed = None;
                    match self.next() {
                        b'\n' => {}
                        b't' => value.push(b'\t'),
                        b'b' => value.push(8),
                        b'n' => value.push(b'\n'),
                        letter @ (b'\\' | b'"') => value.push(letter),
                        _ => return None,
                    }
                }
                b'"' => {
                    trimmed = None;
                    quoted = !quoted;
                }
                letter => {
                    trimmed = None;
                    value.push(letter);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Vec<(String, Option<String>)>> {
        let entries = parse(text.as_bytes())?;
        Some(
            entries
                .into_iter()
                .map(|entry| (entry.key, entry.value))
                .collect(),
        )
    }

    fn one(key: &str, value: &str) -> Vec<(String, Option<String>)> {
        vec![(key.to_owned(), Some(value.to_owned()))]
    }

    /// Every way of writing the same setting that git accepts is read as the same setting.
    #[test]
    fn spellings_are_one_setting() {
        for text in [
            "[core]\n\thooksPath = x y\n",
            "[CORE]HOOKSPATH=x y",
            "\u{feff}[core] hookspath = \"x y\" ; a remark",
            "[core]\r\nhooksPath = x\\\r\n y\r\n",
            "# [core]\n[core]\n  hooksPath \t=\t x\" \"y  # remark",
        ] {
            assert_eq!(read(text), Some(one("core.hookspath", "x y")), "{text:?}");
        }
        assert_eq!(
            read("[remote \"a\\\"B\"]\n\turl = \"#1\"\n"),
            Some(one("remote.a\"B.url", "#1"))
        );
        assert_eq!(read("[a.B]\nc=d\\n\n"), Some(one("a.b.c", "d\n")));
        assert_eq!(
            read("[core]\n\tbare\n"),
            Some(vec![("core.bare".to_owned(), None)])
        );
    }

    /// What git refuses is not guessed at.
    #[test]
    fn errors_are_no_settings() {
        for text in [
            "[core\nx = y\n",
            "[core]\nx = \"y\n",
            "[core]\nx = \\q\n",
            "[core]\n= y\n",
            "[core]\nx y\n",
            "[core \"a\"b]\nx = y\n",
            "[core]\nx = a\0b\n",
        ] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    /// A setting is taken out with its further lines, and nothing else is.
    #[test]
    fn settings_are_taken_out() {
        let text = "[core] pager = a\\\n b # c\n\tbare = false\n[alias \"x\"]\n\tcommand = y";
        let entries = parse(text.as_bytes()).expect("parses");
        let left = without(text.as_bytes(), &[&entries[0], &entries[2]]);
        assert_eq!(
            String::from_utf8(left).expect("text"),
            "[core] \n\tbare = false\n[alias \"x\"]\n\t"
        );
    }
}
