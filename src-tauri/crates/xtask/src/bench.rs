//! `cargo xtask bench`: builds the benches in release and runs them.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::{
    Consent, Purpose,
    run::{built, cargo, code, run, say, shown, words},
    setup,
};

pub(crate) fn measure(arguments: &[String]) -> Result<ExitCode> {
    setup::install(&[Purpose::Demo], Consent::Given)?;
    let build = words("build --release --package openspace-bench");
    let mut full = cargo()?;
    full.args(&build).args(["--features", "portable"]);
    // The comparison with other implementations needs libraries to compile; our own figures do not.
    let compared =
        setup::install(&[Purpose::Bench], Consent::Given).and_then(|()| run("build", &mut full));
    if let Err(error) = compared {
        say(&format!(
            "going on without the comparison with xcap and enigo: {error:#}"
        ));
        run("build", cargo()?.args(&build))?;
    }
    // The budget of an idle run is about the program itself.
    run(
        "build",
        cargo()?.args(words("build --release --bin openspace")),
    )?;
    let mut command = Command::new(built("release", "openspace-bench")?);
    command.args(arguments);
    let status = command
        .status()
        .with_context(|| format!("starting {}", shown(&command)))?;
    Ok(code(status))
}
