//! Asking a host whether it accepts its file.

use std::{
    io::Read,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::Machine;

/// Longest a host may think about it.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is kept of its words.
const MOST_WORDS: usize = 400;

/// What a host says about its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    Refused(String),
    /// It is not installed, or does not answer.
    Silent,
}

/// Runs a command of a host that says whether its file is right.
pub(crate) fn ask(machine: &Machine, command: &[&str]) -> Verdict {
    let Some((name, arguments)) = command.split_first() else {
        return Verdict::Silent;
    };
    let Some(program) = machine.find_program(name) else {
        return Verdict::Silent;
    };
    let child = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(machine.environment.iter())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return Verdict::Silent;
    };
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let output = scope.spawn(|| read(output));
        let errors = scope.spawn(|| read(errors));
        let begun = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(20)),
                Ok(None) | Err(_) => {
                    let _gone = child.kill();
                    let _reaped = child.wait();
                    break None;
                }
            }
        };
        let words = [errors.join(), output.join()].map(Result::unwrap_or_default);
        match status {
            Some(status) if status.success() => Verdict::Accepted,
            Some(_) => Verdict::Refused(plain(&words.join("\n"))),
            None => Verdict::Silent,
        }
    })
}

fn read(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        let _what_came = stream.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The beginning of what was said, on one line and without colours.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else if character.is_control() || character == ' ' {
            if !plain.ends_with(' ') && !plain.is_empty() {
                plain.push(' ');
            }
        } else {
            plain.push(character);
        }
        if plain.len() > MOST_WORDS {
            plain.push('…');
            break;
        }
    }
    plain.trim_end().to_owned()
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;
    use crate::Platform;

    /// What the host says is told on one line, without its colours; one that is not there says
    /// nothing.
    #[test]
    fn a_host_is_asked() {
        let folder = tempfile::tempdir().expect("a folder");
        let host = |script: &str| {
            let file = folder.path().join("claw");
            fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("a script");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
            let path = format!("{}:/usr/bin:/bin", folder.path().display());
            let machine = Machine {
                platform: Platform::Linux,
                home: folder.path().to_owned(),
                environment: [("PATH", path)].into_iter().collect(),
            };
            ask(&machine, &["claw", "validate"])
        };
        assert_eq!(host("test \"$1\" = validate"), Verdict::Accepted);
        assert_eq!(
            host("printf '\\033[31mbad\\033[0m\\n  key' >&2; exit 1"),
            Verdict::Refused("bad key".to_owned())
        );
        let nobody = Machine::here(folder.path(), openspace_config::Environment::default());
        assert_eq!(ask(&nobody, &["claw"]), Verdict::Silent);
    }
}
