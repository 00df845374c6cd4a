//! Questions of runs that are put to the person through the host: only where that was switched on.

use openspace_testkit::{
    model::{Call, Script, SeenRequest, Turn},
    wait::poll,
};
use serde_json::{Value, json};

use super::{Host, Rig, SOON, end_runners, host::rig_environment};

/// Makes this call, and then tells that it is settled.
fn wants(call: Call) -> Script {
    Script::decide(move |seen: &SeenRequest| match seen.turns() {
        0 => Turn::call(call.clone()),
        _ => Turn::done("That is settled."),
    })
}

/// A file beside the workspace: asked about, and easily taken back.
fn harmless() -> Call {
    Call::new(
        "write_file",
        json!({ "path": "../beside.txt", "content": "words" }),
    )
}

fn switched_on(script: Script) -> (Rig, Host) {
    let rig = Rig::headless(script);
    let set = rig
        .openspace(&["config", "set", "mcp.approve_through", r#"["Test-Host"]"#])
        .run();
    assert_eq!(set.expect("it ends").code, Some(0));
    let host = Host::start_in(&rig, &[], rig_environment(&rig));
    (rig, host)
}

fn begin(host: &mut Host, capabilities: &Value) {
    host.request(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "test-host", "version": "1" },
        }),
    );
    host.tell("notifications/initialized", Value::Null);
}

/// The server's question to the client.
fn asked(host: &Host) -> Value {
    poll(SOON, || {
        let messages = host.messages();
        messages
            .into_iter()
            .rfind(|it| it["method"] == "elicitation/create")
    })
    .expect("a question")
}

fn end(mut host: Host, rig: Rig) {
    host.close();
    host.wait();
    end_runners(&rig);
    rig.finish();
}

fn answered_by(rig: &Rig) -> Vec<(String, Option<String>)> {
    let store = openspace_app::Store::open(&rig.home.data()).expect("the store");
    let all = store
        .read_blocking(|db| db.approvals().recent(10))
        .expect("questions");
    all.into_iter()
        .map(|it| (it.state.to_string(), it.answered_by))
        .collect()
}

/// In the middle of a call, as protocols with a handshake have it: a yes counts, once, as the host's.
#[test]
fn a_harmless_question_is_answered_through_a_host_that_was_switched_on() {
    for (content, state) in [
        (
            json!({ "action": "accept", "content": { "answer": "allow" } }),
            "allowed_once",
        ),
        (json!({ "action": "decline" }), "denied"),
    ] {
        let (rig, mut host) = switched_on(wants(harmless()));
        begin(&mut host, &json!({ "elicitation": {} }));
        let id = host.ask_tool(
            "execute_task",
            &json!({ "task": "write it", "wait_seconds": 60 }),
        );
        let question = asked(&host);
        let message = question["params"]["message"].as_str().expect("words");
        assert!(message.contains("beside.txt"), "{message}");
        let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": content });
        host.write(&answer.to_string());
        let result = host.result(id);
        assert_eq!(result["status"], "success", "{result}");
        assert_eq!(
            answered_by(&rig),
            [(state.to_owned(), Some("host:test-host".to_owned()))]
        );
        let written = rig.home.root().join("beside.txt").exists();
        assert_eq!(written, state == "allowed_once");
        end(host, rig);
    }
}

/// The newest protocol has the client call again with the answer.
#[test]
fn the_newest_protocol_is_asked_by_calling_again() {
    let (rig, mut host) = switched_on(wants(harmless()));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        "io.modelcontextprotocol/clientInfo": { "name": "test-host", "version": "1" },
    });
    let mut params = json!({
        "name": "execute_task",
        "arguments": { "task": "write it", "wait_seconds": 60 },
        "_meta": meta,
    });
    let reply = host.request("tools/call", params.clone());
    let result = &reply["result"];
    assert_eq!(result["resultType"], "input_required", "{reply}");
    let requests = result["inputRequests"].as_object().expect("requests");
    let (key, request) = requests.iter().next().expect("one");
    assert_eq!(request["method"], "elicitation/create");
    params["requestState"] = result["requestState"].clone();
    params["inputResponses"] =
        json!({ key: { "action": "accept", "content": { "answer": "allow" } }, "other": {} });
    let reply = host.request("tools/call", params);
    let told = super::client::told(&reply);
    assert_eq!(told["status"], "success", "{reply}");
    assert_eq!(
        answered_by(&rig),
        [("allowed_once".to_owned(), Some("host:test-host".to_owned()))]
    );
    end(host, rig);
}

/// What is risky, a client that cannot ask, and a host that was not switched on: the person is asked
/// where they always are.
#[test]
fn everything_else_is_asked_in_our_own_window() {
    let (rig, mut host) = switched_on(wants(Call::shell("rm old.txt")));
    std::fs::write(rig.home.workspace().join("old.txt"), "old").expect("written");
    begin(&mut host, &json!({ "elicitation": {} }));
    let told = host.call(
        "execute_task",
        json!({ "task": "delete", "wait_seconds": 60 }),
    );
    assert_eq!(told["status"], "needs_approval", "{told}");
    let never = host
        .messages()
        .iter()
        .all(|it| it["method"] != "elicitation/create");
    assert!(never, "what cannot be undone is not asked there");
    host.call("task_cancel", json!({ "task_id": told["task_id"] }));
    end(host, rig);

    let (rig, mut host) = switched_on(wants(harmless()));
    begin(&mut host, &json!({}));
    let told = host.call(
        "execute_task",
        json!({ "task": "write it", "wait_seconds": 60 }),
    );
    assert_eq!(told["status"], "needs_approval", "{told}");
    host.call("task_cancel", json!({ "task_id": told["task_id"] }));
    end(host, rig);

    let rig = Rig::headless(wants(harmless()));
    let mut host = Host::start(&rig, &[]);
    begin(&mut host, &json!({ "elicitation": {} }));
    let told = host.call(
        "execute_task",
        json!({ "task": "write it", "wait_seconds": 60 }),
    );
    assert_eq!(told["status"], "needs_approval", "{told}");
    let never = host
        .messages()
        .iter()
        .all(|it| it["method"] != "elicitation/create");
    assert!(never, "nobody switched it on");
    host.call("task_cancel", json!({ "task_id": told["task_id"] }));
    end(host, rig);
}
