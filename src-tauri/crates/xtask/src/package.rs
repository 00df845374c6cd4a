//! `cargo xtask package`: what a person installs, with both programs, icons and shell completions.

use std::{
    fs,
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result};

use crate::{
    Consent, Purpose,
    run::{built, cargo, root, run, say, which, words},
    setup, ui,
};

/// The command line program of the bundler, fetched by npm. Of the line of the crate `tauri`.
const BUNDLER: &str = "@tauri-apps/cli@2.12.5";
/// Shells with the names their completions must have; `tauri.conf.json` says where they go.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "openspace"),
    ("zsh", "_openspace"),
    ("fish", "openspace.fish"),
];

pub(crate) fn build(arguments: &[String]) -> Result<ExitCode> {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    };
    setup::install(&[Purpose::Desktop], Consent::Given)?;
    ui::build()?;
    // With the features of the app, so that the bundler finds it built.
    let both = "build --release --bins --features desktop";
    run("build", cargo()?.args(words(both)))?;
    completions()?;
    let npm = which("npm").context("npm was not found: install Node.js 20 or newer with npm")?;
    let bundler = format!("--package={BUNDLER}");
    let mut bundle = Command::new(npm);
    bundle
        .current_dir(root()?)
        .args(["exec", "--yes", &bundler, "--", "tauri", "build"])
        // The pages are built already.
        .args(["--config", r#"{"build":{"beforeBuildCommand":""}}"#])
        .args(arguments)
        .stdin(Stdio::null());
    run("bundle", &mut bundle)?;
    tell_sizes()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the completions of the shells to `target/completions`.
fn completions() -> Result<()> {
    let folder = root()?.join("target/completions");
    fs::create_dir_all(&folder).context("creating a folder for completions")?;
    for (shell, name) in SHELLS {
        let output = Command::new(built("release", "openspace")?)
            .args(["completions", shell])
            .output()
            .context("asking for completions")?;
        fs::write(folder.join(name), output.stdout).context("writing completions")?;
    }
    Ok(())
}

/// Says what was made and how large it is.
fn tell_sizes() -> Result<()> {
    let bundles = built("release", "openspace")?.with_file_name("bundle");
    if !bundles.is_dir() {
        // For another system they lie in its folder.
        return Ok(());
    }
    for kind in fs::read_dir(&bundles).context("looking for packages")? {
        for file in fs::read_dir(kind?.path())? {
            let file = file?;
            let metadata = file.metadata()?;
            if metadata.is_file() {
                let size = metadata.len() as f64 / 1e6;
                say(&format!("{}: {size:.1} MB", file.path().display()));
            }
        }
    }
    Ok(())
}
