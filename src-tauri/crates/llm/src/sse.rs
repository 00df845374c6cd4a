//! Server-sent events out of bytes in any portions
//! (<https://html.spec.whatwg.org/multipage/server-sent-events.html>, section 9.2.6).

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its kind; `message` where the server named none.
    pub name: String,
    /// Its data, lines joined by line feeds.
    pub data: String,
}

/// Why bytes are not a stream of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// A line or an event is longer than [`Decoder::LIMIT`].
    #[error("an event of more than {} bytes", Decoder::LIMIT)]
    TooLong,
    /// A line is not UTF-8.
    #[error("text that is not UTF-8")]
    NotText,
}

/// Cuts a stream into events. Feed it with [`push`](Self::push) as bytes arrive.
#[derive(Debug, Default)]
pub struct Decoder {
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// The last byte was a carriage return, so a line feed now belongs to it.
    after_return: bool,
    /// A byte-order mark is only skipped at the very start.
    started: bool,
    name: String,
    data: String,
    has_data: bool,
}

impl Decoder {
    /// Most bytes of one event. Generous: a reply of 128k tokens in one piece is below 1 MiB.
    pub const LIMIT: usize = 16 * 1024 * 1024;

    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more bytes and returns the events that became complete.
    ///
    /// # Errors
    /// [`Malformed`]; the stream cannot be continued after that.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Malformed> {
        let mut events = Vec::new();
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_return) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let length = end.unwrap_or(rest.len());
            if self.line.len() + self.data.len() + length > Self::LIMIT {
                return Err(Malformed::TooLong);
            }
            self.line.extend_from_slice(&rest[..length]);
            let Some(end) = end else { break };
            self.after_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let line = std::mem::take(&mut self.line);
            events.extend(self.line(&line)?);
        }
        Ok(events)
    }

    /// The stream has ended. An event without its closing blank line counts, because several
    /// servers leave out the last one.
    ///
    /// # Errors
    /// [`Malformed`] when the rest is not text.
    pub fn finish(&mut self) -> Result<Option<Event>, Malformed> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.line(&line)?;
        }
        self.line(b"")
    }

    fn line(&mut self, line: &[u8]) -> Result<Option<Event>, Malformed> {
        let line = std::str::from_utf8(line).map_err(|_| Malformed::NotText)?;
        let line = if std::mem::replace(&mut self.started, true) {
            line
        } else {
            line.strip_prefix('\u{feff}').unwrap_or(line)
        };
        if line.is_empty() {
            let name = std::mem::take(&mut self.name);
            let data = std::mem::take(&mut self.data);
            return Ok(std::mem::take(&mut self.has_data).then(|| Event {
                name: if name.is_empty() {
                    "message".into()
                } else {
                    name
                },
                data,
            }));
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // Comments (an empty field), `id` and `retry` carry nothing for a single reply.
            _ => {}
        }
        Ok(None)
    }
}
