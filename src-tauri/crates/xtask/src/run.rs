//! Running programs: shown before they start, timed, with their failure as an error.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, ExitCode, ExitStatus},
    time::Instant,
};

use anyhow::{Context as _, Result, bail};

/// The file that only this repository's root has at this place.
const OWN_MANIFEST: &str = "src-tauri/crates/xtask/Cargo.toml";

/// The root of the repository we were called in, not the one we were built from: two checkouts may
/// share a target folder, and with it this program.
pub(crate) fn root() -> Result<PathBuf> {
    let told = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let current = env::current_dir().context("finding the current folder")?;
    root_above(told.as_deref(), &current)
}

/// The nearest root at or above the folder that cargo told us, else at or above the current one.
fn root_above(told: Option<&Path>, current: &Path) -> Result<PathBuf> {
    let places = told.into_iter().chain([current]);
    let mut folders = places.flat_map(Path::ancestors);
    let found = folders
        .find(|folder| folder.join(OWN_MANIFEST).is_file() && folder.join("Cargo.toml").is_file());
    found.map(Path::to_owned).with_context(|| {
        format!(
            "`{}` lies in no checkout of this repository; change into one and try again",
            current.display()
        )
    })
}

/// The cargo that runs us, in the root of the repository.
pub(crate) fn cargo() -> Result<Command> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()?);
    Ok(command)
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with two checkouts in it, gone afterwards.
    struct Folder(PathBuf);

    impl Folder {
        fn with_checkouts(name: &str, checkouts: &[&str]) -> Self {
            let folder = env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
            for checkout in checkouts {
                let root = folder.join(checkout);
                fs::create_dir_all(root.join("src-tauri/crates/xtask/src")).expect("folders");
                for manifest in ["Cargo.toml", OWN_MANIFEST] {
                    fs::write(root.join(manifest), "").expect("a manifest");
                }
            }
            fs::create_dir_all(&folder).expect("a folder");
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            // Whatever cannot be removed lies in the temporary folder, where it does no harm.
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// What cargo says counts, then where we are; the crate's own manifest is not the root's.
    #[test]
    fn the_root_is_that_of_the_checkout_we_are_called_in() {
        let folder = Folder::with_checkouts("roots", &["one", "two"]);
        let (one, two) = (folder.0.join("one"), folder.0.join("two"));
        let inside = |root: &Path| root.join("src-tauri/crates/xtask");
        let found = |told: Option<&Path>, current: &Path| root_above(told, current).expect("found");
        assert_eq!(found(Some(&inside(&one)), &two), one);
        assert_eq!(found(None, &inside(&two).join("src")), two);
        assert_eq!(found(None, &two), two);
        // Cargo may speak of a package that is none of ours.
        assert_eq!(found(Some(&folder.0), &one), one);
    }

    /// Outside of every checkout the error names the folder.
    #[test]
    fn outside_of_a_checkout_there_is_no_root() {
        let folder = Folder::with_checkouts("nothing", &[]);
        let error = root_above(None, &folder.0).expect_err("there is none");
        let text = format!("{error:#}");
        assert!(text.contains(&folder.0.display().to_string()), "{text}");
    }

    /// These tests themselves are built by cargo from this very checkout.
    #[test]
    fn cargo_tells_us_this_checkout() {
        let root = root().expect("found");
        assert!(root.join("src-tauri/crates/xtask/src/run.rs").is_file());
        let cargo = cargo().expect("found");
        assert_eq!(cargo.get_current_dir(), Some(root.as_path()));
    }
}
