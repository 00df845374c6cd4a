//! `cargo xtask check`: formatting and lints. What the sources must not contain is tested in
//! `tests/it/architecture.rs`.

use std::process::ExitCode;

use anyhow::Result;

use crate::{
    Consent, Purpose,
    run::{cargo, run, words},
    setup, ui,
};

pub(crate) fn all() -> Result<ExitCode> {
    // The lints see the app with its window, which needs a web view and contains the pages.
    setup::install(&[Purpose::Desktop], Consent::Given)?;
    ui::build()?;
    // All are tried, so that one round tells everything.
    let formatted = run("format", cargo()?.args(words("fmt --all --check")));
    let clean = run(
        "lint",
        cargo()?.args(words(
            "clippy --workspace --all-targets --features openspace-desktop/desktop,openspace-serve/conformance --quiet -- --deny warnings",
        )),
    );
    let pages = ui::npm(&["run", "--silent", "check"]).and_then(|mut npm| run("ui", &mut npm));
    formatted?;
    pages?;
    clean?;
    Ok(ExitCode::SUCCESS)
}
