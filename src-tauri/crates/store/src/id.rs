//! Identifiers: short enough to type, random enough never to meet twice on one machine.

use std::{fmt, str::FromStr};

use rusqlite::{
    ToSql,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, ValueRef},
};
use serde::{Deserialize, Serialize};

/// Lower-case Crockford base 32: no `i`, `l`, `o`, `u`, so ids read aloud and never spell words.
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Fifty bits of randomness.
const LENGTH: usize = 10;

/// The text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an id: ids are {LENGTH} letters and digits")]
pub struct InvalidId(pub String);

fn random() -> String {
    let mut bytes = [0_u8; LENGTH];
    // Without a source of randomness nothing here is safe to run, so there is nothing to fall back to.
    #[expect(
        clippy::expect_used,
        reason = "the operating system's generator does not fail after boot"
    )]
    getrandom::fill(&mut bytes).expect("BUG: the operating system has no randomness");
    bytes
        .iter()
        .map(|byte| ALPHABET[usize::from(byte & 31)] as char)
        .collect()
}

fn is_valid(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| ALPHABET.contains(&byte))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// A new random id.
            pub fn random() -> Self {
                Self(random())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                if is_valid(text) { Ok(Self(text.to_owned())) } else { Err(InvalidId(text.to_owned())) }
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                if is_valid(&text) { Ok(Self(text)) } else { Err(InvalidId(text)) }
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.0.as_str().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                value.as_str()?.parse().map_err(|error| FromSqlError::Other(Box::new(error)))
            }
        }
    )*};
}

ids! {
    /// A process of ours that is, or was, alive.
    InstanceId;
    /// A conversation thread.
    SessionId;
    /// What was asked for.
    TaskId;
    /// One execution of a task.
    RunId;
    /// A question to the person.
    ApprovalId;
    /// A screenshot tied to a step.
    FrameId;
    /// A file that a run produced or kept whole.
    ArtefactId;
    /// A standing permission or prohibition.
    RuleId;
    /// A changed file with what it held before.
    ChangeId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_survives_text_and_json() {
        let id = RunId::random();
        assert_eq!(
            id.as_str().parse::<RunId>(),
            Ok(id.clone()),
            "text form parses back"
        );
        let json = serde_json::to_string(&id).expect("serialise");
        assert_eq!(
            serde_json::from_str::<RunId>(&json).expect("parse"),
            id,
            "JSON form parses back"
        );
    }

    #[test]
    fn what_is_no_id_is_refused() {
        for text in [
            "",
            "short",
            "UPPERCASE1",
            "has space1",
            "../../etc/",
            "aaaaaaaaaaaaaaaa",
        ] {
            assert!(
                text.parse::<RunId>().is_err(),
                "`{text}` must not pass for an id"
            );
        }
    }
}
