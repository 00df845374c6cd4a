//! A host's server lives for days: what the person changes meanwhile counts from the next call on.

use openspace_testkit::{
    model::{Call, Script, SeenRequest, Turn},
    wait::poll,
};
use serde_json::{Value, json};

use super::{Host, Rig, SOON, end_runners};

/// A rig with a host that has begun a conversation, and can put questions to the person.
struct Connected {
    rig: Rig,
    host: Host,
}

impl Connected {
    fn start(script: Script) -> Self {
        let rig = Rig::headless(script);
        let mut host = Host::start(&rig, &[]);
        host.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "elicitation": {} },
                "clientInfo": { "name": "test-host", "version": "1" },
            }),
        );
        host.tell("notifications/initialized", Value::Null);
        Self { rig, host }
    }

    fn task(&mut self, task: &str) -> Value {
        let arguments = json!({ "task": task, "wait_seconds": 60, "max_iterations": 1_000 });
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

/// What a person does in another terminal.
fn set(rig: &Rig, key: &str, value: &str) {
    let output = rig.openspace(&["config", "set", key, value]).run();
    let output = output.expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
}

/// The processes that execute runs.
fn runners(rig: &Rig) -> Vec<u32> {
    let processes = rig.processes().into_iter();
    processes
        .filter(|it| it.command.ends_with(" runner"))
        .map(|it| it.id)
        .collect()
}

/// A limit, and a prohibition, set while server and runner live: the next task keeps both.
#[test]
fn a_changed_setting_counts_for_the_next_task() {
    let mut test = Connected::start(Script::decide(|seen: &SeenRequest| {
        if seen.person().contains("for ever") || seen.turns() == 0 {
            Turn::shell("echo words")
        } else {
            Turn::done("Said.")
        }
    }));
    let before = test.task("say it");
    assert_eq!(before["status"], "success", "{before}");
    assert_eq!(before["tool_summary"][0]["status"], "success", "{before}");
    let runner = runners(&test.rig);
    assert_eq!(runner.len(), 1, "{runner:?}");

    set(&test.rig, "run.max_steps", "3");
    set(&test.rig, "policy.deny", r#"["command:echo"]"#);
    let after = test.task("say it for ever");
    assert_eq!(after["status"], "incomplete", "{after}");
    assert_eq!(after["iterations"], 3, "{after}");
    let notes = after["notes"].to_string();
    assert!(notes.contains("limit of 3 steps"), "{notes}");
    assert_eq!(after["tool_summary"][0]["status"], "error", "{after}");
    assert_eq!(runners(&test.rig), runner, "the same process worked");
    test.finish();
}

/// Settings that cannot be read are told where the task is handed over; nothing is queued for a
/// runner that could not start, and mending the file is enough.
#[test]
fn wrong_settings_are_told_until_they_are_mended() {
    let mut test = Connected::start(Script::decide(|_: &SeenRequest| Turn::done("Done.")));
    let told = test.rig.openspace(&["config", "path"]).run();
    let told = told.expect("it ends").stdout;
    let file = told
        .lines()
        .next()
        .and_then(|it| it.strip_prefix("settings"));
    let file = file.expect("the settings' place").trim().to_owned();
    let first = test.task("work");
    assert_eq!(first["status"], "success", "{first}");
    std::fs::write(&file, "[run]\nmax_steps = \"many\"\n").expect("written");
    let wrong = test.task("work again");
    assert_eq!(wrong["code"], "configuration", "{wrong}");
    let said = wrong["error"].as_str().expect("words");
    assert!(said.contains("max_steps"), "{said}");
    std::fs::remove_file(&file).expect("mended");
    let mended = test.task("work again");
    assert_eq!(mended["status"], "success", "{mended}");
    let store = openspace_app::Store::open(&test.rig.home.data()).expect("the store");
    let runs = store
        .read_blocking(|db| db.runs().list(&openspace_app::RunFilter::default()))
        .expect("runs");
    assert_eq!(runs.len(), 2, "what was refused was never queued");
    test.finish();
}

/// Answering through a host begins, and ends, the moment the person says so; also for a question that
/// the host shows already.
#[test]
fn answering_through_a_host_is_switched_while_it_is_connected() {
    let mut test = Connected::start(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::call(Call::new(
            "write_file",
            json!({ "path": "../beside.txt", "content": "words" }),
        )),
        _ => Turn::done("That is settled."),
    }));
    let told = test.task("write it");
    assert_eq!(told["status"], "needs_approval", "it is off: {told}");

    set(&test.rig, "mcp.approve_through", r#"["test-host"]"#);
    let task = json!({ "task": "write it", "wait_seconds": 60 });
    let id = test.host.ask_tool("execute_task", &task);
    let question = poll(SOON, || {
        let mut messages = test.host.messages().into_iter();
        messages.find(|it| it["method"] == "elicitation/create")
    });
    let question = question.expect("a question");

    set(&test.rig, "mcp.approve_through", "[]");
    let yes = json!({ "action": "accept", "content": { "answer": "allow" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes });
    test.host.write(&answer.to_string());
    let result = test.host.result(id);
    assert_eq!(result["status"], "needs_approval", "{result}");
    assert!(!test.rig.home.root().join("beside.txt").exists());

    for task in [&told["task_id"], &result["task_id"]] {
        test.host.call("task_cancel", json!({ "task_id": task }));
    }
    test.finish();
}
