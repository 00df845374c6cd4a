//! Asking a host whether it accepts its file.

use std::{
    io::Read,
    process::{Child, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
    time::{Duration, Instant},
};

use crate::{Machine, Stop};

/// Longest a host may think about it.
const PATIENCE: Duration = Duration::from_secs(60);
/// Until what it said is read, once it ended.
const FAREWELL: Duration = Duration::from_secs(1);
/// What is read, and what is kept, of its words.
const MOST_READ: u64 = 64 * 1024;
const MOST_WORDS: usize = 400;

/// What a host says about its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Accepted,
    Refused(String),
    /// It is not installed, or does not answer.
    Silent,
    /// Nobody waits for it any more.
    Stopped,
}

/// Runs a command of a host that says whether its file is right. What it started ends with it when
/// nobody waits any more.
pub(crate) fn ask(machine: &Machine, command: &[&str], stop: &Stop) -> Verdict {
    let Some((name, arguments)) = command.split_first() else {
        return Verdict::Silent;
    };
    let Some(program) = machine.find_program(name) else {
        return Verdict::Silent;
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(machine.environment.iter())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A group of its own, so that all of it can be ended.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let Ok(mut child) = command.spawn() else {
        return Verdict::Silent;
    };
    let errors = child.stderr.take().map(read);
    let output = child.stdout.take().map(read);
    let begun = Instant::now();
    loop {
        if stop.is_asked() {
            end(&mut child);
            return Verdict::Stopped;
        }
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Verdict::Accepted,
            Ok(Some(_)) => {
                let words = [errors, output].map(|said| {
                    let said = said.and_then(|said| said.recv_timeout(FAREWELL).ok());
                    said.unwrap_or_default()
                });
                return Verdict::Refused(plain(&words.join("\n")));
            }
            Ok(None) if begun.elapsed() < PATIENCE => thread::sleep(Duration::from_millis(20)),
            Ok(None) | Err(_) => {
                end(&mut child);
                return Verdict::Silent;
            }
        }
    }
}

fn end(child: &mut Child) {
    openspace_process::kill_group(child.id());
    let _gone = child.kill();
    let _reaped = child.wait();
}

/// What a stream says, once it ends. Nobody waits for one that something else holds open.
fn read(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (said, words) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut stream = stream;
        let _what_came = stream.by_ref().take(MOST_READ).read_to_end(&mut bytes);
        let _nobody_waits = said.send(String::from_utf8_lossy(&bytes).into_owned());
        // Whoever writes more is not stopped by a full pipe.
        let _rest = std::io::copy(&mut stream, &mut std::io::sink());
    });
    words
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
            ask(&machine, &["claw", "validate"], &Stop::default())
        };
        assert_eq!(host("test \"$1\" = validate"), Verdict::Accepted);
        assert_eq!(
            host("printf '\\033[31mbad\\033[0m\\n  key' >&2; exit 1"),
            Verdict::Refused("bad key".to_owned())
        );
        let nobody = Machine::here(folder.path(), openspace_config::Environment::default());
        assert_eq!(ask(&nobody, &["claw"], &Stop::default()), Verdict::Silent);
    }

    /// When nobody waits any more, the program ends with all that it started, at once.
    #[test]
    fn a_host_that_thinks_too_long_is_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("claw");
        let child = folder.path().join("child");
        let script = format!(
            "#!/bin/sh\nsleep 300 &\necho $! > '{}.part'\nmv '{0}.part' '{0}'\nwait\n",
            child.display()
        );
        fs::write(&file, script).expect("a script");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("a mode");
        let path = format!("{}:/usr/bin:/bin", folder.path().display());
        let machine = Machine {
            platform: Platform::Linux,
            home: folder.path().to_owned(),
            environment: [("PATH", path)].into_iter().collect(),
        };
        let stop = Stop::default();
        let asked = stop.clone();
        let asking = thread::spawn(move || ask(&machine, &["claw"], &asked));
        let until = Instant::now() + Duration::from_secs(30);
        while !child.exists() {
            assert!(Instant::now() < until, "it was started");
            thread::sleep(Duration::from_millis(10));
        }
        let begun = Instant::now();
        stop.now();
        assert_eq!(asking.join().expect("no panic"), Verdict::Stopped);
        assert!(
            begun.elapsed() < Duration::from_secs(5),
            "{:?}",
            begun.elapsed()
        );
        let pid = fs::read_to_string(&child).expect("a number");
        let process = std::path::PathBuf::from("/proc").join(pid.trim());
        while process.exists() {
            assert!(
                begun.elapsed() < Duration::from_secs(10),
                "its child is gone"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }
}
