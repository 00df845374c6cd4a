//! Which model a run uses, and where its key comes from.

use std::sync::Arc;

use openspace_config::Environment;
use openspace_llm::{ChatModel, HostedTool, Key, ModelName, Options, recorded::Recording};

use crate::{App, Code, Failure, RunSpec, failure::Result, settings::Settings};

/// Where a key was found. The value is never part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A variable of this name.
    Variable(String),
    /// None was found; some servers need none.
    Nowhere,
}

/// What to do when a provider refused the key that was found, or that none was.
pub(crate) fn refused_key(model: &str, source: &KeySource) -> String {
    match source {
        KeySource::Variable(name) => format!(
            "the key is from `{name}`: set the right one there; `openspace doctor --model` tries it"
        ),
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
            format!("no key was found: set `{}`", names.join("` or `"))
        }
    }
}

/// The key for a provider and where it is from: ours first, then the provider's own variables.
fn find_key(environment: &Environment, model: &ModelName) -> (Option<Key>, KeySource) {
    let own = ["OPENSPACE_LLM_API_KEY"];
    let names = own.iter().chain(model.provider.key_variables);
    for name in names {
        if let Some(value) = environment.text(name) {
            return (
                Some(Key::new(value)),
                KeySource::Variable((*name).to_owned()),
            );
        }
    }
    (None, KeySource::Nowhere)
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
    /// The model of a run. Nothing is sent yet.
    pub fn connect(
        &self,
        spec: &RunSpec,
        recording: Option<Recording>,
    ) -> Result<(Arc<dyn ChatModel>, KeySource)> {
        let settings = self.values();
        let name = ModelName::parse(&spec.model)?;
        let (key, source) = find_key(&self.environment, &name);
        let mut options = Options::new(&spec.model);
        options.base = find_base(
            &self.environment,
            &name,
            spec.base_url.as_deref(),
            &settings,
        );
        options.key = key;
        options.headers = settings.model.headers.clone().into_iter().collect();
        if !settings.model.hosted_computer {
            options.hosted_tool = HostedTool::Off;
        }
        if let Some(overrides) = settings.model.profiles.get(&spec.model) {
            options.profile = overrides.clone();
        }
        options.recording = recording;
        let model = openspace_llm::connect(options).map_err(|error| match &error {
            openspace_llm::Error::Authentication { .. } => {
                let variables = name.provider.key_variables.join("` or `");
                Failure::new(Code::Credentials, error.to_string()).hint(format!(
                    "set `OPENSPACE_LLM_API_KEY` or `{variables}` and try again"
                ))
            }
            openspace_llm::Error::InvalidRequest { message } => {
                Failure::new(Code::Configuration, message.clone()).hint(
                    "see the setting `model.base_url` or the variable `OPENSPACE_LLM_API_BASE`",
                )
            }
            _ => error.into(),
        })?;
        Ok((model, source))
    }
}
