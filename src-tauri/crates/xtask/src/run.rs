//! Running programs: shown before they start, timed, with their failure as an error.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus},
    time::Instant,
};

use anyhow::{Context as _, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // src-tauri/crates/xtask
    here.ancestors().nth(3).unwrap_or(here)
}

/// The cargo that runs us, in the root of the repository.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// A binary of this workspace in the profile's folder (`debug`, `release`), beside which we lie
/// ourselves: this honours every way to move the target folder.
pub(crate) fn built(profile: &str, name: &str) -> Result<PathBuf> {
    let own = env::current_exe().context("finding the target folder")?;
    let target = own
        .ancestors()
        .nth(2)
        .context("finding the target folder")?;
    Ok(target
        .join(profile)
        .join(format!("{name}{}", env::consts::EXE_SUFFIX)))
}

/// Says what is done.
pub(crate) fn say(text: &str) {
    eprintln!("==> {text}");
}

/// Runs a command to its end and says how long it took. A failure is an error that names it.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<()> {
    let status = status(what, command)?;
    if status.success() {
        return Ok(());
    }
    bail!("{} ended with {status}", shown(command))
}

/// Runs a command to its end and says how long it took.
pub(crate) fn status(what: &str, command: &mut Command) -> Result<ExitStatus> {
    say(&format!("{what}: {}", shown(command)));
    let started = Instant::now();
    let status = command
        .status()
        .with_context(|| format!("starting {}", shown(command)))?;
    say(&format!("{what}: {:.1} s", started.elapsed().as_secs_f64()));
    Ok(status)
}

/// Whether a program answers with success, quietly.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.output().is_ok_and(|output| output.status.success())
}

/// The exit code of another program as our own.
pub(crate) fn code(status: ExitStatus) -> ExitCode {
    match status.code() {
        Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        None => ExitCode::FAILURE,
    }
}

/// The full path of a program, if it is installed.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    // Xvfb and friends may lie in folders that a minimal PATH leaves out.
    env::split_paths(&path)
        .chain(["/usr/bin", "/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(format!("{program}{}", env::consts::EXE_SUFFIX)))
        .find(|file| file.is_file())
}

/// The command as one would type it.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words = std::iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_string_lossy);
    words.collect::<Vec<_>>().join(" ")
}

/// Arguments as the operating system takes them.
pub(crate) fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}
