//! `openspace`: hand over tasks, watch, answer and stop them from a terminal.

mod args;
mod commands;
mod exit;
mod live;
mod logging;
mod output;
mod secret_input;
mod signals;
mod terminal;

use std::process::ExitCode;

use clap::Parser as _;
use openspace_app::{Environment, Failure};

use args::{Cli, Command};
use exit::Exit;

fn main() -> ExitCode {
    let environment = Environment::of_this_process();
    let cli = Cli::parse_from(args::as_named(std::env::args_os()));
    let exit = run(cli, environment).unwrap_or_else(|failure| {
        output::failure(&failure);
        Exit::of_failure(&failure)
    });
    exit.into()
}

fn run(cli: Cli, environment: Environment) -> Result<Exit, Failure> {
    // These two listen to nobody's terminal and need no runtime of their own first.
    match &cli.command {
        Command::Guard => return commands::hidden::guard(),
        Command::Completions { shell } => return Ok(commands::completions(*shell)),
        Command::Runner => openspace_app::guard::leave_session(),
        _ => {}
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| {
            Failure::new(
                openspace_app::Code::Internal,
                format!("no runtime: {error}"),
            )
        })?;
    let exit = runtime.block_on(commands::dispatch(cli.command, environment));
    // A prompt that still waits on the terminal must not keep the process.
    runtime.shutdown_background();
    exit
}
