//! Running a program as a person or a host would, bounded, and gone afterwards.
//!
//! ```no_run
//! use openspace_testkit::{Program, TestHome};
//!
//! let home = TestHome::new().unwrap();
//! let output = Program::new("/usr/bin/sort").arg("-r").stdin("a\nb\n").environment(home.environment()).run().unwrap();
//! assert_eq!((output.code, output.stdout.as_str()), (Some(0), "b\na\n"));
//! ```

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::spawn::Spawned;
use crate::wait::{poll, wait_until};

/// What a program is given.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    environment: BTreeMap<String, String>,
    folder: Option<PathBuf>,
    stdin: Option<Vec<u8>>,
    terminal: bool,
    limit: Duration,
}

/// What came out of a program that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output; with a terminal everything, lines ending in `\r\n`.
    pub stdout: String,
    /// Standard error; empty with a terminal.
    pub stderr: String,
}

impl Program {
    /// A program without arguments and with an empty environment.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            folder: None,
            stdin: None,
            terminal: false,
            limit: Duration::from_secs(60),
        }
    }

    /// One more argument.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// More arguments.
    pub fn args<T: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Adds variables.
    pub fn environment(mut self, environment: BTreeMap<String, String>) -> Self {
        self.environment.extend(environment);
        self
    }

    /// Adds one variable.
    pub fn env(mut self, name: &str, value: impl Into<String>) -> Self {
        self.environment.insert(name.to_owned(), value.into());
        self
    }

    /// The working folder.
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Self {
        self.folder = Some(folder.as_ref().to_owned());
        self
    }

    /// What it reads; its input ends after it. Without this its input is empty in [`Program::run`]
    /// and stays open in [`Program::start`].
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Gives it a controlling terminal of 80 by 24, as in a person's shell.
    pub fn terminal(mut self) -> Self {
        self.terminal = true;
        self
    }

    /// How long [`Program::run`] waits; 60 s by default.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs it to its end. An error when it outlives the limit; it is killed then.
    pub fn run(mut self) -> Result<Output> {
        self.stdin.get_or_insert_default();
        let limit = self.limit;
        let mut running = self.start()?;
        running.wait(limit)
    }

    /// Starts it; it is killed, with its process group, when the value is dropped.
    pub fn start(self) -> Result<Running> {
        if self.terminal {
            self.start_in_terminal()
        } else {
            self.start_on_pipes()
        }
    }

    fn start_on_pipes(self) -> Result<Running> {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut child = Spawned::start(command, &self.environment)?;
        let pipes = child.child();
        let stdout = pipes.stdout.take().map(Reader::start);
        let stderr = pipes.stderr.take().map(Reader::start);
        let mut running = Running {
            input: pipes.stdin.take().map(Input::Pipe),
            child,
            stdout,
            stderr,
        };
        if let Some(bytes) = self.stdin {
            running.feed_and_close(bytes);
        }
        Ok(running)
    }

    fn start_in_terminal(self) -> Result<Running> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let name = ptsname(&master, Vec::new())?;
        let slave = File::from(rustix::fs::open(
            &name,
            OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC,
            Mode::empty(),
        )?);
        rustix::termios::tcsetwinsize(
            &slave,
            rustix::termios::Winsize {
                ws_row: 24,
                ws_col: 80,
                ws_xpixel: 0,
                ws_ypixel: 0,
            },
        )?;
        // `setsid` does between fork and exec what safe code cannot: it makes the child lead a
        // session and take the terminal on its input as the controlling one.
        let mut command = Command::new("setsid");
        command
            .arg("--ctty")
            .arg(&self.path)
            .args(&self.arguments)
            .stdin(slave.try_clone()?)
            .stdout(slave.try_clone()?)
            .stderr(slave);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let child = Spawned::start_leader(command, &self.environment)?;
        let master = File::from(master);
        let stdout = Some(Reader::start(master.try_clone()?));
        let mut running = Running {
            input: Some(Input::Terminal(master)),
            child,
            stdout,
            stderr: None,
        };
        if let Some(bytes) = self.stdin {
            running.send_bytes(&bytes)?;
        }
        Ok(running)
    }
}

#[derive(Debug)]
enum Input {
    Pipe(ChildStdin),
    Terminal(File),
}

/// A program that was started and may still run.
#[derive(Debug)]
pub struct Running {
    input: Option<Input>,
    child: Spawned,
    stdout: Option<Reader>,
    stderr: Option<Reader>,
}

impl Running {
    /// Process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it still runs.
    pub fn running(&mut self) -> bool {
        self.child.running()
    }

    /// Types or writes text to it.
    pub fn send(&mut self, text: &str) -> Result<()> {
        self.send_bytes(text.as_bytes())
    }

    /// Ends its input: closes the pipe, or types Ctrl+D into the terminal.
    pub fn close_input(&mut self) {
        match self.input.take() {
            Some(Input::Terminal(mut master)) => {
                master.write_all(&[4]).ok();
                self.input = Some(Input::Terminal(master));
            }
            Some(Input::Pipe(_)) | None => {}
        }
    }

    /// Sends a signal to its process group.
    pub fn signal(&self, signal: Signal) {
        self.child.signal(signal);
    }

    /// Sends a signal to the program alone.
    pub fn signal_alone(&self, signal: Signal) {
        self.child.signal_alone(signal);
    }

    /// What it wrote to standard output, or to the terminal, so far.
    pub fn stdout(&self) -> String {
        self.stdout.as_ref().map(Reader::text).unwrap_or_default()
    }

    /// What it wrote to standard error so far.
    pub fn stderr(&self) -> String {
        self.stderr.as_ref().map(Reader::text).unwrap_or_default()
    }

    /// Waits until the output (either stream) contains `text`; an error with all output otherwise.
    pub fn wait_for(&mut self, text: &str, limit: Duration) -> Result<()> {
        let seen = wait_until(limit, || {
            self.stdout().contains(text) || self.stderr().contains(text)
        });
        if seen {
            return Ok(());
        }
        bail!(
            "`{text}` did not appear within {limit:?}; stdout: {:?}; stderr: {:?}",
            self.stdout(),
            self.stderr()
        )
    }

    /// Waits for a whole line of standard output that `matches`, and returns it.
    pub fn wait_for_line(
        &mut self,
        limit: Duration,
        matches: impl Fn(&str) -> bool,
    ) -> Result<String> {
        let found = poll(limit, || {
            let text = self.stdout();
            let end = text.rfind('\n')?;
            text[..end]
                .lines()
                .find(|line| matches(line))
                .map(str::to_owned)
        });
        found.with_context(|| {
            format!(
                "no such line within {limit:?}; stdout: {:?}; stderr: {:?}",
                self.stdout(),
                self.stderr()
            )
        })
    }

    /// Waits for its end. An error when it still runs after `limit`.
    pub fn wait(&mut self, limit: Duration) -> Result<Output> {
        use std::os::unix::process::ExitStatusExt;
        let Some(status) = self.child.wait(limit) else {
            bail!(
                "`{}` still runs after {limit:?}; stdout: {:?}; stderr: {:?}",
                self.child.name(),
                self.stdout(),
                self.stderr()
            );
        };
        // What it left running may hold the pipes open, so the end of output is awaited briefly.
        let drained = |reader: &Option<Reader>| reader.as_ref().is_none_or(Reader::ended);
        wait_until(Duration::from_secs(1), || {
            drained(&self.stdout) && drained(&self.stderr)
        });
        Ok(Output {
            code: status.code(),
            signal: status.signal(),
            stdout: self.stdout(),
            stderr: self.stderr(),
        })
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.input {
            Some(Input::Pipe(pipe)) => {
                pipe.write_all(bytes)?;
                pipe.flush()?;
            }
            Some(Input::Terminal(master)) => master.write_all(bytes)?,
            None => bail!("the input is closed"),
        }
        Ok(())
    }

    /// Writes beside the reading of output, so that neither side can block the other.
    fn feed_and_close(&mut self, bytes: Vec<u8>) {
        if let Some(Input::Pipe(mut pipe)) = self.input.take() {
            std::thread::spawn(move || pipe.write_all(&bytes));
        }
    }
}

/// Collects a stream in a thread.
#[derive(Debug)]
struct Reader {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn start(mut stream: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&bytes);
        let thread = std::thread::spawn(move || {
            let mut buffer = [0; 8192];
            // A terminal whose last user is gone answers with an error in place of the end.
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                sink.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .extend_from_slice(&buffer[..count]);
            }
        });
        Self { bytes, thread }
    }

    fn text(&self) -> String {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn ended(&self) -> bool {
        self.thread.is_finished()
    }
}
