//! Keys of model providers. A key goes in and never comes out: what is told of it is where it is kept
//! and its last four characters.

use openspace_config::{Secret, secrets::Protect};
use serde::Deserialize;

use super::{Call, Caller, Nothing, choice, payload};
use crate::{Code, Failure, Keep, KeptIn, failure::Result};

payload! {
    /// All keys.
    pub struct KeysListResponse {
        /// One entry per provider that can have a key.
        pub keys: Vec<KeyView>,
        /// How the file of keys is protected; null while there is none.
        pub protection: Option<KeyPlace>,
        /// The file.
        pub file: String,
        /// A passphrase opens the file, and none was given yet.
        pub needs_passphrase: bool,
        /// Why the kept keys cannot be used now: what happened, and what to do.
        pub problem: Option<Failure>,
        /// Keys can be kept in the memory of this process: only where it executes runs itself.
        pub session_possible: bool,
    }

    /// A provider and its key.
    pub struct KeyView {
        /// First part of a model's name.
        pub provider: String,
        /// It cannot be used without a key.
        pub needs_key: bool,
        /// The variable that gives the key; it wins over what is kept.
        pub variable: Option<String>,
        /// Where a key is kept.
        pub kept: Option<KeyPlace>,
        /// Dots and the last four characters of the kept one.
        pub ending: Option<String>,
    }

    /// Names a provider.
    pub struct KeyRemoveRequest {
        /// First part of a model's name.
        pub provider: String,
    }

    /// Tests a key.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct KeyTestRequest {
        /// First part of a model's name.
        pub provider: String,
        /// The model to test it with; that of the settings without it.
        #[serde(default)]
        pub model: Option<String>,
    }

    /// The key works.
    pub struct KeyTestResponse {
        /// The model that answered.
        pub model: String,
        /// Where the key is from.
        pub source: String,
    }
}

choice! {
    /// Where a key is kept.
    pub enum KeyPlace {
        /// In the memory of this process, until it ends.
        Session,
        /// In a file whose key is in the keychain of the system.
        Keychain,
        /// In a file that a passphrase opens.
        Passphrase,
        /// In a file in plain text.
        Plain,
    }
}

/// Keeps a key.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct KeySetRequest {
    /// First part of a model's name.
    pub provider: String,
    /// The key.
    #[cfg_attr(test, ts(type = "string"))]
    pub key: Secret<String>,
    /// Only in the memory of this process.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub session: bool,
}

/// Protects the file of keys in another way.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct KeysProtectRequest {
    /// With this passphrase; by the keychain without one.
    #[serde(default)]
    #[cfg_attr(test, ts(type = "string | null"))]
    pub passphrase: Option<Secret<String>>,
}

/// Opens the file of keys.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct KeysUnlockRequest {
    /// What opens it.
    #[cfg_attr(test, ts(type = "string"))]
    pub passphrase: Secret<String>,
}

impl From<KeptIn> for KeyPlace {
    fn from(kept: KeptIn) -> Self {
        match kept {
            KeptIn::Session => Self::Session,
            KeptIn::Keychain => Self::Keychain,
            KeptIn::Passphrase => Self::Passphrase,
            KeptIn::Plain => Self::Plain,
        }
    }
}

impl Call<'_> {
    pub(super) async fn keys_list(&self, _: Nothing) -> Result<KeysListResponse> {
        let keys = self.app.keys(true).await?;
        Ok(KeysListResponse {
            keys: keys
                .providers
                .into_iter()
                .map(|key| KeyView {
                    provider: key.provider,
                    needs_key: key.needs_key,
                    variable: key.variable,
                    kept: key.kept.map(Into::into),
                    ending: key.ending,
                })
                .collect(),
            protection: keys.protection.map(Into::into),
            file: keys.file.display().to_string(),
            needs_passphrase: keys.needs_passphrase,
            problem: keys.problem,
            session_possible: self.caller != Caller::Page,
        })
    }

    pub(super) async fn key_set(&self, request: KeySetRequest) -> Result<KeyView> {
        self.refuse_while_controlled(None).await?;
        if request.session && self.caller == Caller::Page {
            return Err(Failure::new(
                Code::InvalidRequest,
                "this process executes no runs, so a key in its memory would help none",
            )
            .hint("keep it in the keychain or under a passphrase, or give it in a variable"));
        }
        let keep = if request.session {
            Keep::Session
        } else {
            Keep::File
        };
        let kept = self
            .app
            .set_key(&request.provider, request.key, keep)
            .await?;
        self.tell_keys(&kept.provider).await?;
        Ok(KeyView {
            needs_key: true,
            provider: kept.provider,
            variable: kept.variable,
            kept: Some(kept.kept.into()),
            ending: Some(kept.ending),
        })
    }

    pub(super) async fn key_remove(&self, request: KeyRemoveRequest) -> Result<Nothing> {
        self.refuse_while_controlled(None).await?;
        self.app.remove_key(&request.provider).await?;
        self.tell_keys(&request.provider).await?;
        Ok(Nothing {})
    }

    pub(super) async fn key_test(&self, request: KeyTestRequest) -> Result<KeyTestResponse> {
        let (model, source) = self.app.test_key(&request.provider, request.model).await?;
        Ok(KeyTestResponse {
            model,
            source: source.to_string(),
        })
    }

    pub(super) async fn keys_protect(&self, request: KeysProtectRequest) -> Result<Nothing> {
        self.refuse_while_controlled(None).await?;
        let with = match request.passphrase {
            Some(passphrase) => Protect::Passphrase(passphrase),
            None => Protect::Keychain,
        };
        self.app.protect_keys(with).await?;
        self.tell_keys("").await?;
        Ok(Nothing {})
    }

    pub(super) async fn keys_unlock(&self, request: KeysUnlockRequest) -> Result<Nothing> {
        self.app.unlock_keys(request.passphrase).await?;
        self.tell_keys("").await?;
        Ok(Nothing {})
    }

    /// Other windows look again.
    async fn tell_keys(&self, provider: &str) -> Result<()> {
        let told = openspace_store::NewEvent {
            topic: "keys".to_owned(),
            key: provider.to_owned(),
            kind: "keys.changed".to_owned(),
            v: 1,
            payload: serde_json::json!({ "by": self.caller.name() }),
        };
        self.app
            .store
            .call(move |db| db.events().append(told).map(drop))
            .await?;
        Ok(())
    }
}
