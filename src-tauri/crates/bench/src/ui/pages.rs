//! What browsers measure: `ui/tests/measure`, which drives Chromium and WebKitGTK.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::{Effort, figure::Report};

/// Run in the root of the repository.
const SCRIPT: &str = "ui/scripts/measure.mjs";

/// A line of its output.
#[derive(Debug, Deserialize)]
struct Line {
    name: String,
    value: f64,
    unit: String,
    samples: usize,
}

/// Every figure that the script prints.
pub(crate) fn measure(effort: Effort, report: &mut Report) -> Result<()> {
    let own = std::env::current_exe()?;
    let mut child = Command::new("node")
        .arg(SCRIPT)
        .args(effort.is_quick().then_some("--quick"))
        .env("OPENSPACE_BINARY", own.with_file_name("openspace"))
        .env("OPENSPACE_BENCH", &own)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("starting node {SCRIPT}"))?;
    let output = child.stdout.take().context("its output")?;
    for line in BufReader::new(output).lines() {
        let line: Line = serde_json::from_str(&line?).context("a figure of the pages")?;
        report.add_of(&line.name, line.value, &line.unit, line.samples);
    }
    let status = child.wait()?;
    ensure!(status.success(), "node {SCRIPT} ended with {status}");
    Ok(())
}
