//! The key of the file: random, or from a passphrase.

use std::fmt;

use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::SecretsError;
use crate::Secret;

/// 32 bytes that open the file. They are overwritten when dropped, and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct DataKey(Zeroizing<[u8; 32]>);

impl DataKey {
    /// A key nobody has.
    pub fn random() -> Result<Self, SecretsError> {
        let mut bytes = Zeroizing::new([0; 32]);
        fill(bytes.as_mut_slice())?;
        Ok(Self(bytes))
    }

    /// As a keychain keeps it.
    pub(crate) fn hexadecimal(&self) -> Zeroizing<String> {
        Zeroizing::new(hexadecimal(self.0.as_slice()))
    }

    pub(crate) fn from_hexadecimal(text: &str) -> Option<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        parse_hexadecimal(text.trim(), bytes.as_mut_slice())?;
        Some(Self(bytes))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for DataKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}

/// How a passphrase becomes a key: Argon2id, version 0x13, with these parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derivation {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
    salt: String,
}

impl Derivation {
    /// The second recommended choice of RFC 9106, section 4, for machines where 2 GiB are too much
    /// to ask: 3 passes, 4 lanes, 64 MiB, a salt of 128 bits, a key of 256.
    pub fn new() -> Result<Self, SecretsError> {
        let mut salt = [0; SALT];
        fill(&mut salt)?;
        Ok(Self {
            memory_kib: 64 * 1024,
            passes: 3,
            lanes: 4,
            salt: hexadecimal(&salt),
        })
    }

    /// The parameters come from a file that nothing has vouched for yet: what would use up the
    /// machine is refused.
    pub(super) fn is_sane(&self) -> bool {
        (8 * 1024..=1024 * 1024).contains(&self.memory_kib)
            && (1..=16).contains(&self.passes)
            && (1..=16).contains(&self.lanes)
            && parse_hexadecimal(&self.salt, &mut [0; SALT]).is_some()
    }

    /// The key.
    pub fn key(&self, passphrase: &Secret<String>) -> Result<DataKey, SecretsError> {
        const WRONG: SecretsError = SecretsError::System("these parameters of Argon2id");
        let mut salt = [0; SALT];
        parse_hexadecimal(&self.salt, &mut salt).ok_or(WRONG)?;
        let mut bytes = Zeroizing::new([0; 32]);
        let parameters = Params::new(self.memory_kib, self.passes, self.lanes, Some(bytes.len()))
            .map_err(|_| WRONG)?;
        Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters)
            .hash_password_into(passphrase.expose().as_bytes(), &salt, bytes.as_mut_slice())
            .map_err(|_| SecretsError::System("memory for Argon2id"))?;
        Ok(DataKey(bytes))
    }
}

const SALT: usize = 16;

pub(super) fn fill(bytes: &mut [u8]) -> Result<(), SecretsError> {
    getrandom::fill(bytes).map_err(|_| SecretsError::System("random numbers"))
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

/// Fills `bytes` from exactly as many pairs of digits.
fn parse_hexadecimal(text: &str, bytes: &mut [u8]) -> Option<()> {
    if text.len() != 2 * bytes.len() {
        return None;
    }
    let digit = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The derivation is Argon2id version 0x13: the value is that of the reference implementation
    /// (`echo -n passphrase | argon2 0123456789abcdef -id -t 3 -k 65536 -p 4 -l 32 -r`).
    #[test]
    fn a_passphrase_gives_the_key_that_argon2id_gives() {
        let derivation = Derivation {
            memory_kib: 65_536,
            passes: 3,
            lanes: 4,
            salt: hexadecimal(b"0123456789abcdef"),
        };
        assert!(derivation.is_sane());
        let key = derivation
            .key(&Secret::new("passphrase".to_owned()))
            .expect("a key");
        assert_eq!(key.hexadecimal().as_str(), REFERENCE);
        assert_eq!(format!("{key:?}"), "[redacted]");
    }

    const REFERENCE: &str = "b9a461ff4f5c6e7e47ef9d52360d51fee2b7fd5a66cc012958bffcd1c8c20a1b";

    /// A key survives the way into the keychain and back; anything else there is no key.
    #[test]
    fn a_key_is_kept_as_text() {
        let key = DataKey::random().expect("a key");
        assert!(DataKey::from_hexadecimal(&key.hexadecimal()) == Some(key));
        for text in [
            "",
            "00",
            "zz",
            &"0".repeat(63),
            &"g".repeat(64),
            &"é".repeat(32),
        ] {
            assert!(DataKey::from_hexadecimal(text).is_none(), "{text}");
        }
    }

    /// Parameters that would use up the machine are no parameters.
    #[test]
    fn greedy_parameters_are_refused() {
        let usual = Derivation::new().expect("parameters");
        assert!(usual.is_sane());
        for change in [
            (|it| it.memory_kib = u32::MAX) as fn(&mut Derivation),
            |it| it.memory_kib = 8,
            |it| it.passes = 1_000_000,
            |it| it.lanes = 0,
            |it| it.salt = String::new(),
        ] {
            let mut greedy = usual.clone();
            change(&mut greedy);
            assert!(!greedy.is_sane(), "{greedy:?}");
        }
    }
}
