//! So many tasks that a list has to be clever.

use std::path::Path;

use anyhow::Result;
use openspace_store::{NewRun, RunStatus};
use serde_json::json;

use super::scene::{MODEL, Scene, WORKSPACE};

/// What the tasks are about, in turn.
const ABOUT: [&str; 5] = [
    "Rename the scans of folder",
    "Write the weekly report of week",
    "Check the invoices of customer",
    "Translate the letter with number",
    "Back up the notebook of day",
];
/// When the first was asked for, and the time between two, milliseconds.
const FIRST: i64 = 1_760_000_000_000;
const APART: i64 = 3_600_000;
/// Runs of one transaction.
const TOGETHER: u32 = 50;

/// Tasks that were done, numbered from 1.
pub(super) fn plant(data: &Path, count: u32) -> Result<()> {
    let scene = Scene::open(data, FIRST)?;
    let settings = json!({
        "model": MODEL, "backends": ["shell"], "workspace": WORKSPACE, "preset": "ask-risky",
        "display": "session", "attendance": "waits",
    });
    let mut number = 0;
    while number < count {
        let end = count.min(number + TOGETHER);
        scene.store.call_blocking(|db| {
            for number in number + 1..=end {
                let about = ABOUT[number as usize % ABOUT.len()];
                let new = NewRun {
                    session: None,
                    text: format!("{about} {number}"),
                    origin: "app".to_owned(),
                    parent: None,
                    idempotency_key: None,
                    limits: json!({}),
                    settings: settings.clone(),
                };
                let queued = db.runs().enqueue(&new)?;
                if let Some(fence) = db.runs().claim(&queued.run, scene.executor())? {
                    db.runs().finish(&fence, RunStatus::Done, None, None)?;
                }
            }
            Ok(())
        })?;
        scene.pass(APART * i64::from(TOGETHER));
        number = end;
    }
    Ok(())
}
