//! Agents that a person names on the page.

use super::{CODEX, Desk, TOML, change, json};

const YAML: &str = "# mine\ntools:\n  servers:\n    other:\n      command: y # why\n";
const FILE: &str = ".mine/agent.yaml";

/// It is a host like the others: its entry is shown, written, tried, taken back and taken out, and it
/// is forgotten only when nothing of us is in its file.
#[test]
fn an_agent_that_was_named_is_a_host() {
    let desk = Desk::new(&[(FILE, YAML)]);
    let named = json!({
        "name": "My Agent", "file": format!("~/{FILE}"), "format": "yaml", "key": "tools.servers",
    });
    let added = desk.served.call("host_add", named.clone());
    assert_eq!(added["host"], "custom-my-agent");
    assert_eq!(desk.read(FILE), YAML, "naming writes nothing");
    let host = desk.host("custom-my-agent");
    assert_eq!(
        (&host["state"], &host["custom"]),
        (&json!("not_registered"), &json!(true))
    );
    assert_eq!(desk.host("codex")["custom"], false);

    desk.make(&change("custom-my-agent", "register"));
    assert!(
        desk.read(FILE).contains("openspace:"),
        "{}",
        desk.read(FILE)
    );
    let seen = desk
        .served
        .call("host_verify", json!({ "host": "custom-my-agent" }));
    assert_eq!(seen["called"], "task_status", "{seen}");
    let forget = json!({ "host": "custom-my-agent" });
    let refused = desk.refused("host_forget", &forget);
    assert_eq!(refused["params"]["reason"], "still_registered", "{refused}");
    desk.make(&change("custom-my-agent", "undo"));
    assert_eq!(desk.read(FILE), YAML);
    desk.make(&change("custom-my-agent", "register"));
    desk.make(&change("custom-my-agent", "unregister"));
    assert_eq!(desk.read(FILE), YAML);

    desk.served.call("host_forget", forget.clone());
    let list = desk.served.call("hosts_list", json!({})).to_string();
    assert!(!list.contains("custom-my-agent"), "{list}");
    let refused = desk.refused("host_forget", &forget);
    assert_eq!(refused["params"]["reason"], "unknown", "{refused}");
    desk.served.finish();
}

/// What makes no sense, and files that are not for entries, are refused with the reason.
#[test]
fn nonsense_is_refused_with_the_reason() {
    let broken = "{ \"servers\": ";
    let desk = Desk::new(&[(CODEX, TOML), ("broken.json", broken)]);
    let data = desk.served.rig.home.data();
    let own = data.join("none/../mine.json");
    std::os::unix::fs::symlink(&data, desk.path("own")).expect("a link");
    for (name, file, key, reason) in [
        ("", "~/x.json", "servers", "custom_name"),
        ("Cursor", "~/x.json", "servers", "custom_name"),
        ("x", "x.json", "servers", "custom_file"),
        ("x", "~/x.json", "", "custom_key"),
        ("x", "~/.cursor/mcp.json", "servers", "taken"),
        ("x", "~/broken.json", "servers", "unparsable"),
        ("x", "~/.mine", "servers", "not_a_file"),
        ("x", &own.display().to_string(), "servers", "own_file"),
        (
            "x",
            "~/.mine/none/../../own/mine.json",
            "servers",
            "own_file",
        ),
        ("x", "~/own/none.json", "servers", "own_file"),
    ] {
        std::fs::create_dir_all(desk.path(".mine")).expect("a folder");
        let request = json!({ "name": name, "file": file, "format": "json", "key": key });
        let refused = desk.refused("host_add", &request);
        assert_eq!(refused["params"]["reason"], reason, "{request}: {refused}");
    }
    assert_eq!(desk.read("broken.json"), broken);
    let refused = desk.refused("host_forget", &json!({ "host": "codex" }));
    assert_eq!(refused["params"]["reason"], "not_custom", "{refused}");
    desk.served.finish();
}
