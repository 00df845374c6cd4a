//! The MCP server as hosts use it: the real program, spoken to in bytes.

mod asking;
pub(crate) mod client;
mod ending;
mod folders;
mod handing_over;
mod handshake;
mod host;
pub(crate) mod http;
mod purity;
mod settings;
mod tasks;

use std::time::Duration;

use openspace_testkit::model::{Script, SeenRequest, Turn};
use serde_json::{Value, json};

use crate::rig::Rig;
use host::Host;

/// Longest a test waits for something that should come soon.
const SOON: Duration = Duration::from_secs(60);

/// A rig with a host that has begun a conversation.
struct Delegating {
    rig: Rig,
    host: Host,
}

impl Delegating {
    fn start(script: impl Into<Script>) -> Self {
        let rig = Rig::headless(script);
        let mut host = Host::start(&rig, &[]);
        host.initialize("2025-11-25");
        Self { rig, host }
    }

    /// A task in the rig's workspace, which is the settings' own, so that nobody is asked about it.
    fn task(&mut self, task: &str, more: Value) -> Value {
        let mut arguments = json!({ "task": task });
        merge(&mut arguments, more);
        self.host.call("execute_task", arguments)
    }

    fn finish(mut self) {
        self.host.close();
        let output = self.host.wait();
        assert_eq!(output.code, Some(0), "{output:?}");
        end_runners(&self.rig);
        self.rig.finish();
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "tests write json!() in place"
)]
fn merge(into: &mut Value, more: Value) {
    if let (Some(into), Some(more)) = (into.as_object_mut(), more.as_object()) {
        into.extend(more.clone());
    }
}

/// A runner stays for the next task; a test is in a hurry.
fn end_runners(rig: &Rig) {
    for process in rig.processes() {
        if process.command.ends_with(" runner") {
            let id = process.id.cast_signed();
            let id = rustix::process::Pid::from_raw(id).expect("a process id");
            let _gone = rustix::process::kill_process(id, rustix::process::Signal::TERM);
        }
    }
}

/// Says something and ends.
fn answers(text: &'static str) -> Script {
    Script::decide(move |_: &SeenRequest| Turn::done(text))
}
