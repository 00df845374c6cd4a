//! Calls and events between the pages and the program.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use openspace_app::{
    Code, Failure,
    rpc::{CALLS, Caller, Rpc, StoredEvent},
};
use serde::Serialize;
use serde_json::Value;
use tauri::{AppHandle, Manager as _, State, Webview, ipc::Channel};

/// Events of this span are sent at once: a page paints no more often.
const GATHER: Duration = Duration::from_millis(16);
/// Most events of one message.
const MOST: usize = 256;

/// Whether a window may make a call. The main window makes all of them; the pill pauses, takes over,
/// stops and answers; every other window makes none.
fn may(window: &str, name: &str, request: &Value) -> bool {
    match window {
        super::window::MAIN => CALLS.contains(&name),
        super::control::HUD => match name {
            "run_stop" | "runs_stop_all" | "approval_get" => true,
            // A rule lasts, another command has to be read: both are made where there is room for them.
            "approval_answer" => ["rule", "command"]
                .iter()
                .all(|more| request.get(more).is_none_or(Value::is_null)),
            "run_command" => request
                .get("command")
                .and_then(Value::as_str)
                .is_some_and(|command| ["pause", "resume", "take_over"].contains(&command)),
            _ => false,
        },
        _ => false,
    }
}

/// One call of the table.
#[tauri::command]
pub(crate) async fn rpc(
    webview: Webview,
    rpc: State<'_, Rpc>,
    name: String,
    request: Value,
) -> Result<Value, Failure> {
    if !may(webview.label(), &name, &request) {
        return Err(Failure::new(
            Code::Forbidden,
            format!("the window `{}` may not call `{name}`", webview.label()),
        ));
    }
    rpc.call(Caller::Window, &name, request).await
}

/// What goes through the channel of a subscription.
#[derive(Clone, Serialize)]
pub(crate) struct Told {
    events: Vec<StoredEvent>,
}

/// The subscriptions of all pages.
#[derive(Default)]
pub(crate) struct Subscriptions {
    last: AtomicU32,
    open: Mutex<HashMap<u32, (String, tokio::task::AbortHandle)>>,
}

/// Sends everything that happens after a position, until [`unsubscribe`] or the page is gone.
#[tauri::command]
pub(crate) async fn subscribe(
    webview: Webview,
    rpc: State<'_, Rpc>,
    subscriptions: State<'_, Subscriptions>,
    after: i64,
    channel: Channel<Told>,
) -> Result<u32, Failure> {
    let mut watch = rpc.app().store.watch(after)?;
    let told = async move {
        loop {
            let first = match watch.next().await {
                Ok(event) => event,
                // The page's next call tells it what is wrong.
                Err(error) => break tracing::warn!(%error, "reading events for a window"),
            };
            let mut events = vec![StoredEvent::from(first)];
            let end = tokio::time::Instant::now() + GATHER;
            while events.len() < MOST
                && let Ok(Ok(event)) = tokio::time::timeout_at(end, watch.next()).await
            {
                events.push(event.into());
            }
            if channel.send(Told { events }).is_err() {
                break;
            }
        }
    };
    let id = subscriptions.last.fetch_add(1, Ordering::Relaxed) + 1;
    let task = tokio::spawn(told).abort_handle();
    let mut open = locked(&subscriptions);
    open.retain(|_, (_, task)| !task.is_finished());
    open.insert(id, (webview.label().to_owned(), task));
    Ok(id)
}

/// Ends a subscription of the same window.
#[expect(clippy::needless_pass_by_value, reason = "the form of a command")]
#[tauri::command]
pub(crate) fn unsubscribe(
    webview: Webview,
    subscriptions: State<'_, Subscriptions>,
    subscription: u32,
) {
    let mut open = locked(&subscriptions);
    if open
        .get(&subscription)
        .is_some_and(|(window, _)| window == webview.label())
        && let Some((_, task)) = open.remove(&subscription)
    {
        task.abort();
    }
}

/// A window loads another page: what the old one had subscribed to is heard by nobody.
pub(crate) fn forget(app: &AppHandle, window: &str) {
    let subscriptions = app.state::<Subscriptions>();
    locked(&subscriptions).retain(|_, (of, task)| {
        if of == window {
            task.abort();
        }
        of != window
    });
}

fn locked(
    subscriptions: &Subscriptions,
) -> std::sync::MutexGuard<'_, HashMap<u32, (String, tokio::task::AbortHandle)>> {
    subscriptions
        .open
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The pill can only halt, take over and answer; an unknown window can do nothing.
    #[test]
    fn windows_may_call_what_they_are_for() {
        let none = json!({});
        for name in CALLS {
            assert!(may("main", name, &none), "main: {name}");
            assert!(!may("overlay", name, &none), "overlay: {name}");
        }
        assert!(!may("main", "no_such_call", &none));
        let allowed = CALLS.iter().filter(|name| may("hud", name, &none));
        let allowed: Vec<_> = allowed.copied().collect();
        assert_eq!(
            allowed,
            [
                "run_stop",
                "runs_stop_all",
                "approval_get",
                "approval_answer"
            ]
        );
        let command = |command: &str| may("hud", "run_command", &json!({ "command": command }));
        assert!(command("pause") && command("take_over") && command("resume"));
        assert!(!command("message") && !command("hand_back"));
        assert!(!may("hud", "approval_answer", &json!({ "rule": "shell" })));
        assert!(!may("hud", "approval_answer", &json!({ "command": "ls" })));
    }
}
