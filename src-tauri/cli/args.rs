//! What can be asked for on the command line: clap types only.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Parser, Subcommand, ValueEnum};

mod hosts;

pub(crate) use hosts::{
    AddArgs, Format, HostFile, HostsCommand, How, RegisterArgs, UnregisterArgs, Which,
};

/// Hands desktop tasks to a model, shows every step, stops at once.
#[derive(Debug, Parser)]
#[command(
    name = "openspace",
    version,
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "Choose a model and keep its key, once:\n  \
                  openspace config set model.name anthropic/claude-sonnet-4-6\n  \
                  openspace keys set anthropic\n\n\
                  Start with:   openspace run \"Write today's date into notes.txt\"\n\
                  Check set-up: openspace doctor\n\
                  See it first: openspace demo --display private"
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Carry out a task on this machine and print the answer
    Run(Box<RunArgs>),
    /// List, show, export and continue runs
    #[command(subcommand)]
    Runs(RunsCommand),
    /// Stop a run at once, or all of them
    Stop(StopArgs),
    /// Allow what a run asks for; shows the exact action and asks on this terminal
    Approve(ApproveArgs),
    /// Refuse what a run asks for
    Deny(DenyArgs),
    /// Check what works on this machine and say how to mend the rest
    Doctor(DoctorArgs),
    /// Show and change settings
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Keep, test and remove keys of model providers
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Let other agent programs on this machine hand over tasks: find, register and try them
    #[command(subcommand)]
    Hosts(HostsCommand),
    /// Perform a recorded task on a real screen: no model, no key
    Demo(DemoArgs),
    /// Show the windows in a browser on this machine
    Serve(ServeArgs),
    /// Let other agents on this machine hand over tasks, by MCP
    Mcp(McpArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Execute queued runs until there are none (started by other commands)
    #[command(hide = true)]
    Runner,
    /// Release input and end processes when the runner on the other end of the pipe is gone
    #[command(hide = true)]
    Guard,
}

/// `openspace run`
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  openspace run \"Rename the scans in ~/Scans by their date\" --workspace ~/Scans
  openspace run \"Fill in the form in the open browser\" --allow gui:chromium
  openspace run \"Summarise report.pdf\" --attach report.pdf --json

Rules for --allow (repeatable, for this run only):
  gui:chromium       look at, click and type into Chromium      gui:*  any program
  gui:chromium:click look at and click only                     read:DIR, write:DIR
  net:example.org    network from commands to that domain
  command:git commit commands that begin with these words, in the sandbox

Exit codes: 0 done · 1 failed · 2 usage or configuration · 3 stopped or limit · 4 needs a person
Ctrl-C once stops the run cleanly; a second time leaves at once.")]
pub(crate) struct RunArgs {
    /// What to do, in plain words; `-` reads it from standard input
    pub(crate) task: String,
    /// Go on in this session, with all that was said in it
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Model as provider/model, such as anthropic/claude-sonnet-4-6 or ollama/qwen3-vl
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// What the model may use, separated by commas: shell (commands, files), gui (the screen) [default: both]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(crate) backends: Option<Vec<String>>,
    /// Folder to work in [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Most turns of the model
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_steps: Option<u32>,
    /// Most minutes of work; waiting for you does not count
    #[arg(long, value_name = "N", value_parser = above_zero, allow_negative_numbers = true)]
    pub(crate) max_minutes: Option<f64>,
    /// Most tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_tokens: Option<u64>,
    /// Most US dollars; needs a model with a known price
    #[arg(long, value_name = "USD", value_parser = above_zero, allow_negative_numbers = true)]
    pub(crate) max_cost: Option<f64>,
    /// How much to ask: ask-always, ask-risky or hands-off [default: ask-risky]
    #[arg(long, value_name = "PRESET")]
    pub(crate) preset: Option<String>,
    /// Allow this for the run without asking (repeatable)
    #[arg(long, value_name = "RULE")]
    pub(crate) allow: Vec<String>,
    /// Display to use: a name such as :0, or `private` for one of its own (Linux)
    #[arg(long, value_name = "NAME")]
    pub(crate) display: Option<String>,
    /// Monitor to use, by name; without it the primary one
    #[arg(long, value_name = "NAME")]
    pub(crate) monitor: Option<String>,
    /// Without a terminal, wait this long for approvals (30s, 10m, 2h) instead of denying at once
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) wait_approval: Option<Duration>,
    /// Print events as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Give the run a file or picture (repeatable)
    #[arg(long, value_name = "FILE")]
    pub(crate) attach: Vec<PathBuf>,
    /// Queue the run, print its id and leave; a runner of its own carries it out
    #[arg(long)]
    pub(crate) detach: bool,
}

/// `openspace runs …`
#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// The newest runs, one a line
    List {
        /// How many
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: u32,
        /// Only runs with this status
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// One run with its steps
    Show {
        /// Its id, or the beginning of it
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write a run with its pictures and files into a folder
    Export {
        /// Its id, or the beginning of it
        id: String,
        /// A folder that does not exist yet
        #[arg(long, short, value_name = "DIR")]
        output: PathBuf,
    },
    /// Go on with a run that was interrupted, stopped, failed or reached a limit, or answer its question
    Continue {
        /// Its id, or the beginning of it
        id: String,
        /// What to tell it: an answer, or what to do now
        message: Option<String>,
        /// Most turns of the model from here on
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        max_steps: Option<u32>,
        /// Print events as JSON, one a line
        #[arg(long)]
        json: bool,
        /// Without a terminal, wait this long for approvals instead of denying at once
        #[arg(long, value_name = "DURATION", value_parser = duration)]
        wait_approval: Option<Duration>,
    },
}

/// `openspace stop`
#[derive(Debug, Args)]
pub(crate) struct StopArgs {
    /// Id of the run, or the beginning of it; not needed while only one is going
    #[arg(conflicts_with = "all")]
    pub(crate) id: Option<String>,
    /// Every run that is going or waiting
    #[arg(long)]
    pub(crate) all: bool,
}

/// `openspace approve`
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    /// Id of the question, or the beginning of it; without it the open ones are listed
    pub(crate) id: Option<String>,
    /// Allow the same for the rest of the run
    #[arg(long)]
    pub(crate) for_run: bool,
}

/// `openspace deny`
#[derive(Debug, Args)]
pub(crate) struct DenyArgs {
    /// Id of the question, or the beginning of it
    pub(crate) id: String,
    /// What to tell the model
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

/// `openspace doctor`
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Also send a request to the configured model
    #[arg(long)]
    pub(crate) model: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `openspace config …`
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Where the settings and the data are
    Path,
    /// A setting with its origin, or all of them
    Get {
        /// Name, such as limits.steps
        key: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Change a setting in the file, keeping its comments
    Set {
        /// Name, such as limits.steps
        key: String,
        /// Value; lists as TOML arrays
        #[arg(allow_negative_numbers = true)]
        value: String,
    },
}

/// `openspace keys …`
#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Which providers have a key, and where it is kept; of the key itself the last four characters
    List {
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Keep a key, encrypted; it is asked for here and not shown
    Set {
        /// First part of a model's name, such as anthropic
        provider: String,
        /// Read it from standard input
        #[arg(long)]
        stdin: bool,
    },
    /// Try a key with the cheapest request there is
    Test {
        /// First part of a model's name, such as anthropic
        provider: String,
        /// Model to try it with [default: that of the settings]
        #[arg(long, value_name = "NAME")]
        model: Option<String>,
    },
    /// Remove a kept key
    Remove {
        /// First part of a model's name, such as anthropic
        provider: String,
    },
    /// Choose what protects the kept keys
    Protect {
        /// How
        with: ProtectWith,
    },
}

/// What protects the kept keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProtectWith {
    /// A key in the keychain of the system
    Keychain,
    /// A passphrase, asked for once per command
    Passphrase,
}

/// `openspace serve`
#[derive(Debug, Args)]
#[command(after_help = "\
The address holds a token in its part behind the `#`, which browsers send nowhere. Whoever has the
address can start and stop runs as you can, so do not pass it on. Only this machine is served.")]
pub(crate) struct ServeArgs {
    /// Port to listen on; without it a free one
    #[arg(
        long,
        value_name = "PORT",
        default_value_t = 0,
        hide_default_value = true
    )]
    pub(crate) port: u16,
    /// Open it in your browser
    #[arg(long)]
    pub(crate) open: bool,
    /// Folder with the pages, for builds that carry none
    #[arg(long, value_name = "DIR")]
    pub(crate) ui: Option<PathBuf>,
    /// Print the address as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// `openspace mcp`
#[derive(Debug, Args)]
#[command(after_help = "\
Hosts start this themselves and talk over standard input and output; nothing else is printed there.
Over HTTP it answers at /mcp (streamable HTTP) and /sse (its predecessor), on this machine only, and
asks for the token in the file `mcp-token` of the data folder.

Without --transport, OPENSPACE_MCP_TRANSPORT decides; else --port or a terminal means HTTP, and
anything else standard input and output.")]
pub(crate) struct McpArgs {
    /// How hosts reach it
    #[arg(long, value_name = "NAME", value_enum, default_value_t = Transport::Auto)]
    pub(crate) transport: Transport,
    /// Address to listen on [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) host: Option<std::net::IpAddr>,
    /// Port to listen on; 0 takes a free one [default: 8080]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// Over HTTP, keep no sessions: every request stands alone
    #[arg(long)]
    pub(crate) stateless: bool,
}

/// How hosts reach the MCP server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    /// As the environment and the streams suggest
    Auto,
    /// Standard input and output
    Stdio,
    /// HTTP, told as the address of the older transport
    Sse,
    /// HTTP
    StreamableHttp,
}

/// `openspace demo`
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Display to use: a name such as :0, or `private` for one of its own
    #[arg(long, value_name = "NAME")]
    pub(crate) display: Option<String>,
    /// Answer the one question with yes
    #[arg(long)]
    pub(crate) yes: bool,
    /// Print events as JSON, one a line
    #[arg(long)]
    pub(crate) json: bool,
}

/// The name under which hosts of the old system start its MCP server.
const MCP_NAME: &str = "openspace-mcp";

/// The command line as it is meant: a program called `openspace-mcp` is `openspace mcp`.
pub(crate) fn as_named(given: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut line: Vec<OsString> = given.into_iter().collect();
    let name = line
        .first()
        .and_then(|program| Path::new(program).file_stem());
    if name.is_some_and(|name| name == MCP_NAME) {
        line.insert(1, "mcp".into());
    }
    line
}

/// `90`, `90s`, `10m` or `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3600,
        other => return Err(format!("`{other}` is no unit of time: use s, m or h")),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| format!("`{text}` is no duration: write 30s, 10m or 2h"))?;
    number
        .checked_mul(unit)
        .filter(|seconds| *seconds <= LONGEST_WAIT)
        .map(Duration::from_secs)
        .ok_or_else(|| format!("`{text}` is longer than a year"))
}

/// Seconds of a year; longer is a slip of the finger.
const LONGEST_WAIT: u64 = 366 * 24 * 3600;

/// A number that can be a limit.
fn above_zero(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number),
        _ => Err("write a number above 0, such as 0.5 or 20".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The name of the program chooses its command; everything else stays as it was typed.
    #[test]
    fn the_name_of_the_old_server_starts_the_server() {
        let meant = |line: &[&str]| as_named(line.iter().map(OsString::from));
        for name in [
            "openspace-mcp",
            "/usr/bin/openspace-mcp",
            "openspace-mcp.exe",
        ] {
            assert_eq!(meant(&[name, "--port", "1"]), [name, "mcp", "--port", "1"]);
        }
        for name in ["openspace", "/opt/openspace-mcp/openspace"] {
            assert_eq!(meant(&[name, "doctor"]), [name, "doctor"]);
        }
        assert_eq!(meant(&[]), Vec::<OsString>::new());
    }

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert!(duration("soon").is_err() && duration("5d").is_err());
        assert!(duration("99999999999999999h").is_err(), "no overflow");
        assert!(duration("").is_err() && duration("-1").is_err());
    }

    #[test]
    fn limits_are_above_zero() {
        assert_eq!(above_zero("0.5"), Ok(0.5));
        for text in ["0", "-1", "nan", "inf", "", "ten"] {
            assert!(above_zero(text).is_err(), "{text}");
        }
    }
}
