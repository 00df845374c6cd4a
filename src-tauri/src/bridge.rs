//! Calls and events between the pages and the program. What a window may call is decided by
//! [`Desk::call`].

use std::sync::Arc;

use openspace_app::{
    Failure,
    desk::{self, Desk},
    rpc::StoredEvent,
};
use serde::Serialize;
use serde_json::Value;
use tauri::{Manager as _, State, Webview, ipc::Channel};

/// One call of the table.
#[tauri::command]
pub(crate) async fn rpc(
    webview: Webview,
    desk: State<'_, Arc<Desk>>,
    name: String,
    request: Value,
) -> Result<Value, Failure> {
    desk.call(webview.label(), &name, request).await
}

/// What goes through the channel of a subscription.
#[derive(Clone, Serialize)]
pub(crate) struct Told {
    events: Vec<StoredEvent>,
}

/// Sends everything that happens after a position, until [`unsubscribe`] or the page is gone.
#[tauri::command]
pub(crate) async fn subscribe(
    webview: Webview,
    desk: State<'_, Arc<Desk>>,
    after: i64,
    channel: Channel<Told>,
) -> Result<u32, Failure> {
    let send = move |events| channel.send(Told { events }).is_ok();
    desk.listen(webview.label(), after, send)
}

/// Ends a subscription of the same window.
#[expect(clippy::needless_pass_by_value, reason = "the form of a command")]
#[tauri::command]
pub(crate) fn unsubscribe(webview: Webview, desk: State<'_, Arc<Desk>>, subscription: u32) {
    desk.streams.close(webview.label(), subscription);
}

/// A small window gives the screen back: to what was there before, or to a page of the main window.
#[expect(clippy::needless_pass_by_value, reason = "the form of a command")]
#[tauri::command]
pub(crate) fn leave(webview: Webview, address: Option<String>) {
    if webview.label() == desk::QUICK {
        super::quick::hide(webview.app_handle());
    }
    if let Some(page) = address.as_deref().and_then(desk::page) {
        super::window::focus(webview.app_handle(), Some(&page));
    }
}

/// The main page says that it can be seen.
#[expect(clippy::needless_pass_by_value, reason = "the form of a command")]
#[tauri::command]
pub(crate) fn painted(webview: Webview, desk: State<'_, Arc<Desk>>) {
    desk.first_paint.painted();
    super::quick::prepare(webview.app_handle());
}
