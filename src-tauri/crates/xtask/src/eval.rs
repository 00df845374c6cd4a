//! `cargo xtask eval`: builds what asks a model, and lets it ask.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::run::{built, cargo, code, run, shown, words};

/// Both in one go, so that they share what they are made of.
const BUILD: &str = "build --package openspace-desktop --package openspace-bench \
                     --bin openspace --bin openspace-bench";

pub(crate) fn ask(arguments: &[String]) -> Result<ExitCode> {
    run("build", cargo()?.args(words(BUILD)))?;
    let mut command = Command::new(built("debug", "openspace-bench")?);
    command.arg("eval").args(arguments);
    let status = command
        .status()
        .with_context(|| format!("starting {}", shown(&command)))?;
    Ok(code(status))
}
