//! The quick window: a task is typed and handed over, wherever the person is. Made hidden as soon as the
//! main page is there, and only hidden afterwards: it takes the first key that is typed after its hotkey,
//! and keeps what was not handed over.

use std::time::Instant;

use openspace_app::desk;
use tauri::{
    AppHandle, Error, Manager as _, WebviewWindow, WindowEvent, async_runtime,
    webview::PageLoadEvent,
};

/// Makes it, where a key opens it.
pub(crate) fn prepare(app: &AppHandle) {
    let app = app.clone();
    // Under Windows a window that a call of a page makes would wait for that call.
    async_runtime::spawn(async move {
        let wanted = super::desk(&app).is_some_and(|desk| desk.opens_quickly());
        if wanted
            && app.get_webview_window(desk::QUICK).is_none()
            && let Err(error) = make(&app)
        {
            tracing::warn!(%error, "the quick window cannot be made");
        }
    });
}

/// Shows it; takes it away where it already has the focus.
pub(crate) fn turn(app: &AppHandle) {
    if super::desk(app).is_some_and(|desk| desk.quick_focus.was_there(Instant::now())) {
        return;
    }
    let window = app.get_webview_window(desk::QUICK);
    if window.is_some_and(|window| window.is_focused().unwrap_or_default()) {
        return hide(app);
    }
    super::tried(show(app), "the quick window does not open");
}

/// Takes it away; what had the focus before has it again.
pub(crate) fn hide(app: &AppHandle) {
    if let Some(window) = app.get_webview_window(desk::QUICK) {
        super::tried(window.hide(), "hiding the quick window");
    }
}

fn show(app: &AppHandle) -> tauri::Result<()> {
    let window = match app.get_webview_window(desk::QUICK) {
        Some(window) => window,
        None => make(app)?,
    };
    // A page that is not there yet says so itself when it is.
    window.eval(script(&window).unwrap_or_default())?;
    window.center()?;
    window.show()?;
    window.set_focus()
}

fn make(app: &AppHandle) -> tauri::Result<WebviewWindow> {
    let desk = super::desk(app).ok_or(Error::WindowNotFound)?;
    let title = desk::quick_title(&desk.texts());
    let builder = super::window::configured(app, desk::QUICK, &title, "quick.html")?;
    let builder = builder.on_page_load(|window, load| {
        if load.event() == PageLoadEvent::Finished
            && let Err(error) = window.eval(script(&window).unwrap_or_default())
        {
            tracing::error!(%error, "filling the quick window");
        }
    });
    let window = super::window::of_ours(app, builder)?;
    let left = window.app_handle().clone();
    window.on_window_event(move |event| {
        // Whoever clicks elsewhere has left it.
        if let WindowEvent::Focused(false) = event {
            desk.quick_focus.lost(Instant::now());
            hide(&left);
        }
    });
    Ok(window)
}

fn script(window: &WebviewWindow) -> Option<String> {
    let texts = super::desk(window)?.texts();
    Some(format!("globalThis.show?.({})", desk::quick_texts(&texts)))
}
