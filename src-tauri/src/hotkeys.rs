//! Keys that work whatever has the focus. What they do never goes through a page, which may hang.

use openspace_app::{
    CommandKind, RunStatus,
    rpc::{
        Rpc,
        desktop::{Hotkey, HotkeyName, HotkeyState},
    },
};
use tauri::{AppHandle, Manager as _};
use tauri_plugin_global_shortcut::{Builder, GlobalShortcutExt as _, ShortcutState};

/// Registers the keys of the settings and keeps which of them work; again after they changed.
pub(crate) fn register(app: &AppHandle) {
    let Some(rpc) = app.try_state::<Rpc>().map(|rpc| rpc.inner().clone()) else {
        return;
    };
    let usable = usable(app, &rpc);
    let hotkeys = rpc.app().hotkeys().map(|(name, keys)| {
        let (state, reason) = match &usable {
            _ if keys.trim().is_empty() => (HotkeyState::Off, None),
            Err(reason) => (HotkeyState::Unsupported, reason.clone()),
            Ok(()) => match register_one(app, name, &keys) {
                Ok(()) => (HotkeyState::Active, None),
                Err(reason) => (HotkeyState::Refused, Some(reason)),
            },
        };
        if let Some(reason) = &reason {
            tracing::warn!(keys, reason, "a hotkey does not work");
        }
        Hotkey {
            name,
            keys,
            state,
            reason,
            heard_at: None,
        }
    });
    tauri::async_runtime::spawn(async move {
        if let Err(failure) = rpc.app().report_hotkeys(&hotkeys).await {
            tracing::warn!(%failure, "keeping which hotkeys work");
        }
    });
}

/// Whether programs can have hotkeys in this session; the plugin is started with the first look.
fn usable(app: &AppHandle, rpc: &Rpc) -> Result<(), Option<String>> {
    if rpc.app().desktop.wayland_display().is_some() {
        return Err(None);
    }
    if app
        .try_state::<tauri_plugin_global_shortcut::GlobalShortcut<tauri::Wry>>()
        .is_some()
    {
        let all = app.global_shortcut().unregister_all();
        return all.map_err(|error| Some(error.to_string()));
    }
    app.plugin(Builder::new().build())
        .map_err(|error| Some(error.to_string()))
}

fn register_one(app: &AppHandle, name: HotkeyName, keys: &str) -> Result<(), String> {
    let registered = app
        .global_shortcut()
        .on_shortcut(keys, move |app, _, event| {
            if event.state == ShortcutState::Pressed {
                pressed(app, name);
            }
        });
    registered.map_err(|error| error.to_string())
}

fn pressed(app: &AppHandle, name: HotkeyName) {
    match name {
        HotkeyName::Stop => stop_everything(app),
        HotkeyName::Approvals => super::window::focus(app, Some("/approvals")),
        HotkeyName::Quick => super::window::focus(app, Some("/tasks/new")),
        HotkeyName::Pause => pause_everything(app),
    }
    heard(app, name);
}

/// Keeps the proof that a key works.
fn heard(app: &AppHandle, name: HotkeyName) {
    let Some(rpc) = app.try_state::<Rpc>().map(|rpc| rpc.inner().clone()) else {
        return;
    };
    tauri::async_runtime::spawn(async move {
        if let Err(failure) = rpc.app().hear_hotkey(name).await {
            tracing::warn!(%failure, "keeping that a hotkey was heard");
        }
    });
}

/// The emergency stop: on a thread and a runtime of its own, so that nothing that is busy delays it.
pub(crate) fn stop_everything(app: &AppHandle) {
    let Some(rpc) = app.try_state::<Rpc>().map(|rpc| rpc.inner().clone()) else {
        return;
    };
    let app = app.clone();
    let stop = move || {
        let stopped = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
            .and_then(|runtime| {
                let stopped = runtime.block_on(rpc.app().stop_all("app"));
                stopped.map_err(|failure| failure.to_string())
            });
        match stopped {
            Ok(runs) if runs.is_empty() => {}
            Ok(_) => super::pulse::notify(&app, "notify.stopped.title", "notify.stopped.body", &[]),
            Err(error) => {
                tracing::error!(error, "stopping everything");
                let (title, body) = ("notify.stop_failed.title", "notify.stop_failed.body");
                super::pulse::notify(&app, title, body, &[]);
            }
        }
    };
    let started = std::thread::Builder::new()
        .name("stop".to_owned())
        .spawn(stop);
    if let Err(error) = started {
        tracing::error!(%error, "stopping everything");
    }
}

/// Pauses what runs; goes on with everything when all of it is paused.
pub(crate) fn pause_everything(app: &AppHandle) {
    let Some(rpc) = app.try_state::<Rpc>().map(|rpc| rpc.inner().clone()) else {
        return;
    };
    tauri::async_runtime::spawn(async move {
        let told = async {
            let going = rpc.app().going().await?;
            let paused = |status| status == RunStatus::Paused;
            let all = going.iter().all(|run| paused(run.status));
            let kind = if all {
                CommandKind::Resume
            } else {
                CommandKind::Pause
            };
            for run in going.iter().filter(|run| paused(run.status) == all) {
                rpc.app().command(&run.id, kind, None, "app").await?;
            }
            Ok::<_, openspace_app::Failure>(())
        };
        if let Err(failure) = told.await {
            tracing::warn!(%failure, "pausing everything");
        }
    });
}
