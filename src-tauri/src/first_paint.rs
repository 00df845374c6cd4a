//! Whether the window shows anything: with some graphics drivers the web view of Linux stays empty.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use openspace_app::rpc::Rpc;
use tauri::{AppHandle, Manager as _, State};
use tokio::sync::Notify;

/// Longest load of a page; and longest wait for its first paint, as ui.md 4.6 says.
const LOAD: Duration = Duration::from_secs(10);
const PAINT: Duration = Duration::from_secs(5);

/// Tells when something with content was painted, as the page itself measures it.
pub(crate) const SCRIPT: &str = r#"
(() => {
  if (window !== window.top) return;
  const tell = () => void window.__TAURI_INTERNALS__.invoke("painted");
  const name = "first-contentful-paint";
  new PerformanceObserver((list, observer) => {
    if (list.getEntriesByName(name).length === 0) return;
    observer.disconnect();
    tell();
  }).observe({ type: "paint", buffered: true });
})();
"#;

/// How far the window has come.
pub(crate) struct FirstPaint {
    started: Instant,
    loaded: Notify,
    seen: Notify,
    told: AtomicBool,
}

impl FirstPaint {
    pub(crate) fn new(started: Instant) -> Self {
        Self {
            started,
            loaded: Notify::new(),
            seen: Notify::new(),
            told: AtomicBool::new(false),
        }
    }
}

/// The page says that it can be seen.
#[expect(clippy::needless_pass_by_value, reason = "the form of a command")]
#[tauri::command]
pub(crate) fn painted(first: State<'_, FirstPaint>) {
    if !first.told.swap(true, Ordering::Relaxed) {
        let milliseconds = first.started.elapsed().as_millis();
        tracing::info!(milliseconds = %milliseconds, "first paint");
        first.seen.notify_one();
    }
}

/// The page is loaded and the window is shown.
pub(crate) fn shown(app: &AppHandle) {
    app.state::<FirstPaint>().loaded.notify_one();
}

/// Asks whether to start with safe graphics when nothing is painted.
pub(crate) fn watch(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let first = app.state::<FirstPaint>();
        let _late = tokio::time::timeout(LOAD, first.loaded.notified()).await;
        if tokio::time::timeout(PAINT, first.seen.notified())
            .await
            .is_ok()
        {
            return;
        }
        tracing::warn!("nothing was painted within {} s", PAINT.as_secs());
        #[cfg(target_os = "linux")]
        offer(&app);
    });
}

#[cfg(target_os = "linux")]
fn offer(app: &AppHandle) {
    use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons};

    let Some(rpc) = app.try_state::<Rpc>() else {
        return;
    };
    let hidden = app
        .get_webview_window(super::window::MAIN)
        .is_none_or(|window| !window.is_visible().unwrap_or_default());
    if hidden {
        // What is in the tray paints nothing.
        return;
    }
    let texts = super::pulse::texts(&rpc);
    let text = |key| texts.render(key, &[]);
    let again = app.clone();
    app.dialog()
        .message(text("desktop.paint.text"))
        .title(text("desktop.paint.title"))
        .buttons(MessageDialogButtons::OkCancelCustom(
            text("desktop.paint.safe"),
            text("desktop.paint.wait"),
        ))
        .show(move |safely| {
            if safely {
                super::quit::and_then(&again, |app| {
                    app.cleanup_before_exit();
                    let error = super::graphics::safely();
                    tracing::error!(%error, "starting again");
                    app.exit(1);
                });
            }
        });
}
