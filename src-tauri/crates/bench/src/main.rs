//! Measures the budgets of the design: `cargo xtask bench NAME [--json] [--quick]`.
//!
//! Screens are private, data folders temporary; nothing of the person's is seen or touched. Only
//! [`eval`] uses their settings and key, since it asks the model they chose.

#![forbid(unsafe_code)]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command line tool talks on the terminal"
)]

mod eval;
mod figure;
#[cfg(target_os = "linux")]
mod gui;
#[cfg(target_os = "linux")]
mod mcp;
#[cfg(target_os = "linux")]
mod seed;
mod store;
#[cfg(target_os = "linux")]
mod ui;

use std::process::ExitCode;

use anyhow::{Result, bail};
use figure::Report;

const USAGE: &str = "Usage: openspace-bench gui|mcp|store|ui [--json] [--quick]
       openspace-bench eval tools [--model PROVIDER/MODEL] [--json]";

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Effort {
    quick: bool,
}

impl Effort {
    /// A number of repetitions: `full` ones, or a tenth when it has to be quick.
    pub(crate) fn times(self, full: usize) -> usize {
        if self.quick { full.div_ceil(10) } else { full }
    }

    /// It has to be quick.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_quick(self) -> bool {
        self.quick
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, second, rest @ ..] = arguments.as_slice()
        && [first, second] == ["eval", "tools"]
    {
        return eval::tools(rest);
    }
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut names = Vec::new();
    let (mut json, mut quick) = (false, false);
    for argument in std::env::args().skip(1) {
        match argument.as_str() {
            "--json" => json = true,
            "--quick" => quick = true,
            _ => names.push(argument),
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if let ["give-stops", folder] = names.as_slice() {
        return store::give_stops(folder.as_ref());
    }
    #[cfg(all(target_os = "linux", feature = "portable"))]
    if let ["time-portable", class, times] = names.as_slice() {
        return gui::time_portable(class, times);
    }
    #[cfg(target_os = "linux")]
    if let ["seed", what @ ..] = names.as_slice() {
        return seed::plant(what);
    }
    let effort = Effort { quick };
    let mut report = Report::new(json);
    match names.as_slice() {
        ["store"] => store::measure(effort, &mut report)?,
        ["gui"] => measure_gui(effort, &mut report)?,
        ["mcp"] => measure_mcp(effort, &mut report)?,
        ["ui"] => measure_ui(effort, &mut report)?,
        _ => bail!(USAGE),
    }
    report.finish();
    Ok(())
}

#[cfg(target_os = "linux")]
fn measure_gui(effort: Effort, report: &mut Report) -> Result<()> {
    gui::measure(effort, report)
}

#[cfg(not(target_os = "linux"))]
fn measure_gui(_: Effort, _: &mut Report) -> Result<()> {
    bail!("the screen is measured on Linux only, where it can have one of its own")
}

#[cfg(target_os = "linux")]
fn measure_ui(effort: Effort, report: &mut Report) -> Result<()> {
    ui::measure(effort, report)
}

#[cfg(not(target_os = "linux"))]
fn measure_ui(_: Effort, _: &mut Report) -> Result<()> {
    bail!("the window is measured on Linux only, where it can have a screen of its own")
}

#[cfg(target_os = "linux")]
fn measure_mcp(effort: Effort, report: &mut Report) -> Result<()> {
    mcp::measure(effort, report)
}

#[cfg(not(target_os = "linux"))]
fn measure_mcp(_: Effort, _: &mut Report) -> Result<()> {
    bail!("the memory of the server is read on Linux only")
}
