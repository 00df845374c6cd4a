//! What can go wrong when talking to a model, by what the caller can do about it.

use std::time::Duration;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failed call. Texts name the provider and say what to do; they never contain the key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The key is missing, wrong or not allowed to use the model: ask the person for another.
    #[error("{provider} refused the key: {message}")]
    Authentication {
        /// Provider's name.
        provider: String,
        /// Its own words, shortened.
        message: String,
    },
    /// There is no such model at this address: name another.
    #[error("{provider} has no model `{model}`: {message}")]
    ModelNotFound {
        /// Provider's name.
        provider: String,
        /// The name that was asked for.
        model: String,
        /// Its own words, shortened.
        message: String,
    },
    /// Too many requests, also after the retries: try later.
    #[error("{provider} limits how often it may be asked; retry later: {message}")]
    RateLimited {
        /// Provider's name.
        provider: String,
        /// What the provider asked to wait.
        retry_after: Option<Duration>,
        /// Its own words, shortened.
        message: String,
    },
    /// The provider cannot answer now, also after the retries: try later.
    #[error("{provider} is overloaded: {message}")]
    Overloaded {
        /// Provider's name.
        provider: String,
        /// Its own words, shortened.
        message: String,
    },
    /// The conversation no longer fits: shorten it and ask again.
    #[error("the conversation is too long for the model: {message}")]
    ContextTooLong {
        /// Provider's own words, shortened.
        message: String,
    },
    /// A picture was not accepted: shrink or drop pictures and ask again.
    #[error("the provider rejected a picture: {message}")]
    ImageRejected {
        /// Provider's own words, shortened.
        message: String,
    },
    /// The provider or the model declined.
    #[error("the model declined: {message}")]
    Refused {
        /// Provider's own words, shortened.
        message: String,
    },
    /// The request was malformed in the provider's view, or refused here before it was sent.
    #[error("the request was not accepted: {message}")]
    InvalidRequest {
        /// What is wrong.
        message: String,
    },
    /// The answer is not what this protocol allows (HTML, cut stream, invalid JSON), also after the retries.
    #[error("{provider} sent something that is not a reply ({message}); is the address right?")]
    InvalidReply {
        /// Provider's name.
        provider: String,
        /// What came instead.
        message: String,
    },
    /// The provider could not be reached, also after the retries.
    #[error("cannot reach {provider} at {address}: {message}")]
    Network {
        /// Provider's name.
        provider: String,
        /// Scheme, host and port.
        address: String,
        /// What happened.
        message: String,
    },
    /// No answer in time, also after the retries.
    #[error("{provider} did not answer within {} s", after.as_secs())]
    Timeout {
        /// Provider's name.
        provider: String,
        /// The limit that ran out.
        after: Duration,
    },
    /// The call was dropped because somebody asked for it.
    #[error("the call was cancelled")]
    Cancelled,
}
