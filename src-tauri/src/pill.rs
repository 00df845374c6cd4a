//! While a run has control of the person's display: a pill to pause, take over, stop and answer it. It is
//! kept out of what the model sees and cannot be clicked by runs. Under macOS and Windows it was not
//! tried.

use std::sync::{Mutex, MutexGuard, PoisonError};

use openspace_app::{
    CONTROL_TITLE,
    desk::{self, Area, PillView},
};
use serde_json::json;
use tauri::{
    AppHandle, LogicalSize, LogicalUnit, Manager as _, Monitor, PhysicalPosition, PixelUnit,
    WebviewWindow, WindowSizeConstraints,
};

/// Width, and height without and with a question, logical pixels (ui.md 2.13.4).
const WIDTH: f64 = 320.0;
const HEIGHTS: [f64; 2] = [56.0, 200.0];

/// What its page is told, and whether that is a question.
#[derive(Default)]
struct Shown(Mutex<(String, bool)>);

/// Shows it, or what changed in it.
pub(crate) fn show(
    app: &AppHandle,
    pill: &PillView,
    kept: Option<(f64, f64)>,
) -> tauri::Result<()> {
    app.manage(Shown::default());
    let asks = pill.question.is_some();
    let script = format!("globalThis.show?.({})", json!(pill));
    let before = std::mem::replace(&mut *shown(app), (script.clone(), asks)).1;
    let Some(window) = app.get_webview_window(desk::PILL) else {
        return open(app, kept, asks);
    };
    if before != asks {
        resize(&window, asks)?;
    }
    window.eval(script)
}

fn open(app: &AppHandle, kept: Option<(f64, f64)>, asks: bool) -> tauri::Result<()> {
    let builder = super::window::configured(app, desk::PILL, CONTROL_TITLE, "hud.html")?;
    // The page may not be there yet; then it is told when it is.
    let builder =
        super::window::saying(builder, |window| Some(shown(window.app_handle()).0.clone()));
    let window = super::window::of_ours(app, builder)?;
    hold(&window, HEIGHTS[0])?;
    let scale = window.scale_factor()?;
    let size = (WIDTH * scale, HEIGHTS[0] * scale);
    let monitors: Vec<Area> = window.available_monitors()?.iter().map(physical).collect();
    if let Some(at) = desk::pill_corner(kept, size, &monitors, scale) {
        window.set_position(PhysicalPosition::<f64>::from(at))?;
    }
    if asks { resize(&window, true) } else { Ok(()) }
}

/// Makes room for a question, or takes it back.
fn resize(window: &WebviewWindow, asks: bool) -> tauri::Result<()> {
    let scale = window.scale_factor()?;
    let (from, to) = (HEIGHTS[usize::from(!asks)], HEIGHTS[usize::from(asks)]);
    if let Some(monitor) = window.current_monitor()? {
        let at = corner(window)?;
        let top = desk::turned(at.y, from * scale, to * scale, physical(&monitor));
        window.set_position(PhysicalPosition::new(at.x, top))?;
    }
    hold(window, to)?;
    window.set_size(LogicalSize::new(WIDTH, to))
}

/// Where it is. It has no frame, and while it is being resized X says of the place of its frame (0, 0).
fn corner(window: &WebviewWindow) -> tauri::Result<PhysicalPosition<f64>> {
    Ok(window.inner_position()?.cast())
}

/// Keeps a person from resizing it. A window that cannot be resized at all would not be resized by us
/// either: GTK gives it the size that its content asks for.
fn hold(window: &WebviewWindow, height: f64) -> tauri::Result<()> {
    let exactly = |size| Some(PixelUnit::Logical(LogicalUnit::new(size)));
    window.set_size_constraints(WindowSizeConstraints {
        min_width: exactly(WIDTH),
        max_width: exactly(WIDTH),
        min_height: exactly(height),
        max_height: exactly(height),
    })
}

/// Takes it away and says where the person put it.
pub(crate) fn take(app: &AppHandle) -> tauri::Result<Option<(f64, f64)>> {
    let Some(window) = app.get_webview_window(desk::PILL) else {
        return Ok(None);
    };
    let at = corner(&window)?;
    window.destroy()?;
    // Where it was with a question is not where it was put.
    Ok((!shown(app).1).then_some((at.x, at.y)))
}

fn physical(monitor: &Monitor) -> Area {
    Area::new((*monitor.position()).into(), (*monitor.size()).into())
}

fn shown(app: &AppHandle) -> MutexGuard<'_, (String, bool)> {
    let shown = app.state::<Shown>().inner();
    shown.0.lock().unwrap_or_else(PoisonError::into_inner)
}
