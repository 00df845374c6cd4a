//! Which model a run uses, and where its key comes from.

use std::sync::Arc;

use openspace_config::Environment;
use openspace_llm::{
    ChatModel, HostedTool, Key, ModelName, Options, provider::Wire, recorded::Recording,
};
use openspace_store::{Fence, NewEvent};
use serde_json::json;

use crate::{App, Code, Failure, RunSpec, failure::Result, keys, settings::Settings};

/// Where a key was found. The value is never part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A variable of this name.
    Variable(String),
    /// The memory of this process, where a person put it for this session.
    Session,
    /// The file whose key is in the keychain of the system.
    Keychain,
    /// The file that a passphrase opens.
    PassphraseFile,
    /// The file in plain text that a variable allows.
    PlainFile,
    /// The configuration of a host agent: its name, and the place in its file.
    Host(String),
    /// None was found; some servers need none.
    Nowhere,
}

impl KeySource {
    /// The end of the catalogue's `key.from.…`, and what events say.
    pub fn id(&self) -> &'static str {
        match self {
            Self::Variable(_) => "variable",
            Self::Session => "session",
            Self::Keychain => "keychain",
            Self::PassphraseFile => "passphrase",
            Self::PlainFile => "plain",
            Self::Host(_) => "host",
            Self::Nowhere => "none",
        }
    }

    /// What names it: the variable, or the place in a host's file.
    pub fn variable(&self) -> Option<&str> {
        match self {
            Self::Variable(name) => Some(name),
            Self::Host(place) => Some(place),
            Self::Session
            | Self::Keychain
            | Self::PassphraseFile
            | Self::PlainFile
            | Self::Nowhere => None,
        }
    }
}

/// As failures name it.
impl std::fmt::Display for KeySource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Variable(name) => name,
            Self::Session => "memory, for this session",
            Self::Keychain => "the keychain",
            Self::PassphraseFile => "the file under a passphrase",
            Self::PlainFile => "the file in plain text",
            Self::Host(place) => place,
            Self::Nowhere => "-",
        })
    }
}

/// What to do when a provider refused the key that was found, or that none was.
pub(crate) fn refused_key(model: &str, source: &KeySource) -> String {
    match source {
        KeySource::Variable(name) => format!(
            "the key is from `{name}`: set the right one there; `openspace doctor --model` tries it"
        ),
        KeySource::Session
        | KeySource::Keychain
        | KeySource::PassphraseFile
        | KeySource::PlainFile => {
            let provider = model.split('/').next().unwrap_or_default();
            format!("the key is from {source}: `openspace keys set {provider}` replaces it")
        }
        KeySource::Host(place) => {
            let provider = model.split('/').next().unwrap_or_default();
            format!(
                "the key is from {place}: set the right one there, or keep one here with \
                 `openspace keys set {provider}`"
            )
        }
        KeySource::Nowhere => {
            let provider = ModelName::parse(model).ok();
            let own = ["OPENSPACE_LLM_API_KEY"].into_iter();
            let names: Vec<&str> = own
                .chain(
                    provider
                        .iter()
                        .flat_map(|name| name.provider.key_variables.iter().copied()),
                )
                .collect();
            let provider = model.split('/').next().unwrap_or_default();
            format!(
                "no key was found: `openspace keys set {provider}` keeps one, or set `{}`",
                names.join("` or `")
            )
        }
    }
}

/// A key that was looked for.
struct Found {
    key: Option<Key>,
    source: KeySource,
    /// What goes with a key that a host agent lends.
    lent: Option<openspace_hosts::credentials::Lent>,
}

impl Found {
    fn ours(key: Option<Key>, source: KeySource) -> Self {
        Self {
            key,
            source,
            lent: None,
        }
    }

    fn nothing() -> Self {
        Self::ours(None, KeySource::Nowhere)
    }
}

/// The address of a provider where it is not its own.
fn find_base(
    environment: &Environment,
    model: &ModelName,
    spec: Option<&str>,
    settings: &Settings,
) -> Option<String> {
    // The setting already honours OPENSPACE_LLM_API_BASE.
    spec.map(str::to_owned)
        .or_else(|| settings.model.base_url.clone())
        .or_else(|| {
            model
                .provider
                .base_variables
                .iter()
                .find_map(|name| environment.text(name))
                .map(str::to_owned)
        })
}

impl App {
    /// The key for a model and where it is from: ours first, then the provider's own variables, then
    /// what is kept, then what a host agent lends. The keychain is opened only if no variable gives
    /// the key and one is kept. `base` is the address that was given for the model, if one was.
    async fn find_key(&self, model: &ModelName, base: Option<&str>) -> Result<Found> {
        if model.provider.wire == Wire::Recorded {
            return Ok(Found::nothing());
        }
        if let Some(name) = self.key_variable(model.provider) {
            let key = self.environment.text(&name).map(Key::new);
            return Ok(Found::ours(key, KeySource::Variable(name)));
        }
        match self.kept_key(model.provider).await {
            Ok(Some((key, kept))) => Ok(Found::ours(Some(Key::new(key.expose())), kept.into())),
            Ok(None) => Ok(self.lent_key(model, base).unwrap_or_else(Found::nothing)),
            Err(error) if model.provider.local => {
                tracing::warn!(%error, "kept keys are not used: this model may need none");
                Ok(Found::nothing())
            }
            Err(error) => Err(keys::explained(&error, Some(model.provider))),
        }
    }

    /// The key that a host agent has for a provider. It goes to no other address than the host would
    /// send it to.
    fn lent_key(&self, model: &ModelName, base: Option<&str>) -> Option<Found> {
        let names = crate::hosts::names_of(model.provider);
        let lent = self.host_credentials().key(&names)?;
        let same = |base: &str| {
            let trimmed = |address: &str| address.trim_end_matches('/').to_owned();
            let theirs = lent.base.as_deref().or(model.provider.base);
            theirs.is_some_and(|theirs| trimmed(theirs) == trimmed(base))
        };
        if base.is_some_and(|base| !same(base)) {
            return None;
        }
        let place = format!("{} ({})", lent.origin.host, lent.origin.place);
        Some(Found {
            key: Some(Key::new(lent.key.expose())),
            source: KeySource::Host(place),
            lent: Some(lent),
        })
    }

    /// The model of the settings, else the one that a host agent uses and has a key for.
    pub(crate) fn model_name(&self) -> Option<String> {
        self.values().model.name.clone().or_else(|| {
            let lent = self
                .host_credentials()
                .model(&crate::hosts::provider_names());
            lent.map(|(model, _)| model)
        })
    }

    /// The model that was asked for, else the one of the settings or of a host agent.
    pub(crate) fn chosen_model(&self, asked: Option<&str>) -> Result<String> {
        asked.map(str::to_owned).or_else(|| self.model_name()).ok_or_else(|| {
            Failure::new(Code::Credentials, "no model is named")
                .hint("give --model, set OPENSPACE_MODEL, or: openspace config set model.name anthropic/claude-sonnet-4-6")
                .param("reason", "no_model")
        })
    }

    /// A model as a run would have it, with its name, and where its key is from. Nothing is sent yet.
    ///
    /// # Errors
    /// [`Code::Credentials`] when no model is named, or it needs a key and there is none.
    pub async fn model(
        &self,
        asked: Option<&str>,
    ) -> Result<(String, Arc<dyn ChatModel>, KeySource)> {
        self.refuse_runs("use models")?;
        let name = self.chosen_model(asked)?;
        let (model, source) = self.connect_to(&name, None, None).await?;
        Ok((name, model, source))
    }

    /// Records where a run's key is from.
    pub(crate) async fn tell_key(&self, fence: &Fence, source: &KeySource) {
        let payload = json!({ "source": source.id(), "variable": source.variable() });
        let event = NewEvent::of_run(fence.run(), "run.key", payload);
        let fence = fence.clone();
        let told = move |db: &openspace_store::Db<'_>| db.events().append_fenced(&fence, event);
        if let Err(error) = self.store.call(told).await {
            tracing::warn!(%error, "recording where the key is from");
        }
    }

    /// Connects to a model as a run would, and asks for the cheapest proof that its key works.
    pub(crate) async fn check_model_with_key(&self, name: &str) -> Result<KeySource> {
        let (model, source) = self.connect_to(name, None, None).await?;
        let cancel = tokio_util::sync::CancellationToken::new();
        model.check(&cancel).await.map_err(|error| match error {
            error @ openspace_llm::Error::Authentication { .. } => {
                Failure::from(error).hint(refused_key(name, &source))
            }
            error => error.into(),
        })?;
        Ok(source)
    }

    /// The model of a run. Nothing is sent yet. Waits up to three seconds where the key is in the
    /// keychain.
    pub async fn connect(
        &self,
        spec: &RunSpec,
        recording: Option<Recording>,
    ) -> Result<(Arc<dyn ChatModel>, KeySource)> {
        self.connect_to(&spec.model, spec.base_url.as_deref(), recording)
            .await
    }

    async fn connect_to(
        &self,
        model: &str,
        base_url: Option<&str>,
        recording: Option<Recording>,
    ) -> Result<(Arc<dyn ChatModel>, KeySource)> {
        let name = ModelName::parse(model)?;
        let settings = self.values();
        let given = base_url.or(settings.model.base_url.as_deref());
        let Found { key, source, lent } = self.find_key(&name, given).await?;
        let mut options = Options::new(model);
        options.key = key;
        options.headers = settings.model.headers.clone().into_iter().collect();
        options.base = match lent {
            None => find_base(&self.environment, &name, base_url, &settings),
            Some(lent) => {
                let headers = lent.headers.iter();
                options.headers.extend(
                    headers.map(|(header, value)| (header.clone(), value.expose().clone())),
                );
                lent.base
            }
        };
        if !settings.model.hosted_computer {
            options.hosted_tool = HostedTool::Off;
        }
        if let Some(overrides) = settings.model.profiles.get(model) {
            options.profile = overrides.clone();
        }
        options.recording = recording;
        let model = openspace_llm::connect(options).map_err(|error| match &error {
            openspace_llm::Error::Authentication { .. } => {
                let variables = name.provider.key_variables.join("` or `");
                let provider = name.provider.name;
                Failure::new(Code::Credentials, error.to_string()).hint(format!(
                    "`openspace keys set {provider}` keeps one; or set `OPENSPACE_LLM_API_KEY` or \
                     `{variables}` and try again"
                ))
                .param("reason", "no_key")
                .param("provider", provider)
            }
            openspace_llm::Error::InvalidRequest { message } => {
                Failure::new(Code::Configuration, message.clone())
                    .hint(
                        "see the setting `model.base_url` or the variable `OPENSPACE_LLM_API_BASE`",
                    )
                    .param("reason", "base_url")
            }
            _ => error.into(),
        })?;
        Ok((model, source))
    }
}
