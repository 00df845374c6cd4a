//! `cargo xtask bench`: builds the benches in release and runs them.

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result};

use crate::{
    Consent, Purpose,
    run::{built, cargo, code, root, run, say, shown, words},
    setup, ui,
};

pub(crate) fn measure(arguments: &[String]) -> Result<ExitCode> {
    setup::install(&[Purpose::Demo], Consent::Given)?;
    if arguments.iter().any(|argument| argument == "ui") {
        build_for_the_window()?;
    } else {
        build_for_the_screen()?;
    }
    let mut command = Command::new(built("release", "openspace-bench")?);
    // The pages, and what measures them, lie there.
    command.args(arguments).current_dir(root()?);
    let status = command
        .status()
        .with_context(|| format!("starting {}", shown(&command)))?;
    Ok(code(status))
}

fn build_for_the_screen() -> Result<()> {
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
    )
}

/// Both programs as they are packed, and browsers to look at their pages with.
fn build_for_the_window() -> Result<()> {
    setup::install(&[Purpose::Test, Purpose::Desktop], Consent::Given)?;
    ui::build()?;
    for build in [
        "build --release --package openspace-bench",
        "build --release --bins --features desktop",
    ] {
        run("build", cargo()?.args(words(build)))?;
    }
    Ok(())
}
