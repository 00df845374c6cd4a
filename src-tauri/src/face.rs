//! What the desk asks of the toolkit.

use openspace_app::{
    desk::{Area, Ask, Face, PillView, Place, Then, Told, TrayView},
    rpc::desktop::HotkeyName,
};
use tauri::{AppHandle, Manager as _, Wry};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogButtons, MessageDialogKind};
use tauri_plugin_global_shortcut::{
    Builder, GlobalShortcut, GlobalShortcutExt as _, ShortcutState,
};
use tauri_plugin_notification::NotificationExt as _;

use super::{pill, quick, tray, tried, updater, window};

/// The toolkit.
pub(crate) struct Tauri(pub(crate) AppHandle);

/// Asks, natively.
pub(crate) fn ask(app: &AppHandle, ask: Ask, then: impl FnOnce(bool) + Send + 'static) {
    let mut dialog = app.dialog().message(ask.text).title(ask.title);
    if ask.grave {
        dialog = dialog.kind(match &ask.answers {
            Some(_) => MessageDialogKind::Warning,
            None => MessageDialogKind::Error,
        });
    }
    if let Some([yes, no]) = ask.answers {
        dialog = dialog.buttons(MessageDialogButtons::OkCancelCustom(yes, no));
    }
    dialog.show(then);
}

impl Face for Tauri {
    fn focus(&self, page: Option<&str>) {
        window::focus(&self.0, page);
    }

    fn is_looked_at(&self) -> bool {
        window::main(&self.0).is_some_and(|window| window.is_focused().unwrap_or_default())
    }

    fn is_shown(&self) -> bool {
        window::main(&self.0).is_some_and(|window| window.is_visible().unwrap_or_default())
    }

    fn place(&self) -> Option<Place> {
        window::place(&window::main(&self.0)?).ok()
    }

    fn seen(&self) -> Option<Area> {
        window::seen(&window::main(&self.0)?).unwrap_or_default()
    }

    fn minimise(&self, away: bool) {
        window::minimise(&self.0, away);
    }

    fn turn_quick(&self) {
        quick::turn(&self.0);
    }

    fn show_tray(&self, tray: &TrayView) {
        tried(tray::update(&self.0, tray), "changing the tray");
    }

    fn show_pill(&self, pill: &PillView, kept: Option<(f64, f64)>) {
        tried(pill::show(&self.0, pill, kept), "showing the pill");
    }

    fn take_pill(&self) -> Option<(f64, f64)> {
        pill::take(&self.0).unwrap_or_else(|error| {
            tracing::warn!(%error, "closing the pill");
            None
        })
    }

    fn notify(&self, (title, body): &Told) {
        let notification = self.0.notification().builder().title(title).body(body);
        if let Err(error) = notification.show() {
            tracing::info!(%error, "notifications are not shown here");
        }
    }

    fn ask(&self, question: Ask, then: Then) {
        ask(&self.0, question, then);
    }

    fn free_hotkeys(&self) -> Result<(), String> {
        if self.0.try_state::<GlobalShortcut<Wry>>().is_some() {
            let all = self.0.global_shortcut().unregister_all();
            all.map_err(|error| error.to_string())
        } else {
            // The first time.
            let started = self.0.plugin(Builder::new().build());
            started.map_err(|error| error.to_string())
        }
    }

    fn take_hotkey(&self, name: HotkeyName, keys: &str) -> Result<(), String> {
        let shortcuts = self.0.global_shortcut();
        let taken = shortcuts.on_shortcut(keys, move |app, _, event| {
            if let (ShortcutState::Pressed, Some(desk)) = (event.state, super::desk(app)) {
                desk.pressed(name);
            }
        });
        taken.map_err(|error| error.to_string())
    }

    fn web_view(&self) -> Option<String> {
        tauri::webview_version().ok()
    }

    fn has_updates(&self) -> bool {
        updater::is_there(&self.0)
    }

    fn look_for_updates(&self) {
        updater::look(&self.0);
    }

    fn clean_up(&self) {
        self.0.cleanup_before_exit();
    }

    #[cfg(not(target_os = "linux"))]
    fn restart(&self) {
        self.0.restart();
    }

    fn exit(&self, code: i32) {
        self.0.exit(code);
    }
}
