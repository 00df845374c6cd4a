//! macOS and other Unix systems: process groups, no sandbox. Could not be compiled or tried where
//! this was written; it uses what POSIX gives every system.

use std::{
    io,
    os::unix::process::CommandExt,
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process_group, setsid, test_kill_process_group};
use tokio::net::unix::pipe::Receiver;

use crate::{
    Capture, Child, Command, Error, Killed, Mark, Stdin, Support, Tree,
    child::{Input, OutputStream},
    mark::{COMMAND_VARIABLE, RUN_VARIABLE},
    sandbox::Report,
};

const GRACE: Duration = Duration::from_millis(400);
const LIMIT: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// The system keeps of the program's file what it uses.
pub fn give_back_start() {}

/// There is no such thing here: what leaves its group is out of reach.
pub fn become_subreaper() -> io::Result<()> {
    Ok(())
}

pub(crate) fn spawn(command: &Command, mark: Mark) -> Result<Child, Error> {
    if command.sandbox.is_some() {
        return Err(Error::SandboxUnavailable {
            reason: "there is no sandbox for this system yet".to_owned(),
        });
    }
    let program = command.program.to_string_lossy().into_owned();
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Error::ProgramNotFound {
            program: program.clone(),
        },
        _ => Error::Start {
            program: program.clone(),
            source,
        },
    };
    let mut builder = std::process::Command::new(&command.program);
    builder
        .args(&command.arguments)
        .current_dir(&command.folder)
        .env_clear()
        .envs(command.environment.iter())
        .env(RUN_VARIABLE, &command.run)
        .env(COMMAND_VARIABLE, mark.command_id())
        .stdin(match command.stdin {
            Stdin::Null => Stdio::null(),
            Stdin::Piped => Stdio::piped(),
        })
        .stdout(match command.capture {
            Capture::Separate => Stdio::piped(),
            Capture::Null | Capture::Errors | Capture::Merged => Stdio::null(),
        })
        .stderr(match command.capture {
            Capture::Separate | Capture::Errors => Stdio::piped(),
            Capture::Null | Capture::Merged => Stdio::null(),
        });
    let mut merged = None;
    if let Some(file) = &command.errors {
        builder.stderr(file.try_clone().map_err(failed)?);
    }
    if command.capture == Capture::Merged {
        let (reader, writer) = io::pipe().map_err(failed)?;
        builder.stdout(writer.try_clone().map_err(failed)?);
        builder.stderr(writer);
        merged = Some(reader);
    }
    // SAFETY: one system call, no lock, no allocation.
    unsafe {
        builder.pre_exec(|| Ok(setsid().map(|_| ())?));
    }
    let mut process = tokio::process::Command::from(builder)
        .spawn()
        .map_err(failed)?;
    let output = match merged {
        Some(reader) => {
            Some(Box::pin(Receiver::from_owned_fd(reader.into()).map_err(failed)?) as OutputStream)
        }
        None => process
            .stdout
            .take()
            .map(|stream| Box::pin(stream) as OutputStream),
    };
    Ok(Child {
        input: process.stdin.take().map(|stream| Box::pin(stream) as Input),
        output,
        errors: process
            .stderr
            .take()
            .map(|stream| Box::pin(stream) as OutputStream),
        tree: Tree {
            mark,
            root: process.id().unwrap_or_default(),
        },
        process,
        finished: false,
    })
}

pub(crate) fn terminate(tree: &Tree) {
    signal(tree, Signal::TERM);
}

pub(crate) fn end(tree: &Tree) -> Result<Killed, Error> {
    let begin = Instant::now();
    let mut killed = Killed::default();
    while !members(tree).is_empty() {
        killed.processes = 1;
        if begin.elapsed() > LIMIT {
            return Err(Error::Survivors {
                pids: members(tree),
            });
        }
        if begin.elapsed() > GRACE {
            killed.forced = true;
            signal(tree, Signal::KILL);
        }
        std::thread::sleep(PAUSE);
    }
    killed.took = begin.elapsed();
    Ok(killed)
}

/// Without a readable process table a run's processes cannot be found: the guard kills the groups
/// it was told about.
pub(crate) fn end_run(_run: &str) -> Result<Killed, Error> {
    Ok(Killed::default())
}

pub(crate) fn members(tree: &Tree) -> Vec<u32> {
    let alive = group(tree).is_some_and(|group| test_kill_process_group(group).is_ok());
    if alive { vec![tree.root] } else { Vec::new() }
}

pub(crate) fn reap(_tree: &Tree) {}

pub(crate) fn support() -> Support {
    Support::None {
        reason: "there is no sandbox for this system yet".to_owned(),
    }
}

pub(crate) fn self_test(_scratch: &Path) -> io::Result<Report> {
    Ok(Report {
        support: support(),
        probes: Vec::new(),
    })
}

/// Only the nearest parent can be told without private interfaces.
pub(crate) fn parents(pid: u32) -> Vec<u32> {
    if pid == std::process::id() {
        vec![std::os::unix::process::parent_id()]
    } else {
        Vec::new()
    }
}

pub(crate) fn carried_run(_pid: u32) -> Option<String> {
    None
}

pub(crate) fn mark_of(_pid: u32) -> Option<Mark> {
    None
}

pub(crate) fn peer(_client: std::net::SocketAddr, _server: std::net::SocketAddr) -> Option<u32> {
    None
}

fn group(tree: &Tree) -> Option<Pid> {
    Pid::from_raw(tree.root.cast_signed()).filter(|_| tree.root > 1)
}

fn signal(tree: &Tree, signal: Signal) {
    if let Some(group) = group(tree) {
        let _ = kill_process_group(group, signal);
    }
}
