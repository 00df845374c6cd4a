//! What went wrong with a host, in the person's language.

use openspace_hosts::{Error, Host, Part, Trouble};

use crate::{App, Code, Failure};

impl App {
    /// A failure with its sentence from the catalogue, its values, and what to do.
    pub(crate) fn host_failure(&self, error: &Error) -> Failure {
        let path = |path: &std::path::Path| ("file", path.display().to_string());
        let (code, reason, values): (_, _, Vec<(&str, String)>) = match error {
            Error::UnknownHost { id, nearest } => {
                let nearest = nearest.unwrap_or_default().to_owned();
                (
                    Code::NotFound,
                    if nearest.is_empty() {
                        "unknown"
                    } else {
                        "unknown_near"
                    },
                    vec![("host", id.clone()), ("nearest", nearest)],
                )
            }
            Error::NotFound { host, path: file } => (
                Code::NotFound,
                "not_found",
                vec![("host", (*host).to_owned()), path(file)],
            ),
            Error::NoProjectFile { host } => (
                Code::InvalidRequest,
                "no_project_file",
                vec![("host", (*host).to_owned())],
            ),
            Error::Unparsable {
                path: file,
                line,
                column,
                message,
            } => (
                Code::Unavailable,
                "unparsable",
                vec![
                    path(file),
                    ("line", line.to_string()),
                    ("column", column.to_string()),
                    ("message", message.clone()),
                ],
            ),
            Error::WrongShape {
                path: file,
                line,
                key,
                ..
            } => (
                Code::Unavailable,
                "wrong_shape",
                vec![path(file), ("line", line.to_string()), ("key", key.clone())],
            ),
            Error::Entangled { path: file, line } => (
                Code::Unavailable,
                "entangled",
                vec![path(file), ("line", line.to_string())],
            ),
            Error::Unreadable { path: file, source } => (
                Code::Unavailable,
                "unreadable",
                vec![path(file), ("message", source.to_string())],
            ),
            Error::NotAFile { path: file } => (Code::Unavailable, "not_a_file", vec![path(file)]),
            Error::DanglingLink { path: file } => {
                (Code::Unavailable, "dangling_link", vec![path(file)])
            }
            Error::NotText { path: file } => (Code::Unavailable, "not_text", vec![path(file)]),
            Error::TooLarge { path: file } => (Code::Unavailable, "too_large", vec![path(file)]),
            Error::OtherOwner { path: file } => {
                (Code::Unavailable, "other_owner", vec![path(file)])
            }
            Error::ReadOnly { path: file } => (Code::Unavailable, "read_only", vec![path(file)]),
            Error::Unwritable { path: file, source } => (
                Code::Unavailable,
                "unwritable",
                vec![path(file), ("message", source.to_string())],
            ),
            Error::Changed { path: file } => (Code::Unavailable, "changed", vec![path(file)]),
            Error::Locked { host, path: file } => (
                Code::Unavailable,
                "locked",
                vec![("host", (*host).to_owned()), path(file)],
            ),
            Error::Different { path: file, entry } => (
                Code::WrongState,
                "different",
                vec![path(file), ("entry", entry.clone())],
            ),
            Error::NothingToUndo { path: file } => {
                (Code::WrongState, "nothing_to_undo", vec![path(file)])
            }
            Error::ForeignSkill {
                skill,
                path: folder,
            } => (
                Code::WrongState,
                "foreign_skill",
                vec![("skill", (*skill).to_owned()), path(folder)],
            ),
            Error::Refused { host, message } => (
                Code::Unavailable,
                "refused",
                vec![("host", (*host).to_owned()), ("message", message.clone())],
            ),
            Error::Unnameable { part } => {
                let reason = match part {
                    Part::Name => "custom_name",
                    Part::File => "custom_file",
                    Part::Key => "custom_key",
                };
                (Code::InvalidRequest, reason, Vec::new())
            }
            Error::Taken { host, path: file } => (
                Code::InvalidRequest,
                "taken",
                vec![("host", (*host).to_owned()), path(file)],
            ),
            Error::NotCustom { host } => (
                Code::WrongState,
                "not_custom",
                vec![("host", (*host).to_owned())],
            ),
            Error::StillRegistered {
                host,
                id,
                path: file,
            } => (
                Code::WrongState,
                "still_registered",
                vec![
                    ("host", (*host).to_owned()),
                    ("id", (*id).to_owned()),
                    path(file),
                ],
            ),
            Error::Stopped { host, path: file } => (
                Code::Unavailable,
                "stopped",
                vec![("host", (*host).to_owned()), path(file)],
            ),
            Error::NotPutBack {
                host,
                id,
                path: file,
                source,
            } => (
                Code::Unavailable,
                "not_put_back",
                vec![
                    ("host", (*host).to_owned()),
                    ("id", (*id).to_owned()),
                    path(file),
                    ("message", self.host_failure(source).message),
                ],
            ),
            Error::NoLauncher { to, source, .. } => (
                Code::Store,
                "no_launcher",
                vec![path(to), ("message", source.to_string())],
            ),
            Error::Ledger {
                path: file,
                message,
            } => (
                Code::Store,
                "ledger",
                vec![path(file), ("message", message.clone())],
            ),
            other => (
                Code::Internal,
                "internal",
                vec![("message", other.to_string())],
            ),
        };
        let failure = self.said(code, reason, &values);
        if matches!(error, Error::Changed { .. } | Error::Locked { .. }) {
            failure.retryable()
        } else {
            failure
        }
    }

    /// Why a server does not work under a host.
    pub(super) fn host_trouble(&self, host: &Host, trouble: &Trouble) -> Failure {
        let name = ("host", host.name.to_owned());
        let (reason, values) = match trouble {
            Trouble::File(error) => return self.host_failure(error),
            Trouble::NotRegistered => ("not_registered", vec![name, ("id", host.id.to_owned())]),
            Trouble::NotOurs { path, entry } => (
                "not_ours",
                vec![
                    name,
                    ("id", host.id.to_owned()),
                    ("file", path.display().to_string()),
                    ("entry", entry.clone()),
                ],
            ),
            Trouble::CannotStart { command, source } => (
                "cannot_start",
                vec![
                    ("command", command.clone()),
                    ("message", source.to_string()),
                ],
            ),
            Trouble::Ended { step, code, stderr } => (
                "ended",
                vec![
                    ("step", step.method().to_owned()),
                    ("code", code.map_or("?".to_owned(), |code| code.to_string())),
                    ("message", stderr.clone()),
                ],
            ),
            Trouble::Silent {
                step,
                patience,
                stderr,
            } => (
                "silent",
                vec![
                    ("step", step.method().to_owned()),
                    ("seconds", patience.as_secs().to_string()),
                    ("message", stderr.clone()),
                ],
            ),
            Trouble::Stopped => ("test_stopped", vec![name]),
            Trouble::Wrong { step, message } => (
                "wrong",
                vec![
                    ("step", step.method().to_owned()),
                    ("message", message.clone()),
                ],
            ),
        };
        self.said(Code::Unavailable, reason, &values)
    }

    pub(super) fn said(&self, code: Code, reason: &str, values: &[(&str, String)]) -> Failure {
        let shown: Vec<_> = values
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let key = format!("hosts.error.{reason}");
        let hint = format!("hosts.hint.{reason}");
        let mut failure = Failure::new(code, self.catalogue.render(&key, &shown));
        if self.catalogue.has(&hint) {
            failure = failure.hint(self.catalogue.render(&hint, &shown));
        }
        values
            .iter()
            .fold(failure.param("reason", reason), |failure, (name, value)| {
                failure.param(name, value.as_str())
            })
    }
}
