//! A value that must not be printed.

use std::fmt;

use serde::{Deserialize, Deserializer};

/// A key, token or passphrase. It prints `[redacted]`, cannot be serialised, and is only had by
/// asking for it, so every place that uses one can be found.
///
/// It can be read from a file or a request, since that is where secrets come from.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Secret<T>(T);

impl<T> Secret<T> {
    /// Wraps a value.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value itself, for the one place that needs it.
    pub const fn expose(&self) -> &T {
        &self.0
    }

    /// Gives the value away.
    pub fn into_exposed(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<T> fmt::Display for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

impl<T> From<T> for Secret<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However it is printed, a secret does not show.
    #[test]
    fn a_secret_is_never_printed() {
        let secret = Secret::new("hunter2".to_owned());
        assert_eq!(
            format!("{secret} {secret:?} {secret:#?}"),
            "[redacted] [redacted] [redacted]"
        );
        assert_eq!(format!("{:?}", Some(&secret)), "Some([redacted])");
        assert_eq!(secret.expose(), "hunter2");
    }
}
