//! `cargo xtask package`: what a person installs, with both programs, icons and shell completions.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result, bail};

use crate::{
    Consent, Purpose,
    run::{built, root, run, say, which},
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
    for package in packages()? {
        let size = fs::metadata(&package)?.len() as f64 / 1e6;
        say(&format!("{}: {size:.1} MB", package.display()));
        if package.extension().is_some_and(|kind| kind == "deb") {
            holds_both_programs(&package)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `cargo xtask completions`: writes those of the shells to `target/completions`, where the bundler
/// expects them. The program must have been built in release.
pub(crate) fn completions() -> Result<ExitCode> {
    let folder = root()?.join("target/completions");
    fs::create_dir_all(&folder).context("creating a folder for completions")?;
    for (shell, name) in SHELLS {
        let output = Command::new(built("release", "openspace")?)
            .args(["completions", shell])
            .output()
            .context("asking for completions")?;
        fs::write(folder.join(name), output.stdout).context("writing completions")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What was made.
fn packages() -> Result<Vec<PathBuf>> {
    let bundles = built("release", "openspace")?.with_file_name("bundle");
    if !bundles.is_dir() {
        // For another system they lie in its folder.
        return Ok(Vec::new());
    }
    let mut packages = Vec::new();
    for kind in fs::read_dir(&bundles).context("looking for packages")? {
        for file in fs::read_dir(kind?.path())? {
            let path = file?.path();
            if path.is_file() {
                packages.push(path);
            }
        }
    }
    Ok(packages)
}

/// The window starts its guard and its runners from the command line program beside it: a package
/// with one of the two, or with one under the name of the other, carries out nothing.
fn holds_both_programs(package: &Path) -> Result<()> {
    let output = Command::new("dpkg-deb")
        .arg("--contents")
        .arg(package)
        .output()
        .context("looking into the package")?;
    let listed = String::from_utf8_lossy(&output.stdout);
    for program in ["openspace", "openspace-desktop"] {
        let place = format!("/usr/bin/{program}");
        if !listed
            .lines()
            .any(|line| line.ends_with(place.trim_start_matches('/')))
        {
            bail!("{} holds no {place}", package.display());
        }
    }
    Ok(())
}
