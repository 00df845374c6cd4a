//! What can go wrong with the store, by what the caller can do about it.

use std::{fmt, io, path::PathBuf};

use crate::{ApprovalId, RunId, RunStatus};

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed operation. Texts tell a person what happened and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such row: correct the id.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// Kind of thing, such as `run`.
        what: &'static str,
        /// What was asked for.
        id: String,
    },
    /// Several ids begin like this: give more characters.
    #[error("`{prefix}` could be any of the {what}s {}; give more characters", candidates.join(", "))]
    Ambiguous {
        /// Kind of thing, such as `run`.
        what: &'static str,
        /// What was asked for.
        prefix: String,
        /// Some of the ids that fit, at most five.
        candidates: Vec<String>,
    },
    /// Somebody else, or nobody, executes the run now: release inputs and end.
    #[error("this process no longer executes the run `{run}`")]
    LostRun {
        /// The run.
        run: RunId,
    },
    /// The run is in a state that does not allow this.
    #[error("the run `{run}` is {status}, so it cannot {what}")]
    WrongStatus {
        /// The run.
        run: RunId,
        /// What it is.
        status: RunStatus,
        /// What was asked for, as in `be continued`.
        what: &'static str,
    },
    /// The run has given its answer, or is about to end with it: start the next task.
    #[error("the run `{run}` has given its answer and hears nothing more: start the next task")]
    Answered {
        /// The run.
        run: RunId,
    },
    /// The command of this question cannot be changed, or not with this answer: answer it as it is.
    #[error("the question `{approval}` cannot be answered with another command")]
    NotEditable {
        /// The question.
        approval: ApprovalId,
    },
    /// A newer program wrote this database: update this one. The database was not touched.
    #[error(
        "`{}` was written by a newer OpenSpace (schema {schema}, readable from schema {min_compatible}; \
         this program knows {ours}): update this program, the database was left as it is", path.display()
    )]
    TooNew {
        /// The database.
        path: PathBuf,
        /// Its schema.
        schema: u32,
        /// The oldest schema a program must know to use it.
        min_compatible: u32,
        /// What this program knows.
        ours: u32,
    },
    /// The file is something else: move it away. It was not touched.
    #[error(
        "`{}` is not an OpenSpace database: move it away or choose another folder; it was left as it is",
        path.display()
    )]
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The database or a row in it cannot be read.
    #[error(
        "the database is damaged ({message}): restore `openspace.db` from a backup, or move it away to start afresh"
    )]
    Damaged {
        /// What was found.
        message: String,
    },
    /// No space is left: free some and try again. What was being written is rolled back.
    #[error("the disk that holds OpenSpace's data is full: free some space and try again")]
    DiskFull,
    /// Another process kept the database locked for longer than the busy limit: try again.
    #[error("another process keeps the database busy: try again")]
    Busy,
    /// The database may not be written.
    #[error("the database cannot be written: check the permissions of OpenSpace's data folder")]
    ReadOnly,
    /// A file or folder of the store cannot be used.
    #[error("cannot {what} `{}`: {source}", path.display())]
    File {
        /// What was tried, as in `read`.
        what: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// The file of a frame was removed to save space; its row remains.
    #[error("the picture of frame `{id}` was removed to save space")]
    Pruned {
        /// The frame.
        id: String,
    },
    /// Undo would destroy something: the file is not as the run left it.
    #[error("`{}` was changed after the run: it was left as it is", path.display())]
    ChangedSince {
        /// The file.
        path: PathBuf,
    },
    /// Undo is impossible: the old content was not kept.
    #[error("what `{}` held before was not kept, so it cannot be brought back", path.display())]
    NothingKept {
        /// The file.
        path: PathBuf,
    },
    /// The runtime is shutting down, so the call was not made.
    #[error("the program is shutting down")]
    ShuttingDown,
    /// A statement failed for a reason that no caller can act on.
    #[error("the database answered: {0}")]
    Sql(#[source] rusqlite::Error),
}

impl Error {
    /// Names the file and what was tried.
    pub(crate) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| {
            if source.kind() == io::ErrorKind::StorageFull {
                Self::DiskFull
            } else {
                Self::File { what, path, source }
            }
        }
    }

    pub(crate) fn not_found(what: &'static str, id: &(impl fmt::Display + ?Sized)) -> Self {
        Self::NotFound {
            what,
            id: id.to_string(),
        }
    }
}

/// `SQLITE_IOERR_SHMSIZE`: the shared-memory file could not grow, which happens on a full disk only.
const SHARED_MEMORY_SIZE: i32 = 10 + 19 * 256;

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::{Error as Sql, ErrorCode};

        if error.sqlite_extended_error_code() == Some(SHARED_MEMORY_SIZE) {
            return Self::DiskFull;
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::ReadOnly) => Self::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                message: error.to_string(),
            },
            _ => match error {
                Sql::FromSqlConversionFailure(..)
                | Sql::InvalidColumnType(..)
                | Sql::IntegralValueOutOfRange(..)
                | Sql::Utf8Error(..) => Self::Damaged {
                    message: error.to_string(),
                },
                error => Self::Sql(error),
            },
        }
    }
}
