//! While a run has control of the person's display: a pill to pause, take over and stop it, and a
//! frame around the monitor. Both are kept out of what the model sees and cannot be clicked by runs.
//!
//! The frame exists under X11 only. The pill is shown elsewhere too; under macOS and Windows neither
//! was tried.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use openspace_app::{
    CONTROL_TITLE, COUNTDOWN, Catalogue, ControlFrame, RunStatus,
    rpc::{Rpc, desktop::Overview, runs::RunSummary},
};
use serde_json::json;
use tauri::{
    AppHandle, Manager as _, PhysicalPosition, WebviewUrl, WebviewWindow, WebviewWindowBuilder,
    utils::config::Color, webview::PageLoadEvent,
};

pub(crate) const HUD: &str = "hud";
/// Size of the pill and its distance from the edge of the monitor, logical pixels (ui.md 2.13.4).
const SIZE: (f64, f64) = (320.0, 56.0);
const MARGIN: f64 = 16.0;
/// `surface` of the dark tokens: the pill looks the same in both themes.
const DARK: Color = Color(0x18, 0x1C, 0x24, 0xFF);
/// Where the person moved the pill.
const PLACE: &str = "desktop.hud";
/// Control is given back and taken again within a step; the pill stays in between.
const STAY: Duration = Duration::from_millis(600);

/// What is shown.
#[derive(Default)]
pub(crate) struct Shown(Mutex<State>);

#[derive(Default)]
struct State {
    frame: Option<ControlFrame>,
    /// The run, since when it has control, and when that was last seen.
    run: Option<(String, Instant, Instant)>,
    /// What the page was told last.
    told: Option<String>,
}

/// Shows, changes or takes away what belongs to the run in control.
pub(crate) async fn update(app: &AppHandle, rpc: &Rpc, texts: &Catalogue, overview: &Overview) {
    let now = Instant::now();
    let shown = app.state::<Shown>();
    let begun = {
        let mut state = locked(&shown);
        match (&overview.controls, &mut state.run) {
            (Some(run), Some((known, _, seen))) if run == known => *seen = now,
            (Some(run), _) => state.run = Some((run.clone(), now, now)),
            (None, Some((_, _, seen))) if now.duration_since(*seen) < STAY => {}
            (None, _) => state.run = None,
        }
        state.run.clone()
    };
    let Some((id, since, _)) = begun else {
        return take_away(app);
    };
    let Some(run) = overview.going.iter().find(|run| run.id == id) else {
        return take_away(app);
    };
    let told = told(texts, run, now.duration_since(since));
    let frame_missing = locked(&shown).frame.is_none();
    if frame_missing {
        match rpc.app().control_frame(&id).await {
            Ok(frame) => locked(&shown).frame = Some(frame),
            Err(failure) => tracing::info!(%failure, "no frame around the monitor"),
        }
    }
    let window = match app.get_webview_window(HUD) {
        Some(window) => window,
        None => match open(app).await {
            Ok(window) => window,
            Err(error) => return tracing::warn!(%error, "the pill does not open"),
        },
    };
    let mut state = locked(&shown);
    if let Some(frame) = &mut state.frame {
        frame.raise();
    }
    if state.told.as_ref() != Some(&told) {
        say(&window, &told);
        state.told = Some(told);
    }
}

fn told(texts: &Catalogue, run: &RunSummary, since: Duration) -> String {
    let text = |key: &str| texts.render(key, &[]);
    let paused = run.status == RunStatus::Paused;
    let title = if let Some(left) = COUNTDOWN.checked_sub(since).filter(|_| run.step <= 1) {
        let seconds = left.as_secs() + 1;
        texts.render("hud.countdown", &[("seconds", &seconds.to_string())])
    } else if paused {
        text("hud.paused")
    } else if run.status == RunStatus::NeedsApproval {
        text("hud.waiting")
    } else {
        text("hud.controls")
    };
    let label = run.step_label.clone().unwrap_or_default();
    let step = [("step", &*run.step.to_string()), ("label", &*label)];
    json!({
        "run": run.id,
        "title": title,
        "line": format!("{} · {}", texts.render("hud.step", &step), super::tray::short(&run.text)),
        "paused": paused,
        "pause": text(if paused { "hud.resume" } else { "hud.pause" }),
        "takeOver": text("hud.take_over"),
        "stop": text("hud.stop"),
    })
    .to_string()
}

/// The page may not be there yet; then it is told when it is.
fn say(window: &WebviewWindow, told: &str) {
    if let Err(error) = window.eval(format!("globalThis.show?.({told})")) {
        tracing::warn!(%error, "telling the pill");
    }
}

async fn open(app: &AppHandle) -> tauri::Result<WebviewWindow> {
    let mut builder = WebviewWindowBuilder::new(app, HUD, WebviewUrl::App("hud.html".into()))
        .title(CONTROL_TITLE)
        .inner_size(SIZE.0, SIZE.1)
        .resizable(false)
        .decorations(false)
        .always_on_top(true)
        .visible_on_all_workspaces(true)
        .skip_taskbar(true)
        // It never takes the keys from the program that is driven.
        .focused(false)
        .focusable(false)
        .visible(false)
        // Windows and macOS leave it out of captures themselves.
        .content_protected(true)
        .background_color(DARK)
        .on_page_load(|window, load| {
            if load.event() == PageLoadEvent::Finished {
                let shown = window.state::<Shown>();
                if let Some(told) = &locked(&shown).told {
                    say(&window, told);
                }
                if let Err(error) = window.show() {
                    tracing::warn!(%error, "showing the pill");
                }
            }
        });
    if let Some(rpc) = app.try_state::<Rpc>() {
        builder = builder.data_directory(rpc.app().paths.data.join("webview"));
    }
    let window = builder.build()?;
    let kept = super::window::kept(app, PLACE).await;
    let kept = kept.and_then(|place| serde_json::from_value::<(i32, i32)>(place).ok());
    match (kept, window.primary_monitor()?) {
        (Some((x, y)), _) if window.monitor_from_point(x.into(), y.into())?.is_some() => {
            window.set_position(PhysicalPosition::new(x, y))?;
        }
        (_, Some(monitor)) => {
            let scale = monitor.scale_factor();
            let (size, at) = (monitor.size(), monitor.position());
            let from_edge = |length: u32, own: f64| length as i32 - ((own + MARGIN) * scale) as i32;
            window.set_position(PhysicalPosition::new(
                at.x + from_edge(size.width, SIZE.0),
                // Above a panel of usual height.
                at.y + from_edge(size.height, SIZE.1 + 40.0),
            ))?;
        }
        (_, None) => {}
    }
    Ok(window)
}

fn take_away(app: &AppHandle) {
    let shown = app.state::<Shown>();
    {
        let mut state = locked(&shown);
        state.frame = None;
        state.run = None;
        state.told = None;
    }
    let Some(window) = app.get_webview_window(HUD) else {
        return;
    };
    if let Ok(at) = window.outer_position() {
        let app = app.clone();
        tauri::async_runtime::spawn(async move {
            super::window::keep(&app, PLACE, json!((at.x, at.y))).await;
        });
    }
    if let Err(error) = window.destroy() {
        tracing::warn!(%error, "closing the pill");
    }
}

fn locked(shown: &Shown) -> std::sync::MutexGuard<'_, State> {
    shown.0.lock().unwrap_or_else(PoisonError::into_inner)
}
