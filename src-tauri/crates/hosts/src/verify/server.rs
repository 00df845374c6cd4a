//! A server that was started, and talking with it.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::{BufRead as _, BufReader, Read, Write as _},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Step, Trouble, short};
use crate::{Launch, Stop};

/// A longer line is no message.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;
/// How many lines that are no messages are kept.
const MOST_NOISE: usize = 5;
/// How much is kept of standard error, from its end.
const MOST_STDERR: usize = 4 * 1024;
/// How often is looked whether somebody still waits.
const GLANCE: Duration = Duration::from_millis(50);
/// How long a server may take to end after its input has.
const FAREWELL: Duration = Duration::from_secs(2);

/// A running server. Dropping it ends it with everything it started.
pub(super) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Receiver<String>,
    asked: u64,
    noise: Vec<String>,
    over: bool,
    stop: Stop,
}

impl Server {
    pub(super) fn start(
        launch: &Launch,
        environment: &BTreeMap<OsString, OsString>,
        folder: &Path,
    ) -> Result<Self, Trouble> {
        let mut command = Command::new(&launch.command);
        command
            .args(&launch.args)
            .env_clear()
            .envs(environment)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A group of its own, so that all of it can be ended.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|source| Trouble::CannotStart {
            command: launch.command.clone(),
            source,
        })?;
        let (to_lines, lines) = channel();
        let (to_errors, errors) = channel();
        if let Some(output) = child.stdout.take() {
            thread::spawn(move || read_lines(output, &to_lines));
        }
        if let Some(output) = child.stderr.take() {
            thread::spawn(move || read_end(output, &to_errors));
        }
        Ok(Self {
            input: child.stdin.take(),
            child,
            lines,
            errors,
            asked: 0,
            noise: Vec::new(),
            over: false,
            stop: Stop::default(),
        })
    }

    /// The same, given up when that is asked for.
    pub(super) fn until(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Sends a request and waits for its answer.
    pub(super) fn ask(
        &mut self,
        step: Step,
        params: &Value,
        patience: Duration,
    ) -> Result<Value, Trouble> {
        self.asked += 1;
        let id = self.asked;
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": step.method(), "params": params });
        self.send(&request);
        let until = Instant::now() + patience;
        loop {
            if self.stop.is_asked() {
                self.kill();
                return Err(Trouble::Stopped);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(GLANCE)) {
                Ok(line) => {
                    let Some(message) = self.message(&line) else {
                        continue;
                    };
                    if message["id"] != id || message.get("method").is_some() {
                        self.decline(&message);
                        continue;
                    }
                    return match message.get("result") {
                        Some(result) => Ok(result.clone()),
                        None => Err(Trouble::Wrong {
                            step,
                            message: short(&message["error"].to_string()),
                        }),
                    };
                }
                Err(RecvTimeoutError::Timeout) if left > GLANCE => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Trouble::Silent {
                        step,
                        patience,
                        stderr: self.end(),
                    });
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let code = self.wait(FAREWELL);
                    return Err(Trouble::Ended {
                        step,
                        code,
                        stderr: self.end(),
                    });
                }
            }
        }
    }

    /// Sends a notification.
    pub(super) fn tell(&mut self, method: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method }));
    }

    /// A server that is gone is noticed where its answer is missed.
    fn send(&mut self, message: &Value) {
        if let Some(input) = &mut self.input {
            let _gone = input
                .write_all(format!("{message}\n").as_bytes())
                .and_then(|()| input.flush());
        }
    }

    /// A line as a message; what is none is kept to be told.
    fn message(&mut self, line: &str) -> Option<Value> {
        let message = serde_json::from_str::<Value>(line).ok();
        let message = message.filter(|message| message["jsonrpc"] == "2.0");
        if message.is_none() && self.noise.len() < MOST_NOISE && !line.trim().is_empty() {
            self.noise.push(short(line));
        }
        message
    }

    /// Answers what the server asks of us: a ping; nothing else was offered to it.
    fn decline(&mut self, message: &Value) {
        if message.get("method").is_none() || message.get("id").is_none() {
            return;
        }
        let id = &message["id"];
        let answer = if message["method"] == "ping" {
            json!({ "jsonrpc": "2.0", "id": id, "result": {} })
        } else {
            let error = json!({ "code": -32601, "message": "not offered" });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        };
        self.send(&answer);
    }

    /// Ends its input. Gives the lines that were no messages, and whether it ended by itself.
    pub(super) fn finish(mut self) -> (Vec<String>, bool) {
        self.input = None;
        let ended = self.wait(FAREWELL).is_some();
        while let Ok(line) = self.lines.try_recv() {
            let _late_answer = self.message(&line);
        }
        (std::mem::take(&mut self.noise), ended)
    }

    /// Its exit code, if it ends in time.
    fn wait(&mut self, patience: Duration) -> Option<i32> {
        let begun = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    self.over = true;
                    return Some(status.code().unwrap_or(-1));
                }
                Ok(None) if begun.elapsed() < patience => {
                    thread::sleep(Duration::from_millis(10));
                }
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Ends it at once, and gives the end of what it wrote on standard error.
    fn end(&mut self) -> String {
        self.kill();
        self.errors
            .recv_timeout(FAREWELL)
            .unwrap_or_default()
            .trim()
            .to_owned()
    }

    fn kill(&mut self) {
        if !self.over {
            openspace_process::kill_group(self.child.id());
            let _gone = self.child.kill();
            let _reaped = self.child.wait();
            self.over = true;
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read_lines(output: impl Read, lines: &Sender<String>) {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let read = output
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line);
        match read {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line).into_owned();
                if lines.send(line).is_err() {
                    return;
                }
            }
        }
    }
}

/// Reads to the end, so that the server never waits for us, and sends the last of it.
fn read_end(mut output: impl Read, end: &Sender<String>) {
    let mut kept = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = output.read(&mut buffer) {
        kept.extend(&buffer[..read]);
        let surplus = kept.len().saturating_sub(MOST_STDERR);
        kept.drain(..surplus);
    }
    let _nobody_asks = end.send(String::from_utf8_lossy(&kept).into_owned());
}
