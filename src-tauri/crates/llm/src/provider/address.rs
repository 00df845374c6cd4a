//! From what a person writes as the address of a provider to the addresses that are called.

use url::{Host, Url};

use super::{Provider, Wire};
use crate::{Error, Result};

/// The addresses of one provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoints {
    /// Where conversations go.
    pub chat: Url,
    /// Where the list of models is.
    pub models: Url,
    /// The host is this machine, so no proxy may be asked.
    pub loopback: bool,
}

impl Endpoints {
    /// Works out the addresses from `base`, or from the provider's own where there is none. A base
    /// may lack the scheme, the version (`/v1`) or have a trailing slash; the full address of the
    /// conversation endpoint is taken as it is, with its query.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] when it is not a web address, carries a password, or is missing.
    pub fn resolve(provider: &Provider, base: Option<&str>) -> Result<Self> {
        let base = base.map(str::trim).filter(|base| !base.is_empty());
        let Some(base) = base.or(provider.base) else {
            return refuse(format!(
                "`{}` has no address of its own: give the base address of the server",
                provider.name
            ));
        };
        let url = parse(base)?;
        let loopback = is_loopback(&url);

        let endpoint = match provider.wire {
            Wire::Anthropic => "/messages",
            Wire::ChatCompletions | Wire::Recorded => "/chat/completions",
        };
        let path = url.path().trim_end_matches('/').to_owned();
        let with_path = |path: &str| {
            let mut url = url.clone();
            url.set_path(path);
            url
        };
        if let Some(root) = path.strip_suffix(endpoint) {
            return Ok(Self {
                chat: with_path(&path),
                models: with_path(&format!("{root}/models")),
                loopback,
            });
        }
        let root = versioned(provider, &url, &path);
        Ok(Self {
            chat: with_path(&format!("{root}{endpoint}")),
            models: with_path(&format!("{root}/models")),
            loopback,
        })
    }

    /// Scheme, host and port, for messages: never a path, a query or a password.
    pub fn address(&self) -> String {
        self.chat.origin().ascii_serialization()
    }
}

fn refuse<T>(message: String) -> Result<T> {
    Err(Error::InvalidRequest { message })
}

/// The path without a trailing endpoint and with the version.
fn versioned(provider: &Provider, url: &Url, path: &str) -> String {
    const ENDPOINTS: [&str; 5] = [
        "/models",
        "/completions",
        "/responses",
        "/embeddings",
        "/chat",
    ];
    // Ollama's own API lives beside the one used here.
    const OLLAMA: [&str; 4] = ["/api/chat", "/api/generate", "/api/tags", "/api"];
    let strip = |path: &str, endings: &[&str]| {
        let ending = endings.iter().find(|ending| path.ends_with(*ending));
        path[..path.len() - ending.map_or(0, |ending| ending.len())].to_owned()
    };
    let mut path = strip(path, &ENDPOINTS);
    if provider.name == "ollama" {
        path = strip(&path, &OLLAMA);
    }

    // `v1`, `v1beta`, `v3`: a letter and a digit.
    let has_version = path.split('/').any(|segment| {
        let mut letters = segment.chars();
        letters.next() == Some('v') && letters.next().is_some_and(|c| c.is_ascii_digit())
    });
    if has_version {
        return path;
    }
    // Only the host of a known provider: its API may not live under `/v1`.
    if path.is_empty()
        && let Some(own) = provider.base.and_then(|own| Url::parse(own).ok())
        && own.host() == url.host()
        && !provider.local
    {
        return own.path().trim_end_matches('/').to_owned();
    }
    format!("{path}/v1")
}

fn parse(base: &str) -> Result<Url> {
    let with_scheme = if base.contains("://") {
        base.to_owned()
    } else {
        let host = base.split(['/', ':']).next().unwrap_or_default();
        let plain =
            matches!(host, "localhost" | "" | "[") || host.parse::<std::net::IpAddr>().is_ok();
        let scheme = if plain { "http" } else { "https" };
        let base = base
            .strip_prefix(':')
            .map_or(base.to_owned(), |port| format!("127.0.0.1:{port}"));
        format!("{scheme}://{base}")
    };
    let mut url = match Url::parse(&with_scheme) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => url,
        // The text may hold a key, so it is not repeated.
        _ => return refuse("the base address is not a web address like `https://host/v1`".into()),
    };
    if !url.username().is_empty() || url.password().is_some() {
        return refuse(
            "the base address must not carry a name or password; give the key by itself".into(),
        );
    }
    url.set_fragment(None);
    // What a server listens on is not what it can be called by.
    if matches!(url.host(), Some(Host::Ipv4(ip)) if ip.is_unspecified()) {
        let _ = url.set_host(Some("127.0.0.1"));
    }
    Ok(url)
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        None => false,
    }
}
