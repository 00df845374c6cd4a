//! Registering with agent programs from a page: shown first, then made, exactly as shown.

mod connected;
mod custom;
mod skills;
mod waiting;

use std::{fs, path::PathBuf};

use super::{Rig, Script, Served, Turn, Value, json};
use crate::hosts::backups;

/// A server with agent programs' files in its home.
struct Desk {
    served: Served,
}

impl Desk {
    fn new(files: &[(&str, &str)]) -> Self {
        let rig = Rig::headless(Script::decide(|_| Turn::done("not asked")));
        let desk = Self {
            served: Served::start(rig),
        };
        for (name, text) in files {
            let path = desk.path(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(&path, text).expect("a file");
        }
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.served.rig.home.home().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    fn host(&self, id: &str) -> Value {
        let list = self.served.call("hosts_list", json!({}));
        let hosts = list["hosts"].as_array().expect("hosts");
        let found = hosts.iter().find(|host| host["host"] == id);
        found.expect(id).clone()
    }

    fn preview(&self, request: &Value) -> Value {
        self.served.call("host_preview", request.clone())
    }

    /// Shows a change and makes it.
    fn make(&self, request: &Value) -> Value {
        let fingerprint = self.preview(request)["fingerprint"].clone();
        let applied = self.apply(request, &fingerprint).expect("applied");
        assert_eq!(applied["made"], true, "{applied}");
        applied["preview"].clone()
    }

    fn apply(&self, request: &Value, fingerprint: &Value) -> Result<Value, Value> {
        let request = json!({ "request": request, "fingerprint": fingerprint });
        self.served.client.call("host_change", request)
    }

    fn refused(&self, name: &str, request: &Value) -> Value {
        let call = self.served.client.call(name, request.clone());
        call.expect_err("refused")
    }
}

fn change(host: &str, change: &str) -> Value {
    json!({ "place": { "host": host }, "change": change })
}

/// A line of a preview with this text.
fn row<'a>(preview: &'a Value, text: &str) -> &'a Value {
    let lines = preview["diff"].as_array().expect("lines");
    let found = lines
        .iter()
        .find(|line| line["text"].as_str().is_some_and(|it| it.contains(text)));
    found.unwrap_or_else(|| panic!("{text}: {preview}"))
}

const CODEX: &str = ".codex/config.toml";
const CURSOR: &str = ".cursor/mcp.json";
const TOML: &str = "# mine\nmodel = \"x\"\n\n[mcp_servers.other]\ncommand = \"y\" # why\n";
const JSON: &str = "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"y\", \"env\": { \"MY_API_KEY\": \"sk-very-secret\" } }\n  }\n}\n";

/// In two formats: what is shown is what is written, a copy is kept, the entry works as the host
/// would start it, and it goes without a trace.
#[test]
fn what_is_shown_is_made() {
    for (host, name, before, line) in [
        ("codex", CODEX, TOML, "[mcp_servers.openspace]"),
        ("cursor", CURSOR, JSON, "\"openspace\": {"),
    ] {
        let desk = Desk::new(&[(name, before)]);
        assert_eq!(desk.host(host)["state"], "not_registered");
        let shown = desk.preview(&change(host, "register"));
        assert_eq!(shown["effect"], "add");
        assert_eq!(shown["otherServers"], 1);
        assert_eq!(row(&shown, line)["row"], "added");
        assert!(row(&shown, line)["old"].is_null(), "{shown}");
        assert!(!shown.to_string().contains("sk-very-secret"), "{shown}");
        assert_eq!(desk.read(name), before, "showing writes nothing");
        assert!(backups(&desk.path(name)).is_empty());

        let made = desk.make(&change(host, "register"));
        let copies = backups(&desk.path(name));
        assert_eq!(made["backup"], json!(copies[0]));
        assert_eq!(fs::read_to_string(&copies[0]).expect("a copy"), before);
        assert!(desk.read(name).contains(line), "{}", desk.read(name));
        let now = desk.host(host);
        assert_eq!(now["state"], "registered");
        assert!(now["undoable"].is_i64(), "{now}");

        let seen = desk.served.call("host_verify", json!({ "host": host }));
        let tools = seen["tools"].as_array().expect("tools");
        assert!(tools.contains(&json!("execute_task")), "{seen}");
        assert_eq!(seen["called"], "task_status");
        assert_eq!(seen["noise"], json!([]));

        let going = desk.make(&change(host, "unregister"));
        assert_eq!(row(&going, line)["row"], "removed");
        assert_eq!(desk.read(name), before);
        // And back, and back again.
        desk.make(&change(host, "undo"));
        assert_eq!(desk.host(host)["state"], "registered");
        desk.make(&change(host, "unregister"));
        assert_eq!(desk.read(name), before);
        desk.served.finish();
    }
}

/// A file that another program changed after it was shown is not written: what would be written now
/// comes instead, and that can be made.
#[test]
fn a_file_changed_meanwhile_is_shown_again() {
    let desk = Desk::new(&[(CODEX, TOML)]);
    let request = change("codex", "register");
    let shown = desk.preview(&request);
    let theirs = format!("{TOML}\n[mcp_servers.late]\ncommand = \"z\"\n");
    fs::write(desk.path(CODEX), &theirs).expect("changed by the host");
    let answer = desk
        .apply(&request, &shown["fingerprint"])
        .expect("answered");
    assert_eq!(answer["made"], false);
    assert_eq!(answer["preview"]["otherServers"], 2);
    assert_ne!(answer["preview"]["fingerprint"], shown["fingerprint"]);
    assert_eq!(desk.read(CODEX), theirs);
    assert!(backups(&desk.path(CODEX)).is_empty());
    let again = desk
        .apply(&request, &answer["preview"]["fingerprint"])
        .expect("answered");
    assert_eq!(again["made"], true);
    assert!(desk.read(CODEX).starts_with(&theirs));

    // The same with what was shown for something else.
    let other = desk
        .apply(&change("codex", "unregister"), &shown["fingerprint"])
        .expect("answered");
    assert_eq!(other["made"], false);
    assert_eq!(desk.host("codex")["state"], "registered");
    desk.served.finish();
}

/// An entry of our name that is not ours is shown and left alone; only when a person says so it goes
/// as a whole, and comes back as it was.
#[test]
fn another_entry_is_a_question() {
    let before = "{\"mcpServers\": {\"openspace\": {\"command\": \"npx\", \"env\": {\"OPENSPACE_API_KEY\": \"sk-very-secret\"}}}}";
    let desk = Desk::new(&[(CURSOR, before)]);
    for what in ["register", "unregister"] {
        let refused = desk.refused("host_preview", &change("cursor", what));
        assert_eq!(refused["params"]["reason"], "different", "{refused}");
        let entry = refused["params"]["entry"].as_str().expect("the entry");
        assert!(entry.contains("npx"), "{refused}");
        assert!(!refused.to_string().contains("sk-very-secret"), "{refused}");
        let forged = json!({ "request": change("cursor", what), "fingerprint": "x" });
        let refused = desk.refused("host_change", &forged);
        assert_eq!(refused["params"]["reason"], "different", "{refused}");
        assert_eq!(desk.read(CURSOR), before);
    }
    let mut forced = change("cursor", "register");
    forced["force"] = json!(true);
    let made = desk.make(&forced);
    assert_eq!(made["effect"], "replace");
    assert!(!made.to_string().contains("sk-very-secret"), "{made}");
    let written: Value = serde_json::from_str(&desk.read(CURSOR)).expect("JSON");
    let entry = &written["mcpServers"]["openspace"];
    assert_eq!(entry["args"], json!(["mcp"]));
    assert!(entry["env"]["OPENSPACE_API_KEY"].is_null(), "{entry}");
    desk.make(&change("cursor", "undo"));
    assert_eq!(desk.read(CURSOR), before);
    desk.served.finish();
}

/// A file that cannot be used is left alone, and the entry comes to be pasted by hand.
#[test]
fn a_file_that_cannot_be_used_gives_the_entry() {
    let broken = "{ \"mcpServers\": ";
    let desk = Desk::new(&[(CURSOR, broken), (CODEX, TOML)]);
    let host = desk.host("cursor");
    assert_eq!(host["state"], "unusable");
    assert_eq!(host["problem"]["params"]["reason"], "unparsable");
    let mut permissions = fs::metadata(desk.path(CODEX))
        .expect("a file")
        .permissions();
    permissions.set_readonly(true);
    fs::set_permissions(desk.path(CODEX), permissions).expect("protected");
    for (id, reason, part) in [
        ("cursor", "unparsable", "\"openspace\""),
        ("codex", "read_only", "[mcp_servers.openspace]"),
    ] {
        let refused = desk.refused("host_preview", &change(id, "register"));
        assert_eq!(refused["params"]["reason"], reason, "{refused}");
        let snippet = refused["params"]["snippet"].as_str().expect("the entry");
        assert!(snippet.contains(part), "{snippet}");
    }
    assert_eq!(desk.read(CURSOR), broken);
    assert_eq!(desk.read(CODEX), TOML);
    desk.served.finish();
}

/// A project's file is reached by its folder and known from then on; no other file can be named.
#[test]
fn only_files_of_hosts_are_written() {
    let desk = Desk::new(&[(CODEX, TOML), ("notes.toml", "mine = 1\n")]);
    let notes = desk.path("notes.toml");
    let place = json!({ "host": "codex", "file": notes });
    let request = json!({ "place": place, "change": "register" });
    for (name, request) in [
        ("host_preview", request.clone()),
        (
            "host_change",
            json!({ "request": request, "fingerprint": "x" }),
        ),
        ("host_verify", place.clone()),
        ("host_detail", place),
        (
            "host_preview",
            json!({ "place": { "host": "codex", "project": "work" }, "change": "register" }),
        ),
        ("host_preview", change("nobody", "register")),
    ] {
        let refused = desk.refused(name, &request);
        let code = refused["code"].as_str().expect("a code");
        assert!(
            ["invalid_request", "not_found"].contains(&code),
            "{name}: {refused}"
        );
    }
    assert_eq!(desk.read("notes.toml"), "mine = 1\n");

    fs::create_dir(desk.path("work")).expect("a project");
    let project =
        json!({ "place": { "host": "codex", "project": "~/work" }, "change": "register" });
    let made = desk.make(&project);
    let file = desk.path("work/.codex/config.toml");
    assert_eq!(made["file"], json!(file));
    assert_eq!(made["newFile"], true);
    let list = desk.served.call("hosts_list", json!({}));
    assert_eq!(list["others"][0]["file"], json!(file));
    assert_eq!(list["others"][0]["state"], "registered");
    assert_eq!(desk.host("codex")["state"], "not_registered");
    let known = json!({ "place": { "host": "codex", "file": file }, "change": "unregister" });
    assert_eq!(desk.make(&known)["removesFile"], true);
    assert!(!file.exists());
    let back = json!({ "place": { "host": "codex", "file": file }, "change": "undo" });
    desk.make(&back);
    assert!(file.exists(), "what was taken out can still be put back");
    assert_eq!(desk.make(&known)["removesFile"], true);
    desk.served.finish();
}

/// Every open page hears of a change, and what a page asks for is of the known kinds.
#[test]
fn other_pages_are_told() {
    let desk = Desk::new(&[(CODEX, TOML)]);
    let cursor = desk.served.call("app_state", json!({}))["cursor"]
        .as_i64()
        .expect("a position");
    desk.make(&change("codex", "register"));
    let events = desk.served.client.events(cursor, |events| {
        events.iter().any(|event| event["kind"] == "hosts.changed")
    });
    let told = events.iter().find(|event| event["topic"] == "hosts");
    assert_eq!(told.expect("told")["key"], "codex");
    assert_eq!(
        desk.refused("host_preview", &change("codex", "merge"))["code"],
        "invalid_request"
    );
    desk.served.finish();
}
