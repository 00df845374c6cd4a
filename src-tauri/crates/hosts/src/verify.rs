//! Trying an entry as its host would: the same program, the same environment, the same words.

mod server;

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    Error, Host, Hosts, Launch, Passes, Scope, State, dialect::find, file::Contents, mask,
};
use server::Server;

/// What we call ourselves while we try an entry.
pub const VERIFIER: &str = "openspace-hosts-verify";
/// Version of the protocol that is offered; the newest one with a handshake.
const PROTOCOL: &str = "2025-11-25";
/// What the SDKs of the protocol let a server know, where a host says nothing else.
const LITTLE: [&str; 6] = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
/// The same on Windows.
const LITTLE_ON_WINDOWS: [&str; 12] = [
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "USERNAME",
    "USERPROFILE",
];
/// The cheapest call there is, and one for servers without it. Neither changes anything.
const CALLS: [(&str, &str); 2] = [
    ("task_status", r#"{"task_id":"task_000000000000"}"#),
    (
        "search_skills",
        r#"{"query":"","source":"local","limit":1,"auto_import":false}"#,
    ),
];
/// Characters that are kept of an answer.
const MOST_ANSWER: usize = 300;

/// What was seen of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What was started.
    pub launch: Launch,
    /// Names of the variables it was given.
    pub variables: Vec<String>,
    /// What it calls itself, with its version.
    pub server: String,
    /// The version of the protocol it chose.
    pub protocol: String,
    /// It tells hosts how to use it.
    pub instructions: bool,
    /// Its tools.
    pub tools: Vec<String>,
    /// The call that was made.
    pub call: Call,
    /// Lines on its standard output that are no messages; hosts trip over them.
    pub noise: Vec<String>,
    /// Until it answered the first message.
    pub first_answer: Duration,
    /// It ended by itself when its input ended.
    pub ended: bool,
}

/// A call and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The tool.
    pub tool: String,
    /// The tool says that it did not work, which is an answer, too.
    pub is_error: bool,
    /// The beginning of what it says.
    pub text: String,
}

/// What was being done when something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The handshake.
    Initialize,
    /// Listing the tools.
    ListTools,
    /// Calling one.
    CallTool,
}

impl Step {
    /// Its name in the protocol.
    pub fn method(self) -> &'static str {
        match self {
            Self::Initialize => "initialize",
            Self::ListTools => "tools/list",
            Self::CallTool => "tools/call",
        }
    }
}

/// Why an entry does not work.
#[derive(Debug, thiserror::Error)]
pub enum Trouble {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] Error),
    /// There is no entry of ours.
    #[error("there is no entry of ours")]
    NotRegistered,
    /// There is one of our name, and it is not as we wrote it or would.
    #[error("the entry in {} is not as we would write it: {entry}", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
        /// The entry as JSON, without secrets.
        entry: String,
    },
    /// The program cannot be started.
    #[error("`{command}` cannot be started: {source}")]
    CannotStart {
        /// The program.
        command: String,
        /// Why.
        source: std::io::Error,
    },
    /// It ended instead of answering.
    #[error("the server ended at `{}`{}", step.method(), code.map_or_else(String::new, |code| format!(" with code {code}")))]
    Ended {
        /// What was asked.
        step: Step,
        /// Its exit code, if it had one.
        code: Option<i32>,
        /// The end of what it wrote on standard error.
        stderr: String,
    },
    /// It does not answer.
    #[error("the server did not answer `{}` within {} s", step.method(), patience.as_secs())]
    Silent {
        /// What was asked.
        step: Step,
        /// How long was waited.
        patience: Duration,
        /// The end of what it wrote on standard error.
        stderr: String,
    },
    /// Nobody waits for it any more.
    #[error("the server was not waited for")]
    Stopped,
    /// It answers with an error, or with something else than it should.
    #[error("the server answered `{}` with: {message}", step.method())]
    Wrong {
        /// What was asked.
        step: Step,
        /// What came.
        message: String,
    },
}

impl Hosts {
    /// Starts what the entry in a host's file says, as the host would, and speaks with it: only what
    /// we wrote there, or would write. Each answer is waited for as long as `patience`.
    ///
    /// # Errors
    /// [`Trouble`], with what the server said about it.
    pub fn verify(
        &self,
        host: &'static Host,
        scope: &Scope,
        patience: Duration,
    ) -> Result<Seen, Trouble> {
        let file = self.file(host, scope)?;
        let contents = Contents::read(&file)?;
        let said = host
            .dialect
            .read(&contents.text)
            .map_err(|fault| Error::of(fault, file.clone(), &contents.text))?;
        let entry = find(&said, host.at(&said));
        let record = self.ledger.find(&file)?;
        let record = record.as_ref();
        match self.judge(host, scope, entry, record) {
            State::Registered { .. } | State::Moved => {
                let entry = entry.ok_or(Trouble::NotRegistered)?;
                let launch = host.launch(entry).ok_or(Trouble::NotRegistered)?;
                if !self.may_start(host, scope, &launch, record) {
                    let entry = mask::entry(entry).to_string();
                    return Err(Trouble::NotOurs { path: file, entry });
                }
                self.try_out(host, launch, patience)
            }
            // What somebody else wrote is not started by us.
            State::Different { entry } => Err(Error::Different { path: file, entry }.into()),
            _ => Err(Trouble::NotRegistered),
        }
    }

    fn try_out(&self, host: &Host, launch: Launch, patience: Duration) -> Result<Seen, Trouble> {
        let environment = self.environment(host, &launch);
        let begun = Instant::now();
        let mut server =
            Server::start(&launch, &environment, &self.machine.home)?.until(self.stop.clone());
        let hello = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": { "name": VERIFIER, "version": env!("CARGO_PKG_VERSION") },
        });
        let answer = server.ask(Step::Initialize, &hello, patience)?;
        let first_answer = begun.elapsed();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let info = &answer["serverInfo"];
        server.tell("notifications/initialized");
        let listed = server.ask(Step::ListTools, &json!({}), patience)?;
        let tools = listed["tools"].as_array().ok_or_else(|| Trouble::Wrong {
            step: Step::ListTools,
            message: short(&listed.to_string()),
        })?;
        let tools: Vec<_> = tools.iter().map(|tool| text(&tool["name"])).collect();
        let call = call(&mut server, &tools, patience)?;
        let (noise, ended) = server.finish();
        Ok(Seen {
            launch,
            variables: environment
                .keys()
                .map(|name| name.to_string_lossy().into_owned())
                .collect(),
            server: format!("{} {}", text(&info["name"]), text(&info["version"])),
            protocol: text(&answer["protocolVersion"]),
            instructions: answer["instructions"].is_string(),
            tools,
            call,
            noise,
            first_answer,
            ended,
        })
    }

    /// The variables a host gives our server: those of its own that it passes on, and those of the
    /// entry.
    fn environment(&self, host: &Host, launch: &Launch) -> BTreeMap<OsString, OsString> {
        let little: &[&str] = if cfg!(windows) {
            &LITTLE_ON_WINDOWS
        } else {
            &LITTLE
        };
        let passed = |name: &OsStr| {
            let name = name.to_string_lossy().to_uppercase();
            match host.passes {
                Passes::Everything => true,
                Passes::Without(words) => !words.iter().any(|word| name.contains(word)),
                Passes::Little(more) => little.iter().chain(more).any(|other| *other == name),
            }
        };
        let own = self
            .machine
            .environment
            .iter()
            .filter(|(name, _)| passed(name))
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let entry = launch.env.iter();
        own.chain(entry.map(|(name, value)| (name.into(), value.into())))
            .collect()
    }
}

/// Calls the cheapest of the tools.
fn call(server: &mut Server, tools: &[String], patience: Duration) -> Result<Call, Trouble> {
    let known = CALLS
        .iter()
        .find(|(name, _)| tools.iter().any(|tool| tool == name));
    let Some((tool, arguments)) = known else {
        return Err(Trouble::Wrong {
            step: Step::ListTools,
            message: format!("tools that are not ours: {}", tools.join(", ")),
        });
    };
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let params = json!({ "name": tool, "arguments": arguments });
    let answer = server.ask(Step::CallTool, &params, patience)?;
    let blocks = answer["content"].as_array().ok_or_else(|| Trouble::Wrong {
        step: Step::CallTool,
        message: short(&answer.to_string()),
    })?;
    let said: Vec<_> = blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    Ok(Call {
        tool: (*tool).to_owned(),
        is_error: answer["isError"] == true,
        text: short(&said.join(" ")),
    })
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MOST_ANSWER {
        line
    } else {
        line.chars().take(MOST_ANSWER - 1).chain(['…']).collect()
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
