//! The page of the real window, and its calls of the table.

use std::path::Path;

use openspace_testkit::WebDriver;
use serde_json::{Value, json};

use super::{DESKTOP, SOON};
use crate::rig::Rig;

/// The app with a driver on its page. The app ends with it.
pub(super) struct Driver(WebDriver);

impl Driver {
    /// Starts the app with these arguments and takes hold of its page.
    pub(super) fn start(rig: &Rig, arguments: &[&str]) -> Self {
        let driver = WebDriver::start(Path::new(DESKTOP), arguments, rig.environment());
        Self(driver.expect("the app and its driver"))
    }

    /// What a function body returns in the page.
    pub(super) fn run(&self, script: &str) -> Value {
        self.0.run(script).expect("the driver answers")
    }

    /// What the promise of an expression comes to, `{"ok": …}` or `{"failed": …}`.
    pub(super) fn settled(&self, promise: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];\
             Promise.resolve().then(() => {promise}).then((ok) => done({{ ok: ok ?? null }}),\
             (failed) => done({{ failed: failed?.code ?? String(failed) }}));"
        );
        let body = json!({ "script": script, "args": [] });
        let answer = self.0.command("/execute/async", &body);
        answer.expect("the driver answers")
    }

    /// A call of the table by the page.
    pub(super) fn call(&self, name: &str, request: &Value) -> Value {
        let invoke = format!(
            "window.__TAURI_INTERNALS__.invoke('rpc', {{ name: '{name}', request: {request} }})"
        );
        let answer = self.settled(&invoke);
        assert!(answer.get("failed").is_none(), "{name}: {answer}");
        answer["ok"].clone()
    }

    /// Waits until a function body returns something that is not null, false or empty.
    pub(super) fn wait(&self, script: &str) -> Value {
        self.0.wait(script, SOON).expect("it comes")
    }
}
