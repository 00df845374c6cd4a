//! What the pictures of the pages show: a morning of a person who delegates tasks.

use std::path::Path;

use anyhow::{Result, ensure};
use openspace_agent::Control as _;
use openspace_app::DisplayLock;
use openspace_store::{Fence, RuleDecision, RunStatus};
use serde_json::{Value, json};

use super::{
    past, recorded,
    scene::{Asked, MODEL, Scene},
};

/// 30 November 2026, 10:42 UTC, Unix milliseconds.
const NOW: i64 = 1_796_035_320_000;
const DAY: i64 = 86_400_000;
const MINUTE: i64 = 60_000;

/// Lives as long as what it shows.
pub(super) struct Gallery {
    _scene: Scene,
    _control: Option<DisplayLock>,
}

/// Rules a person made, oldest first.
const RULES: [(&str, &str, RuleDecision); 3] = [
    ("gui", "gui:mousepad", RuleDecision::Allow),
    ("net", "net:*.example.org", RuleDecision::Allow),
    ("command", "command:git push", RuleDecision::Deny),
];

/// Past runs, the demo, one that asks and one that goes on; with a runtime folder it has the screen.
pub(super) fn plant(data: &Path, runtime: Option<&Path>) -> Result<Gallery> {
    let scene = Scene::open(data, NOW)?;
    past::plant(&scene, NOW - NOW % DAY)?;
    recorded::plant(&scene, NOW - 18 * MINUTE)?;
    scene.set_time(NOW - 9 * MINUTE);
    invoices(&scene)?;
    scene.set_time(NOW - 3 * MINUTE);
    let fence = minutes(&scene)?;
    let control = runtime.map(|runtime| DisplayLock::new(runtime, ":0", fence.run().clone()));
    if let Some(control) = &control {
        ensure!(control.try_acquire()?, "somebody controls this screen");
    }
    scene.store.call_blocking(|db| {
        for (kind, pattern, decision) in RULES {
            db.rules().insert(kind, pattern, decision, "app")?;
        }
        Ok(())
    })?;
    Ok(Gallery {
        _scene: scene,
        _control: control,
    })
}

/// Steps with one call each; the last call has no end yet.
fn work(scene: &Scene, fence: &Fence, steps: &[(&str, &str, Value)]) -> Result<()> {
    for (index, (text, tool, arguments)) in steps.iter().enumerate() {
        let step = index as u32 + 1;
        let call = format!("call_{step}");
        scene.say(fence, step, text)?;
        scene.pass(1_300);
        scene.start_call(fence, step, (&call, tool, arguments))?;
        if index + 1 < steps.len() {
            let looks = arguments["action"] == "screenshot";
            let seen = if looks {
                let frame = scene.keep_frame(fence, step, recorded::PICTURES[0])?;
                json!([{ "kind": "frame", "frame": frame, "changed": true }])
            } else {
                json!([])
            };
            scene.finish_call(fence, step, (&call, tool), 420, &seen)?;
        }
        scene.pass(2_900);
    }
    Ok(())
}

/// Waits for an answer about what cannot be undone.
fn invoices(scene: &Scene) -> Result<()> {
    let fence = scene.begin(&Asked {
        text: "Clean up the scanned invoices: join the pages of each, name them by number and date",
        origin: "host:claude-code",
        model: MODEL,
        backends: &["shell"],
    })?;
    let command = "rm -- tmp_01.png tmp_02.png tmp_03.png tmp_04.png tmp_05.png tmp_06.png \
                   tmp_07.png tmp_08.png tmp_09.png tmp_10.png tmp_11.png tmp_12.png";
    let run = |line: &str| json!({ "command": line });
    work(
        scene,
        &fence,
        &[
            (
                "I look at what is there.",
                "list_dir",
                json!({ "path": "scans" }),
            ),
            (
                "Each invoice has two to four pages. I read the numbers.",
                "run_command",
                run("tesseract scans/page_01.png - | head -20"),
            ),
            (
                "Now I join the pages of each invoice.",
                "run_command",
                run("img2pdf tmp_*.png -o 2026-0417.pdf"),
            ),
            (
                "The pages are joined. The temporary pictures are not needed any more; deleting \
                 them needs your permission.",
                "run_command",
                run(command),
            ),
        ],
    )?;
    recorded::ask(scene, &fence, 4, "call_4", command)?;
    scene.set_status(&fence, RunStatus::NeedsApproval)
}

/// Goes on.
fn minutes(scene: &Scene) -> Result<Fence> {
    let fence = scene.begin(&Asked {
        text: "Write the minutes of the meeting into a new note, from agenda.txt and what was decided",
        origin: "app",
        model: MODEL,
        backends: &["shell", "gui"],
    })?;
    let read = |path: &str| json!({ "path": path });
    work(
        scene,
        &fence,
        &[
            (
                "I read what was decided first.",
                "read_file",
                read("agenda.txt"),
            ),
            ("", "read_file", read("decisions.txt")),
            (
                "Now I open the editor.",
                "open_program",
                json!({ "program": "mousepad" }),
            ),
            (
                "I look at the screen.",
                "computer",
                json!({ "action": "screenshot" }),
            ),
            (
                "The empty page is open. I write the heading.",
                "computer",
                json!({ "action": "left_click", "coordinate": [640, 431] }),
            ),
        ],
    )?;
    Ok(fence)
}
