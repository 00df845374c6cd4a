//! Ending the app, which ends the runs it executes.

use openspace_app::rpc::Rpc;
use tauri::{AppHandle, Manager as _};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons, MessageDialogKind};

/// Quits; while runs go on, asks first.
pub(crate) fn ask(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let Some(rpc) = app.try_state::<Rpc>().map(|rpc| rpc.inner().clone()) else {
            return app.exit(0);
        };
        let own = rpc.app().instance.id();
        let going = match rpc.app().going().await {
            Ok(runs) => runs
                .iter()
                .filter(|run| run.owner.as_ref() == Some(own))
                .count(),
            Err(failure) => {
                tracing::warn!(%failure, "asking which runs go on");
                0
            }
        };
        if going == 0 {
            return and_then(&app, |app| app.exit(0));
        }
        let texts = super::pulse::texts(&rpc);
        let count = going.to_string();
        let text = |key: &str| texts.render(key, &[("count", &count)]);
        let (says, stops) = match going {
            1 => ("desktop.quit.one", "desktop.quit.stop_one"),
            _ => ("desktop.quit.many", "desktop.quit.stop_many"),
        };
        let asked = app.clone();
        app.dialog()
            .message(text(says))
            .title(text("desktop.quit.title"))
            .kind(MessageDialogKind::Warning)
            .buttons(MessageDialogButtons::OkCancelCustom(
                text(stops),
                text("desktop.quit.keep"),
            ))
            .show(move |quits| {
                if quits {
                    and_then(&asked, |app| app.exit(0));
                }
            });
    });
}

/// Stops the runs of this process, remembers the window, and does the last thing.
pub(crate) fn and_then(app: &AppHandle, last: impl FnOnce(&AppHandle) + Send + 'static) {
    super::window::keep_place(app);
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        super::core::farewell(&app).await;
        last(&app);
    });
}

/// A log-out or a service manager ends the app without a question.
pub(crate) fn on_signals(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            match signal(SignalKind::terminate()) {
                Ok(mut terminated) => tokio::select! {
                    _ = terminated.recv() => {}
                    _ = tokio::signal::ctrl_c() => {}
                },
                Err(error) => return tracing::warn!(%error, "signals are not heard"),
            }
        }
        #[cfg(not(unix))]
        if let Err(error) = tokio::signal::ctrl_c().await {
            return tracing::warn!(%error, "signals are not heard");
        }
        and_then(&app, |app| app.exit(0));
    });
}
