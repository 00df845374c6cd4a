//! The only error that crosses to a surface.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

/// Class of a failure: what a surface switches on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The request makes no sense: correct it.
    InvalidRequest,
    /// A setting is wrong: correct the file or the variable.
    Configuration,
    /// No model is named, or its key is missing or wrong.
    Credentials,
    /// The model or its provider cannot be used now.
    Model,
    /// There is no such thing.
    NotFound,
    /// The state of a run does not allow it.
    WrongState,
    /// A run was told to stop and has not ended yet.
    StillStopping,
    /// It is not for the one who asks.
    Forbidden,
    /// Something this machine lacks, such as a screen.
    Unavailable,
    /// The database or a file of ours.
    Store,
    /// A fault of the program.
    Internal,
}

/// What went wrong, for a person and for a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// What to switch on.
    pub code: Code,
    /// Values that belong to it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// What happened and what it means, in English.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same request may succeed later.
    pub retryable: bool,
}

/// Result of the use cases.
pub type Result<T, E = Failure> = std::result::Result<T, E>;

impl Failure {
    /// A failure of a class, in words.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            params: BTreeMap::new(),
            message: message.into(),
            hint: None,
            retryable: false,
        }
    }

    /// What to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// A value that belongs to it.
    pub fn param(mut self, key: &str, value: impl Into<String>) -> Self {
        self.params.insert(key.to_owned(), value.into());
        self
    }

    /// The same request may succeed later.
    pub fn retryable(mut self) -> Self {
        self.retryable = true;
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl From<openspace_store::Error> for Failure {
    fn from(error: openspace_store::Error) -> Self {
        use openspace_store::Error as Store;
        let code = match &error {
            Store::NotFound { .. } => Code::NotFound,
            Store::Ambiguous { .. } | Store::NotEditable { .. } => Code::InvalidRequest,
            Store::LostRun { .. } | Store::WrongStatus { .. } | Store::Answered { .. } => {
                Code::WrongState
            }
            _ => Code::Store,
        };
        let retryable = matches!(error, Store::Busy | Store::DiskFull);
        let mut failure = Self::new(code, error.to_string());
        failure.retryable = retryable;
        if matches!(error, Store::Answered { .. }) {
            return failure
                .hint("the next task can go on in the same conversation")
                .param("reason", "answered");
        }
        failure
    }
}

/// What a person can do about a model that cannot be used.
fn remedy(error: &openspace_llm::Error) -> Option<&'static str> {
    use openspace_llm::Error as Model;
    match error {
        Model::Authentication { .. } => Some(
            "set the right key in `OPENSPACE_LLM_API_KEY` or the provider's own variable; \
             `openspace doctor --model` tries it",
        ),
        Model::ModelNotFound { .. } => {
            Some("name another with --model, or: openspace config set model.name PROVIDER/MODEL")
        }
        Model::Network { .. } | Model::InvalidReply { .. } => Some(
            "check the connection and the address (setting `model.base_url`, variable \
             `OPENSPACE_LLM_API_BASE`); `openspace doctor --model` tries it",
        ),
        Model::RateLimited { .. } | Model::Overloaded { .. } | Model::Timeout { .. } => {
            Some("try again later, or name another model with --model")
        }
        Model::ContextTooLong { .. }
        | Model::ImageRejected { .. }
        | Model::Refused { .. }
        | Model::InvalidRequest { .. }
        | Model::Cancelled => None,
    }
}

impl From<openspace_llm::Error> for Failure {
    fn from(error: openspace_llm::Error) -> Self {
        use openspace_llm::Error as Model;
        let code = match &error {
            Model::Authentication { .. } => Code::Credentials,
            Model::ModelNotFound { .. } => Code::Configuration,
            _ => Code::Model,
        };
        let retryable = matches!(
            error,
            Model::RateLimited { .. }
                | Model::Overloaded { .. }
                | Model::Network { .. }
                | Model::Timeout { .. }
        );
        let mut failure = Self::new(code, error.to_string());
        failure.hint = remedy(&error).map(str::to_owned);
        failure.retryable = retryable;
        failure
    }
}
