//! Windows: a Job Object holds the tree, no sandbox. Could not be compiled or tried where this was
//! written. A child joins its job right after it was created; what it starts before that moment
//! is missed.

use std::{
    ffi::c_void,
    io,
    os::windows::{
        io::{AsRawHandle, FromRawHandle, OwnedHandle},
        process::CommandExt,
    },
    path::Path,
    process::Stdio,
    sync::Arc,
};

use crate::{
    Capture, Child, Command, Error, Killed, Mark, Stdin, Support, Tree,
    child::{Input, OutputStream},
    mark::{COMMAND_VARIABLE, RUN_VARIABLE},
    sandbox::Report,
};

/// `CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP` of `CreateProcess`.
const FLAGS: u32 = 0x0800_0000 | 0x0000_0200;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn CreateJobObjectW(attributes: *const c_void, name: *const u16) -> *mut c_void;
    fn AssignProcessToJobObject(job: *mut c_void, process: *mut c_void) -> i32;
    fn TerminateJobObject(job: *mut c_void, code: u32) -> i32;
    fn OpenProcess(access: u32, inherit: i32, pid: u32) -> *mut c_void;
    fn TerminateProcess(process: *mut c_void, code: u32) -> i32;
}

/// `PROCESS_TERMINATE` of `OpenProcess`.
const MAY_TERMINATE: u32 = 0x0001;

/// Ends one process at once; one that is gone or is not ours to end is left alone.
pub(crate) fn kill(pid: u32) {
    // SAFETY: the handle is checked, owned from there on, and open while it is used.
    unsafe {
        let handle = OpenProcess(MAY_TERMINATE, 0, pid);
        if !handle.is_null() {
            let process = OwnedHandle::from_raw_handle(handle);
            TerminateProcess(process.as_raw_handle(), 1);
        }
    }
}

/// The job of a tree.
#[derive(Debug)]
pub(crate) struct Job(OwnedHandle);

impl Job {
    fn new() -> io::Result<Self> {
        // SAFETY: no attributes, no name; the handle is checked and owned from here on.
        unsafe {
            let handle = CreateJobObjectW(std::ptr::null(), std::ptr::null());
            if handle.is_null() {
                return Err(io::Error::last_os_error());
            }
            Ok(Self(OwnedHandle::from_raw_handle(handle)))
        }
    }

    fn adopt(&self, process: *mut c_void) -> io::Result<()> {
        // SAFETY: both handles are open.
        if unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process) } == 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(())
    }

    fn end(&self) {
        // SAFETY: the handle is open. Ending an empty job is no error.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), 1) };
    }
}

/// The system keeps of the program's file what it uses.
pub fn give_back_start() {}

/// Jobs need no such thing.
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
    let job = Arc::new(Job::new().map_err(failed)?);
    let mut builder = std::process::Command::new(&command.program);
    builder
        .args(&command.arguments)
        .current_dir(&command.folder)
        .env_clear()
        .envs(command.environment.iter())
        .env(RUN_VARIABLE, &command.run)
        .env(COMMAND_VARIABLE, mark.command_id())
        .creation_flags(FLAGS)
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
    let mut process = tokio::process::Command::from(builder)
        .spawn()
        .map_err(failed)?;
    if let Some(handle) = process.raw_handle() {
        job.adopt(handle).map_err(failed)?;
    }
    let output = match merged {
        Some(reader) => Some(pump(reader)),
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
            job,
        },
        process,
        finished: false,
    })
}

/// Anonymous pipes know no asynchronous reading here, so a thread reads.
fn pump(mut reader: io::PipeReader) -> OutputStream {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let mut writer = blocking(theirs);
    std::thread::spawn(move || io::copy(&mut reader, &mut writer));
    Box::pin(ours)
}

fn blocking(stream: tokio::io::DuplexStream) -> impl io::Write + Send {
    struct Bridge(tokio::io::DuplexStream, tokio::runtime::Handle);
    impl io::Write for Bridge {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1
                .block_on(tokio::io::AsyncWriteExt::write(&mut self.0, bytes))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    Bridge(stream, tokio::runtime::Handle::current())
}

/// A program without a console cannot be asked.
pub(crate) fn terminate(_tree: &Tree) {}

pub(crate) fn end(tree: &Tree) -> Result<Killed, Error> {
    tree.job.end();
    Ok(Killed {
        forced: true,
        ..Killed::default()
    })
}

/// The guard kills by the ids it was told; `JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE` is the way to get
/// rid of that, once it can be tried.
pub(crate) fn end_run(_run: &str) -> Result<Killed, Error> {
    Ok(Killed::default())
}

pub(crate) fn members(_tree: &Tree) -> Vec<u32> {
    Vec::new()
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

/// Needs a snapshot of the process table; not written yet.
pub(crate) fn parents(_pid: u32) -> Vec<u32> {
    Vec::new()
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
