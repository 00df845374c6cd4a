//! The page of the real window, by the W3C's WebDriver protocol.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

use openspace_testkit::{
    cli::{Program, Running},
    wait::poll,
};
use serde_json::{Value, json};

use super::{DESKTOP, SOON};
use crate::rig::Rig;

/// WebKitWebDriver with the app as its browser. The app ends with it.
pub(super) struct Driver {
    _process: Running,
    port: u16,
    session: String,
}

impl Driver {
    /// Starts the app with these arguments and takes hold of its page.
    pub(super) fn start(rig: &Rig, arguments: &[&str]) -> Self {
        let port = TcpListener::bind(("127.0.0.1", 0))
            .and_then(|listener| listener.local_addr())
            .expect("a free port")
            .port();
        let process = Program::new("WebKitWebDriver")
            .args([format!("--port={port}"), "--host=127.0.0.1".to_owned()])
            .environment(rig.environment())
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .limit(Duration::from_secs(300))
            .start()
            .expect("WebKitWebDriver starts");
        let mut driver = Self {
            _process: process,
            port,
            session: String::new(),
        };
        let options = json!({ "binary": DESKTOP, "args": arguments });
        let wanted =
            json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
        let begun = poll(SOON, || driver.send("POST", "/session", &wanted).ok());
        let begun = begun.expect("the driver listens");
        let session = begun["sessionId"].as_str();
        session
            .unwrap_or_else(|| panic!("no session: {begun}"))
            .clone_into(&mut driver.session);
        driver
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let body = body.to_string();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        let answer: Value = serde_json::from_str(body)?;
        Ok(answer["value"].clone())
    }

    fn command(&self, path: &str, body: &Value) -> Value {
        let path = format!("/session/{}{path}", self.session);
        let answer = self.send("POST", &path, body).expect("the driver answers");
        assert!(answer.get("error").is_none(), "{path}: {answer}");
        answer
    }

    /// What a function body returns in the page.
    pub(super) fn run(&self, script: &str) -> Value {
        self.command("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// What the promise of an expression comes to, `{"ok": …}` or `{"failed": …}`.
    pub(super) fn settled(&self, promise: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];\
             Promise.resolve().then(() => {promise}).then((ok) => done({{ ok: ok ?? null }}),\
             (failed) => done({{ failed: failed?.code ?? String(failed) }}));"
        );
        self.command("/execute/async", &json!({ "script": script, "args": [] }))
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
        let mut last = Value::Null;
        let found = poll(SOON, || {
            last = self.run(script);
            let nothing = matches!(&last, Value::Null | Value::Bool(false)) || last == "";
            (!nothing).then(|| last.clone())
        });
        found.unwrap_or_else(|| {
            panic!(
                "never: {script}; {}",
                self.run("return document.body.innerText")
            )
        })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let path = format!("/session/{}", self.session);
        // A test that ended the app has nothing left to end.
        let _gone = self.send("DELETE", &path, &Value::Null);
    }
}
