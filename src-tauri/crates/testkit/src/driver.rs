//! The page of a real web view, by the W3C's WebDriver protocol.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::cli::{Program, Running};
use crate::wait::poll;

/// How long the driver, a page or a script may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// `WebKitWebDriver` with a program of ours as its browser. The program ends with it.
#[derive(Debug)]
pub struct WebDriver {
    _process: Running,
    port: u16,
    session: String,
}

impl WebDriver {
    /// Starts the program with these arguments and takes hold of its page.
    pub fn start(
        program: &Path,
        arguments: &[&str],
        environment: BTreeMap<String, String>,
    ) -> Result<Self> {
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        let process = Program::new("WebKitWebDriver")
            .args([format!("--port={port}"), "--host=127.0.0.1".to_owned()])
            .environment(environment)
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .start()?;
        let mut driver = Self {
            _process: process,
            port,
            session: String::new(),
        };
        let options = json!({ "binary": program, "args": arguments });
        let wanted =
            json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
        let begun = poll(PATIENCE, || driver.send("POST", "/session", &wanted).ok());
        let begun = begun.context("WebKitWebDriver does not listen")?;
        let Some(session) = begun["sessionId"].as_str() else {
            bail!("no session: {begun}");
        };
        session.clone_into(&mut driver.session);
        Ok(driver)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
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

    /// A command of the session, such as `/execute/sync`.
    pub fn command(&self, path: &str, body: &Value) -> Result<Value> {
        let path = format!("/session/{}{path}", self.session);
        let answer = self.send("POST", &path, body)?;
        ensure!(answer.get("error").is_none(), "{path}: {answer}");
        Ok(answer)
    }

    /// What a function body returns in the page.
    pub fn run(&self, script: &str) -> Result<Value> {
        self.command("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until a function body returns something that is not null, false or empty.
    pub fn wait(&self, script: &str, limit: Duration) -> Result<Value> {
        let mut last = Ok(Value::Null);
        let found = poll(limit, || {
            last = self.run(script);
            let value = last.as_ref().ok()?;
            let nothing = matches!(value, Value::Null | Value::Bool(false)) || value == "";
            (!nothing).then(|| value.clone())
        });
        if let Some(found) = found {
            return Ok(found);
        }
        let shown = self.run("return document.body.innerText");
        bail!("never: {script}: {last:?}; {shown:?}")
    }

    /// Clicks the first element that fits, as a mouse does.
    pub fn click(&self, selector: &str) -> Result<()> {
        let wanted = json!({ "using": "css selector", "value": selector });
        let element = self.command("/element", &wanted)?;
        let id = element.as_object().and_then(|names| names.values().next());
        let id = id.and_then(Value::as_str).context("an element's id")?;
        self.command(&format!("/element/{id}/click"), &json!({}))
            .map(drop)
    }
}

impl Drop for WebDriver {
    fn drop(&mut self) {
        let path = format!("/session/{}", self.session);
        // A program that ended before has nothing left to end.
        let _gone = self.send("DELETE", &path, &Value::Null);
    }
}
