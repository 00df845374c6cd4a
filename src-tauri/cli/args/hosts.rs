//! `openspace hosts`

use std::{path::PathBuf, time::Duration};

use clap::{Args, Subcommand, ValueEnum};

/// `openspace hosts …`
#[derive(Debug, Subcommand)]
pub(crate) enum HostsCommand {
    /// Which agent programs are on this machine, and which of them know OpenSpace
    List {
        /// Also those that were not found
        #[arg(long)]
        all: bool,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Everything about one of them, with the entry it would get
    Show {
        /// Name, such as codex
        host: String,
        #[command(flatten)]
        file: HostFile,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Name an agent that is not in the list, with its file: it is a host like the others then
    Add(AddArgs),
    /// Forget an agent that was named; nothing is written into its file
    Remove {
        /// Its name, as `list` tells it
        host: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Write an entry into their files, so that they can hand over tasks
    Register(RegisterArgs),
    /// Take the entry out again, and the skills: every byte is as it was before
    Unregister(UnregisterArgs),
    /// Start what an entry says as the host would, speak with it and say what was seen
    Verify {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        file: HostFile,
        /// Longest to wait for an answer (15s, 2m)
        #[arg(long, value_name = "DURATION", value_parser = super::duration, default_value = "15s")]
        timeout: Duration,
        /// Print JSON, one object a line
        #[arg(long)]
        json: bool,
    },
    /// Find entries whose program has gone or moved and skills of an earlier version, and correct them
    Doctor {
        /// Only say what would be done
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// `openspace hosts add`
#[derive(Debug, Args)]
#[command(after_help = "\
Nothing is written into the file; `openspace hosts register` does that, as for every other host.

Examples:
  openspace hosts add \"My Agent\" --file ~/.my-agent/mcp.json --format json --key mcpServers
  openspace hosts add other --file ~/.other/config.toml --format toml --key tools.mcp_servers
  openspace hosts add third --file ~/.third.json --format json --key '\"third.mcpServers\"'")]
pub(crate) struct AddArgs {
    /// What you call it
    pub(crate) name: String,
    /// Its file, there or not
    #[arg(long, value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// How the file is written
    #[arg(long, value_enum)]
    pub(crate) format: Format,
    /// The map of servers within the file; dots between the keys on the way to it. A key with a dot
    /// in it is taken as one where the file has it, and else stands in quotes
    #[arg(long, value_name = "KEY")]
    pub(crate) key: String,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a file is written.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// JSON and nothing else
    Json,
    /// JSON with comments, and commas after the last value
    Jsonc,
    /// JSON5
    Json5,
    /// TOML
    Toml,
    /// YAML
    Yaml,
}

/// `openspace hosts register`
#[derive(Debug, Args)]
#[command(after_help = "\
Only the entry is added; everything else in the file stays as it is, byte for byte, and a copy of
the file is kept (the last five). An entry of the same name that is not ours is shown and left
alone. So is a skill of the same name, and one of ours that you changed.

Examples:
  openspace hosts register --all --dry-run
  openspace hosts register codex claude-code --skills
  openspace hosts register claude-code --project .
  openspace hosts register vscode --file \"$HOME/.config/Code/User/profiles/a1b2/mcp.json\"")]
pub(crate) struct RegisterArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) file: HostFile,
    /// Put the entry in the place of another of the same name
    #[arg(long)]
    pub(crate) force: bool,
    /// Let the host run the tools without asking, where it can be told to; OpenSpace asks anyway
    #[arg(long)]
    pub(crate) trust: bool,
    /// Make the file of a host that was not found
    #[arg(long)]
    pub(crate) create: bool,
    /// Also put two skills into its skills folder, which tell its agent when to hand over a task;
    /// those of an earlier version are renewed
    #[arg(long, conflicts_with_all = ["project", "path"])]
    pub(crate) skills: bool,
    #[command(flatten)]
    pub(crate) how: How,
}

/// `openspace hosts unregister`
#[derive(Debug, Args)]
pub(crate) struct UnregisterArgs {
    #[command(flatten)]
    pub(crate) which: Which,
    #[command(flatten)]
    pub(crate) file: HostFile,
    /// Also remove an entry of the same name that is not ours
    #[arg(long)]
    pub(crate) force: bool,
    /// Only take the skills out of its skills folder; the entry stays
    #[arg(long, conflicts_with_all = ["project", "path", "force"])]
    pub(crate) skills: bool,
    #[command(flatten)]
    pub(crate) how: How,
}

/// Which hosts.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct Which {
    /// Names, such as codex or claude-code
    #[arg(value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
    /// Every one that is on this machine; with --project, every one that has a file for projects
    #[arg(long, conflicts_with = "path")]
    pub(crate) all: bool,
}

/// Which of a host's files; without any of these, the person's own.
#[derive(Debug, Args)]
pub(crate) struct HostFile {
    /// The file of the project in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "path")]
    pub(crate) project: Option<PathBuf>,
    /// This very file, such as that of a profile
    #[arg(long = "file", id = "path", value_name = "FILE")]
    pub(crate) path: Option<PathBuf>,
}

/// Whether something is done, and how it is told.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// Only show what would change
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON, one object a line
    #[arg(long)]
    pub(crate) json: bool,
}
