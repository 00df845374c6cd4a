//! The tasks extension, over the same runs.

use openspace_testkit::{
    model::{Script, SeenRequest, Turn},
    wait::poll,
};
use serde_json::{Value, json};

use super::{Host, Rig, SOON, end_runners};

fn meta(extensions: &Value) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "extensions": extensions },
        "io.modelcontextprotocol/clientInfo": { "name": "test-host", "version": "1" },
    })
}

fn knows() -> Value {
    meta(&json!({ "io.modelcontextprotocol/tasks": {} }))
}

fn get(host: &mut Host, task: &Value) -> Value {
    let reply = host.request("tasks/get", json!({ "taskId": task, "_meta": knows() }));
    reply["result"].clone()
}

fn hand_over(host: &mut Host, task: &str) -> Value {
    let reply = host.request(
        "tools/call",
        json!({ "name": "execute_task", "arguments": { "task": task }, "_meta": knows() }),
    );
    let handle = reply["result"].clone();
    assert_eq!(handle["resultType"], "task", "{reply}");
    assert_eq!(handle["status"], "working", "{reply}");
    handle["taskId"].clone()
}

/// A client that knows tasks gets a handle at once, and the same result as everybody else; also from
/// another server.
#[test]
fn a_client_that_knows_tasks_gets_a_handle() {
    let rig = Rig::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("sleep 3"),
        _ => Turn::done("Worked."),
    }));
    let mut host = Host::start(&rig, &[]);
    let task = hand_over(&mut host, "work");
    let state = get(&mut host, &task);
    assert_eq!(state["status"], "working", "{state}");
    assert!(
        state["pollIntervalMs"]
            .as_u64()
            .is_some_and(|it| it >= 1_000)
    );
    assert!(
        state["createdAt"]
            .as_str()
            .is_some_and(|it| it.ends_with('Z'))
    );
    host.signal(rustix::process::Signal::KILL);
    host.wait();
    let mut host = Host::start(&rig, &[]);
    let done = poll(SOON, || {
        let state = get(&mut host, &task);
        (state["status"] == "completed").then_some(state)
    })
    .expect("it is done");
    let text = done["result"]["content"][0]["text"].as_str().expect("text");
    let told: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(
        (&told["status"], &told["response"]),
        (&json!("success"), &json!("Worked."))
    );
    assert_eq!(told["task_id"], task);
    host.close();
    host.wait();
    end_runners(&rig);
    rig.finish();
}

/// `tasks/cancel` stops the run; what a client did not declare it does not get.
#[test]
fn tasks_are_cancelled_and_only_for_who_knows_them() {
    let rig = Rig::headless(Script::decide(|_: &SeenRequest| Turn::shell("sleep 600")));
    let mut host = Host::start(&rig, &[]);
    let task = hand_over(&mut host, "work");
    let cancel = json!({ "taskId": task, "_meta": knows() });
    for _ in 0..2 {
        let reply = host.request("tasks/cancel", cancel.clone());
        assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    }
    assert_eq!(get(&mut host, &task)["status"], "cancelled");
    let unknown = json!({ "taskId": "0000000000", "_meta": knows() });
    for method in ["tasks/get", "tasks/cancel"] {
        let reply = host.request(method, unknown.clone());
        assert_eq!(reply["error"]["code"], -32_602, "{method}: {reply}");
    }
    let undeclared = json!({ "taskId": task, "_meta": meta(&json!({})) });
    let reply = host.request("tasks/get", undeclared);
    assert_eq!(reply["error"]["code"], -32_021, "{reply}");
    let reply = host.request(
        "tools/call",
        json!({
            "name": "execute_task",
            "arguments": { "task": "work", "wait_seconds": 0 },
            "_meta": meta(&json!({})),
        }),
    );
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    let other = super::client::told(&reply)["task_id"].clone();
    host.request("tasks/cancel", json!({ "taskId": other, "_meta": knows() }));
    host.close();
    host.wait();
    end_runners(&rig);
    rig.finish();
}
