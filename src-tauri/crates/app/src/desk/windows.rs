//! What each window may ask of the core, and whose hand it takes.

use std::{sync::Arc, time::Instant};

use serde_json::Value;

use super::{Desk, Touch};
use crate::{
    Code, Failure,
    failure::Result,
    rpc::{CALLS, Caller},
};

/// The main window.
pub const MAIN: &str = "main";
/// The pill over a controlled screen.
pub const PILL: &str = "hud";
/// The small window for a new task.
pub const QUICK: &str = "quick";

/// Whether a window may make a call. The main window makes all of them; the pill halts, takes over and
/// answers; the quick window starts a task; every other window makes none.
fn may(window: &str, name: &str, request: &Value) -> bool {
    match (window, name) {
        (MAIN, _) => CALLS.contains(&name),
        (PILL, "run_stop" | "runs_stop_all" | "approval_get") => true,
        // A rule lasts, another command has to be read: both are made where there is room for them.
        (PILL, "approval_answer") => {
            has_only(request, &["approval", "nonce", "choice"])
                && matches!(choice(request), None | Some("once"))
        }
        (PILL, "run_command") => {
            has_only(request, &["run", "command"])
                && ["pause", "resume", "take_over"].contains(&text(request, "command"))
        }
        (QUICK, "run_preflight" | "run_start") => has_only(request, &["task", "idempotencyKey"]),
        _ => false,
    }
}

fn has_only(request: &Value, fields: &[&str]) -> bool {
    request
        .as_object()
        .is_some_and(|request| request.keys().all(|key| fields.contains(&key.as_str())))
}

fn text<'a>(request: &'a Value, field: &str) -> &'a str {
    request
        .get(field)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The answer that allows, where the request gives one.
fn choice(request: &Value) -> Option<&str> {
    let choice = request.get("choice").filter(|choice| !choice.is_null())?;
    Some(choice.as_str().unwrap_or_default())
}

impl Desk {
    /// Answers a call of a window.
    ///
    /// # Errors
    /// [`Code::Forbidden`] for what the window may not ask, and for what only a person's hand may do
    /// there; otherwise whatever the call says.
    pub async fn call(self: &Arc<Self>, window: &str, name: &str, request: Value) -> Result<Value> {
        if !may(window, name, &request) {
            return Err(Failure::new(
                Code::Forbidden,
                format!("the window `{window}` may not call `{name}`"),
            ));
        }
        if name == "app_restart" {
            self.restart();
            return Ok(Value::Object(serde_json::Map::new()));
        }
        let touch = self.hands.touch(window, Instant::now());
        if (window, name) == (PILL, "approval_answer") && choice(&request).is_some() {
            if touch != Touch::Hand {
                return Err(Failure::new(
                    Code::Forbidden,
                    "this was not pressed by a person, so it allows nothing",
                )
                .hint("answer in the window of OpenSpace"));
            }
            self.hands.answered(window);
        }
        if (window, name, touch) == (QUICK, "run_start", Touch::NoHand) {
            self.app().refuse_while_controlled(None).await?;
        }
        let caller = match touch {
            Touch::Hand | Touch::Untold => Caller::Window,
            Touch::NoHand => Caller::Untouched,
        };
        self.rpc.call(caller, name, request).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::desk::double::{Seat, seat};

    /// The calls that a window may make without any values.
    fn allowed(window: &str) -> Vec<&'static str> {
        let nothing = json!({});
        let calls = CALLS.iter().copied();
        calls.filter(|name| may(window, name, &nothing)).collect()
    }

    /// The main window makes every call there is, an unknown window none.
    #[test]
    fn the_main_window_makes_all_calls() {
        assert_eq!(allowed(MAIN), CALLS);
        assert!(!may(MAIN, "no_such_call", &json!({})));
        assert_eq!(allowed("overlay"), [""; 0]);
        assert_eq!(allowed("practice"), [""; 0]);
    }

    /// The pill can only halt, take over and answer, and its answers make nothing that lasts.
    #[test]
    fn the_pill_halts_and_answers() {
        assert_eq!(
            allowed(PILL),
            [
                "run_stop",
                "runs_stop_all",
                "approval_get",
                "approval_answer"
            ]
        );
        let command = |command: &str| may(PILL, "run_command", &json!({ "command": command }));
        assert!(command("pause") && command("take_over") && command("resume"));
        assert!(!command("message") && !command("hand_back"));
        let answer = |request: Value| may(PILL, "approval_answer", &request);
        assert!(answer(
            json!({ "approval": "a", "nonce": "n", "choice": "once" })
        ));
        assert!(answer(
            json!({ "approval": "a", "nonce": "n", "choice": null })
        ));
        assert!(!answer(
            json!({ "approval": "a", "nonce": "n", "choice": "run" })
        ));
        assert!(!answer(json!({ "approval": "a", "rule": "shell" })));
        assert!(!answer(json!({ "approval": "a", "command": "ls" })));
        assert!(!answer(json!(["a"])));
    }

    /// The quick window gives a task and nothing that would widen what it may do.
    #[test]
    fn the_quick_window_starts_tasks() {
        assert_eq!(allowed(QUICK), ["run_preflight", "run_start"]);
        let start = |request: Value| may(QUICK, "run_start", &request);
        assert!(start(json!({ "task": "t", "idempotencyKey": "k" })));
        for more in ["allow", "preset", "workspace", "display", "attachments"] {
            assert!(!start(json!({ "task": "t", more: "x" })), "{more}");
        }
    }

    /// An answer that allows needs a person's press in the pill, one for each; one that denies does not.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_pill_allows_by_hand_only() {
        let Seat { desk, .. } = seat();
        let answer = |choice: Value| {
            let request = json!({ "approval": "0123", "nonce": "n", "choice": choice });
            desk.call(PILL, "approval_answer", request)
        };
        let code = |answered: Result<Value>| answered.expect_err("there is no question").code;
        let (once, deny) = (json!("once"), Value::Null);
        assert_eq!(
            code(answer(once.clone()).await),
            Code::Forbidden,
            "not told"
        );
        desk.hands.watch(PILL);
        assert_eq!(
            code(answer(once.clone()).await),
            Code::Forbidden,
            "no press"
        );
        desk.hands.pressed(PILL, Some("Virtual core XTEST pointer"));
        assert_eq!(
            code(answer(once.clone()).await),
            Code::Forbidden,
            "injected"
        );
        assert_eq!(code(answer(deny).await), Code::NotFound, "denying is free");

        let Seat { desk: other, .. } = seat();
        other.hands.pressed(PILL, Some("USB mouse"));
        let request = json!({ "approval": "0123", "nonce": "n", "choice": "once" });
        let first = other.call(PILL, "approval_answer", request.clone()).await;
        assert_eq!(code(first), Code::NotFound, "pressed by hand");
        let second = other.call(PILL, "approval_answer", request).await;
        assert_eq!(code(second), Code::Forbidden, "the press is used up");
    }

    /// Only the main window starts the app anew; a page in a browser cannot.
    #[tokio::test(flavor = "multi_thread")]
    async fn the_main_window_starts_the_app_anew() {
        let Seat { desk, face } = seat();
        let nothing = json!({});
        let refused = desk.call(PILL, "app_restart", nothing.clone()).await;
        assert_eq!(refused.expect_err("forbidden").code, Code::Forbidden);
        let page = desk
            .rpc()
            .call(Caller::Page, "app_restart", nothing.clone())
            .await;
        assert_eq!(page.expect_err("forbidden").code, Code::Forbidden);
        assert_eq!(face.did(), [""; 0]);
        desk.call(MAIN, "app_restart", nothing)
            .await
            .expect("it does");
        assert!(crate::desk::double::within(|| face.did() == ["restart"]).await);
    }

    /// A window that may not make a call is told so, whatever was pressed.
    #[tokio::test(flavor = "multi_thread")]
    async fn calls_of_others_are_refused() {
        let Seat { desk, .. } = seat();
        for window in [PILL, QUICK, "practice"] {
            desk.hands.pressed(window, Some("USB mouse"));
            let refused = desk.call(window, "settings_list", json!({})).await;
            assert_eq!(refused.expect_err("forbidden").code, Code::Forbidden);
        }
        let state = desk.call(MAIN, "app_state", json!({})).await;
        assert_eq!(state.expect("the state")["place"], "window");
    }
}
