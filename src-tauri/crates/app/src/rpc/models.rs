//! Models that can decide, and monitors they can look at.

use std::time::Instant;

use openspace_llm::{Profile, provider};

use super::{Call, Nothing, payload};
use crate::{App, Code, Display, Failure, RunSpec, SpecAttendance, failure::Result};

payload! {
    /// Providers and models.
    pub struct ModelsListResponse {
        /// Every provider that is known.
        pub providers: Vec<ProviderView>,
        /// Models whose facts are known, as suggestions.
        pub models: Vec<ModelView>,
    }

    /// Who offers models.
    pub struct ProviderView {
        /// First part of a model's name.
        pub name: String,
        /// Address, where it has one of its own.
        pub base: Option<String>,
        /// It runs on the person's machine.
        pub local: bool,
        /// It cannot be used without a key.
        pub needs_key: bool,
        /// Variables that may hold its key.
        pub key_variables: Vec<String>,
    }

    /// A model whose facts are known.
    pub struct ModelView {
        /// `provider/model`
        pub name: String,
        /// It sees pictures, so it can use the screen.
        pub vision: bool,
        /// Tokens it can take in.
        #[cfg_attr(test, ts(type = "number"))]
        pub context: u64,
        /// US dollars for a million tokens sent.
        pub price_input: Option<f64>,
        /// US dollars for a million tokens received.
        pub price_output: Option<f64>,
        /// When these facts were looked up.
        pub as_of: String,
    }

    /// Asks a model for a sign of life.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct ModelTestRequest {
        /// `provider/model`; that of the settings without it.
        #[serde(default)]
        pub model: Option<String>,
    }

    /// It answered.
    pub struct ModelTestResponse {
        /// The model.
        pub model: String,
        /// Milliseconds it took.
        pub milliseconds: u32,
        /// Where the key is from.
        pub key_from: String,
    }

    /// Monitors.
    pub struct MonitorsListResponse {
        /// The primary one first.
        pub monitors: Vec<MonitorView>,
        /// Why there are none.
        pub no_screen: Option<String>,
    }

    /// A monitor.
    pub struct MonitorView {
        /// Its name.
        pub name: String,
        /// Left edge in the desktop, which can be negative.
        pub x: i32,
        /// Upper edge.
        pub y: i32,
        /// Pixels.
        pub width: u32,
        /// Pixels.
        pub height: u32,
    }
}

/// Models offered as suggestions, one or two of each large provider.
const SUGGESTED: &[&str] = &[
    "anthropic/claude-sonnet-4-6",
    "anthropic/claude-sonnet-5",
    "anthropic/claude-opus-5",
    "anthropic/claude-haiku-4-5",
    "openai/gpt-5.1",
    "gemini/gemini-2.5-flash",
    "openrouter/anthropic/claude-sonnet-4.6",
    "ollama/qwen3-vl",
];

impl Call<'_> {
    #[expect(clippy::unused_async, reason = "calls are async")]
    pub(super) async fn models_list(&self, _: Nothing) -> Result<ModelsListResponse> {
        let providers = provider::PROVIDERS
            .iter()
            .filter(|provider| provider.wire != provider::Wire::Recorded)
            .map(|provider| ProviderView {
                name: provider.name.to_owned(),
                base: provider.base.map(str::to_owned),
                local: provider.local,
                needs_key: provider.needs_key(),
                key_variables: provider
                    .key_variables
                    .iter()
                    .map(|&name| name.to_owned())
                    .collect(),
            })
            .collect();
        let models = SUGGESTED
            .iter()
            .map(|name| {
                let profile = Profile::lookup(name);
                ModelView {
                    name: (*name).to_owned(),
                    vision: profile.vision,
                    context: profile.context_tokens,
                    price_input: profile.price.map(|price| price.input),
                    price_output: profile.price.map(|price| price.output),
                    as_of: profile.as_of,
                }
            })
            .collect();
        Ok(ModelsListResponse { providers, models })
    }

    pub(super) async fn model_test(&self, request: ModelTestRequest) -> Result<ModelTestResponse> {
        self.app.refuse_runs("test keys")?;
        let name = request
            .model
            .or_else(|| self.app.values().model.name.clone())
            .ok_or_else(|| Failure::new(Code::Credentials, "no model is named"))?;
        let spec = self.app.bare_spec(name.clone());
        let (model, source) = self.app.connect(&spec, None).await?;
        let started = Instant::now();
        let cancel = tokio_util::sync::CancellationToken::new();
        model.check(&cancel).await?;
        Ok(ModelTestResponse {
            model: name,
            milliseconds: u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX),
            key_from: source.to_string(),
        })
    }

    pub(super) async fn monitors_list(&self, _: Nothing) -> Result<MonitorsListResponse> {
        let options = self.app.session_platform();
        let found = tokio::task::spawn_blocking(move || {
            openspace_gui::platform::open(&options)?.screen.monitors()
        });
        let found = found
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        Ok(match found {
            Ok(monitors) => MonitorsListResponse {
                monitors: monitors
                    .into_iter()
                    .map(|monitor| MonitorView {
                        name: monitor.name,
                        x: monitor.area.x,
                        y: monitor.area.y,
                        width: monitor.area.width,
                        height: monitor.area.height,
                    })
                    .collect(),
                no_screen: None,
            },
            Err(error) => MonitorsListResponse {
                monitors: Vec::new(),
                no_screen: Some(error.to_string()),
            },
        })
    }
}

impl App {
    /// A run that only knows its model.
    pub(crate) fn bare_spec(&self, model: String) -> RunSpec {
        RunSpec {
            model,
            base_url: None,
            backends: Vec::new(),
            workspace_asked: false,
            workspace: self.paths.home.clone(),
            preset: self.values().policy.preset.clone(),
            allow: Vec::new(),
            display: Display::Session,
            monitor: None,
            attendance: SpecAttendance::Absent,
            attachments: Vec::new(),
        }
    }
}
