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
    let rig = switched_on_for(script, "Test-Host");
    let host = Host::start_in(&rig, &[], rig_environment(&rig));
    (rig, host)
}

fn switched_on_for(script: Script, name: &str) -> Rig {
    let rig = Rig::headless(script);
    let names = json!([name]).to_string();
    let set = rig
        .openspace(&["config", "set", "mcp.approve_through", &names])
        .run();
    assert_eq!(set.expect("it ends").code, Some(0));
    rig
}

fn begin(host: &mut Host, capabilities: &Value) {
    begin_as(host, "test-host", capabilities);
}

fn begin_as(host: &mut Host, name: &str, capabilities: &Value) {
    host.request(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": name, "version": "1" },
        }),
    );
    host.tell("notifications/initialized", Value::Null);
}

/// How many questions the server put to the client.
fn questions(host: &Host) -> usize {
    let messages = host.messages();
    let questions = messages
        .iter()
        .filter(|it| it["method"] == "elicitation/create");
    questions.count()
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

/// A name that clients of several hosts have switches nothing on; the entry that started the server
/// tells which host it is, whatever the client calls itself.
#[test]
fn a_host_is_known_by_its_entry_and_not_by_a_name_of_many() {
    for (switched_on, entry, client, asks) in [
        ("mcp", None, "mcp", 0),
        ("nanobot", None, "mcp", 0),
        ("nanobot", Some("nanobot"), "mcp", 1),
        ("test-host", Some("nanobot"), "test-host", 0),
    ] {
        let rig = switched_on_for(wants(harmless()), switched_on);
        let mut environment = rig_environment(&rig);
        if let Some(entry) = entry {
            environment.insert("OPENSPACE_HOST_ID".into(), entry.into());
        }
        let mut host = Host::start_in(&rig, &[], environment);
        begin_as(&mut host, client, &json!({ "elicitation": {} }));
        let arguments = json!({ "task": "write it", "wait_seconds": 20 });
        let id = host.ask_tool("execute_task", &arguments);
        let what = format!("{switched_on} {entry:?} {client}");
        if asks == 1 {
            let question = asked(&host);
            let yes = json!({ "action": "accept", "content": { "answer": "allow" } });
            let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes });
            host.write(&answer.to_string());
            assert_eq!(host.result(id)["status"], "success", "{what}");
            let by = format!("host:{}", entry.unwrap_or_default());
            assert_eq!(
                answered_by(&rig),
                [("allowed_once".to_owned(), Some(by))],
                "{what}"
            );
        } else {
            let told = host.result(id);
            assert_eq!(told["status"], "needs_approval", "{what}: {told}");
            host.call("task_cancel", json!({ "task_id": told["task_id"] }));
        }
        assert_eq!(questions(&host), asks, "{what}");
        end(host, rig);
    }
}

/// A host that was switched on answers for its own tasks, and not for those of another that it waits
/// for.
#[test]
fn nobody_answers_for_the_tasks_of_another_host() {
    let (rig, mut host) = switched_on(wants(harmless()));
    let mut other = Host::start_in(&rig, &[], rig_environment(&rig));
    begin_as(&mut other, "another-host", &json!({}));
    let arguments = json!({ "task": "write it", "wait_seconds": 60 });
    let told = other.call("execute_task", arguments);
    assert_eq!(told["status"], "needs_approval", "{told}");
    begin(&mut host, &json!({ "elicitation": {} }));
    let waited = host.call(
        "task_wait",
        json!({ "task_id": told["task_id"], "wait_seconds": 5 }),
    );
    assert_eq!(waited["status"], "needs_approval", "{waited}");
    assert_eq!(questions(&host), 0);
    other.call("task_cancel", json!({ "task_id": told["task_id"] }));
    other.close();
    other.wait();
    end(host, rig);
}

/// A call that returned while the person still reads leaves the question open; the next call waits for
/// that one instead of asking again.
#[test]
fn a_question_that_is_still_open_is_not_put_again() {
    let (rig, mut host) = switched_on(wants(harmless()));
    begin(&mut host, &json!({ "elicitation": {} }));
    let id = host.ask_tool(
        "execute_task",
        &json!({ "task": "write it", "wait_seconds": 8 }),
    );
    let question = asked(&host);
    let told = host.result(id);
    assert_eq!(told["status"], "needs_approval", "{told}");
    let task = &told["task_id"];
    let short = json!({ "task_id": task, "wait_seconds": 2 });
    assert_eq!(host.call("task_wait", short)["status"], "needs_approval");
    let id = host.ask_tool("task_wait", &json!({ "task_id": task, "wait_seconds": 60 }));
    let yes = json!({ "action": "accept", "content": { "answer": "allow" } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes });
    host.write(&answer.to_string());
    assert_eq!(host.result(id)["status"], "success");
    assert_eq!(questions(&host), 1);
    end(host, rig);
}
