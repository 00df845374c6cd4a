//! Agents that a person names, and what `openspace doctor` says of hosts.

use std::fs;

use openspace_testkit::cli::{Output, Program};
use serde_json::{Value, json};

use super::{Desk, lines};

const FILE: &str = ".mine/conf.toml";
const TOML: &str = "# mine\n[tools.servers.other]\ncommand = \"y\"\n";

/// What `openspace doctor` says of hosts.
fn checks(desk: &Desk) -> Vec<Value> {
    let output: Output = Program::new(env!("CARGO_BIN_EXE_openspace"))
        .args(["doctor", "--json"])
        .environment(desk.home.environment())
        .folder(desk.home.workspace())
        .limit(crate::rig::LIMIT)
        .run()
        .expect("the program runs");
    let told = serde_json::from_str::<Value>(&output.stdout);
    let told = match told {
        Ok(Value::Array(checks)) => checks,
        Ok(other) => other["checks"].as_array().cloned().unwrap_or_default(),
        Err(_) => lines(&output.stdout),
    };
    let hosts: Vec<_> = told.into_iter().filter(|it| it["id"] == "hosts").collect();
    assert!(!hosts.is_empty(), "{output:?}");
    hosts
}

/// One command makes a host of it, another registers, and a third forgets it.
#[test]
fn an_agent_is_named_and_forgotten() {
    let desk = Desk::new();
    let file = desk.write(FILE, TOML);
    let path = file.display().to_string();
    let named = |more: &[&str]| {
        let mut all = vec!["add", "My Agent", "--file", &path];
        all.extend(["--format", "toml", "--key", "tools.servers"]);
        all.extend(more);
        desk.hosts(&all).run().expect("the program runs")
    };
    let added = lines(&named(&["--json"]).stdout).remove(0);
    assert_eq!(added["host"], "custom-my-agent", "{added}");
    assert_eq!(added["custom"], true);
    let again = named(&[]);
    assert_eq!(again.code, Some(2), "{again:?}");
    assert!(again.stderr.contains("name of another host"), "{again:?}");
    assert_eq!(desk.state("custom-my-agent"), "not_registered");

    desk.run(&["register", "custom-my-agent"], 0);
    let text = fs::read_to_string(&file).expect("a file");
    assert!(text.contains("[tools.servers.openspace]"), "{text}");
    assert!(
        text.contains("OPENSPACE_HOST_ID = \"custom-my-agent\""),
        "{text}"
    );
    desk.run(&["verify", "custom-my-agent"], 0);
    let refused = desk.run(&["remove", "custom-my-agent"], 1);
    assert!(
        refused.stderr.contains("unregister custom-my-agent"),
        "{refused:?}"
    );
    desk.run(&["unregister", "custom-my-agent"], 0);
    assert_eq!(fs::read_to_string(&file).expect("a file"), TOML);
    let removed = lines(&desk.run(&["remove", "custom-my-agent", "--json"], 0).stdout).remove(0);
    assert_eq!(
        removed,
        json!({ "host": "custom-my-agent", "removed": true })
    );
    desk.run(&["show", "custom-my-agent"], 2);
    desk.end_runners();
    desk.finish();
}

/// What is wrong with an entry that we wrote is warned of with the way to mend it; what others call
/// openspace, and files of hosts that never knew us, are not.
#[test]
fn doctor_warns_of_entries_that_drifted() {
    let desk = Desk::new();
    let health = |checks: &[Value]| -> Vec<String> {
        let words = checks.iter();
        words
            .map(|it| it["health"].as_str().expect("a word").to_owned())
            .collect()
    };
    assert_eq!(health(&checks(&desk)), ["off"]);
    desk.write(".kiro/settings/mcp.json", "{ oops");
    desk.write(
        ".gemini/settings.json",
        "{\"mcpServers\": {\"openspace\": {\"command\": \"npx\"}}}",
    );
    let files = [
        ".codex/config.toml",
        ".cursor/mcp.json",
        ".copilot/mcp-config.json",
    ];
    for file in files {
        desk.write(file, "");
    }
    desk.run(&["register", "codex", "cursor", "copilot"], 0);
    let good = checks(&desk);
    assert_eq!(health(&good), ["ok"], "{good:?}");
    assert!(
        good[0]["found"]
            .as_str()
            .is_some_and(|it| it.starts_with("3 registered")),
        "{good:?}"
    );

    desk.write(".codex/config.toml", "oops = = 1\n");
    desk.write(
        ".cursor/mcp.json",
        "{\"mcpServers\": {\"openspace\": {\"command\": \"npx\"}}}",
    );
    desk.write(".copilot/mcp-config.json", "{\"mcpServers\": {}}");
    let wrong = checks(&desk);
    let keys: Vec<_> = wrong.iter().map(|it| it["keys"][0].clone()).collect();
    assert_eq!(
        keys,
        [
            "check.hosts.unusable",
            "check.hosts.different",
            "check.hosts.removed"
        ],
        "{wrong:?}"
    );
    assert_eq!(health(&wrong), ["warning"; 3]);
    for (check, host) in wrong.iter().zip(["codex", "cursor", "copilot"]) {
        assert_eq!(check["host"], json!({ "host": host }), "{check}");
        assert!(check["fix"].is_string(), "{check}");
    }
    desk.end_runners();
    desk.finish();
}
