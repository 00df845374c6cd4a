//! The bytes of the file, as the module above describes them.

use std::{collections::BTreeMap, path::Path};

use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{Contents, DataKey, Derivation, Result, SecretsError, key::fill};
use crate::Secret;

const VERSION: u64 = 1;
const NONCE: usize = 24;

/// What keeps others from reading the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// A key in the keychain of the system.
    Keychain,
    /// A passphrase.
    Passphrase,
    /// Nothing but the permissions of the file.
    None,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    openspace_secrets: u64,
    protection: Protection,
    names: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    argon2id: Option<Derivation>,
}

/// A file as it lies on the disk.
#[derive(Debug)]
pub(super) struct Sealed {
    head: Head,
    /// The head as it was written, with its newline: what the tag vouches for.
    line: Vec<u8>,
    rest: Zeroizing<Vec<u8>>,
}

impl Sealed {
    /// Reads the head. The rest is looked at when it is opened.
    pub(super) fn parse(bytes: Vec<u8>, path: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct Version {
            openspace_secrets: u64,
        }
        let damaged = |what| SecretsError::Damaged {
            path: path.to_owned(),
            what,
        };
        let bytes = Zeroizing::new(bytes);
        let end = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or_else(|| damaged("its first line is not complete"))?;
        let (line, rest) = bytes.split_at(end + 1);
        let no_head = "its first line is not that of a file of keys";
        let Version {
            openspace_secrets: version,
        } = serde_json::from_slice(line).map_err(|_| damaged(no_head))?;
        if version != VERSION {
            return Err(SecretsError::Newer {
                path: path.to_owned(),
                version,
            });
        }
        let head: Head = serde_json::from_slice(line).map_err(|_| damaged(no_head))?;
        let derived = head.protection == Protection::Passphrase;
        if head.argon2id.is_some() != derived
            || head.argon2id.as_ref().is_some_and(|it| !it.is_sane())
        {
            return Err(damaged("how its passphrase is used makes no sense"));
        }
        Ok(Self {
            head,
            line: line.to_vec(),
            rest: Zeroizing::new(rest.to_vec()),
        })
    }

    /// Encrypts.
    pub(super) fn seal(
        protection: Protection,
        derivation: Option<Derivation>,
        key: &DataKey,
        contents: &Contents,
    ) -> Result<Self> {
        let (head, line) = head(protection, derivation, contents)?;
        let mut nonce = [0; NONCE];
        fill(&mut nonce)?;
        let payload = Payload {
            msg: &encoded(contents)?,
            aad: &line,
        };
        let encrypted = cipher(key)
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| SecretsError::System("room for the keys"))?;
        Ok(Self {
            head,
            line,
            rest: Zeroizing::new([nonce.as_slice(), &encrypted].concat()),
        })
    }

    /// Plain text, where a person asked for it.
    pub(super) fn unprotected(contents: &Contents) -> Result<Self> {
        let (head, line) = head(Protection::None, None, contents)?;
        Ok(Self {
            head,
            line,
            rest: encoded(contents)?,
        })
    }

    pub(super) fn bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([self.line.as_slice(), &self.rest].concat())
    }

    pub(super) fn protection(&self) -> Protection {
        self.head.protection
    }

    pub(super) fn derivation(&self) -> Option<&Derivation> {
        self.head.argon2id.as_ref()
    }

    pub(super) fn names(&self) -> &[String] {
        &self.head.names
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.head.names.iter().any(|known| known == name)
    }

    /// The secrets; none if the key is another one or a single bit is not as it was written.
    pub(super) fn open(&self, key: &DataKey) -> Option<Contents> {
        let (nonce, encrypted) = self.rest.split_first_chunk::<NONCE>()?;
        let payload = Payload {
            msg: encrypted,
            aad: &self.line,
        };
        let text = cipher(key)
            .decrypt(&XNonce::from(*nonce), payload)
            .map(Zeroizing::new)
            .ok()?;
        decoded(&text)
    }

    /// The secrets of a file without protection.
    pub(super) fn plain(&self, path: &Path) -> Result<Contents> {
        decoded(&self.rest).ok_or_else(|| SecretsError::Damaged {
            path: path.to_owned(),
            what: "what follows its first line is not what it should be",
        })
    }
}

fn cipher(key: &DataKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&(*key.bytes()).into())
}

fn head(
    protection: Protection,
    argon2id: Option<Derivation>,
    contents: &Contents,
) -> Result<(Head, Vec<u8>)> {
    let head = Head {
        openspace_secrets: VERSION,
        protection,
        names: contents.keys().cloned().collect(),
        argon2id,
    };
    let mut line =
        serde_json::to_vec(&head).map_err(|_| SecretsError::System("names that are text"))?;
    line.push(b'\n');
    Ok((head, line))
}

fn encoded(contents: &Contents) -> Result<Zeroizing<Vec<u8>>> {
    let texts: BTreeMap<&str, &str> = contents
        .iter()
        .map(|(name, secret)| (name.as_str(), secret.expose().as_str()))
        .collect();
    serde_json::to_vec(&texts)
        .map(Zeroizing::new)
        .map_err(|_| SecretsError::System("keys that are text"))
}

fn decoded(text: &[u8]) -> Option<Contents> {
    serde_json::from_slice::<BTreeMap<String, Secret<String>>>(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(pairs: &[(&str, &str)]) -> Contents {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), Secret::new((*value).to_owned())))
            .collect()
    }

    fn parse(bytes: &[u8]) -> Result<Sealed> {
        Sealed::parse(bytes.to_vec(), Path::new("secrets"))
    }

    fn sealed(contents: &Contents, key: &DataKey) -> Vec<u8> {
        let sealed = Sealed::seal(Protection::Keychain, None, key, contents).expect("sealed");
        sealed.bytes().to_vec()
    }

    /// What was sealed is had back with its key, 20 kB of it as well, and shows nowhere before.
    #[test]
    fn what_is_sealed_opens_with_its_key_only() {
        let key = DataKey::random().expect("a key");
        let long = "0123456789abcdef".repeat(1_280);
        let all = contents(&[("provider:openai", "sk-planted-value"), ("token:x", &long)]);
        let bytes = sealed(&all, &key);
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("planted") && !text.contains("0123456789abcdef"));
        let read = parse(&bytes).expect("a head");
        assert_eq!(read.names(), ["provider:openai", "token:x"]);
        assert_eq!(read.open(&key), Some(all));
        assert_eq!(read.open(&DataKey::random().expect("a key")), None);
        assert!(!format!("{read:?}").contains("planted"), "{read:?}");
    }

    /// The same contents never look the same twice.
    #[test]
    fn every_writing_has_its_own_nonce() {
        let key = DataKey::random().expect("a key");
        let all = contents(&[("a", "b")]);
        assert_ne!(sealed(&all, &key), sealed(&all, &key));
    }

    /// A changed bit is found wherever it is: in the head, the nonce, the secrets or the tag.
    #[test]
    fn every_changed_bit_is_found() {
        let key = DataKey::random().expect("a key");
        let bytes = sealed(&contents(&[("provider:openai", "sk-1")]), &key);
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                let opened = parse(&changed).ok().and_then(|sealed| sealed.open(&key));
                assert_eq!(opened, None, "byte {at}, bit {bit}");
            }
        }
    }

    /// A file that ends early or goes on is not taken for one that is whole.
    #[test]
    fn a_file_of_another_length_does_not_open() {
        let key = DataKey::random().expect("a key");
        let bytes = sealed(&contents(&[("a", "b")]), &key);
        for length in 0..bytes.len() {
            let opened = parse(&bytes[..length]).ok().and_then(|it| it.open(&key));
            assert_eq!(opened, None, "{length} bytes");
        }
        let longer = [bytes.as_slice(), b"x"].concat();
        assert_eq!(parse(&longer).expect("a head").open(&key), None);
    }

    /// A later format is named, and other files are not taken for ours.
    #[test]
    fn other_files_are_told_apart() {
        let later = b"{\"openspace_secrets\":2,\"whatever\":true}\n...";
        assert!(matches!(
            parse(later),
            Err(SecretsError::Newer { version: 2, .. })
        ));
        let no_parameters =
            b"{\"openspace_secrets\":1,\"protection\":\"passphrase\",\"names\":[]}\n..." as &[u8];
        for other in [
            b"" as &[u8],
            b"# settings\n",
            b"{}\n",
            b"\x00\n",
            no_parameters,
        ] {
            assert!(
                matches!(parse(other), Err(SecretsError::Damaged { .. })),
                "{}",
                String::from_utf8_lossy(other)
            );
        }
    }
}
