//! `cargo xtask bindings`: the TypeScript of what crosses to the windows, from the table in `app`.

use std::process::ExitCode;

use anyhow::Result;

use crate::run::{cargo, run, words};

pub(crate) fn generate() -> Result<ExitCode> {
    run(
        "bindings",
        cargo()?
            .args(words(
                "test --quiet --package openspace-app --lib bindings_are_up_to_date",
            ))
            .env("OPENSPACE_BINDINGS", "write"),
    )?;
    Ok(ExitCode::SUCCESS)
}
