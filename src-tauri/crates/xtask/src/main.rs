//! Set-up, demo, tests and benchmarks of this repository: `cargo xtask help`.
//!
//! It needs nothing that a system package brings, so that it runs in a fresh clone and can say what
//! is missing. No product code lives here.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks on the terminal"
)]

mod bench;
mod bindings;
mod check;
mod demo;
mod eval;
mod hosts;
mod mcp;
mod package;
mod run;
mod setup;
mod test;
mod ui;

use std::process::ExitCode;

use setup::{Consent, Purpose};

const HELP: &str = "\
Usage: cargo xtask COMMAND

Commands:
  setup                        Build, and install the system packages that tests and benches need
  demo [--yes] [ARGS]          Show OpenSpace at work on a screen of its own, by a recorded plan: no model, no key
                               (--yes answers every question with yes; ARGS go to `openspace demo`)
  test [-- ARGS]               Run every test (ARGS go to `cargo test`)
  test --hosts                 Register with real agent programs, downloaded once, and let them ask us
  test --mcp                   Try the MCP server with the official conformance suite, the Inspector and the Python
                               clients; downloads them from npm and PyPI
  bench NAME [--json] [--quick] Measure against the budgets; NAME is gui, mcp, store or ui
  eval tools [--model M] [--json] Let a model choose among our tools for 30 requests, and count where it is right;
                               uses the model and key of the settings, as `openspace run` does
  bindings                     Generate the TypeScript of the windows' calls
  package [-- ARGS]            Build what is installed: a .deb here (ARGS go to `tauri build`)
  check                        Formatting and lints, as the pipeline wants them
  help                         This text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[] as &[String]),
    };
    let outcome = match command {
        "setup" if rest.is_empty() => setup::everything(),
        "demo" => demo::show(rest),
        "test" if rest == ["--mcp"] => mcp::test(),
        "test" if rest == ["--hosts"] => hosts::all(),
        "test" => test::all(rest),
        "bench" => bench::measure(rest),
        "eval" => eval::ask(rest),
        "bindings" if rest.is_empty() => bindings::generate(),
        // Called by the bundler.
        "completions" if rest.is_empty() => package::completions(),
        "package" => package::build(rest),
        "check" if rest.is_empty() => check::all(),
        "help" | "--help" | "-h" => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("`{}` is not a command.\n\n{HELP}", arguments.join(" "));
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
