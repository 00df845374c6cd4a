//! What the real MCP server tells a host.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

/// How long the server may take to end once its input has.
const FAREWELL: Duration = Duration::from_secs(5);

/// Instructions and tools.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) instructions: String,
    /// As `tools/list` has them.
    pub(super) tools: Vec<Value>,
}

/// Starts the server as a host would, asks what it offers, and lets it end.
pub(super) fn ask(program: &Path) -> Result<Told> {
    let mut child = Command::new(program)
        .arg("mcp")
        .env("OPENSPACE_MCP_TRANSPORT", "stdio")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .with_context(|| format!("starting {}", program.display()))?;
    let told = talk(&mut child);
    drop(child.stdin.take());
    let begun = Instant::now();
    while child.try_wait()?.is_none() {
        if begun.elapsed() > FAREWELL {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    told
}

fn talk(child: &mut std::process::Child) -> Result<Told> {
    let mut input = child.stdin.as_ref().context("the server's input")?;
    let output = child.stdout.take().context("the server's output")?;
    let mut lines = BufReader::new(output).lines();
    let mut say = |message: Value| writeln!(input, "{message}");
    let mut answer = |id: u32| -> Result<Value> {
        for line in lines.by_ref() {
            let message: Value = serde_json::from_str(&line?).context("a message")?;
            if message["id"] == id {
                let error = message.get("error");
                ensure!(error.is_none(), "the server answered with {message}");
                return Ok(message["result"].clone());
            }
        }
        anyhow::bail!("the server ended before it answered")
    };
    say(
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "openspace-eval", "version": env!("CARGO_PKG_VERSION") },
    } }),
    )?;
    let begun = answer(1)?;
    let instructions = begun["instructions"].as_str().context("instructions")?;
    say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    say(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }))?;
    let listed = answer(2)?;
    Ok(Told {
        instructions: instructions.to_owned(),
        tools: listed["tools"].as_array().context("tools")?.clone(),
    })
}
