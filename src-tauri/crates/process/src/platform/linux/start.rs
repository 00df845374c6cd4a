//! Starting a child: own session, marked, nothing inherited, sandboxed before it executes.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::process::CommandExt,
    process::Stdio,
};

use rustix::process::{Resource, Rlimit, setrlimit, setsid};
use tokio::net::unix::pipe::Receiver;

use super::{calls, files, process_table::Process};
use crate::{
    Capture, Child, Command, Error, Mark, Stdin, Tree,
    child::{Input, OutputStream},
    mark::{COMMAND_VARIABLE, RUN_VARIABLE},
};

/// Most processes and threads of the person altogether: far above what any desktop has, far below
/// where a fork bomb stops the machine.
const PROCESSES: u64 = 16_384;

/// The sandbox, ready to be entered between fork and exec.
pub(super) struct Prepared {
    files: files::Ruleset,
    calls: Vec<calls::Program>,
    drop_capabilities: bool,
}

impl Prepared {
    pub(super) fn new(sandbox: &crate::Sandbox) -> Result<Self, Error> {
        let files = files::Ruleset::new(sandbox)?;
        let calls = calls::programs(sandbox.network, files.abi())?;
        Ok(Self {
            files,
            calls,
            drop_capabilities: rustix::process::geteuid().is_root(),
        })
    }

    /// Enters the sandbox for good. System calls only: it runs between fork and exec, where no
    /// lock may be taken and nothing allocated.
    pub(super) fn enter(&self) -> io::Result<()> {
        if self.drop_capabilities {
            calls::drop_capabilities()?;
        }
        // SAFETY: prctl with integer arguments.
        if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
            return Err(io::Error::last_os_error());
        }
        self.files.enter()?;
        self.calls.iter().try_for_each(calls::Program::enter)
    }
}

pub(crate) fn spawn(command: &Command, mark: Mark) -> Result<Child, Error> {
    let sandbox = command.sandbox.as_ref().map(Prepared::new).transpose()?;
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
    let path = command.sandbox.as_ref().and_then(|sandbox| {
        let path = command.environment.get("PATH")?;
        reachable_path(path, sandbox)
    });
    builder
        .args(&command.arguments)
        .current_dir(&command.folder)
        .env_clear()
        .envs(command.environment.iter())
        .envs(path.map(|path| ("PATH", path)))
        .env(RUN_VARIABLE, &command.run)
        .env(COMMAND_VARIABLE, mark.command_id())
        .stdin(match command.stdin {
            Stdin::Null => Stdio::null(),
            Stdin::Piped => Stdio::piped(),
        });
    let merged = match command.capture {
        Capture::Merged => {
            let (reader, writer) = io::pipe().map_err(failed)?;
            builder.stdout(writer.try_clone().map_err(failed)?);
            builder.stderr(writer);
            Some(reader)
        }
        Capture::Separate => {
            builder.stdout(Stdio::piped()).stderr(Stdio::piped());
            None
        }
        Capture::Errors => {
            builder.stdout(Stdio::null()).stderr(Stdio::piped());
            None
        }
        Capture::Null => {
            builder.stdout(Stdio::null()).stderr(Stdio::null());
            None
        }
    };

    if let Some(file) = &command.errors {
        builder.stderr(file.try_clone().map_err(failed)?);
    }

    let value = mark.value();
    // SAFETY: the closure makes system calls only; it takes no lock and allocates nothing (errors
    // are plain numbers).
    unsafe {
        builder.pre_exec(move || {
            setsid()?;
            set_limits(value);
            close_inherited();
            match &sandbox {
                Some(sandbox) => sandbox.enter(),
                None => Ok(()),
            }
        });
    }
    let mut process = tokio::process::Command::from(builder)
        .kill_on_drop(false)
        .spawn()
        .map_err(failed)?;

    let root = process.id().unwrap_or_default();
    let started = Process::read(root).map_or(0, |process| process.started);
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
        process,
        tree: Tree {
            mark,
            root,
            started,
        },
        finished: false,
    })
}

/// Without the folders the sandbox hides: a shell that finds a program there (a version switcher
/// in the home folder, say) stops at "permission denied" instead of looking further.
fn reachable_path(path: &OsStr, sandbox: &crate::Sandbox) -> Option<OsString> {
    let folders = std::env::split_paths(path).filter(|folder| files::reaches(sandbox, folder));
    std::env::join_paths(folders).ok()
}

fn set_limits(mark: u64) {
    let lower = |resource, value| {
        let hard = rustix::process::getrlimit(resource)
            .maximum
            .map_or(value, |hard| hard.min(value));
        let limit = Rlimit {
            current: Some(hard),
            maximum: Some(hard),
        };
        // A limit that is already lower is as good.
        let _ = setrlimit(resource, limit);
    };
    // Never an image of memory, which may hold secrets, in the workspace.
    lower(Resource::Core, 0);
    lower(Resource::Nproc, PROCESSES);
    let mark = Rlimit {
        current: Some(mark),
        maximum: Some(mark),
    };
    // Refused only inside a process that is marked already; the environment then carries it alone.
    let _ = setrlimit(Resource::Locks, mark);
}

/// Everything we open is closed on exec, but libraries may forget to; marking them is one call.
/// (They are marked rather than closed because the pipe that reports a failed exec is among them.)
fn close_inherited() {
    // SAFETY: close_range(2) with integers; it closes nothing now, it only sets flags.
    unsafe {
        libc::syscall(
            libc::SYS_close_range,
            3_u32,
            u32::MAX,
            libc::CLOSE_RANGE_CLOEXEC,
        );
    }
}
