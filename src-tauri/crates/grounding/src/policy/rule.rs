//! Standing permissions and prohibitions, and their text.

use std::{
    fmt,
    path::{Component, Path, PathBuf},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use super::{apps::plain_name, paths::contains};
use crate::Access;

/// A rule that outlives a run. Only a person makes one.
///
/// A prohibition always wins. A permission never lifts what is asked for every time (deleting or
/// overwriting for good, leaving the sandbox, more rights), with one exception: a `command:` rule
/// allows a sandboxed command whole, deletions in the allowed folders included, when every single
/// command of the line starts with the words of such a rule and all of the line could be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rule {
    /// Whether it allows or forbids.
    pub effect: RuleEffect,
    /// What.
    pub scope: RuleScope,
}

/// What a rule does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleEffect {
    /// Does not ask any more.
    Allow,
    /// Refuses at once.
    Deny,
}

/// What a rule is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RuleScope {
    /// `gui:chromium`, `gui:chromium:click`, `gui:*`: windows of a program, or of any known one.
    /// For all programs it lets only those be opened that are known to be graphical.
    /// Allowing covers the level and what is below it, forbidding the level and what is above it.
    Gui {
        /// The program; none for any.
        app: Option<String>,
        /// The level, where one was given.
        access: Option<Access>,
    },
    /// `net:example.org`, `net:*.example.org` (the domain itself and everything below it).
    Net(DomainPattern),
    /// `read:DIR`: reading below a folder.
    Read(PathBuf),
    /// `write:DIR`: writing below a folder, and reading it.
    Write(PathBuf),
    /// `mcp:server/tool`, `mcp:server/*`.
    Mcp(ToolPattern),
    /// `command:git commit`: commands that start with these words.
    Command(Vec<String>),
}

/// A host, or a domain with everything below it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DomainPattern {
    name: String,
    below: bool,
}

/// A tool of an MCP server, or all of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ToolPattern {
    server: String,
    tool: Option<String>,
}

/// The text is not a rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// The part before the colon is unknown.
    #[error(
        "`{0}` is not a rule: rules start with `gui:`, `net:`, `read:`, `write:`, `mcp:` or `command:`"
    )]
    Kind(String),
    /// Nothing behind the colon.
    #[error("`{0}` says nothing behind the colon: write for example `{1}`")]
    Empty(String, &'static str),
    /// The level of access is unknown.
    #[error("`{0}` is not a level of access: use `look`, `click` or `full`")]
    Access(String),
    /// A program has no such name.
    #[error(
        "`{0}` is not the name of a program: write it in lower case without a path, such as `gui:chromium`"
    )]
    App(String),
    /// A folder that starts nowhere.
    #[error("`{0}` is not a full path without `..`: write for example `/home/ana/reports`")]
    Folder(String),
    /// A whole disk.
    #[error("`{0}` would cover the whole disk: name a folder")]
    TooBroad(String),
    /// Not a host name.
    #[error(
        "`{0}` is not a host: write `example.org`, or `*.example.org` with everything below it"
    )]
    Domain(String),
    /// Not a server and a tool.
    #[error("`{0}` is not a tool: write `mcp:server/tool`, or `mcp:server/*` for all of a server")]
    Tool(String),
    /// A command with quotes, expansions or operators.
    #[error(
        "`{0}` is not the plain beginning of a command: write words without quotes, variables, patterns or operators"
    )]
    Command(String),
}

impl Rule {
    /// A permission.
    pub fn allow(scope: RuleScope) -> Self {
        Self {
            effect: RuleEffect::Allow,
            scope,
        }
    }

    /// A prohibition.
    pub fn deny(scope: RuleScope) -> Self {
        Self {
            effect: RuleEffect::Deny,
            scope,
        }
    }

    /// How narrow the rule is: among rules about the same thing the greater number is the narrower
    /// one. Rules of different kinds have nothing to compare.
    pub fn narrowness(&self) -> usize {
        match &self.scope {
            RuleScope::Gui { app, access } => {
                let level = match access {
                    Some(Access::Look) => 2,
                    Some(Access::Click) => 1,
                    Some(Access::Full) | None => 0,
                };
                usize::from(app.is_some()) * 10 + level
            }
            RuleScope::Net(domain) => {
                domain.name.split('.').count() * 2 + usize::from(!domain.below)
            }
            RuleScope::Read(folder) => folder.components().count() * 2 + 1,
            RuleScope::Write(folder) => folder.components().count() * 2,
            RuleScope::Mcp(pattern) => usize::from(pattern.tool.is_some()),
            RuleScope::Command(words) => words.len(),
        }
    }
}

impl RuleScope {
    pub(crate) fn covers_app(&self, name: &str, wanted: Access, effect: RuleEffect) -> bool {
        let Self::Gui { app, access } = self else {
            return false;
        };
        let level = match (effect, access) {
            (RuleEffect::Allow, level) => wanted <= level.unwrap_or(Access::Full),
            (RuleEffect::Deny, level) => wanted >= level.unwrap_or(Access::Look),
        };
        level && app.as_deref().is_none_or(|app| app == name)
    }

    pub(crate) fn covers_host(&self, host: &str) -> bool {
        matches!(self, Self::Net(domain) if domain.matches(host))
    }

    pub(crate) fn covers_read(&self, path: &Path, effect: RuleEffect) -> bool {
        match self {
            Self::Read(folder) => contains(folder, path),
            // Who may write may read; who may not write may still read.
            Self::Write(folder) => effect == RuleEffect::Allow && contains(folder, path),
            Self::Gui { .. } | Self::Net(_) | Self::Mcp(_) | Self::Command(_) => false,
        }
    }

    pub(crate) fn covers_write(&self, path: &Path) -> bool {
        matches!(self, Self::Write(folder) if contains(folder, path))
    }

    pub(crate) fn covers_tool(&self, server: &str, tool: &str) -> bool {
        matches!(self, Self::Mcp(pattern) if pattern.matches(server, tool))
    }

    /// `command` begins with the words of the rule. A prohibition looks at the bare program name
    /// as well, so that `/bin/rm` is `rm`; a permission does not, so that `./git` is not `git`.
    pub(crate) fn covers_command(&self, command: &[String], effect: RuleEffect) -> bool {
        let Self::Command(words) = self else {
            return false;
        };
        let (Some(program), Some(first)) = (command.first(), words.first()) else {
            return false;
        };
        let same =
            program == first || (effect == RuleEffect::Deny && plain_name(program) == *first);
        same && command.len() >= words.len() && command[1..words.len()] == words[1..]
    }
}

impl DomainPattern {
    /// The host is meant.
    pub fn matches(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_lowercase();
        host == self.name
            || (self.below
                && host
                    .strip_suffix(&self.name)
                    .is_some_and(|rest| rest.ends_with('.')))
    }
}

impl FromStr for DomainPattern {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, InvalidRule> {
        let lower = text.to_lowercase();
        let (name, below) = lower
            .strip_prefix("*.")
            .map_or((lower.as_str(), false), |name| (name, true));
        let fits = !name.is_empty()
            && name.split('.').all(|label| !label.is_empty())
            && name
                .chars()
                .all(|letter| letter.is_alphanumeric() || "-_.".contains(letter));
        let is_address = name.parse::<std::net::Ipv6Addr>().is_ok();
        // `*.org` would be half the internet.
        if (!fits && !is_address) || (below && !name.contains('.')) {
            return Err(InvalidRule::Domain(text.to_owned()));
        }
        Ok(Self {
            name: name.to_owned(),
            below,
        })
    }
}

impl fmt::Display for DomainPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.below { "*." } else { "" }, self.name)
    }
}

impl ToolPattern {
    /// The tool is meant.
    pub fn matches(&self, server: &str, tool: &str) -> bool {
        self.server == server && self.tool.as_deref().is_none_or(|name| name == tool)
    }
}

impl FromStr for ToolPattern {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, InvalidRule> {
        let invalid = || InvalidRule::Tool(text.to_owned());
        let (server, tool) = text.split_once('/').ok_or_else(invalid)?;
        let plain = |part: &str| {
            !part.is_empty()
                && !part
                    .chars()
                    .any(|letter| letter.is_whitespace() || letter.is_control() || letter == '*')
        };
        match tool {
            "*" if plain(server) => Ok(Self {
                server: server.to_owned(),
                tool: None,
            }),
            tool if plain(server) && plain(tool) => Ok(Self {
                server: server.to_owned(),
                tool: Some(tool.to_owned()),
            }),
            _ => Err(invalid()),
        }
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool.as_deref().unwrap_or("*"))
    }
}

impl FromStr for Rule {
    type Err = InvalidRule;

    /// `gui:chromium` allows, `deny gui:chromium` forbids.
    fn from_str(text: &str) -> Result<Self, InvalidRule> {
        let text = text.trim();
        if let Some(rest) = text.strip_prefix("deny ") {
            return Ok(Self::deny(rest.trim().parse()?));
        }
        Ok(Self::allow(
            text.strip_prefix("allow ").unwrap_or(text).trim().parse()?,
        ))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.effect {
            RuleEffect::Allow => write!(f, "{}", self.scope),
            RuleEffect::Deny => write!(f, "deny {}", self.scope),
        }
    }
}

impl TryFrom<String> for Rule {
    type Error = InvalidRule;

    fn try_from(text: String) -> Result<Self, InvalidRule> {
        text.parse()
    }
}

impl From<Rule> for String {
    fn from(rule: Rule) -> Self {
        rule.to_string()
    }
}

impl FromStr for RuleScope {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, InvalidRule> {
        let (kind, rest) = text
            .split_once(':')
            .ok_or_else(|| InvalidRule::Kind(text.to_owned()))?;
        let example = match kind {
            "gui" => "gui:chromium",
            "net" => "net:example.org",
            "read" => "read:/home/ana/reports",
            "write" => "write:/home/ana/reports",
            "mcp" => "mcp:files/read",
            "command" => "command:git commit",
            _ => return Err(InvalidRule::Kind(text.to_owned())),
        };
        if rest.trim().is_empty() {
            return Err(InvalidRule::Empty(text.to_owned(), example));
        }
        match kind {
            "gui" => gui(rest),
            "net" => rest.parse().map(Self::Net),
            "read" => folder(rest).map(Self::Read),
            "write" => folder(rest).map(Self::Write),
            "mcp" => rest.parse().map(Self::Mcp),
            _ => command(rest),
        }
    }
}

impl fmt::Display for RuleScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gui { app, access } => {
                write!(f, "gui:{}", app.as_deref().unwrap_or("*"))?;
                match access {
                    Some(Access::Look) => write!(f, ":look"),
                    Some(Access::Click) => write!(f, ":click"),
                    Some(Access::Full) => write!(f, ":full"),
                    None => Ok(()),
                }
            }
            Self::Net(domain) => write!(f, "net:{domain}"),
            Self::Read(folder) => write!(f, "read:{}", folder.display()),
            Self::Write(folder) => write!(f, "write:{}", folder.display()),
            Self::Mcp(pattern) => write!(f, "mcp:{pattern}"),
            Self::Command(words) => write!(f, "command:{}", words.join(" ")),
        }
    }
}

fn gui(text: &str) -> Result<RuleScope, InvalidRule> {
    let (app, access) = match text.split_once(':') {
        None => (text, None),
        Some((app, "look")) => (app, Some(Access::Look)),
        Some((app, "click")) => (app, Some(Access::Click)),
        Some((app, "full")) => (app, Some(Access::Full)),
        Some((_, other)) => return Err(InvalidRule::Access(other.to_owned())),
    };
    if app == "*" {
        return Ok(RuleScope::Gui { app: None, access });
    }
    let plain = !app.is_empty()
        && app.trim() == app
        && app.to_lowercase() == app
        && !app
            .chars()
            .any(|letter| letter.is_control() || "*/\\".contains(letter));
    if !plain || app == "unknown" {
        return Err(InvalidRule::App(app.to_owned()));
    }
    Ok(RuleScope::Gui {
        app: Some(app.to_owned()),
        access,
    })
}

fn folder(text: &str) -> Result<PathBuf, InvalidRule> {
    let path = PathBuf::from(text);
    let detour = path
        .components()
        .any(|part| matches!(part, Component::ParentDir | Component::CurDir));
    if !path.is_absolute() || detour || text.chars().any(char::is_control) {
        return Err(InvalidRule::Folder(text.to_owned()));
    }
    if path.parent().is_none() {
        return Err(InvalidRule::TooBroad(text.to_owned()));
    }
    // Written the same way again whatever slashes were used.
    Ok(path.components().collect())
}

fn command(text: &str) -> Result<RuleScope, InvalidRule> {
    let plain = !text
        .chars()
        .any(|letter| letter.is_control() || "\"'`$\\|&;<>(){}*?[]!#~".contains(letter));
    if !plain {
        return Err(InvalidRule::Command(text.to_owned()));
    }
    Ok(RuleScope::Command(
        text.split_whitespace().map(str::to_owned).collect(),
    ))
}
