//! The MCP server as a host starts it: how soon it answers, what it takes, what its tools cost a model.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use openspace_store::{NewRun, Store};
use serde_json::{Value, json};

use crate::{
    Effort,
    figure::{Report, percentile},
};

/// The tokenizer that `tools_list_tokens` counts with: of GPT-4o and later, o200k_base.
fn tokens(text: &str) -> Result<usize> {
    let tokenizer = tiktoken_rs::o200k_base()?;
    Ok(tokenizer.encode_ordinary(text).len())
}

pub(crate) fn measure(effort: Effort, report: &mut Report) -> Result<()> {
    let program = beside("openspace")?;
    let home = tempfile::tempdir()?;
    let task = plant_task(home.path())?;

    let mut cold = Vec::new();
    for _ in 0..effort.times(40) {
        let started = Instant::now();
        let mut host = Host::start(&program, home.path())?;
        host.initialize()?;
        cold.push(started.elapsed());
        host.end()?;
    }
    report.add("initialize_cold_ms_p50", percentile(&mut cold, 0.5), "ms");

    let mut host = Host::start(&program, home.path())?;
    host.initialize()?;
    let listed = host.request("tools/list", &json!({}))?;
    report.add("rss_idle_mib", host.memory()?, "MiB");
    let tools = listed["result"]["tools"].to_string();
    report.add("tools_list_tokens", tokens(&tools)? as f64, "");
    let instructions = host.instructions.clone();
    report.add("instructions_tokens", tokens(&instructions)? as f64, "");

    let look = json!({ "name": "task_status", "arguments": { "task_id": task } });
    let mut calls = Vec::new();
    for _ in 0..effort.times(500) {
        let started = Instant::now();
        let answer = host.request("tools/call", &look)?;
        calls.push(started.elapsed());
        if answer["result"]["isError"] != json!(false) {
            bail!("the task is not found: {answer}");
        }
    }
    report.add("call_roundtrip_ms_p50", percentile(&mut calls, 0.5), "ms");
    // With the database open and five hundred calls behind it.
    report.add("rss_mib", host.memory()?, "MiB");
    host.end()?;

    let mut both = Vec::new();
    for _ in 0..effort.times(10) {
        both.push(register_everywhere(&program)?);
    }
    report.add(
        "register_unregister_all_hosts_ms",
        percentile(&mut both, 0.5),
        "ms",
    );

    let bytes = std::fs::metadata(&program)?.len();
    report.add("binary_size_mib", mebi(bytes), "MiB");
    Ok(())
}

fn mebi(bytes: u64) -> f64 {
    bytes as f64 / 1024.0 / 1024.0
}

/// A program of the same build.
fn beside(name: &str) -> Result<PathBuf> {
    let program = std::env::current_exe()?.with_file_name(name);
    if !program.is_file() {
        bail!("`{}` is not there: build it first", program.display());
    }
    Ok(program)
}

/// A task that a host handed over and that nobody executes.
fn plant_task(home: &Path) -> Result<String> {
    let store = Store::open(home)?;
    let new = NewRun {
        session: None,
        text: "wait".to_owned(),
        origin: "host:bench".to_owned(),
        parent: None,
        idempotency_key: None,
        limits: json!({}),
        settings: json!({}),
    };
    let queued = store.call_blocking(|db| db.runs().enqueue(&new))?;
    Ok(queued.task.to_string())
}

/// Registers with every host of the table, each of which has a file, and unregisters again: two
/// commands.
fn register_everywhere(program: &Path) -> Result<Duration> {
    let home = tempfile::tempdir()?;
    let told = hosts(program, home.path(), &["list", "--all", "--json"])?;
    let mut files = Vec::new();
    for line in told.lines() {
        let host: Value = serde_json::from_str(line)?;
        let file = PathBuf::from(host["file"].as_str().context("a host without a file")?);
        if !file.starts_with(home.path()) {
            bail!("`{}` is not in the home folder", file.display());
        }
        std::fs::create_dir_all(file.parent().context("a file in no folder")?)?;
        let json = file
            .extension()
            .is_some_and(|it| it.to_string_lossy().starts_with("json"));
        std::fs::write(&file, if json { "{}\n" } else { "" })?;
        files.push(file);
    }
    let started = Instant::now();
    hosts(program, home.path(), &["register", "--all"])?;
    let registered = started.elapsed();
    for file in &files {
        if !std::fs::read_to_string(file)?.contains("openspace") {
            bail!("nothing was written to `{}`", file.display());
        }
    }
    let started = Instant::now();
    hosts(program, home.path(), &["unregister", "--all"])?;
    Ok(registered + started.elapsed())
}

/// What `openspace hosts` with these arguments prints.
fn hosts(program: &Path, home: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .arg("hosts")
        .args(arguments)
        .env_clear()
        .envs(environment(home))
        .current_dir(home)
        .stdin(Stdio::null())
        .output()?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("`hosts {}` failed: {complaint}", arguments.join(" "));
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// Next to nothing, as hosts pass it on.
fn environment(home: &Path) -> BTreeMap<&'static str, std::ffi::OsString> {
    BTreeMap::from([
        ("HOME", home.into()),
        ("OPENSPACE_HOME", home.into()),
        ("PATH", "/usr/bin:/bin".into()),
    ])
}

struct Host {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    instructions: String,
    next: i64,
}

impl Host {
    fn start(program: &Path, home: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .arg("mcp")
            .env_clear()
            .envs(environment(home))
            .current_dir(home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("starting the server")?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the server has no pipes");
        };
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
            instructions: String::new(),
            next: 0,
        })
    }

    fn initialize(&mut self) -> Result<()> {
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" },
        });
        let told = self.request("initialize", &hello)?;
        let words = told["result"]["instructions"].as_str();
        words.unwrap_or_default().clone_into(&mut self.instructions);
        writeln!(
            self.input,
            r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#
        )?;
        Ok(())
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.input, "{request}")?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                bail!("the server ended before it answered `{method}`");
            }
            let message: Value = serde_json::from_str(&line).context("reading a message")?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    /// Resident memory.
    fn memory(&self) -> Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let kibi: u64 = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
            .context("reading the memory of the server")?;
        Ok(mebi(kibi * 1024))
    }

    fn end(self) -> Result<()> {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        let asked = Instant::now();
        while asked.elapsed() < Duration::from_secs(5) {
            if child.try_wait()?.is_some() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill()?;
        child.wait()?;
        bail!("the server does not end with its input")
    }
}
