//! When hosts were here last, and as what.

use openspace_testkit::wait::poll;

use super::{super::SOON, CODEX, CURSOR, Desk, JSON, TOML, Value, change, json};

/// A host that starts the server as its entry says, shakes hands, and goes again.
fn connect(desk: &Desk, entry: Option<&str>, client: &str, version: &str) {
    let mut program = desk.served.rig.openspace(&["mcp"]);
    if let Some(entry) = entry {
        program = program.env("OPENSPACE_HOST_ID", entry);
    }
    let mut server = program.start().expect("the server starts");
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": client, "version": version },
        },
    });
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" });
    for message in [hello, ready, list] {
        server.send(&format!("{message}\n")).expect("written");
    }
    server
        .wait_for("execute_task", SOON)
        .expect("the tools are listed");
    server.close_input();
    let ended = server.wait(SOON).expect("it ends");
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

fn connected(desk: &Desk, host: &str) -> Value {
    desk.host(host)["connected"].clone()
}

/// The entry tells whose it is, whatever the client calls itself; a test of ours is no host; every
/// open page hears of it.
#[test]
fn a_host_that_connects_is_told() {
    let desk = Desk::new(&[(CODEX, TOML), (CURSOR, JSON)]);
    desk.make(&change("codex", "register"));
    assert!(desk.read(CODEX).contains("OPENSPACE_HOST_ID = \"codex\""));
    desk.served.call("host_verify", json!({ "host": "codex" }));
    assert!(connected(&desk, "codex").is_null());
    let cursor = desk.served.call("app_state", json!({}))["cursor"]
        .as_i64()
        .expect("a position");

    connect(&desk, Some("codex"), "mcp", "1.2");
    let client = connected(&desk, "codex");
    assert_eq!(client["name"], "mcp", "{client}");
    assert_eq!(client["version"], "1.2");
    assert_eq!(client["protocol"], "2025-06-18");
    assert!(client["at"].as_i64().is_some_and(|at| at > 0), "{client}");
    let events = desk.served.client.events(cursor, |events| {
        events
            .iter()
            .any(|event| event["kind"] == "hosts.connected")
    });
    let told = events
        .iter()
        .find(|event| event["kind"] == "hosts.connected");
    assert_eq!(told.expect("told")["key"], "codex");

    // Where no entry says anything, a name does that no other host has.
    connect(&desk, None, "cursor-vscode", "9");
    assert_eq!(connected(&desk, "cursor")["name"], "cursor-vscode");
    assert_eq!(connected(&desk, "codex")["name"], "mcp");
    desk.served.finish();
}

/// What belongs to no host is told apart, and nothing that it says of itself passes for anything else.
#[test]
fn others_that_connect_are_told_apart() {
    let desk = Desk::new(&[]);
    let name = format!("a\u{202e}\u{1b}[31m<b>{}", "x".repeat(5_000));
    connect(&desk, Some("nobody-at-all"), &name, &"9".repeat(500));
    let list = desk.served.call("hosts_list", json!({}));
    let [stranger] = list["strangers"].as_array().expect("strangers").as_slice() else {
        panic!("{list}");
    };
    let shown = stranger["name"].as_str().expect("a name");
    assert!(shown.starts_with("a31mbx"), "{shown}");
    assert_eq!(shown.len(), 60);
    assert_eq!(stranger["version"].as_str().map(str::len), Some(30));
    desk.served.finish();
}

/// Nobody who came out of a run passes for a host.
#[test]
fn a_run_is_no_host() {
    let desk = Desk::new(&[]);
    let mut server = desk
        .served
        .rig
        .openspace(&["mcp"])
        .env("OPENSPACE_RUN_ID", "r-1")
        .env("OPENSPACE_HOST_ID", "codex")
        .start()
        .expect("the server starts");
    let hello = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "codex-mcp-client", "version": "1" },
        },
    });
    server.send(&format!("{hello}\n")).expect("written");
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    server.send(&format!("{ready}\n")).expect("written");
    let _answered = poll(SOON, || {
        server.stdout().contains("serverInfo").then_some(())
    });
    server.close_input();
    server.wait(SOON).expect("it ends");
    assert!(connected(&desk, "codex").is_null());
    desk.served.finish();
}
