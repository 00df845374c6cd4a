//! Keys of model providers: which there are, where each is kept, and changing that.
//!
//! Every surface that a person uses shares this: the terminal, the window, its remote procedure
//! calls. A server that a host agent starts (`openspace mcp` and its like) must offer none of it and
//! open no key: the host would get what the person gave to OpenSpace, and a prompt of the keychain
//! would appear that nobody asked for. A run is executed by a process of our own, which looks for
//! its key itself.

use std::{path::PathBuf, sync::Arc};

use openspace_config::{
    Secret, SecretsError, Vault,
    secrets::{Kept, Protect, Protection},
};
use openspace_llm::{
    ModelName,
    provider::{self, PROVIDERS, Provider, Wire},
};
use serde::Serialize;

use crate::{
    App, Code, Failure, KeySource,
    doctor::{Check, Health},
    failure::Result,
    rpc::Sentence,
};

mod failure;

pub(crate) use failure::explained;

/// The shortest passphrase that is taken.
const SHORTEST_PASSPHRASE: usize = 8;
/// The longest key: some are signed documents.
const LONGEST_KEY: usize = 32 * 1024;

/// Where a key is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptIn {
    /// In the memory of this process.
    Session,
    /// In a file whose key is in the keychain of the system.
    Keychain,
    /// In a file that a passphrase opens.
    Passphrase,
    /// In a file in plain text.
    Plain,
}

impl From<Protection> for KeptIn {
    fn from(protection: Protection) -> Self {
        match protection {
            Protection::Keychain => Self::Keychain,
            Protection::Passphrase => Self::Passphrase,
            Protection::None => Self::Plain,
        }
    }
}

impl From<Kept> for KeptIn {
    fn from(kept: Kept) -> Self {
        match kept {
            Kept::Session => Self::Session,
            Kept::File(protection) => protection.into(),
        }
    }
}

impl From<KeptIn> for KeySource {
    fn from(kept: KeptIn) -> Self {
        match kept {
            KeptIn::Session => Self::Session,
            KeptIn::Keychain => Self::Keychain,
            KeptIn::Passphrase => Self::PassphraseFile,
            KeptIn::Plain => Self::PlainFile,
        }
    }
}

/// A provider and its key, of which at most the last four characters are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderKey {
    /// First part of a model's name.
    pub provider: String,
    /// It cannot be used without a key.
    pub needs_key: bool,
    /// The variable that gives the key; it wins over what is kept.
    pub variable: Option<String>,
    /// Where a key is kept, if one is.
    pub kept: Option<KeptIn>,
    /// Dots and the last four characters of the kept one, unless it is not open.
    pub ending: Option<String>,
}

/// All keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Keys {
    /// One entry per provider, in the order of the table of providers.
    pub providers: Vec<ProviderKey>,
    /// How the file of keys is protected; none while there is none.
    pub protection: Option<KeptIn>,
    /// The file.
    pub file: PathBuf,
    /// A passphrase opens the file, and none was given to this process.
    pub needs_passphrase: bool,
    /// Why the kept keys cannot be used now.
    pub problem: Option<Failure>,
}

/// A key that was just kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptKey {
    /// Whose it is.
    pub provider: String,
    /// Dots and its last four characters.
    pub ending: String,
    /// Where it is kept.
    pub kept: KeptIn,
    /// The variable that wins over it as long as it is set.
    pub variable: Option<String>,
}

/// How long a key is to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// In the file, protected as that is; a new one by the keychain.
    File,
    /// In the memory of this process, until it ends.
    Session,
}

impl App {
    /// The providers and their keys. With `open` the file is opened, to tell how the keys end; a
    /// keychain that does not open is told in [`Keys::problem`].
    pub async fn keys(&self, open: bool) -> Result<Keys> {
        self.refuse_runs("look at keys")?;
        let told = self
            .with_vault(move |vault| {
                let overview = vault.overview()?;
                let contents = if open {
                    vault.all().map(Some)
                } else {
                    Ok(None)
                };
                Ok((overview, contents))
            })
            .await;
        let (overview, contents, problem) = match told {
            Ok((overview, Ok(contents))) => (Some(overview), contents, None),
            Ok((overview, Err(error))) => (Some(overview), None, Some(error)),
            Err(error) => (None, None, Some(error)),
        };
        let kept = |provider: &Provider| -> Option<KeptIn> {
            let overview = overview.as_ref()?;
            let name = name(provider);
            if overview.session.contains(&name) {
                return Some(KeptIn::Session);
            }
            let in_file = overview.names.contains(&name);
            in_file.then_some(overview.protection?.into())
        };
        let providers = with_keys()
            .map(|provider| ProviderKey {
                provider: provider.name.to_owned(),
                needs_key: provider.needs_key(),
                variable: self.key_variable(provider),
                kept: kept(provider),
                ending: contents
                    .as_ref()
                    .and_then(|contents| contents.get(&name(provider)))
                    .map(ending),
            })
            .collect();
        Ok(Keys {
            providers,
            protection: overview
                .as_ref()
                .and_then(|overview| overview.protection)
                .map(KeptIn::from),
            file: self.vault.path().to_owned(),
            needs_passphrase: overview.is_some_and(|overview| overview.needs_passphrase),
            problem: problem.map(|error| explained(&error, None)),
        })
    }

    /// The provider of that name, as the table of providers spells it.
    ///
    /// # Errors
    /// [`Code::InvalidRequest`] with the names there are.
    pub fn key_provider(&self, provider: &str) -> Result<&'static str> {
        with_key(provider).map(|provider| provider.name)
    }

    /// Keeps a key.
    ///
    /// # Errors
    /// [`Code::InvalidRequest`] for what is no key, [`Code::Credentials`] when it cannot be kept;
    /// nothing is kept then.
    pub async fn set_key(
        &self,
        provider: &str,
        key: Secret<String>,
        keep: Keep,
    ) -> Result<KeptKey> {
        self.refuse_runs("set keys")?;
        let provider = with_key(provider)?;
        let key = checked(&key)?;
        let (name, ending) = (name(provider), ending(&key));
        let kept = self
            .with_vault(move |vault| match keep {
                Keep::File => vault.set(&name, key).map(KeptIn::from),
                Keep::Session => {
                    vault.set_for_session(&name, key);
                    Ok(KeptIn::Session)
                }
            })
            .await
            .map_err(|error| explained(&error, Some(provider)))?;
        Ok(KeptKey {
            provider: provider.name.to_owned(),
            ending,
            kept,
            variable: self.key_variable(provider),
        })
    }

    /// Removes a kept key. Whether there was one.
    pub async fn remove_key(&self, provider: &str) -> Result<bool> {
        self.refuse_runs("remove keys")?;
        let provider = with_key(provider)?;
        self.with_vault(move |vault| vault.remove(&name(provider)))
            .await
            .map_err(|error| explained(&error, Some(provider)))
    }

    /// Sends the cheapest request that proves the key of a provider, with the key and the address
    /// that a run would use. Without a model it is the one of the settings.
    ///
    /// # Errors
    /// [`Code::InvalidRequest`] when no model of that provider is named anywhere, else what the
    /// provider says.
    pub async fn test_key(
        &self,
        provider: &str,
        model: Option<String>,
    ) -> Result<(String, KeySource)> {
        self.refuse_runs("test keys")?;
        let provider = with_key(provider)?;
        let of_provider =
            |name: &String| ModelName::parse(name).is_ok_and(|it| it.provider == provider);
        let model = model
            .or_else(|| self.values().model.name.clone())
            .filter(of_provider)
            .ok_or_else(|| {
                Failure::new(
                    Code::InvalidRequest,
                    format!(
                        "a key is tested with a model, and none of {} is named",
                        provider.name
                    ),
                )
                .hint(format!("add --model {}/NAME", provider.name))
            })?;
        let source = self.check_model_with_key(&model).await?;
        Ok((model, source))
    }

    /// Protects the kept keys in another way; a file is made if there is none.
    pub async fn protect_keys(&self, with: Protect) -> Result<()> {
        self.refuse_runs("protect keys")?;
        if let Protect::Passphrase(passphrase) = &with
            && passphrase.expose().chars().count() < SHORTEST_PASSPHRASE
        {
            return Err(Failure::new(
                Code::InvalidRequest,
                format!(
                    "the passphrase is too short: take {SHORTEST_PASSPHRASE} characters or more"
                ),
            ));
        }
        self.with_vault(move |vault| vault.protect(with))
            .await
            .map_err(|error| explained(&error, None))
    }

    /// Opens the kept keys with a passphrase, until this process ends.
    pub async fn unlock_keys(&self, passphrase: Secret<String>) -> Result<()> {
        self.refuse_runs("unlock keys")?;
        self.with_vault(move |vault| vault.unlock(&passphrase))
            .await
            .map_err(|error| explained(&error, None))
    }

    /// Whether a passphrase must be given before a run with this model can find its key.
    pub fn model_needs_passphrase(&self, model: &str) -> bool {
        let Ok(model) = ModelName::parse(model) else {
            return false;
        };
        if self.key_variable(model.provider).is_some() {
            return false;
        }
        // What is wrong with the file is told where the key is looked for.
        self.vault.overview().is_ok_and(|overview| {
            let name = name(model.provider);
            overview.needs_passphrase
                && overview.names.contains(&name)
                && !overview.session.contains(&name)
        })
    }

    /// What `doctor` says about the kept keys, without opening them.
    pub(crate) fn check_keys(&self) -> Check {
        const ID: &str = "keys";
        let overview = match self.vault.overview() {
            Ok(overview) => overview,
            Err(error) => {
                let failed = Sentence::new("check.keys.failed");
                return Check::failed(ID, Health::Problem, failed, &explained(&error, None));
            }
        };
        let Some(kept) = overview.protection.map(KeptIn::from) else {
            return Check::new(ID, Health::Off, Sentence::new("check.keys.none"));
        };
        let count = overview.names.len().to_string();
        let of = |key: &str| Sentence::new(key).with("count", &count);
        match kept {
            KeptIn::Plain => {
                let path = self.vault.path().display().to_string();
                Check::new(
                    ID,
                    Health::Warning,
                    of("check.keys.plain").with("path", path),
                )
                .fix(Sentence::new("check.keys.plain.fix"))
            }
            KeptIn::Keychain => Check::new(ID, Health::Ok, of("check.keys.keychain")),
            KeptIn::Passphrase => Check::new(ID, Health::Ok, of("check.keys.passphrase")),
            KeptIn::Session => Check::new(ID, Health::Ok, of("check.keys.session")),
        }
    }

    /// The key that is kept for a provider, and where.
    pub(crate) async fn kept_key(
        &self,
        provider: &'static Provider,
    ) -> Result<Option<(Secret<String>, KeptIn)>, SecretsError> {
        let found = self
            .with_vault(move |vault| vault.get(&name(provider)))
            .await?;
        Ok(found.map(|(key, kept)| (key, kept.into())))
    }

    /// The variable that gives a provider's key: ours for every model, else the provider's own.
    pub(crate) fn key_variable(&self, provider: &Provider) -> Option<String> {
        std::iter::once(&"OPENSPACE_LLM_API_KEY")
            .chain(provider.key_variables)
            .find(|name| self.environment.text(name).is_some())
            .map(|name| (*name).to_owned())
    }

    async fn with_vault<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Vault) -> Result<T, SecretsError> + Send + 'static,
    ) -> Result<T, SecretsError> {
        let vault = Arc::clone(&self.vault);
        tokio::task::spawn_blocking(move || work(&vault))
            .await
            .unwrap_or(Err(SecretsError::System("a thread")))
    }
}

/// The providers that may have a key.
fn with_keys() -> impl Iterator<Item = &'static Provider> {
    PROVIDERS
        .iter()
        .filter(|provider| provider.wire != Wire::Recorded)
}

fn with_key(provider: &str) -> Result<&'static Provider> {
    provider::find(provider)
        .filter(|provider| provider.wire != Wire::Recorded)
        .ok_or_else(|| {
            let names: Vec<_> = with_keys().map(|provider| provider.name).collect();
            Failure::new(
                Code::InvalidRequest,
                format!("there is no provider `{provider}`"),
            )
            .hint(format!("there are {}", names.join(", ")))
        })
}

/// What a provider's key is called in the file.
fn name(provider: &Provider) -> String {
    format!("provider:{}", provider.name)
}

/// The key without the space that copying takes along.
fn checked(key: &Secret<String>) -> Result<Secret<String>> {
    let key = key.expose().trim();
    let refuse = |what: &str| Err(Failure::new(Code::InvalidRequest, what));
    if key.is_empty() {
        return refuse("the key is empty");
    }
    if key.len() > LONGEST_KEY {
        return refuse("the key is too long to be one");
    }
    // It is sent in a header of HTTP.
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return refuse("the key holds spaces or other characters that no key has");
    }
    Ok(Secret::new(key.to_owned()))
}

/// Dots and the last four characters; of a short key only the dots.
fn ending(key: &Secret<String>) -> String {
    const SHORTEST: usize = 12;
    let key = key.expose();
    let shown = if key.len() >= SHORTEST && key.is_ascii() {
        &key[key.len() - 4..]
    } else {
        ""
    };
    format!("••••{shown}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At most four characters of a key are ever told, of a short one none.
    #[test]
    fn the_last_four_characters_are_all_that_is_told() {
        let ending = |text: &str| ending(&Secret::new(text.to_owned()));
        assert_eq!(ending("sk-0123456789-4f2a"), "••••4f2a");
        assert_eq!(ending("short-key"), "••••");
        assert_eq!(ending(""), "••••");
    }

    /// What cannot be a key is refused before anything is opened, and never repeated.
    #[test]
    fn what_is_no_key_is_refused() {
        let checked = |text: &str| checked(&Secret::new(text.to_owned()));
        assert_eq!(
            checked(" sk-1\n").map(Secret::into_exposed),
            Ok("sk-1".to_owned())
        );
        for text in [
            "",
            "  \n",
            "two words",
            "sk-\u{1b}[2J",
            "schlüssel",
            &"x".repeat(40_000),
        ] {
            let failure = checked(text).expect_err("no key");
            assert_eq!(failure.code, Code::InvalidRequest);
            assert!(text.trim().is_empty() || !failure.message.contains(text.trim()));
        }
    }

    /// Every provider with a key of its own is known by name, the one that plays recordings is not.
    #[test]
    fn providers_are_found_by_name() {
        assert_eq!(
            with_key("Anthropic").map(name),
            Ok("provider:anthropic".to_owned())
        );
        let unknown = with_key("anthropik").expect_err("no such provider");
        assert!(
            unknown
                .hint
                .is_some_and(|hint| hint.contains("anthropic, openai"))
        );
        assert!(with_key("recorded").is_err());
    }
}
