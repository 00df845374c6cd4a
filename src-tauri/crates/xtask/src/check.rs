//! `cargo xtask check`: formatting and lints. What the sources must not contain is tested in
//! `tests/it/architecture.rs`.

use std::process::ExitCode;

use anyhow::Result;

use crate::run::{cargo, run, words};

pub(crate) fn all() -> Result<ExitCode> {
    // Both are tried, so that one round tells everything.
    let formatted = run("format", cargo()?.args(words("fmt --all --check")));
    let clean = run(
        "lint",
        cargo()?.args(words(
            "clippy --workspace --all-targets --features openspace-desktop/desktop --quiet -- --deny warnings",
        )),
    );
    formatted?;
    clean?;
    Ok(ExitCode::SUCCESS)
}
