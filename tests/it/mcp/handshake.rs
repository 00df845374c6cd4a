//! Who we are, which versions we speak, and what the list of tools looks like.

use serde_json::{Value, json};

use super::{Delegating, Host, Rig, answers};

/// Every version a host may ask for is answered with itself, anything else with our latest.
#[test]
fn d15_versions_are_negotiated_over_stdio() {
    let rig = Rig::headless(answers("done"));
    for (asked, agreed) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        // It has no handshake any more: whoever shakes hands gets the latest that has one.
        ("2026-07-28", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ] {
        let mut host = Host::start(&rig, &[]);
        let told = host.initialize(asked);
        assert_eq!(told["protocolVersion"], agreed, "{asked}");
        assert_eq!(told["serverInfo"]["name"], "openspace");
        assert!(
            told["instructions"]
                .as_str()
                .expect("words")
                .contains("execute_task")
        );
        let tools = host.request("tools/list", json!({}));
        assert_eq!(tools["result"]["tools"].as_array().expect("tools").len(), 7);
        host.close();
        assert_eq!(host.wait().code, Some(0));
    }
    rig.finish();
}

/// Since 2026-07-28 there is no handshake: each request says what it speaks.
#[test]
fn d15_requests_of_2026_need_no_handshake() {
    let rig = Rig::headless(answers("done"));
    let mut host = Host::start(&rig, &[]);
    let meta = |version: &str| {
        json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test-host", "version": "1" },
        })
    };
    let found = host.request("server/discover", json!({ "_meta": meta("2026-07-28") }));
    let versions = found["result"]["supportedVersions"]
        .as_array()
        .expect("versions");
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = host.request("tools/list", json!({ "_meta": meta("2026-07-28") }));
    assert_eq!(listed["result"]["resultType"], "complete", "{listed}");
    let refused = host.request("tools/list", json!({ "_meta": meta("2099-01-01") }));
    assert_eq!(refused["error"]["code"], -32_022, "{refused}");
    host.close();
    host.wait();
    rig.finish();
}

/// Looking at the tools opens nothing: a host that only lists them makes no database.
#[test]
fn a_host_that_only_looks_opens_nothing() {
    let rig = Rig::headless(answers("done"));
    let mut host = Host::start(&rig, &[]);
    host.initialize("2025-11-25");
    host.request("tools/list", json!({}));
    host.close();
    host.wait();
    assert!(!rig.home.data().join("openspace.db").exists());
    rig.finish();
}

/// What is missing or wrong is told in a way that a model can mend, and nothing is pretended.
#[test]
fn wrong_calls_are_answered_with_what_is_wrong() {
    let mut test = Delegating::start(answers("done"));
    let unknown = test.host.request(
        "tools/call",
        json!({ "name": "execute_tasks", "arguments": {} }),
    );
    assert_eq!(unknown["error"]["code"], -32_602, "{unknown}");
    for (tool, arguments, error) in [
        ("execute_task", json!({}), "`task` is missing"),
        (
            "execute_task",
            json!({ "task": "x", "wait_seconds": -1 }),
            "`wait_seconds` must be a whole number from 0 to 600",
        ),
        (
            "execute_task",
            json!({ "task": "x", "search_scope": "cloud" }),
            "`search_scope` must be one of: all, local",
        ),
        (
            "execute_task",
            json!({ "task": "x", "workspace_dir": "here" }),
            "`here` is no absolute path",
        ),
        (
            "task_status",
            json!({ "task_id": "0000000000" }),
            "there is no task `0000000000`",
        ),
        (
            "task_wait",
            json!({ "task_id": "../../etc" }),
            "there is no task `../../etc`",
        ),
        ("task_cancel", json!({}), "`task_id` is missing"),
        (
            "search_skills",
            json!({ "query": "x", "limit": 0 }),
            "`limit` must be a whole number from 1 to 100",
        ),
    ] {
        let answer = test.host.call(tool, arguments.clone());
        assert_eq!(answer["error"], error, "{tool} {arguments}");
        assert_eq!(answer["status"], "error");
    }
    for (tool, arguments) in [
        ("search_skills", json!({ "query": "pdf" })),
        (
            "fix_skill",
            json!({ "skill_dir": "/s", "direction": "mend it" }),
        ),
        ("upload_skill", json!({ "skill_dir": "/s" })),
    ] {
        let answer = test.host.call(tool, arguments);
        assert_eq!(answer["code"], "unavailable", "{tool}: {answer}");
        let words = answer["error"].as_str().expect("words");
        assert!(words.contains("not part of this version"), "{words}");
    }
    test.finish();
}

/// What the list holds is what hosts and their models see; it changes on purpose only.
#[test]
fn the_list_of_tools_stays_as_it_is() {
    let mut test = Delegating::start(answers("done"));
    let listed = test.host.request("tools/list", Value::Null);
    let tools = listed["result"]["tools"].as_array().expect("tools");
    let shape: Vec<_> = tools
        .iter()
        .map(|tool| {
            let properties = tool["inputSchema"]["properties"]
                .as_object()
                .expect("an object");
            let names: Vec<_> = properties.keys().map(String::as_str).collect();
            format!(
                "{}({})",
                tool["name"].as_str().expect("a name"),
                names.join(", ")
            )
        })
        .collect();
    assert_eq!(
        shape,
        [
            "execute_task(task, workspace_dir, max_iterations, skill_dirs, search_scope, wait_seconds, idempotency_key, task_id)",
            "task_wait(task_id, wait_seconds)",
            "task_status(task_id)",
            "task_cancel(task_id)",
            "search_skills(query, source, limit, auto_import)",
            "fix_skill(skill_dir, direction)",
            "upload_skill(skill_dir, visibility, origin, parent_skill_ids, tags, created_by, change_summary)",
        ]
    );
    test.finish();
}
