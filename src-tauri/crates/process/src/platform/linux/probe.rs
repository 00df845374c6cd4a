//! Tries to break out of a sandbox: the attempts are made between fork and exec, with system calls
//! alone, so that they need no program and test exactly what a command would meet.

use std::{
    ffi::CString,
    fs,
    io::{self, Read},
    os::unix::{ffi::OsStrExt, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

use super::{files, start::Prepared};
use crate::{
    Sandbox,
    sandbox::{Attempt, Probe, Report},
};

/// Answers of one attempt, as bytes on standard output.
const HELD: u8 = b'+';
const BROKEN: u8 = b'-';

struct Paths {
    inside: CString,
    outside: CString,
    secret: CString,
    system: CString,
}

pub(crate) fn self_test(scratch: &Path) -> io::Result<Report> {
    let support = files::support();
    if !support.is_enforced() {
        return Ok(Report {
            support,
            probes: Vec::new(),
        });
    }
    let folder = scratch.join(format!("sandbox-test-{}", std::process::id()));
    let result = probe_in(&folder);
    let _ = fs::remove_dir_all(&folder);
    Ok(Report {
        support,
        probes: result?,
    })
}

fn probe_in(folder: &Path) -> io::Result<Vec<Probe>> {
    let inside = folder.join("inside");
    let outside = folder.join("outside");
    fs::create_dir_all(&inside)?;
    fs::create_dir_all(&outside)?;
    fs::write(outside.join("secret"), "secret")?;
    let path = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from);
    let paths = Paths {
        inside: path(&inside.join("file"))?,
        outside: path(&outside.join("file"))?,
        secret: path(&outside.join("secret"))?,
        system: path(Path::new("/etc/passwd"))?,
    };
    let sandbox = Prepared::new(&Sandbox {
        read_write: vec![inside],
        ..Sandbox::default()
    })
    .map_err(io::Error::other)?;
    let parent = std::process::id().cast_signed();

    let mut command = Command::new("/bin/true");
    command
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    // SAFETY: system calls only, on memory prepared before; no lock, no allocation.
    unsafe {
        command.pre_exec(move || {
            sandbox.enter()?;
            let answers = attempt_all(&paths, parent);
            if libc::write(1, answers.as_ptr().cast(), answers.len()) < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let mut child = command.spawn()?;
    let mut answers = Vec::new();
    if let Some(output) = &mut child.stdout {
        output.read_to_end(&mut answers)?;
    }
    child.wait()?;
    Ok(Attempt::ALL
        .into_iter()
        .enumerate()
        .map(|(index, attempt)| Probe {
            attempt,
            held: answers.get(index) == Some(&HELD),
        })
        .collect())
}

fn attempt_all(paths: &Paths, parent: i32) -> [u8; Attempt::ALL.len()] {
    Attempt::ALL.map(|attempt| {
        let held = match attempt {
            Attempt::WriteInside => opens(&paths.inside, libc::O_WRONLY | libc::O_CREAT).is_ok(),
            Attempt::ReadSystem => opens(&paths.system, libc::O_RDONLY).is_ok(),
            Attempt::WriteOutside => {
                opens(&paths.outside, libc::O_WRONLY | libc::O_CREAT) == Err(libc::EACCES)
            }
            Attempt::ReadSecret => opens(&paths.secret, libc::O_RDONLY) == Err(libc::EACCES),
            Attempt::Connect => socket(libc::AF_INET) == Err(libc::EPERM),
            Attempt::UnixSocket => socket(libc::AF_UNIX) == Err(libc::EPERM),
            // SAFETY: signal 0 is checked like any other and delivers nothing.
            Attempt::Signal => answer(unsafe { libc::kill(parent, 0) }) == Err(libc::EPERM),
        };
        if held { HELD } else { BROKEN }
    })
}

fn opens(path: &CString, flags: i32) -> Result<(), i32> {
    // SAFETY: a string that ends with NUL; the descriptor dies with the process at exec.
    answer(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o600) })
}

fn socket(family: i32) -> Result<(), i32> {
    // SAFETY: socket(2) with integers.
    answer(unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, 0) })
}

fn answer(result: i32) -> Result<(), i32> {
    if result < 0 {
        Err(io::Error::last_os_error().raw_os_error().unwrap_or(0))
    } else {
        Ok(())
    }
}
