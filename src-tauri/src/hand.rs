//! Tells the program who presses something in a window of ours: a person, or a program that injects.
//!
//! Under X11 the toolkit knows the device behind each event. Windows and macOS know it too, but not where
//! the web view takes its input; there nothing is told.

use std::sync::Arc;

use openspace_app::desk::Desk;
use tauri::WebviewWindow;

/// Watches the presses in a window from now on.
#[cfg(target_os = "linux")]
pub(crate) fn watch(desk: &Arc<Desk>, window: &WebviewWindow) {
    use gtk::{
        gdk::EventType,
        glib::Propagation,
        prelude::{DeviceExt as _, WidgetExt as _},
    };

    let (desk, label) = (Arc::clone(desk), window.label().to_owned());
    let watched = window.with_webview(move |webview| {
        desk.hands.watch(&label);
        webview.inner().connect_event(move |_, event| {
            let kind = event.event_type();
            if matches!(
                kind,
                EventType::ButtonPress
                    | EventType::ButtonRelease
                    | EventType::KeyPress
                    | EventType::TouchBegin
            ) {
                let device = event.source_device().and_then(|device| device.name());
                let device = device.filter(|_| !event.is_send_event());
                desk.hands.pressed(&label, device.as_deref());
            }
            Propagation::Proceed
        });
    });
    super::tried(watched, "who presses in a window is not told");
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn watch(_desk: &Arc<Desk>, _window: &WebviewWindow) {}
