//! A line as it is typed, for terminals that hand over single keys.

/// What has been typed so far.
#[derive(Default)]
pub(super) struct Line(Vec<u8>);

pub(super) enum Typed {
    More,
    Done,
    GivenUp,
}

impl Line {
    pub(super) fn take(&mut self, byte: u8) -> Typed {
        const CTRL_C: u8 = 3;
        const CTRL_D: u8 = 4;
        const CTRL_U: u8 = 21;
        match byte {
            b'\r' | b'\n' => return Typed::Done,
            CTRL_C => return Typed::GivenUp,
            CTRL_D if self.0.is_empty() => return Typed::GivenUp,
            CTRL_D => return Typed::Done,
            CTRL_U => self.0.clear(),
            0x08 | 0x7f => {
                // A character may be several bytes.
                while self.0.pop().is_some_and(|last| last & 0xc0 == 0x80) {}
            }
            other => self.0.push(other),
        }
        Typed::More
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(bytes: &[u8]) -> Option<String> {
        let mut line = Line::default();
        for byte in bytes {
            match line.take(*byte) {
                Typed::More => {}
                Typed::Done => return Some(line.text()),
                Typed::GivenUp => return None,
            }
        }
        panic!("no end in {bytes:?}")
    }

    /// Mistakes can be taken back, whole characters at a time.
    #[test]
    fn what_is_typed_can_be_corrected() {
        assert_eq!(typed(b"abd\x7fc\n").as_deref(), Some("abc"));
        assert_eq!(typed("aé\u{8}b\r".as_bytes()).as_deref(), Some("ab"));
        assert_eq!(typed(b"wrong\x15right\n").as_deref(), Some("right"));
        assert_eq!(typed(b"\x7f\x7fx\n").as_deref(), Some("x"));
    }

    /// Ctrl-C gives up at any time, Ctrl-D before anything was typed.
    #[test]
    fn giving_up_is_no_answer() {
        assert_eq!(typed(b"abc\x03"), None);
        assert_eq!(typed(b"\x04"), None);
        assert_eq!(typed(b"abc\x04").as_deref(), Some("abc"));
    }
}
