//! What the app costs while nobody uses it.

use std::{fs, thread, time::Duration};

use anyhow::{Context as _, Result, ensure};

use super::desk::{Desk, end};
use crate::figure::Report;

/// After its first paint the window still loads what comes later.
const SETTLED: Duration = Duration::from_secs(10);
const WATCHED: Duration = Duration::from_secs(30);
/// Linux tells times of processes in hundredths of a second, whatever the kernel's own clock.
const TICKS: f64 = 100.0;

/// Processor time of the app and everything it started, window open on the tasks, per cent of one
/// processor.
pub(crate) fn measure(report: &mut Report) -> Result<()> {
    let desk = Desk::new()?;
    let app = desk.painted_app()?;
    thread::sleep(SETTLED);
    let before = ticks(&desk, app.id())?;
    thread::sleep(WATCHED);
    let used = ticks(&desk, app.id())?.saturating_sub(before);
    end(app)?;
    let percent = used as f64 / TICKS / WATCHED.as_secs_f64() * 100.0;
    report.add_of("idle_cpu_percent", percent, "%", 1);
    Ok(())
}

/// Processor time so far, of the app and its descendants.
fn ticks(desk: &Desk, app: u32) -> Result<u64> {
    let all = desk.leaks.processes();
    let mut ours = vec![app];
    let mut index = 0;
    while let Some(parent) = ours.get(index).copied() {
        let children = all.iter().filter(|process| process.parent == parent);
        ours.extend(children.map(|process| process.id));
        index += 1;
    }
    ensure!(ours.len() > 1, "the web view has processes of its own");
    let times: Result<Vec<u64>> = ours.iter().map(|id| ticks_of(*id)).collect();
    Ok(times?.iter().sum())
}

fn ticks_of(id: u32) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name before may hold blanks. Then: state, parent, … with user and system time as the 12th
    // and 13th.
    let (_, fields) = stat.rsplit_once(')').context("a line of /proc")?;
    let times = fields.split_whitespace().skip(11).take(2);
    times.map(|time| Ok(time.parse::<u64>()?)).sum()
}
