//! What nanobot's configuration says: keys by provider, a model, and what it passes to us.

use std::path::PathBuf;

use super::{Lent, Names, Origin, Source, address, headers, secret};
use crate::Machine;

/// Both ways in which its names are written.
const KEYS: [&str; 2] = ["apiKey", "api_key"];
const BASES: [&str; 2] = ["apiBase", "api_base"];
const HEADERS: [&str; 2] = ["extraHeaders", "extra_headers"];
pub(super) const BLOCKS: [&[&str]; 2] = [
    &["tools", "mcpServers", "openspace", "env"],
    &["tools", "mcp_servers", "openspace", "env"],
];
/// Providers that serve the models of others, whose names then have two parts.
const GATEWAYS: [&str; 3] = ["openrouter", "aihubmix", "siliconflow"];
/// Words by which the maker of a model is known, for names without a provider.
const MAKERS: [(&str, &str); 10] = [
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("deepseek", "deepseek"),
    ("gemini", "gemini"),
    ("glm", "zhipu"),
    ("zai", "zhipu"),
    ("qwen", "dashscope"),
    ("kimi", "moonshot"),
    ("moonshot", "moonshot"),
    ("minimax", "minimax"),
];

/// Its file.
pub(super) fn file(machine: &Machine) -> Option<PathBuf> {
    machine
        .variable("NANOBOT_CONFIG_PATH")
        .or_else(|| Some(machine.variable("NANOBOT_STATE_DIR")?.join("config.json")))
        .or_else(|| Some(machine.home.join(".nanobot/config.json")))
}

/// What it calls a provider.
fn sections(provider: &str) -> Vec<String> {
    let own = if provider == "openai-compatible" {
        "custom"
    } else {
        provider
    };
    let mut names = vec![own.to_owned(), own.replace('-', "_")];
    names.dedup();
    names
}

pub(super) fn key(source: &Source, names: &Names) -> Option<Lent> {
    sections(names.provider).into_iter().find_map(|section| {
        let map = source.at(&["providers", &section])?;
        let first = |names: [&'static str; 2]| {
            names
                .into_iter()
                .find_map(move |name| Some((name, map.get(name)?)))
        };
        let (name, value) = first(KEYS)?;
        Some(Lent {
            key: secret(value)?,
            origin: source.origin(format!("providers.{section}.{name}")),
            base: first(BASES).and_then(|(_, value)| address(value)),
            headers: headers(first(HEADERS).map(|(_, value)| value)),
        })
    })
}

pub(super) fn model(source: &Source, providers: &[Names]) -> Option<(String, Origin)> {
    let text = |key: &str| {
        let value = source.at(&["agents", "defaults", key])?.as_str()?.trim();
        (!value.is_empty()).then_some(value)
    };
    let model = text("model")?;
    let normal = |name: &str| match name.to_ascii_lowercase().replace('_', "-").as_str() {
        "custom" => "openai-compatible".to_owned(),
        other => other.to_owned(),
    };
    let known = |name: &str| providers.iter().find(|names| names.provider == name);
    let forced = text("provider").filter(|provider| *provider != "auto");
    let (first, rest) = model.split_once('/').unwrap_or(("", model));
    let named = normal(first);
    let provider = match forced {
        Some(forced) => normal(forced),
        None if known(&named).is_some() => named.clone(),
        None => maker(model)?.to_owned(),
    };
    key(source, known(&provider)?)?;
    // The maker's own address knows a model without its maker; a gateway needs both.
    let own_prefix = named == provider;
    let name = if own_prefix {
        rest
    } else if GATEWAYS.contains(&provider.as_str()) || first.is_empty() || known(&named).is_none() {
        model
    } else {
        rest
    };
    let origin = source.origin("agents.defaults.model".to_owned());
    Some((format!("{provider}/{name}"), origin))
}

/// Whose model it is, by a whole word of its name.
fn maker(model: &str) -> Option<&'static str> {
    let words: Vec<_> = model
        .split(|character: char| !character.is_ascii_alphabetic())
        .map(str::to_ascii_lowercase)
        .collect();
    MAKERS
        .iter()
        .find(|(word, _)| words.iter().any(|other| other == word))
        .map(|(_, provider)| *provider)
}

/// Everywhere a key could stand.
pub(super) fn places(providers: &[Names]) -> Vec<Vec<&'static str>> {
    providers
        .iter()
        .flat_map(|names| {
            KEYS.iter()
                .map(|key| vec!["providers", names.provider, *key])
        })
        .collect()
}
