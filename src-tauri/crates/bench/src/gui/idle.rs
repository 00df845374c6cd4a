//! Memory of a run that waits for its model.

use std::{fs, time::Duration};

use anyhow::{Context as _, Result};
use openspace_testkit::{ModelServer, Program, Script, TestHome, TestScreen, Turn, model::Fault};

use crate::figure::Report;

/// How long the run may take to reach the model.
const REACHED: Duration = Duration::from_secs(30);
/// After this a waiting run has done all it does.
const SETTLED: Duration = Duration::from_millis(500);

/// Resident memory of `openspace run` with both back ends, while the model does not answer.
pub(crate) fn measure(screen: &TestScreen, report: &mut Report) -> Result<()> {
    let program = std::env::current_exe()?.with_file_name("openspace");
    let home = TestHome::new()?;
    let server = ModelServer::start(Script::from(vec![Turn::fault(Fault::NeverAnswer)]))?;
    let mut environment = screen.environment_in(&home);
    environment.insert(
        "OPENSPACE_MODEL".into(),
        "anthropic/claude-sonnet-4-6".into(),
    );
    environment.insert("OPENSPACE_LLM_API_BASE".into(), server.url());
    environment.insert("OPENSPACE_LLM_API_KEY".into(), server.key());
    let running = Program::new(&program)
        .args(["run", "wait"])
        .environment(environment)
        .folder(home.workspace())
        .start()
        .with_context(|| format!("starting {}", program.display()))?;
    anyhow::ensure!(
        server.wait_for_requests(1, REACHED),
        "the run never reached its model: {}",
        running.stderr()
    );
    std::thread::sleep(SETTLED);
    let status = fs::read_to_string(format!("/proc/{}/status", running.id()))?;
    let kib: f64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|value| value.trim().trim_end_matches("kB").trim().parse().ok())
        .context("reading the memory of the run")?;
    report.add("idle_run_rss_mib", kib / 1024.0, "MiB");
    Ok(())
}
