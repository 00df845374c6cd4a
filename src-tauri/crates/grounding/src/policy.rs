//! What may happen: allow, ask or deny, decided for every call before it runs.
//!
//! [`Policy::decide`] is a function of its inputs: the settings, the rules, what was allowed in the
//! run, and what [`Paths`] says about the file system. The strictest action of a call wins.

use std::{path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::{Action, Denied, Folders};

pub mod address;
pub mod apps;
pub mod command;
pub mod credentials;
mod judge;
pub mod later;
pub mod paths;
mod protected;
pub mod question;
pub mod rule;

pub use address::{Destination, destination, is_public};
pub use command::{CommandFacts, Place, Target, analyse};
pub use later::{RUNS_LATER, runs_later};
pub use paths::{DiskPaths, Paths};
pub use question::{Grant, Grants, Part, Permission, Question, Reason, Risk, Subject};
pub use rule::{DomainPattern, InvalidRule, Rule, RuleEffect, RuleScope, ToolPattern};

use judge::Concern;
use protected::Protected;

/// How much is asked.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Preset {
    /// Everything but looking into the allowed folders.
    #[serde(rename = "ask-always")]
    AskEveryTime,
    /// What is risky or reaches beyond what was handed over.
    #[default]
    #[serde(rename = "ask-risky")]
    AskForRisky,
    /// What is not on the lists of [`HandsOff`], and whatever cannot be undone.
    #[serde(rename = "hands-off")]
    HandsOff,
}

/// The text names no preset.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a preset: use `ask-always`, `ask-risky` or `hands-off`")]
pub struct InvalidPreset(pub String);

impl Preset {
    /// Name in settings and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::AskEveryTime => "ask-always",
            Self::AskForRisky => "ask-risky",
            Self::HandsOff => "hands-off",
        }
    }
}

impl std::fmt::Display for Preset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for Preset {
    type Err = InvalidPreset;

    fn from_str(text: &str) -> Result<Self, InvalidPreset> {
        [Self::AskEveryTime, Self::AskForRisky, Self::HandsOff]
            .into_iter()
            .find(|preset| preset.name() == text)
            .ok_or_else(|| InvalidPreset(text.to_owned()))
    }
}

/// Where a task came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// A person at the app.
    App,
    /// A person at a terminal.
    Cli,
    /// Another agent on this machine.
    Host,
    /// A chat channel.
    Channel,
}

impl Origin {
    /// A person at this machine set the task, so that what came with it is their will.
    pub fn is_person(self) -> bool {
        match self {
            Self::App | Self::Cli => true,
            Self::Host | Self::Channel => false,
        }
    }
}

/// What the preset [`Preset::HandsOff`] does not ask about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandsOff {
    /// Hosts that commands may reach.
    pub domains: Vec<DomainPattern>,
    /// Programs that may be used on the screen, by the names of [`crate::ScreenApp::name`].
    pub apps: Vec<String>,
    /// MCP tools that may be called.
    pub tools: Vec<ToolPattern>,
}

/// Everything a decision depends on besides the call.
#[derive(Clone)]
pub struct PolicyInputs {
    /// How much is asked.
    pub preset: Preset,
    /// Where the task came from.
    pub origin: Origin,
    /// Where files may be. What a host asked for is no part of it until a person allowed it.
    pub folders: Arc<Folders>,
    /// The person's home folder.
    pub home: PathBuf,
    /// Commands run in a sandbox on this machine.
    pub sandbox: bool,
    /// Standing rules.
    pub rules: Vec<Rule>,
    /// The lists of the hands-off preset.
    pub hands_off: HandsOff,
    /// Programs nobody may use on the screen; [`apps::PASSWORD_STORES`] unless a person changed it.
    pub blocked_apps: Vec<String>,
    /// The file system.
    pub paths: Arc<dyn Paths>,
}

impl PolicyInputs {
    /// The defaults, for a task of a person.
    pub fn new(folders: Arc<Folders>, home: PathBuf) -> Self {
        Self {
            preset: Preset::default(),
            origin: Origin::App,
            folders,
            home,
            sandbox: false,
            rules: Vec::new(),
            hands_off: HandsOff::default(),
            blocked_apps: apps::PASSWORD_STORES
                .iter()
                .map(|&app| app.to_owned())
                .collect(),
            paths: Arc::new(DiskPaths),
        }
    }

    /// Takes in what came with a task. From a person it counts; from a host or a channel only what
    /// is stricter than the settings does: a stricter preset, and prohibitions.
    #[must_use]
    pub fn with_request(mut self, preset: Option<Preset>, rules: Vec<Rule>) -> Self {
        let person = self.origin.is_person();
        if let Some(preset) = preset
            && (person || preset < self.preset)
        {
            self.preset = preset;
        }
        self.rules.extend(
            rules
                .into_iter()
                .filter(|rule| person || rule.effect == RuleEffect::Deny),
        );
        self
    }
}

/// The policy of one run.
#[derive(Clone)]
pub struct Policy {
    inputs: PolicyInputs,
    protected: Protected,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person is asked first.
    Ask(Box<Question>),
    /// It does not run, whatever anybody says.
    Deny(Denied),
}

impl Policy {
    /// The policy for these inputs.
    pub fn new(inputs: PolicyInputs) -> Self {
        let protected = Protected::new(&inputs.home, &inputs.folders.protected);
        Self { inputs, protected }
    }

    /// What it was made of.
    pub fn inputs(&self) -> &PolicyInputs {
        &self.inputs
    }

    /// Decides about a call that would do all of `actions`, after what `grants` says was allowed
    /// in this run.
    pub fn decide(&self, actions: &[Action], grants: &Grants) -> Decision {
        let mut concerns = Vec::new();
        for action in actions {
            match self.judge(action, grants) {
                Ok(more) => concerns.extend(more),
                Err(denied) => return Decision::Deny(denied),
            }
        }
        if concerns.is_empty() {
            Decision::Allow
        } else {
            Decision::Ask(Box::new(self.question(actions, concerns)))
        }
    }

    fn question(&self, actions: &[Action], concerns: Vec<Concern>) -> Question {
        let mut permissions: Option<Vec<Permission>> =
            (self.inputs.preset != Preset::AskEveryTime).then(Vec::new);
        let mut parts: Vec<Part> = Vec::new();
        for Concern { part, permission } in concerns {
            // One answer for the run must leave nothing of the call to be asked again.
            permissions = permissions.zip(permission).map(|(mut all, one)| {
                if !all.contains(&one) {
                    all.push(one);
                }
                all
            });
            merge(&mut parts, part);
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.risk));
        let mut offers = vec![Grant::Once];
        offers.extend(permissions.map(|permissions| Grant::Run { permissions }));
        Question {
            risk: parts
                .iter()
                .map(|part| part.risk)
                .max()
                .unwrap_or(Risk::High),
            reversible: parts.iter().all(|part| part.reversible),
            parts,
            actions: actions.to_vec(),
            offers,
            origin: self.inputs.origin,
        }
    }
}

/// Fourteen deletions are one part that says fourteen.
fn merge(parts: &mut Vec<Part>, part: Part) {
    if let Subject::Delete {
        targets: more,
        count: added,
    } = &part.subject
    {
        for known in parts.iter_mut() {
            if let Subject::Delete { targets, count } = &mut known.subject {
                *count += added;
                let room = judge::SHOWN.saturating_sub(targets.len());
                targets.extend(more.iter().take(room).cloned());
                return;
            }
        }
    }
    if !parts.contains(&part) {
        parts.push(part);
    }
}
