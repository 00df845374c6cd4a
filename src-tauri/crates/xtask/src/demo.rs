//! `cargo xtask demo`: from a fresh clone to a run that one can watch.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::{
    Consent, Purpose,
    run::{built, cargo, code, run, shown},
    setup,
};

pub(crate) fn show(arguments: &[String]) -> Result<ExitCode> {
    let yes = arguments.iter().any(|argument| argument == "--yes");
    run("build", cargo()?.args(["build", "--bin", "openspace"]))?;
    setup::install(
        &[Purpose::Demo],
        if yes { Consent::Given } else { Consent::Ask },
    )?;
    let mut command = Command::new(built("debug", "openspace")?);
    command.arg("demo");
    let chosen = |argument: &String| argument == "--display" || argument.starts_with("--display=");
    if cfg!(target_os = "linux") && !arguments.iter().any(chosen) {
        command.args(["--display", "private"]);
    }
    command.args(arguments);
    let status = command
        .status()
        .with_context(|| format!("starting {}", shown(&command)))?;
    Ok(code(status))
}
