//! A host that starts the server as hosts do, writes what a test wants written, and takes every byte
//! that comes back for a message.

use std::{collections::BTreeMap, time::Instant};

use openspace_testkit::{
    Program,
    cli::{Output, Running},
    wait::poll,
};
use serde_json::{Value, json};

use super::SOON;
use crate::rig::Rig;

/// The other end of a server's standard streams.
pub(super) struct Host {
    program: Running,
    next: i64,
}

impl Host {
    /// `openspace mcp`, with everything a rig gives.
    pub(super) fn start(rig: &Rig, arguments: &[&str]) -> Self {
        Self::start_in(rig, arguments, rig_environment(rig))
    }

    pub(super) fn start_in(
        rig: &Rig,
        arguments: &[&str],
        environment: BTreeMap<String, String>,
    ) -> Self {
        let program = Program::new(env!("CARGO_BIN_EXE_openspace"))
            .arg("mcp")
            .args(arguments.iter().copied())
            .environment(environment)
            .folder(rig.home.workspace());
        Self::of(program)
    }

    pub(super) fn of(program: Program) -> Self {
        Self {
            program: program.start().expect("the server starts"),
            next: 1,
        }
    }

    pub(super) fn stderr(&self) -> String {
        self.program.stderr()
    }

    /// Writes a message, or anything else.
    pub(super) fn write(&mut self, text: &str) {
        self.program.send(&format!("{text}\n")).expect("written");
    }

    /// Asks and does not wait.
    pub(super) fn ask(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.write(&message.to_string());
        id
    }

    pub(super) fn tell(&mut self, method: &str, params: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if !params.is_null() {
            message["params"] = params;
        }
        self.write(&message.to_string());
    }

    /// Everything that came so far. Anything that is no message fails the test.
    pub(super) fn messages(&self) -> Vec<Value> {
        let text = self.program.stdout();
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines();
        lines
            .map(|line| {
                let message: Value =
                    serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line:?}"));
                assert_eq!(message["jsonrpc"], "2.0", "no message: {line}");
                message
            })
            .collect()
    }

    /// The message with this id that answers.
    pub(super) fn reply(&mut self, id: i64) -> Value {
        let found = poll(SOON, || {
            let mut messages = self.messages();
            messages.retain(|it| it["id"] == id && it.get("method").is_none());
            messages.pop()
        });
        found.unwrap_or_else(|| {
            panic!(
                "no reply to {id}: {} {}",
                self.program.stdout(),
                self.stderr()
            )
        })
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.reply(id)
    }

    /// The usual beginning of a conversation; the server's reply.
    pub(super) fn initialize(&mut self, version: &str) -> Value {
        let reply = self.request(
            "initialize",
            json!({
                "protocolVersion": version,
                "capabilities": {},
                "clientInfo": { "name": "test-host", "version": "1" },
            }),
        );
        self.tell("notifications/initialized", Value::Null);
        reply["result"].clone()
    }

    /// Calls a tool; what it answered, which is the same as text and as it is.
    #[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.ask_tool(tool, &arguments);
        self.result(id)
    }

    pub(super) fn ask_tool(&mut self, tool: &str, arguments: &Value) -> i64 {
        self.ask(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    pub(super) fn result(&mut self, id: i64) -> Value {
        let reply = self.reply(id);
        let result = &reply["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("no text: {reply}"));
        let value: Value = serde_json::from_str(text).expect("the text is JSON");
        assert_eq!(result["structuredContent"], value);
        let is_error = value["status"] == "error";
        assert_eq!(result["isError"], is_error, "{reply}");
        value
    }

    /// Ends the server's input.
    pub(super) fn close(&mut self) {
        self.program.close_input();
    }

    pub(super) fn signal(&self, signal: rustix::process::Signal) {
        self.program.signal(signal);
    }

    /// Waits for the end of the server.
    pub(super) fn wait(&mut self) -> Output {
        let output = self.program.wait(SOON).expect("the server ends");
        // Also what came last is looked at.
        self.messages();
        output
    }

    /// How long the server takes to end.
    pub(super) fn ends_after(&mut self) -> std::time::Duration {
        let began = Instant::now();
        self.wait();
        began.elapsed()
    }
}

/// What a rig's programs are given, with the workspace as the settings' own. Nothing here looks at a
/// screen, and one that another test has locked or frozen would be found and waited for.
pub(super) fn rig_environment(rig: &Rig) -> BTreeMap<String, String> {
    let mut environment = rig.environment();
    environment.insert("OPENSPACE_BACKEND_SCOPE".into(), "shell".into());
    let workspace = rig.home.workspace().display().to_string();
    environment.insert("OPENSPACE_WORKSPACE".into(), workspace);
    environment
}
