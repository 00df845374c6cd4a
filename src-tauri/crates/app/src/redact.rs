//! Blacking out what must not leave the machine in an export or a report.

use openspace_config::Environment;
use regex::Regex;

use crate::{Code, Failure, failure::Result};

/// What stands in the place of a secret.
const MARK: &str = "[redacted]";

/// Shapes of credentials, from their issuers' documentation: keys of Anthropic, OpenAI and
/// OpenRouter (`sk-…`), Google (`AIza…`), AWS (`AKIA…`), GitHub (`ghp_…`, `github_pat_…`), Slack
/// (`xox…`), JSON Web Tokens (RFC 7519), bearer headers (RFC 6750), PEM private keys (RFC 7468).
const SHAPES: &str = r"(?x)
    \bsk-[A-Za-z0-9_-]{16,}
  | \bAIza[A-Za-z0-9_-]{30,}
  | \bA(?:KIA|SIA)[A-Z0-9]{16}\b
  | \bgh[pousr]_[A-Za-z0-9]{30,}
  | \bgithub_pat_[A-Za-z0-9_]{30,}
  | \bxox[abeprs]-[A-Za-z0-9-]{10,}
  | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
  | (?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}
  | -----BEGIN[A-Z\ ]*PRIVATE\ KEY-----(?s:.*?)-----END[A-Z\ ]*PRIVATE\ KEY-----
";

/// Finds secrets in text: those of this person by their value, others by their shape.
pub(crate) struct Redaction {
    known: Vec<String>,
    shapes: Regex,
}

impl Redaction {
    /// With the values of every variable whose name says that it holds a secret.
    pub(crate) fn new(environment: &Environment) -> Result<Self> {
        const SHORTEST: usize = 8;
        let known = environment
            .iter()
            .filter(|(name, _)| name.to_str().is_some_and(holds_secret))
            .filter_map(|(_, value)| value.to_str())
            .filter(|value| value.len() >= SHORTEST)
            .map(str::to_owned)
            .collect();
        let shapes =
            Regex::new(SHAPES).map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        Ok(Self { known, shapes })
    }

    /// Takes secrets out of every text of a JSON value, and says how many there were. In written
    /// JSON a secret may be escaped, or follow right after the letter of an escape.
    pub(crate) fn apply_to(&self, value: &mut serde_json::Value) -> usize {
        use serde_json::Value;
        match value {
            Value::String(text) => {
                let (clean, count) = self.apply(text);
                if count > 0 {
                    *text = clean;
                }
                count
            }
            Value::Array(items) => items.iter_mut().map(|item| self.apply_to(item)).sum(),
            Value::Object(fields) => fields.values_mut().map(|field| self.apply_to(field)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }

    /// The text without secrets, and how many there were.
    pub(crate) fn apply(&self, text: &str) -> (String, usize) {
        let mut count = 0;
        let mut text = text.to_owned();
        for secret in &self.known {
            let found = text.matches(secret.as_str()).count();
            if found > 0 {
                count += found;
                text = text.replace(secret.as_str(), MARK);
            }
        }
        let shaped = self.shapes.find_iter(&text).count();
        if shaped > 0 {
            count += shaped;
            text = self.shapes.replace_all(&text, MARK).into_owned();
        }
        (text, count)
    }
}

fn holds_secret(name: &str) -> bool {
    const ENDINGS: [&str; 6] = [
        "_API_KEY",
        "_TOKEN",
        "_SECRET",
        "_PASSWORD",
        "_PASSPHRASE",
        "_ACCESS_KEY",
    ];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction() -> Redaction {
        let mut environment = Environment::default();
        environment.insert("SOME_API_KEY", "a-very-own-key");
        environment.insert("EDITOR", "a-very-own-editor");
        Redaction::new(&environment).expect("the shapes are right")
    }

    /// A key of the person goes wherever it stands; what is no secret stays.
    #[test]
    fn known_values_are_blacked_out() {
        let (text, count) =
            redaction().apply("x a-very-own-key y a-very-own-key a-very-own-editor");
        assert_eq!(text, "x [redacted] y [redacted] a-very-own-editor");
        assert_eq!(count, 2);
    }

    /// Keys of others are known by their shape.
    #[test]
    fn shapes_are_blacked_out() {
        let secrets = [
            &format!("sk-ant-api03-{}", "Ab1-".repeat(20)),
            "sk-proj-0123456789abcdefghij",
            "AKIAABCDEFGHIJKLMNOP",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "xoxb-123456789012-abcdef",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLWhlcmU",
            "Authorization: Bearer abcdefghijklmnopqrstuv",
            "-----BEGIN PRIVATE KEY-----\nMIIE\nabc\n-----END PRIVATE KEY-----",
        ];
        for secret in secrets {
            let (text, count) = redaction().apply(&format!("before {secret} after"));
            assert_eq!(count, 1, "{secret}");
            assert!(
                text.contains(MARK) && text.starts_with("before") && text.ends_with("after"),
                "{text}"
            );
            let last = secret.rsplit(' ').next().unwrap_or_default();
            assert!(!text.contains(last), "{text}");
        }
    }

    /// A secret right behind a line break, or with letters that JSON escapes, is found in JSON.
    #[test]
    fn json_is_searched_text_by_text() {
        let key = format!("sk-{}", "Ab1".repeat(10));
        let mut environment = Environment::default();
        environment.insert("QUOTED_TOKEN", "qu\"ot\\ed-token");
        let redaction = Redaction::new(&environment).expect("the shapes are right");
        let mut value = serde_json::json!({
            "a": [format!("line\n{key}"), 3],
            "b": { "c": "x qu\"ot\\ed-token" },
        });
        assert_eq!(redaction.apply_to(&mut value), 2);
        assert_eq!(
            value,
            serde_json::json!({ "a": ["line\n[redacted]", 3], "b": { "c": "x [redacted]" } })
        );
    }

    /// Ordinary text is left as it is.
    #[test]
    fn ordinary_text_stays() {
        let text = "ask-risky, task-list, a sketch of /home/ana/sk-1 and eyJust words.";
        assert_eq!(redaction().apply(text), (text.to_owned(), 0));
    }
}
