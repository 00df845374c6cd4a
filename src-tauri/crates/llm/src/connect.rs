//! From a name, an address and a key to a model.

use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::anthropic::{self, Anthropic};
use crate::client::{HttpModel, Timeouts};
use crate::failure::Peer;
use crate::openai::ChatCompletions;
use crate::profile::Overrides;
use crate::provider::{Endpoints, ModelName, Wire};
use crate::recorded::{Recorded, Recording};
use crate::retry::RetryPolicy;
use crate::timing::{SystemTiming, Timing};
use crate::{ChatModel, Error, Profile, Result};

/// A key. It can be given, never be printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Wraps a key; space around it (from copying) is dropped.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("[redacted]")
    }
}

/// Whether the vendor's own computer tool is offered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostedTool {
    /// Where the model has one: it brings the vendor's protection against instructions on the screen.
    #[default]
    Auto,
    /// Never; the model gets our schema.
    Off,
}

/// Everything a connection depends on.
#[derive(Clone)]
pub struct Options {
    /// `provider/model`.
    pub name: String,
    /// Another address than the provider's own.
    pub base: Option<String>,
    /// The key.
    pub key: Option<Key>,
    /// Headers added to every request; their values are as secret as the key.
    pub headers: Vec<(String, String)>,
    /// How long to wait; by default short for services, long for this machine.
    pub timeouts: Option<Timeouts>,
    /// When to try again.
    pub retry: RetryPolicy,
    /// Whether the vendor's own computer tool is offered.
    pub hosted_tool: HostedTool,
    /// A person's own facts about the model.
    pub profile: Overrides,
    /// Clock and randomness of retrying.
    pub timing: Arc<dyn Timing>,
    /// What `recorded/<name>` plays.
    pub recording: Option<Recording>,
}

impl Options {
    /// A model at its provider's own address, without a key.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            base: None,
            key: None,
            headers: Vec::new(),
            timeouts: None,
            retry: RetryPolicy::default(),
            hosted_tool: HostedTool::Auto,
            profile: Overrides::default(),
            timing: Arc::new(SystemTiming),
            recording: None,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let headers: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("Options")
            .field("name", &self.name)
            .field("key", &self.key)
            .field("headers", &headers)
            .field("timeouts", &self.timeouts)
            .field("retry", &self.retry)
            .field("hosted_tool", &self.hosted_tool)
            .field("profile", &self.profile)
            .finish_non_exhaustive()
    }
}

/// Makes a model out of its options. Nothing is sent yet; [`ChatModel::check`] does that.
///
/// # Errors
/// [`Error::InvalidRequest`] for a name, address or header that cannot be used,
/// [`Error::Authentication`] when the provider needs a key and there is none.
pub fn connect(options: Options) -> Result<Arc<dyn ChatModel>> {
    let name = ModelName::parse(&options.name)?;
    let profile = Profile::lookup(&name.to_string()).with(&options.profile);
    if name.provider.wire == Wire::Recorded {
        let recording = options.recording.ok_or_else(|| Error::InvalidRequest {
            message: format!("there is no recording `{}`", name.model),
        })?;
        return Ok(Arc::new(Recorded::new(recording, profile)));
    }

    let endpoints = Endpoints::resolve(name.provider, options.base.as_deref())?;
    let key = options.key.filter(|key| !key.0.is_empty());
    let own_address = options
        .base
        .as_deref()
        .is_none_or(|base| base.trim().is_empty());
    if key.is_none() && own_address && name.provider.needs_key() {
        let variables = name.provider.key_variables.join("` or `");
        return Err(Error::Authentication {
            provider: name.provider.name.into(),
            message: format!("there is none; add one in the settings or set `{variables}`"),
        });
    }
    let headers = headers(
        name.provider.wire,
        name.provider.name,
        key.as_ref(),
        &options.headers,
    )?;
    let timeouts = options.timeouts.unwrap_or(if endpoints.loopback {
        Timeouts::LOCAL
    } else {
        Timeouts::REMOTE
    });

    let mut secrets: Vec<String> = key.iter().map(|key| key.0.clone()).collect();
    let values = options
        .headers
        .iter()
        .map(|(_, value)| value.trim().to_owned());
    // Shorter ones are no secrets, and replacing them would garble messages.
    secrets.extend(values.filter(|value| value.len() >= 8));
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));

    let peer = Peer {
        provider: name.provider.name.into(),
        model: name.model.clone(),
        address: endpoints.address(),
        secrets,
    };
    let wire: Box<dyn crate::wire::WireFormat> = match name.provider.wire {
        Wire::Anthropic => Box::new(Anthropic {
            model: name.model,
            profile: profile.clone(),
            hosted: options.hosted_tool == HostedTool::Auto,
            reasoning: true.into(),
        }),
        Wire::ChatCompletions | Wire::Recorded => Box::new(ChatCompletions::new(
            name.provider.name,
            name.model,
            profile.clone(),
        )),
    };
    Ok(Arc::new(HttpModel {
        http: http(endpoints.loopback, timeouts, &peer)?,
        endpoints,
        headers,
        wire,
        peer,
        profile,
        timeouts,
        retry: options.retry,
        timing: options.timing,
        list: name.provider.list,
        has_key: key.is_some(),
        answered: std::sync::atomic::AtomicBool::new(false),
    }))
}

fn headers(
    wire: Wire,
    provider: &str,
    key: Option<&Key>,
    extra: &[(String, String)],
) -> Result<HeaderMap> {
    let mut headers = HeaderMap::new();
    if wire == Wire::Anthropic {
        let version = HeaderValue::from_static(anthropic::VERSION);
        headers.insert("anthropic-version", version);
    }
    if let Some(key) = key {
        let (name, value) = match wire {
            Wire::Anthropic => (HeaderName::from_static("x-api-key"), key.0.clone()),
            Wire::ChatCompletions | Wire::Recorded => (AUTHORIZATION, format!("Bearer {}", key.0)),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| Error::Authentication {
            provider: provider.into(),
            message: "it contains characters that no key has; copy it again".into(),
        })?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    for (name, value) in extra {
        let refused = || Error::InvalidRequest {
            message: format!("the extra header `{name}` is not a header"),
        };
        let header = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| refused())?;
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| refused())?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn http(loopback: bool, timeouts: Timeouts, peer: &Peer) -> Result<reqwest::Client> {
    // Another part of the program may have chosen already; either choice is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = reqwest::Client::builder()
        .user_agent(concat!("OpenSpace-Desktop/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        // Never to another origin, where the key must not go; and a redirect that turns a request
        // into another one (301, 302, 303) only hides that the address is wrong.
        .redirect(reqwest::redirect::Policy::custom(|attempt| {
            let same =
                attempt.previous().last().map(url::Url::origin) == Some(attempt.url().origin());
            let keeps_method = matches!(attempt.status().as_u16(), 307 | 308);
            if same && keeps_method && attempt.previous().len() <= 3 {
                attempt.follow()
            } else {
                attempt.stop()
            }
        }));
    let builder = if loopback {
        builder.no_proxy()
    } else {
        builder
    };
    builder.build().map_err(|error| Error::Network {
        provider: peer.provider.clone(),
        address: peer.address.clone(),
        message: error.without_url().to_string(),
    })
}
