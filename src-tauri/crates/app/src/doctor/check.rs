//! What a check found, as sentences of the catalogue.

use serde_json::{Value, json};

use crate::{Catalogue, Code, Failure, hosts::HostPlaceOf, rpc::Sentence};

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Health {
    /// It works.
    Ok,
    /// It works, with something to know.
    Warning,
    /// It does not work, and should.
    Problem,
    /// It is not there, which is fine.
    Off,
}

impl Health {
    /// Its name for programs, and the end of its key in the catalogue, `doctor.…`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::Off => "off",
        }
    }
}

/// One check.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Stable name.
    pub id: &'static str,
    /// How it came out.
    pub health: Health,
    /// What was found, in one or several parts.
    pub found: Vec<Sentence>,
    /// What to do.
    pub fix: Option<Sentence>,
    /// What the system or a provider said of it, in its own words.
    pub detail: Option<String>,
    /// The host it is about, where it is mended.
    pub host: Option<HostPlaceOf>,
    /// It is as it should be once the app is started again.
    pub needs_restart: bool,
}

impl Check {
    pub(crate) fn new(id: &'static str, health: Health, found: Sentence) -> Self {
        Self {
            id,
            health,
            found: vec![found],
            fix: None,
            detail: None,
            host: None,
            needs_restart: false,
        }
    }

    /// Another part of what was found.
    pub(crate) fn and(mut self, found: Sentence) -> Self {
        self.found.push(found);
        self
    }

    pub(crate) fn fix(mut self, fix: Sentence) -> Self {
        self.fix = Some(fix);
        self
    }

    pub(crate) fn needs_restart(mut self) -> Self {
        self.needs_restart = true;
        self
    }

    pub(crate) fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// What did not work, with the failure in its own words and what a person can do about it.
    pub(crate) fn failed(
        id: &'static str,
        health: Health,
        found: Sentence,
        failure: &Failure,
    ) -> Self {
        let remedy = remedy(failure);
        let detail = match (&remedy, &failure.hint) {
            (None, Some(hint)) => format!("{}; {hint}", failure.message),
            _ => failure.message.clone(),
        };
        Self {
            fix: remedy.map(Sentence::new),
            ..Self::new(id, health, found).detail(detail)
        }
    }

    /// What was found, in words.
    pub fn words(&self, catalogue: &Catalogue) -> String {
        let parts: Vec<_> = self
            .found
            .iter()
            .map(|part| part.render(catalogue))
            .collect();
        parts.join(" · ")
    }

    /// For programs: names that stay, and the words.
    pub fn json(&self, catalogue: &Catalogue) -> Value {
        let mut value = json!({
            "id": self.id,
            "health": self.health.id(),
            "found": self.words(catalogue),
            "keys": self.found.iter().map(|part| &part.key).collect::<Vec<_>>(),
        });
        if self.needs_restart {
            value["needs_restart"] = json!(true);
        }
        if let Some(fix) = &self.fix {
            value["fix"] = json!(fix.render(catalogue));
        }
        if let Some(detail) = &self.detail {
            value["detail"] = json!(detail);
        }
        if let Some(host) = &self.host {
            value["host"] = json!(host);
        }
        value
    }
}

/// What a person can do about a failure.
fn remedy(failure: &Failure) -> Option<&'static str> {
    if let Some(reason) = failure.params.get("reason") {
        // Of kept keys: see `keys::failure`.
        return Some(match reason.as_str() {
            "keychain_locked" => "check.fix.unlock",
            "keychain_item_changed" | "data_key_missing" => "check.fix.keys_again",
            "passphrase_needed" => "check.fix.passphrase",
            "file_damaged" => "check.fix.keys_file",
            "file_too_new" => "check.fix.update",
            "plain_text_refused" => "check.keys.plain.fix",
            "file_unreadable" | "file_unwritable" => "check.fix.store",
            "passphrase_wrong" | "busy" | "system" => "check.fix.again",
            _ => "check.fix.no_keychain",
        });
    }
    match failure.code {
        Code::Credentials => Some("check.fix.credentials"),
        Code::Configuration => Some("check.fix.model"),
        Code::Model => Some("check.fix.connection"),
        Code::Unavailable => Some("check.screen.none.fix"),
        Code::Store => Some("check.fix.store"),
        _ => None,
    }
}
