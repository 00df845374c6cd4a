//! Runs of the weeks before, by their results only.

use anyhow::Result;
use openspace_store::{RunStatus, Usage};
use serde_json::json;

use super::scene::{Asked, MODEL, Scene};

const OPENAI: &str = "openai/gpt-5.2";
const LOCAL: &str = "ollama/qwen3-vl";

/// A run that ended.
struct Past {
    days_ago: i64,
    /// Of the day, in minutes.
    at: i64,
    seconds: i64,
    steps: u32,
    model: &'static str,
    origin: &'static str,
    backends: &'static [&'static str],
    text: &'static str,
    end: End,
}

/// How it came out.
enum End {
    Done(&'static str),
    Stopped,
    Failed(&'static str),
    Limit,
    Asks(&'static str),
}

use End::{Asks, Done, Failed, Limit, Stopped};

const BOTH: &[&str] = &["shell", "gui"];
const SHELL: &[&str] = &["shell"];
const GUI: &[&str] = &["gui"];

#[rustfmt::skip]
const PAST: &[Past] = &[
    Past { days_ago: 0, at: 9 * 60 + 52, seconds: 62, steps: 9, model: MODEL, origin: "app", backends: SHELL, text: "Rename the scans in this folder by the date written on them", end: Done("12 scans are renamed; 2 had no date and kept their names.") },
    Past { days_ago: 0, at: 9 * 60 + 5, seconds: 148, steps: 14, model: MODEL, origin: "cli", backends: BOTH, text: "Export the address book as a table and check that no line is empty", end: Done("248 addresses, none empty, in addresses.csv.") },
    Past { days_ago: 0, at: 8 * 60 + 31, seconds: 41, steps: 6, model: OPENAI, origin: "app", backends: GUI, text: "Find the meeting of last Thursday in the calendar and read out who accepted", end: Asks("There are two meetings on that day. Which one do you mean?") },
    Past { days_ago: 1, at: 16 * 60 + 20, seconds: 305, steps: 31, model: MODEL, origin: "host:claude-code", backends: BOTH, text: "Try the new form of the test page with the ten addresses in addresses.txt", end: Done("All ten were accepted; the third took 4 seconds.") },
    Past { days_ago: 1, at: 14 * 60 + 2, seconds: 88, steps: 8, model: LOCAL, origin: "app", backends: SHELL, text: "Sum up the hours in timesheet.ods by project", end: Failed("The model did not answer within 120 s") },
    Past { days_ago: 1, at: 11 * 60 + 47, seconds: 72, steps: 7, model: MODEL, origin: "app", backends: SHELL, text: "Put the photos of October into folders by day", end: Done("316 photos in 19 folders. Nothing was overwritten.") },
    Past { days_ago: 2, at: 17 * 60 + 9, seconds: 610, steps: 50, model: OPENAI, origin: "app", backends: GUI, text: "Copy the comments of the draft into a list, one line for each", end: Limit },
    Past { days_ago: 2, at: 10 * 60 + 30, seconds: 55, steps: 5, model: MODEL, origin: "cli", backends: SHELL, text: "Which of the PDFs in this folder have no text in them?", end: Done("Three: scan-04.pdf, scan-07.pdf and map.pdf.") },
    Past { days_ago: 4, at: 15 * 60 + 44, seconds: 190, steps: 17, model: MODEL, origin: "host:claude-code", backends: BOTH, text: "Take pictures of the settings dialog in every language", end: Done("Nine pictures, one for each language.") },
    Past { days_ago: 4, at: 13 * 60 + 12, seconds: 23, steps: 3, model: MODEL, origin: "app", backends: GUI, text: "Answer the last e-mail of the landlord with the text in reply.txt", end: Stopped },
    Past { days_ago: 7, at: 9 * 60 + 15, seconds: 132, steps: 12, model: LOCAL, origin: "app", backends: SHELL, text: "Compare the two versions of the contract and list what changed", end: Done("Four paragraphs changed; the notice period is now three months.") },
    Past { days_ago: 9, at: 12 * 60, seconds: 97, steps: 10, model: MODEL, origin: "app", backends: BOTH, text: "Fill in the travel form from receipts.csv", end: Done("11 receipts, 412.80 in all. The form is saved and not sent.") },
    Past { days_ago: 12, at: 16 * 60 + 40, seconds: 260, steps: 24, model: MODEL, origin: "cli", backends: BOTH, text: "Convert the recordings to one format and name them by speaker", end: Done("18 recordings are converted.") },
    Past { days_ago: 15, at: 10 * 60 + 5, seconds: 66, steps: 7, model: OPENAI, origin: "app", backends: SHELL, text: "Make a table of contents for the notes", end: Done("46 entries in contents.md.") },
    Past { days_ago: 18, at: 11 * 60 + 25, seconds: 118, steps: 11, model: MODEL, origin: "app", backends: GUI, text: "Add the holidays of next year to the calendar", end: Done("11 days are added.") },
];

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

/// All of them, the oldest first.
pub(super) fn plant(scene: &Scene, midnight: i64) -> Result<()> {
    for past in PAST.iter().rev() {
        scene.set_time(midnight - past.days_ago * DAY + past.at * MINUTE);
        let fence = scene.begin(&Asked {
            text: past.text,
            origin: past.origin,
            model: past.model,
            backends: past.backends,
        })?;
        let steps = u64::from(past.steps);
        let priced = past.model != LOCAL;
        scene.spend(
            &fence,
            past.steps,
            past.model,
            Usage {
                input: 1_900 * steps,
                output: 160 * steps,
                cache_read: 6_400 * steps,
                cache_write: 0,
                images: steps / 2,
                microdollars: if priced { 10_400 * steps } else { 0 },
            },
        )?;
        scene.say(&fence, past.steps, "")?;
        scene
            .store
            .call_blocking(|db| db.runs().set_step(&fence, past.steps, "run_command"))?;
        scene.pass(past.seconds * 1_000);
        let (status, reason, answer) = match past.end {
            Done(answer) => (RunStatus::Done, None, Some(answer)),
            Stopped => (RunStatus::Stopped, None, None),
            Failed(message) => {
                let reason = json!({ "kind": "model", "message": message });
                (RunStatus::Failed, Some(reason), None)
            }
            Limit => {
                let reason = json!({ "kind": "limit", "limit": "steps" });
                (RunStatus::LimitReached, Some(reason), None)
            }
            Asks(text) => {
                let reason = json!({ "kind": "question", "text": text });
                (RunStatus::NeedsYou, Some(reason), None)
            }
        };
        let outcome = json!({ "status": status, "answer": answer });
        let reason = reason.map(|reason| reason.to_string());
        scene.finish(&fence, status, reason.as_deref(), &outcome)?;
    }
    Ok(())
}
