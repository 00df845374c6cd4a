//! What openclaw's configuration says: variables for everything it starts, and for us in particular.

use std::path::PathBuf;

use serde_json::Value;

use super::{Lent, Names, Source, address, headers, secret};
use crate::{HOSTS, Machine};

/// Variables for everything.
const VARIABLES: &[&str] = &["env", "vars"];
/// Variables for us, which go before the others.
pub(super) const BLOCK: &[&str] = &["skills", "entries", "openspace", "env"];
const OWN_KEY: &str = "OPENSPACE_LLM_API_KEY";
const OWN_BASE: &str = "OPENSPACE_LLM_API_BASE";
const OWN_HEADERS: &str = "OPENSPACE_LLM_EXTRA_HEADERS";

/// Its file. One that is named and missing is not looked for elsewhere.
pub(super) fn file(machine: &Machine) -> Option<PathBuf> {
    if let Some(file) = machine.variable("OPENCLAW_CONFIG_PATH") {
        return Some(file);
    }
    let host = HOSTS.iter().find(|host| host.id == "openclaw")?;
    let mut places = host.places(machine).into_iter();
    places.find(|file| file.is_file())
}

/// A variable, with the place it is from.
fn variable<'a>(source: &'a Source, name: &str) -> Option<(&'a Value, String)> {
    [BLOCK, VARIABLES].into_iter().find_map(|block| {
        let value = source.at(block)?.get(name)?;
        super::is_given(value).then(|| (value, format!("{}.{name}", block.join("."))))
    })
}

pub(super) fn key(source: &Source, names: &Names) -> Option<Lent> {
    let own = variable(source, OWN_KEY);
    let (key, bases): (_, &[&str]) = match own {
        Some(key) => (Some(key), &[OWN_BASE]),
        None => (
            names.keys.iter().find_map(|name| variable(source, name)),
            names.bases,
        ),
    };
    let (value, place) = key?;
    let own = place.ends_with(OWN_KEY);
    Some(Lent {
        key: secret(value)?,
        origin: source.origin(place),
        base: bases
            .iter()
            .find_map(|name| variable(source, name))
            .and_then(|(value, _)| address(value)),
        headers: headers(
            variable(source, OWN_HEADERS)
                .filter(|_| own)
                .map(|(value, _)| value),
        ),
    })
}

/// Everywhere a key could stand.
pub(super) fn places(providers: &[Names]) -> Vec<Vec<&'static str>> {
    let names = providers.iter().flat_map(|names| names.keys);
    let names: Vec<_> = [&OWN_KEY].into_iter().chain(names).collect();
    [BLOCK, VARIABLES]
        .into_iter()
        .flat_map(|block| names.iter().map(move |name| [block, &[**name]].concat()))
        .collect()
}
