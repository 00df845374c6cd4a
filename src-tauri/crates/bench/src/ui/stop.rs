//! From a click on Stop in the window to the key or button that a run held down.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, Result};
use openspace_store::{RunFilter, RunStatus};
use openspace_testkit::{
    Call, InputWatch, ModelServer, RawTarget, Script, SeenRequest, Turn, WebDriver, screen::Rect,
    target::Window, wait::poll, watch::InputKind,
};
use serde_json::{Value, json};

use super::desk::{Desk, SOON};
use crate::{
    Effort,
    figure::{Report, percentile},
};

/// Beside the window, which lies in the middle of the screen.
const TARGET: Rect = Rect {
    x: 0,
    y: 200,
    width: 300,
    height: 600,
};
/// Notes when a click arrived in the page, Unix milliseconds.
const NOTE_CLICKS: &str = "addEventListener('click', () => (window.clickedAt = Date.now()), true)";

/// One thing that a run can hold down.
#[derive(Debug, Clone, Copy)]
struct Held {
    task: &'static str,
    down: InputKind,
    up: InputKind,
}

const HELD: [Held; 2] = [
    Held {
        task: "Hold a key",
        down: InputKind::KeyDown,
        up: InputKind::KeyUp,
    },
    Held {
        task: "Hold a button",
        down: InputKind::ButtonDown,
        up: InputKind::ButtonUp,
    },
];

/// Keys and buttons in turn.
pub(crate) fn measure(effort: Effort, report: &mut Report) -> Result<()> {
    let desk = Desk::new()?;
    let server = ModelServer::start(Script::decide(holds))?;
    let mut environment = desk.environment();
    for (name, value) in [
        ("OPENSPACE_MODEL", "anthropic/claude-sonnet-4-6".to_owned()),
        ("OPENSPACE_LLM_API_BASE", server.url()),
        ("OPENSPACE_LLM_API_KEY", server.key()),
    ] {
        environment.insert(name.to_owned(), value);
    }
    // It is the window that is clicked while the run has control, so it stays.
    let stays = ["config", "set", "desktop.step_aside", "false"];
    desk.openspace(&stays, environment.clone())?;
    let app = desk.program("openspace-desktop");
    let page = WebDriver::start(&app, &[], environment.clone())?;
    page.wait("return document.querySelector('main h1') !== null", SOON)?;
    page.run(NOTE_CLICKS)?;
    let _target = RawTarget::start(&desk.screen, Window::new(TARGET))?;
    let mut samples = Vec::new();
    for index in 0..effort.times(50) {
        let held = HELD[index % HELD.len()];
        let sample = stop_once(&desk, &page, environment.clone(), held);
        samples.push(sample.with_context(|| held.task)?);
    }
    let late = percentile(&mut samples, 0.95);
    let count = samples.len();
    report.add_of("stop_click_to_input_released_ms_p95", late, "ms", count);
    Ok(())
}

/// Looks, then presses something and keeps it down.
fn holds(seen: &SeenRequest) -> Turn {
    match seen.turns() {
        0 => Turn::screenshot(),
        1 if seen.mentions("Hold a key") => Turn::call(Call::computer(
            json!({ "action": "hold_key", "text": "shift", "duration": 60 }),
        )),
        1 => Turn::call(Call::point_at("left_mouse_down", TARGET.centre())),
        // What was pressed stays down while the model thinks.
        _ => Turn::done("Never heard.").after(SOON),
    }
}

fn stop_once(
    desk: &Desk,
    page: &WebDriver,
    environment: BTreeMap<String, String>,
    held: Held,
) -> Result<Duration> {
    let watch = InputWatch::start(&desk.screen)?;
    desk.openspace(
        &[
            "run",
            held.task,
            "--detach",
            "--backends",
            "gui",
            "--allow",
            "gui:*",
            "--preset",
            "hands-off",
        ],
        environment,
    )?;
    let store = desk.store()?;
    let newest = RunFilter {
        limit: 1,
        ..RunFilter::default()
    };
    let newest = || store.read_blocking(|db| db.runs().list(&newest));
    let run = newest()?.pop().context("the run")?.id;
    page.run(&format!("location.hash = '#/runs/{run}'"))?;
    let happened = |kind| {
        let inputs = watch.inputs();
        inputs.into_iter().find(|input| input.kind == kind)
    };
    poll(SOON, || happened(held.down)).context("nothing was pressed")?;
    page.wait("return document.querySelector('main [data-stop]')", SOON)?;
    page.run("window.clickedAt = 0")?;
    page.click("main [data-stop]")?;
    let released = poll(SOON, || happened(held.up)).context("nothing was released")?;
    let clicked = page.wait("return window.clickedAt", SOON)?;
    let clicked = moment(&clicked).context("the time of the click")?;
    let stopped = poll(SOON, || {
        let run = newest().ok()?.pop()?;
        (run.status == RunStatus::Stopped).then_some(())
    });
    stopped.context("the run does not end as stopped")?;
    Ok(released.at.saturating_duration_since(clicked))
}

/// A time of the page, Unix milliseconds, by our own clock.
fn moment(milliseconds: &Value) -> Option<Instant> {
    let at = SystemTime::UNIX_EPOCH + Duration::from_millis(milliseconds.as_u64()?);
    let (now, clock) = (Instant::now(), SystemTime::now());
    now.checked_sub(clock.duration_since(at).ok()?)
}
