//! The windows' calls over loopback HTTP: who is let in, and that a page sees what happens.

use std::time::Duration;

use openspace_testkit::{
    model::{Script, SeenRequest, Turn},
    screen::Options,
    wait::poll,
};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig::Rig;

mod client;
mod door;
mod edits;
mod hosts;
mod runs;

use client::{Client, Reply};

/// Longest a test waits for something that should come soon.
const SOON: Duration = Duration::from_secs(60);

/// A rig with the server running in it.
struct Served {
    rig: Rig,
    serving: openspace_testkit::cli::Running,
    client: Client,
}

impl Served {
    fn start(rig: Rig) -> Self {
        let pages = rig.home.root().join("pages");
        std::fs::create_dir(&pages).expect("a folder for pages");
        std::fs::write(pages.join("index.html"), "<title>pages</title>").expect("written");
        let (serving, client) = serve(&rig);
        Self {
            rig,
            serving,
            client,
        }
    }

    fn headless(script: impl Into<Script>) -> Self {
        Self::start(Rig::headless(script))
    }

    fn on_screen(script: impl Into<Script>) -> Self {
        Self::start(Rig::with_screen(Options::default(), script))
    }

    /// Ends the server and starts it anew on another port.
    fn restart(&mut self, signal: Signal) {
        self.serving.signal(signal);
        self.serving.wait(SOON).expect("it ends");
        (self.serving, self.client) = serve(&self.rig);
    }

    /// A call that must succeed.
    fn call(&self, name: &str, request: Value) -> Value {
        self.client.call(name, request).expect("the call succeeds")
    }

    /// Starts a run and waits until it has this status.
    fn run_until(&self, task: &str, status: &str) -> String {
        let run = self.start_run(task);
        self.wait_status(&run, status);
        run
    }

    fn start_run(&self, task: &str) -> String {
        let workspace = self.rig.home.workspace();
        let started = self.call(
            "run_start",
            json!({ "task": task, "workspace": workspace, "allow": ["gui:*"], "attachments": [] }),
        );
        started["run"].as_str().expect("an id").to_owned()
    }

    fn status(&self, run: &str) -> String {
        let runs = self.call("runs_get", json!({ "runs": [run] }));
        runs["runs"][0]["status"]
            .as_str()
            .expect("a status")
            .to_owned()
    }

    fn wait_status(&self, run: &str, status: &str) {
        let reached = poll(SOON, || (self.status(run) == status).then_some(()));
        assert!(
            reached.is_some(),
            "{run} is {}, not {status}: {}",
            self.status(run),
            self.call("run_detail", json!({ "run": run }))
        );
    }

    /// The only open question, waiting for it.
    fn question(&self) -> Value {
        poll(SOON, || {
            let list = self.call("approvals_list", json!({}));
            let open = list["approvals"].as_array()?;
            (open.len() == 1).then(|| open[0].clone())
        })
        .expect("a question")
    }

    fn finish(mut self) {
        self.serving.signal(Signal::TERM);
        let output = self.serving.wait(SOON).expect("it ends");
        assert_eq!(output.code, Some(0), "{output:?}");
        // A runner stays a moment for the next task of a conversation.
        let ours = || {
            let mut all = self.rig.processes();
            all.retain(|process| process.command.contains("openspace "));
            all
        };
        let gone = poll(SOON, || ours().is_empty().then_some(()));
        assert!(gone.is_some(), "{:?}", ours());
        self.rig.finish();
    }
}

fn serve(rig: &Rig) -> (openspace_testkit::cli::Running, Client) {
    let folder = rig.home.root().join("pages").display().to_string();
    // Programs that a test gives the person are found before those of the machine.
    let search = rig.environment().remove("PATH").unwrap_or_default();
    let search = format!("{}:{search}", rig.home.home().join("bin").display());
    let mut serving = rig
        .openspace(&["serve", "--json", "--ui", &folder])
        .env("PATH", search)
        .limit(Duration::from_secs(300))
        .start()
        .expect("the server starts");
    let line = serving
        .wait_for_line(SOON, |line| line.contains("\"url\""))
        .expect("the address");
    let told: Value = serde_json::from_str(&line).expect("JSON");
    let url = told["url"].as_str().expect("the address");
    (serving, Client::of(url))
}

/// Asks to delete a file, which is always asked for, and then tells what became of it.
fn deletes() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("rm old.txt"),
        _ => Turn::done("That is settled."),
    })
}
