//! From what a provider reports to an [`Error`] and whether it is worth trying again.
//!
//! Providers tell apart what matters (too long, a picture, a wrong model) only in the words of a
//! 400, so the words are looked at here, and nowhere else.

use std::time::Duration;

use serde_json::Value;

use crate::Error;

/// A failed attempt.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    pub(crate) retry: Option<Retry>,
}

/// It is worth trying again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Retry {
    /// As in [`crate::Delta::Waiting`].
    pub(crate) reason: &'static str,
    /// What the provider asked for.
    pub(crate) after: Option<Duration>,
    /// Attempts in all that this kind of failure is worth.
    pub(crate) attempts: u32,
}

impl Retry {
    pub(crate) fn because(reason: &'static str) -> Self {
        Self {
            reason,
            after: None,
            attempts: u32::MAX,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, retry: None }
    }
}

/// An error as a provider words it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Reported {
    /// `type` and `code`, lower case, whichever there are.
    pub(crate) kinds: Vec<String>,
    /// A numeric `code` within the body, where it looks like a HTTP status.
    pub(crate) status: Option<u16>,
    pub(crate) message: String,
}

impl Reported {
    /// Reads the shapes in use: `{"error": {…}}`, `{"error": "…"}`, `{"message": …}`,
    /// `{"detail": …}`, and any of these in a list.
    pub(crate) fn read(body: &Value) -> Option<Self> {
        let body = body.get(0).unwrap_or(body);
        let inner = match body.get("error") {
            Some(Value::Null) | None => body,
            Some(inner) => inner,
        };
        let text = |value: &Value| match value {
            Value::String(text) => Some(text.clone()),
            Value::Object(_) | Value::Array(_) => Some(value.to_string()),
            _ => None,
        };
        let message = if inner.is_string() {
            text(inner)
        } else {
            ["message", "detail", "error", "msg"]
                .iter()
                .find_map(|key| inner.get(key).and_then(text))
        }?;
        // OpenRouter keeps the words of the provider behind it apart.
        let behind = inner.pointer("/metadata/raw").and_then(text);
        let message = behind.map_or_else(|| message.clone(), |raw| format!("{message}: {raw}"));

        let mut reported = Self {
            message,
            ..Self::default()
        };
        for key in ["type", "code", "status"] {
            match inner.get(key) {
                Some(Value::String(kind)) => reported.kinds.push(kind.to_ascii_lowercase()),
                Some(Value::Number(number)) => {
                    let status = number.as_u64().and_then(|code| u16::try_from(code).ok());
                    reported.status = status.filter(|code| (400..600).contains(code));
                }
                _ => {}
            }
        }
        Some(reported)
    }

    fn is(&self, kinds: &[&str]) -> bool {
        self.kinds.iter().any(|kind| kinds.contains(&kind.as_str()))
    }

    /// The HTTP status the provider would have used, for errors inside a stream.
    fn implied_status(&self) -> u16 {
        const BY_KIND: &[(u16, &[&str])] = &[
            (401, &["authentication_error", "invalid_api_key"]),
            (402, &["billing_error", "insufficient_quota"]),
            (403, &["permission_error", "permission_denied"]),
            (404, &["not_found_error", "model_not_found"]),
            (413, &["request_too_large"]),
            (
                429,
                &[
                    "rate_limit_error",
                    "rate_limit_exceeded",
                    "resource_exhausted",
                ],
            ),
            (529, &["overloaded_error"]),
            (504, &["timeout_error"]),
            (
                400,
                &[
                    "invalid_request_error",
                    "context_length_exceeded",
                    "exceed_context_size_error",
                    "invalid_argument",
                ],
            ),
        ];
        self.status.unwrap_or_else(|| {
            let known = BY_KIND.iter().find(|(_, kinds)| self.is(kinds));
            known.map_or(500, |(status, _)| *status)
        })
    }
}

/// Who is being talked to: what errors name, and what they must never contain.
#[derive(Clone)]
pub(crate) struct Peer {
    pub(crate) provider: String,
    pub(crate) model: String,
    /// Scheme, host and port.
    pub(crate) address: String,
    /// Keys and header values that a server may echo.
    pub(crate) secrets: Vec<String>,
}

impl Peer {
    /// Somebody else's words, fit to be shown: one line, short, without our keys.
    pub(crate) fn quote(&self, words: &str) -> String {
        const LONGEST: usize = 400;
        let mut words = words.to_owned();
        for secret in &self.secrets {
            words = words.replace(secret.as_str(), "[redacted]");
        }
        let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
        let line: String = line.chars().filter(|c| !c.is_control()).collect();
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    pub(crate) fn invalid_reply(&self, what: &str) -> Error {
        Error::InvalidReply {
            provider: self.provider.clone(),
            message: format!("{} from {}", self.quote(what), self.address),
        }
    }

    /// A reply that was broken on its way. A server that always answers like this costs money each
    /// time, so it is asked only once more.
    pub(crate) fn broken_reply(&self, what: &str) -> Failure {
        Failure {
            error: self.invalid_reply(what),
            retry: Some(Retry {
                reason: "network",
                after: None,
                attempts: 2,
            }),
        }
    }

    pub(crate) fn unreachable(&self, what: &str) -> Failure {
        Failure {
            error: Error::Network {
                provider: self.provider.clone(),
                address: self.address.clone(),
                message: self.quote(what),
            },
            retry: Some(Retry::because("network")),
        }
    }

    pub(crate) fn silent(&self, after: Duration) -> Failure {
        Failure {
            error: Error::Timeout {
                provider: self.provider.clone(),
                after,
            },
            retry: Some(Retry::because("timeout")),
        }
    }

    /// An answer with an error status whose body is no error of an API.
    pub(crate) fn unreadable(&self, status: u16, body: &str, html: bool) -> Failure {
        if status == 401 {
            return self.reported(Some(status), &Reported::default(), false);
        }
        let what = if html {
            format!("a web page with status {status}")
        } else if body.trim().is_empty() {
            format!("status {status} without a reason")
        } else {
            format!("status {status}, {body}")
        };
        let transient = Self::is_transient(status);
        if transient && !html {
            // A service behind a balancer answers like this while it is down.
            let reported = Reported {
                message: what,
                ..Reported::default()
            };
            return self.reported(Some(status), &reported, false);
        }
        Failure {
            error: self.invalid_reply(&what),
            retry: transient.then(|| Retry::because("overloaded")),
        }
    }

    fn is_transient(status: u16) -> bool {
        matches!(status, 408 | 409 | 429 | 500 | 502..=504 | 520..=529)
    }

    /// Sorts an error the provider reported, in a response (`status`) or inside a stream.
    pub(crate) fn reported(
        &self,
        status: Option<u16>,
        reported: &Reported,
        with_images: bool,
    ) -> Failure {
        let provider = self.provider.clone();
        let mut message = self.quote(&reported.message);
        let words = reported.message.to_lowercase();
        let says = |needles: &[&str]| needles.iter().any(|needle| words.contains(needle));
        let status = status.unwrap_or_else(|| reported.implied_status());
        if message.is_empty() {
            message = format!("status {status}");
        }

        let no_such_model = reported.is(&["model_not_found", "model_not_exist"])
            || says(&[
                "not a valid model",
                "no models loaded",
                "failed to load model",
                "unknown model",
                "invalid model",
                "model not exist",
                "try pulling",
            ])
            || (words.contains("model") && says(&["not found", "does not exist", "not_found"]));
        let out_of_money = status == 402
            || reported.is(&["insufficient_quota", "billing_error"])
            || says(&["credit balance is too low", "insufficient balance"]);
        let about_a_picture = with_images
            && (words.contains("image") || reported.is(&["image_parse_error"]))
            && says(&[
                "exceed",
                "dimension",
                "size",
                "process",
                "format",
                "support",
                "large",
                "pixel",
                "invalid",
                "decode",
                "media_type",
                "media type",
                "many",
                "unable",
            ]);

        if out_of_money {
            return Error::Authentication { provider, message }.into();
        }
        match status {
            403 if says(&["moderation", "flagged"]) => Error::Refused { message }.into(),
            401 | 403 => Error::Authentication { provider, message }.into(),
            404 if about_a_picture => Error::ImageRejected { message }.into(),
            404 if no_such_model || words.contains("model") => self.no_model(message).into(),
            404 if says(&["no endpoints"]) => Error::InvalidRequest { message }.into(),
            404 | 405 => self
                .invalid_reply(&format!("status {status}, {message}"))
                .into(),
            413 if with_images => Error::ImageRejected { message }.into(),
            413 => Error::ContextTooLong { message }.into(),
            429 => Failure {
                error: Error::RateLimited {
                    provider,
                    retry_after: None,
                    message,
                },
                retry: Some(Retry::because("rate_limited")),
            },
            400 | 422 => {
                let too_long = reported
                    .is(&["context_length_exceeded", "exceed_context_size_error"])
                    || says(&[
                        "maximum context length",
                        "prompt is too long",
                        "input is too long",
                        "context length",
                        "context window",
                        "context limit",
                        "context size",
                        "input token count",
                        "too many tokens",
                    ]);
                let wrong_key = says(&["api key not valid", "invalid api key", "api_key_invalid"]);
                let declined = reported.is(&[
                    "content_policy_violation",
                    "content_filter",
                    "data_inspection_failed",
                ]) || says(&["content filter", "content management policy"]);
                if wrong_key {
                    Error::Authentication { provider, message }.into()
                } else if about_a_picture {
                    Error::ImageRejected { message }.into()
                } else if too_long {
                    Error::ContextTooLong { message }.into()
                } else if no_such_model {
                    self.no_model(message).into()
                } else if declined {
                    Error::Refused { message }.into()
                } else {
                    Error::InvalidRequest { message }.into()
                }
            }
            _ if Self::is_transient(status) && no_such_model => self.no_model(message).into(),
            _ if Self::is_transient(status) => Failure {
                error: Error::Overloaded { provider, message },
                retry: Some(Retry::because("overloaded")),
            },
            _ => Error::InvalidRequest {
                message: format!("status {status}: {message}"),
            }
            .into(),
        }
    }

    fn no_model(&self, message: String) -> Error {
        Error::ModelNotFound {
            provider: self.provider.clone(),
            model: self.model.clone(),
            message,
        }
    }
}
