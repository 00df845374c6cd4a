//! One match over the verbs; each verb in a file of its own.

mod answer;
mod config;
mod demo;
mod doctor;
pub(crate) mod hidden;
mod hosts;
mod keys;
mod mcp;
mod run;
mod runs;
mod serve;
mod stop;

use std::sync::Arc;

use clap::CommandFactory as _;
use openspace_app::{App, Code, Configuration, Environment, Failure, Flag, InstanceKind, Surface};

use crate::{
    args::{Cli, Command},
    exit::Exit,
    logging, output,
};

pub(crate) async fn dispatch(command: Command, environment: Environment) -> Result<Exit, Failure> {
    match command {
        Command::Run(arguments) => run::run(*arguments, environment).await,
        Command::Runs(command) => runs::runs(command, environment).await,
        Command::Stop(arguments) => stop::stop(arguments, environment).await,
        Command::Approve(arguments) => answer::approve(arguments, environment).await,
        Command::Deny(arguments) => answer::deny(arguments, environment).await,
        Command::Doctor(arguments) => doctor::doctor(arguments, environment).await,
        Command::Config(command) => config::config(command, &environment),
        Command::Keys(command) => keys::keys(command, environment).await,
        Command::Hosts(command) => hosts::hosts(command, environment).await,
        Command::Demo(arguments) => demo::demo(arguments, environment).await,
        Command::Serve(arguments) => serve::serve(arguments, environment).await,
        Command::Mcp(arguments) => Box::pin(mcp::mcp(arguments, environment)).await,
        Command::Runner => hidden::runner(environment).await,
        Command::Guard | Command::Completions { .. } => Ok(Exit::Usage),
    }
}

/// Prints a completion script.
pub(crate) fn completions(shell: clap_complete::Shell) -> Exit {
    let all = Cli::command();
    // What other commands start is offered to nobody.
    let mut offered = clap::Command::new("openspace")
        .args(all.get_arguments().cloned())
        .subcommands(
            all.get_subcommands()
                .filter(|command| !command.is_hide_set())
                .cloned(),
        );
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut offered, "openspace", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end());
    Exit::Done
}

/// Opens the program for a command in a terminal.
pub(crate) fn open(
    environment: Environment,
    asks: bool,
    flags: &[Flag],
) -> Result<Arc<App>, Failure> {
    let app = App::open(environment, surface(InstanceKind::Cli, false, asks)?, flags)?;
    logging::to_stderr(&app.values().log.level)?;
    Ok(app)
}

/// The same for a command that must work however wrong the settings are, which is told, and while
/// the store cannot be written.
pub(crate) fn open_to_stop(environment: Environment) -> Result<Arc<App>, Failure> {
    let (configuration, wrong) = Configuration::read_or_default(&environment)?;
    if let Some(failure) = wrong {
        output::failure(&failure);
    }
    let surface = surface(InstanceKind::Cli, false, false)?;
    let app = App::open_to_stop(environment, surface, configuration)?;
    logging::to_stderr(&app.values().log.level)?;
    Ok(app)
}

pub(crate) fn surface(
    kind: InstanceKind,
    claims_runs: bool,
    asks_on_terminal: bool,
) -> Result<Surface, Failure> {
    Ok(Surface {
        kind,
        claims_runs,
        asks_on_terminal,
        program: own_program()?,
        web_view: None,
    })
}

/// Where this program lies.
pub(crate) fn own_program() -> Result<std::path::PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::new(
            Code::Internal,
            format!("this program's own path cannot be told: {error}"),
        )
    })
}

/// Orphans of a run's commands become ours, so that stopping finds them.
pub(crate) fn adopt_orphans() {
    if let Err(error) = openspace_app::become_subreaper() {
        tracing::warn!(%error, "orphaned processes of commands are found by their mark only");
    }
}
