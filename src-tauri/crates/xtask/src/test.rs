//! `cargo xtask test`: every test, in an environment that holds nothing of the person's.

use std::{
    env, fs,
    io::{BufRead as _, BufReader},
    path::PathBuf,
    process::{Command, ExitCode, ExitStatus, Stdio},
    time::Instant,
};

use anyhow::{Context as _, Result};

use crate::{
    Consent, Purpose,
    run::{built, cargo, code, say, shown, words},
    setup, ui,
};

pub(crate) fn all(arguments: &[String]) -> Result<ExitCode> {
    let arguments = match arguments.split_first() {
        Some((first, rest)) if first == "--" => rest,
        _ => arguments,
    };
    setup::install(&[Purpose::Demo, Purpose::Test], Consent::Given)?;
    ui::build()?;
    let home = Home::new()?;
    let started = Instant::now();
    let mut sum = Sum::default();
    let mut command = cargo()?;
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .args(arguments);
    make_safe(&mut command, &home);
    let mut worst = watch(command, &mut sum)?;
    // Who chose tests by name chose among cargo's.
    if arguments.is_empty() && cfg!(target_os = "linux") {
        // The app with its window, apart from the rest: so that the lean program is tested lean.
        setup::install(&[Purpose::Desktop], Consent::Given)?;
        for chosen in [
            "--bin openspace-desktop",
            // Each starts windows of its own; at once they would wait for each other.
            "--test it -- desktop:: --skip programs:: --test-threads=2",
        ] {
            let mut command = cargo()?;
            command
                .args(words("test --features desktop --no-fail-fast"))
                .args(words(chosen));
            make_safe(&mut command, &home);
            let status = watch(command, &mut sum)?;
            if worst.success() {
                worst = status;
            }
        }
    }
    if arguments.is_empty() {
        for script in ["test", "test:browser", "test:webkit"] {
            if script == "test:webkit" && cfg!(not(target_os = "linux")) {
                // The engine of Linux's web views.
                continue;
            }
            let mut command = ui::npm(&["run", "--silent", script])?;
            make_safe(&mut command, &home);
            command.env("OPENSPACE_BINARY", built("debug", "openspace")?);
            command.env("OPENSPACE_BENCH", built("debug", "openspace-bench")?);
            let status = watch(command, &mut sum)?;
            if worst.success() {
                worst = status;
            }
        }
    }
    let Sum {
        binaries,
        passed,
        failed,
        ignored,
    } = sum;
    say(&format!(
        "test: {passed} passed, {failed} failed, {ignored} ignored in {binaries} binaries, {:.1} s",
        started.elapsed().as_secs_f64()
    ));
    Ok(code(worst))
}

/// Runs the tests that these arguments choose, with variables that they need.
pub(crate) fn chosen(arguments: &str, variables: &[(&str, &str)]) -> Result<ExitCode> {
    let home = Home::new()?;
    let mut sum = Sum::default();
    let mut command = cargo()?;
    command.arg("test").args(words(arguments));
    make_safe(&mut command, &home);
    command.envs(variables.iter().copied());
    let status = watch(command, &mut sum)?;
    say(&format!(
        "test: {} passed, {} failed",
        sum.passed, sum.failed
    ));
    Ok(code(status))
}

/// Runs tests, passing on what they print and counting.
fn watch(mut command: Command, sum: &mut Sum) -> Result<ExitStatus> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    say(&format!("test: {}", shown(&command)));
    let mut child = command
        .spawn()
        .with_context(|| format!("starting {}", shown(&command)))?;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).split(b'\n') {
            let line = line.context("reading what the tests print")?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            sum.add(&line);
        }
    }
    child
        .wait()
        .with_context(|| format!("waiting for {}", shown(&command)))
}

/// The closing lines of all test binaries together.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    binaries: usize,
    passed: usize,
    failed: usize,
    ignored: usize,
}

impl Sum {
    /// Takes in `test result: ok. 34 passed; 0 failed; 0 ignored; …`, and the window's
    /// `34 passed, 0 failed`.
    fn add(&mut self, line: &str) {
        if let Some((passed, failed)) = of_the_window(line) {
            self.binaries += 1;
            self.passed += passed;
            self.failed += failed;
            return;
        }
        let Some(result) = line.strip_prefix("test result: ") else {
            return;
        };
        let counts = result.split_once(". ").map_or("", |(_, counts)| counts);
        self.binaries += 1;
        for count in counts.split("; ") {
            let Some((number, what)) = count.split_once(' ') else {
                continue;
            };
            let number: usize = number.parse().unwrap_or_default();
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

fn of_the_window(line: &str) -> Option<(usize, usize)> {
    let (passed, failed) = line
        .trim_end()
        .strip_suffix(" failed")?
        .split_once(" passed, ")?;
    Some((passed.parse().ok()?, failed.parse().ok()?))
}

/// An empty home folder, gone afterwards.
struct Home(PathBuf);

impl Home {
    fn new() -> Result<Self> {
        let folder = env::temp_dir().join(format!("openspace-test-home-{}", std::process::id()));
        fs::create_dir_all(&folder).context("creating a home for the tests")?;
        Ok(Self(folder))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Whatever cannot be removed lies in the temporary folder, where it does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Takes away the person's screen, keys, settings and home; cargo keeps its own folders.
fn make_safe(command: &mut Command, home: &Home) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(is_personal) {
            command.env_remove(&name);
        }
    }
    for (variable, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        if env::var_os(variable).is_none()
            && let Some(old) = env::home_dir().map(|home| home.join(folder))
            && old.is_dir()
        {
            command.env(variable, old);
        }
    }
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    command.env(variable, &home.0);
    command.env(
        "CARGO_TERM_COLOR",
        env::var_os("CARGO_TERM_COLOR").unwrap_or("auto".into()),
    );
    command.env("RUST_BACKTRACE", "1");
}

fn is_personal(name: &str) -> bool {
    const NAMES: [&str; 6] = [
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "DBUS_SESSION_BUS_ADDRESS",
        "AT_SPI_BUS_ADDRESS",
        "SSH_AUTH_SOCK",
    ];
    const ENDINGS: [&str; 5] = ["_API_KEY", "_API_BASE", "_BASE_URL", "_SECRET", "_TOKEN"];
    NAMES.contains(&name)
        || ["OPENSPACE_", "XDG_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || ENDINGS.iter().any(|ending| name.ends_with(ending))
            // A token for cargo's own registries is cargo's.
            && !name.starts_with("CARGO_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The closing lines of several binaries add up.
    #[test]
    fn closing_lines_add_up() {
        let mut sum = Sum::default();
        for line in [
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 5 filtered out; finished in 1.00s",
            "10 passed, 1 failed",
            "a line that says 3 passed, 4 failed",
        ] {
            sum.add(line);
        }
        assert_eq!(
            sum,
            Sum {
                binaries: 3,
                passed: 17,
                failed: 3,
                ignored: 1
            }
        );
    }

    /// Keys and screens are taken away, what cargo needs is not.
    #[test]
    fn personal_variables_are_known() {
        for name in [
            "DISPLAY",
            "ANTHROPIC_API_KEY",
            "OPENSPACE_HOME",
            "XDG_RUNTIME_DIR",
            "GH_TOKEN",
        ] {
            assert!(is_personal(name), "{name}");
        }
        for name in [
            "PATH",
            "CARGO_HOME",
            "CARGO_REGISTRIES_X_TOKEN",
            "RUSTUP_HOME",
            "LANG",
            "HTTPS_PROXY",
        ] {
            assert!(!is_personal(name), "{name}");
        }
    }
}
