//! The ends of our logs, for the log viewer.
//!
//! Each line was written by `tracing-subscriber`'s full format: time, level, where from, what. Lines
//! without that head go on with the entry before.

use std::path::Path;

use super::{Call, choice, diagnostics::end_of, payload};
use crate::{Code, Failure, failure::Result};

/// Entries of one answer, at most.
const MOST: usize = 1_000;

choice! {
    /// How much an entry matters.
    #[derive(PartialOrd, Ord)]
    pub enum LogLevel {
        /// Something failed.
        Error,
        /// Something is odd.
        Warn,
        /// What happens.
        Info,
        /// For whoever looks for a fault.
        Debug,
        /// Everything.
        Trace,
    }
}

payload! {
    /// Which entries.
    pub struct LogsReadRequest {
        /// Of this log only, by its name.
        pub source: Option<String>,
        /// So important at least.
        pub level: Option<LogLevel>,
        /// With these words in them, whatever their case.
        #[serde(default)]
        pub search: String,
    }

    /// The newest entries, oldest first.
    pub struct LogsReadResponse {
        /// The logs there are.
        pub sources: Vec<String>,
        /// What was found.
        pub entries: Vec<LogEntry>,
        /// There are older ones that are not shown.
        pub more: bool,
    }

    /// One entry of a log.
    pub struct LogEntry {
        /// The log it is in.
        pub source: String,
        /// When, RFC 3339.
        pub time: String,
        /// How much it matters.
        pub level: LogLevel,
        /// Which part of the program says it, and what. Secrets are blacked out.
        pub text: String,
    }
}

impl Call<'_> {
    pub(super) async fn logs_read(&self, request: LogsReadRequest) -> Result<LogsReadResponse> {
        let app = std::sync::Arc::clone(self.app);
        let redaction = self.app.redaction()?;
        // Megabytes are read from the disk.
        let read = tokio::task::spawn_blocking(move || {
            let logs = app.logs();
            let sources: Vec<_> = logs.iter().filter_map(|path| name(path)).collect();
            let mut entries: Vec<_> = logs
                .iter()
                .filter_map(|path| Some((name(path)?, end_of(path).ok()?)))
                .filter(|(source, _)| {
                    request
                        .source
                        .as_ref()
                        .is_none_or(|wanted| wanted == source)
                })
                .flat_map(|(source, end)| entries(&source, &end))
                .collect();
            for entry in &mut entries {
                entry.text = redaction.apply(&entry.text).0;
            }
            let words = request.search.trim().to_lowercase();
            entries.retain(|entry| {
                request.level.is_none_or(|least| entry.level <= least)
                    && (words.is_empty() || entry.text.to_lowercase().contains(&words))
            });
            // All are in UTC and of one length, so their order is that of time; entries of the same
            // moment keep the order in which they were written.
            entries.sort_by(|one, other| one.time.cmp(&other.time));
            let more = entries.len().saturating_sub(MOST);
            entries.drain(..more);
            LogsReadResponse {
                sources,
                entries,
                more: more > 0,
            }
        });
        read.await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))
    }
}

fn name(path: &Path) -> Option<String> {
    Some(path.file_stem()?.to_string_lossy().into_owned())
}

/// The whole entries of the end of a log; what comes before its first head is cut.
fn entries(source: &str, end: &str) -> Vec<LogEntry> {
    let mut entries: Vec<LogEntry> = Vec::new();
    for line in end.lines() {
        if let Some((time, level, text)) = head(line) {
            entries.push(LogEntry {
                source: source.to_owned(),
                time: time.to_owned(),
                level,
                text: text.to_owned(),
            });
        } else if let Some(entry) = entries.last_mut() {
            entry.text.push('\n');
            entry.text.push_str(line);
        }
    }
    entries
}

fn head(line: &str) -> Option<(&str, LogLevel, &str)> {
    let (time, rest) = line.split_once(' ')?;
    // 2026-11-30T13:16:06.123456Z
    let is_time = time.len() >= 20
        && time.ends_with('Z')
        && time.as_bytes().get(10) == Some(&b'T')
        && time.starts_with(|first: char| first.is_ascii_digit());
    let (level, text) = rest.trim_start().split_once(' ')?;
    let level = match level {
        "ERROR" => LogLevel::Error,
        "WARN" => LogLevel::Warn,
        "INFO" => LogLevel::Info,
        "DEBUG" => LogLevel::Debug,
        "TRACE" => LogLevel::Trace,
        _ => return None,
    };
    is_time.then_some((time, level, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries are told apart; lines that go on with one stay with it, and one whose beginning is cut
    /// off is left out.
    #[test]
    fn entries_are_read() {
        let end = "the rest of a cut one\n\
            2026-11-30T13:16:06.123456Z  INFO openspace_app::runner: started run=1\n\
            2026-11-30T13:16:07.000001Z ERROR openspace_app: cannot:\n  because\n\
            2026-11-30T13:16:07Z WHAT openspace_app: no level\n";
        let read = entries("runner", end);
        let told: Vec<_> = read
            .iter()
            .map(|entry| (&*entry.time, entry.level, &*entry.text))
            .collect();
        assert_eq!(
            told,
            [
                (
                    "2026-11-30T13:16:06.123456Z",
                    LogLevel::Info,
                    "openspace_app::runner: started run=1"
                ),
                (
                    "2026-11-30T13:16:07.000001Z",
                    LogLevel::Error,
                    "openspace_app: cannot:\n  because\n2026-11-30T13:16:07Z WHAT openspace_app: no level"
                ),
            ]
        );
        assert!(read.iter().all(|entry| entry.source == "runner"));
    }

    /// The format is that which this program's logs are written in.
    #[test]
    fn the_format_is_ours() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = crate::log_file(folder.path(), "here").expect("a log");
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .with_writer(std::sync::Mutex::new(log))
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::warn!(monitor = 2, "no picture");
        });
        let path = folder.path().join("logs/here.log");
        let read = entries("here", &end_of(&path).expect("readable"));
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].level, LogLevel::Warn);
        assert!(
            read[0].text.ends_with("logs::tests: no picture monitor=2"),
            "{}",
            read[0].text
        );
    }
}
