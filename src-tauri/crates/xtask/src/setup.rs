//! Brings what the code needs at run time: builds, looks for what is missing, installs only that.

mod packages;

use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
    process::{Command, ExitCode},
};

use anyhow::{Result, bail};

use crate::{
    run::{cargo, run, say, succeeds, which},
    ui,
};

pub(crate) use packages::Purpose;
use packages::{PACKAGES, Package};

/// Whether a person has to agree before packages are installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Consent {
    /// Ask, if somebody is there to answer.
    Ask,
    /// Whoever called wants it.
    Given,
}

/// `cargo xtask setup`: the code first, which needs no package, then everything for tests and benches.
/// Both are tried, whatever becomes of the first.
pub(crate) fn everything() -> Result<ExitCode> {
    let built = run("build", cargo()?.args(["build", "--quiet"]));
    let wanted = [
        Purpose::Demo,
        Purpose::Test,
        Purpose::Desktop,
        Purpose::Bench,
    ];
    let installed = install(&wanted, Consent::Given);
    let pages = ui::build();
    built?;
    installed?;
    pages?;
    say("ready: cargo xtask demo, cargo xtask test, cargo xtask bench gui, cargo xtask bench ui");
    Ok(ExitCode::SUCCESS)
}

/// Installs what is missing for these purposes.
pub(crate) fn install(purposes: &[Purpose], consent: Consent) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    let wanted: Vec<_> = PACKAGES
        .iter()
        .filter(|package| purposes.contains(&package.purpose))
        .collect();
    let (Some(query), Some(apt_get)) = (which("dpkg-query"), which("apt-get")) else {
        name_missing_programs(&wanted);
        return Ok(());
    };
    let missing = missing(&query, &wanted)?;
    if missing.is_empty() {
        say(&format!("packages: all {} are installed", wanted.len()));
        return Ok(());
    }
    say(&format!(
        "packages: {} of {} are missing",
        missing.len(),
        wanted.len()
    ));
    for package in &missing {
        eprintln!("      {:<24} {}", package.name, package.reason);
    }
    let names: Vec<_> = missing.iter().map(|package| package.name).collect();
    if consent == Consent::Ask && !agreed()? {
        bail!(
            "nothing was installed; to do it yourself: {}",
            by_hand(&names)
        );
    }
    apt(&apt_get, &names)
}

/// Packages that are not fully installed.
fn missing(query: &Path, wanted: &[&'static Package]) -> Result<Vec<&'static Package>> {
    let output = Command::new(query)
        .args(["--show", "--showformat=${db:Status-Abbrev} ${Package}\n"])
        .args(wanted.iter().map(|package| package.name))
        .env("LC_ALL", "C")
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // `ii ` is wanted and installed; a package of another architecture has its own line.
    let installed: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("ii "))
        .map(str::trim)
        .collect();
    Ok(wanted
        .iter()
        .copied()
        .filter(|package| !installed.contains(&package.name))
        .collect())
}

fn agreed() -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        return Ok(false);
    }
    eprint!("Install them now with apt-get? [Y/n] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(
        answer.trim().to_lowercase().as_str(),
        "" | "y" | "yes"
    ))
}

/// How we may become root.
fn root_prefix() -> Option<&'static [&'static str]> {
    let root = Command::new("id").arg("-u").output();
    if root.is_ok_and(|output| output.stdout.trim_ascii() == b"0") {
        Some(&[])
    } else if succeeds(Command::new("sudo").args(["-n", "true"])) {
        Some(&["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"])
    } else {
        None
    }
}

fn by_hand(names: &[&str]) -> String {
    format!(
        "sudo apt-get update && sudo apt-get install -y --no-install-recommends {}",
        names.join(" ")
    )
}

fn apt(apt_get: &Path, names: &[&str]) -> Result<()> {
    let Some(prefix) = root_prefix() else {
        bail!(
            "packages are missing and this user may not install them. Run this, then try again:\n\n    {}\n",
            by_hand(names)
        );
    };
    let apt = |arguments: &[&str]| {
        let mut command = match prefix.split_first() {
            Some((first, rest)) => {
                let mut command = Command::new(first);
                command.args(rest).arg(apt_get);
                command
            }
            None => Command::new(apt_get),
        };
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C")
            .stdin(std::process::Stdio::null());
        command
    };
    let install = [&["install", "-y", "-qq", "--no-install-recommends"], names].concat();
    let rehearsal = [
        &["install", "-qq", "--simulate", "--no-install-recommends"],
        names,
    ]
    .concat();
    // The lists of a fresh machine are empty, those of an old one name files that are gone.
    let fresh = !succeeds(&mut apt(&rehearsal));
    if fresh {
        run("package lists", &mut apt(&["update", "-qq"]))?;
    }
    match run("packages", &mut apt(&install)) {
        Err(_) if !fresh => {
            run("package lists", &mut apt(&["update", "-qq"]))?;
            run("packages", &mut apt(&install))
        }
        outcome => outcome,
    }
}

/// Where we cannot install, we say what is missing and go on: what needs it will fail by name.
fn name_missing_programs(wanted: &[&Package]) {
    let programs: Vec<_> = wanted
        .iter()
        .filter_map(|package| Some((package.program?, package.reason)))
        .filter(|(program, _)| which(program).is_none())
        .collect();
    if programs.is_empty() {
        say("programs: all are there");
        return;
    }
    say("this is no Debian; please install these programs yourself:");
    for (program, reason) in programs {
        eprintln!("      {program:<24} {reason}");
    }
}
