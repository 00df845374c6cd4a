use std::fs;

use serde_json::json;

use super::{Desk, backups, lines};

/// What is on the machine is listed, with its file; the rest is only named.
#[test]
fn hosts_are_listed() {
    let desk = Desk::new();
    let empty = desk.run(&["list"], 0);
    assert!(
        empty.stdout.starts_with("No agent program was found"),
        "{empty:?}"
    );
    assert!(
        empty.stdout.contains("Not found: claude-code, "),
        "{empty:?}"
    );
    desk.write(".cursor/mcp.json", "{\"mcpServers\": {\"openspace\": {\"command\": \"openspace-mcp\", \"env\": {\"OPENSPACE_API_KEY\": \"sk-very-secret\"}}}}");
    desk.write(".codex/config.toml", "");
    desk.write(".kiro/settings/mcp.json", "{ oops");
    let listed = desk.run(&["list"], 0);
    for said in [
        "codex            found, not registered",
        "cursor           has another entry named openspace",
        "kiro             its file cannot be used",
        "mcp.json:1:3",
    ] {
        assert!(listed.stdout.contains(said), "{said}: {}", listed.stdout);
    }
    assert!(
        !listed.stdout.contains("sk-very-secret"),
        "{}",
        listed.stdout
    );
    let told = lines(&desk.run(&["list", "--json"], 0).stdout);
    let states: Vec<_> = told
        .iter()
        .map(|line| (line["host"].as_str(), line["state"].as_str()))
        .collect();
    assert_eq!(
        states,
        [
            (Some("codex"), Some("not_registered")),
            (Some("cursor"), Some("different")),
            (Some("kiro"), Some("unusable")),
        ]
    );
    desk.finish();
}

/// One command registers everywhere; with `--dry-run` it only shows what it would do.
#[test]
fn all_are_registered_at_once() {
    let desk = Desk::new();
    let files = [
        (".codex/config.toml", "model = \"x\" # mine\n"),
        (".cursor/mcp.json", "{\n  \"mcpServers\": {}\n}\n"),
        (".config/goose/config.yaml", "GOOSE_MODEL: x\n"),
    ];
    for (name, text) in files {
        desk.write(name, text);
    }
    let dry = desk.run(&["register", "--all", "--dry-run"], 0);
    assert!(
        dry.stdout.contains("+[mcp_servers.openspace]"),
        "{}",
        dry.stdout
    );
    assert!(
        dry.stdout.contains("+    \"openspace\": {"),
        "{}",
        dry.stdout
    );
    assert!(
        dry.stderr.contains("Nothing was changed."),
        "{}",
        dry.stderr
    );
    for (name, text) in files {
        assert_eq!(fs::read_to_string(desk.path(name)).expect("a file"), text);
        assert!(backups(&desk.path(name)).is_empty());
    }
    assert!(
        !desk.home.data().join("bin").exists(),
        "not even the program was copied"
    );

    let done = lines(&desk.run(&["register", "--all", "--json"], 0).stdout);
    let kinds: Vec<_> = done
        .iter()
        .map(|line| {
            (
                line["host"].as_str(),
                line["kind"].as_str(),
                line["made"].as_bool(),
            )
        })
        .collect();
    let made = |host| (Some(host), Some("add"), Some(true));
    assert_eq!(kinds, [made("codex"), made("cursor"), made("goose")]);
    for (name, text) in files {
        let copies = backups(&desk.path(name));
        assert_eq!(copies.len(), 1, "{name}");
        assert_eq!(fs::read_to_string(&copies[0]).expect("a copy"), text);
    }
    for host in ["codex", "cursor", "goose"] {
        assert_eq!(desk.state(host), "registered");
    }
    let nobody = desk.run(&["register", "--all"], 0);
    assert!(
        nobody
            .stderr
            .contains("No agent program on this machine is waiting"),
        "{nobody:?}"
    );

    desk.run(&["unregister", "--all"], 0);
    for (name, text) in files {
        assert_eq!(
            fs::read_to_string(desk.path(name)).expect("a file"),
            text,
            "{name}"
        );
    }
    desk.finish();
}

/// A host is shown with all that is to be known, and the entry to paste.
#[test]
fn a_host_is_shown() {
    let desk = Desk::new();
    desk.write(".codex/config.toml", "");
    let shown = desk.run(&["show", "codex"], 0).stdout;
    for said in [
        "Codex",
        "config.toml (TOML)",
        "tool_timeout_sec = 600",
        "[mcp_servers.openspace]",
        ".codex/skills",
    ] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    let told = lines(&desk.run(&["show", "Claude Code", "--json"], 0).stdout).remove(0);
    assert_eq!(
        (&told["host"], &told["state"]),
        (&json!("claude-code"), &json!("not_found"))
    );
    assert_eq!(told["wouldStart"]["args"], json!(["mcp"]));
    assert_eq!(told["projectFile"], ".mcp.json");
    let said = desk.run(&["show", "codec"], 2).stderr;
    assert!(said.contains("There is no host codec"), "{said}");
    let said = desk.run(&["show", "claude"], 2).stderr;
    assert!(said.contains("did you mean claude-code?"), "{said}");
    desk.finish();
}

/// The exit code tells what kind of trouble it was; one host's trouble does not keep the others.
#[test]
fn trouble_has_an_exit_code() {
    let desk = Desk::new();
    let missing = desk.run(&["register", "zed"], 2);
    assert!(missing.stderr.contains("--create"), "{missing:?}");
    desk.run(&["register"], 2);
    desk.run(&["register", "codex", "--all"], 2);
    desk.run(&["register", "goose", "--project", "."], 2);
    desk.write(".kiro/settings/mcp.json", "{ oops");
    desk.write(".cursor/mcp.json", "{}");
    let mixed = desk.run(&["register", "--all"], 1);
    assert!(
        mixed.stderr.contains("Cursor: registered in"),
        "{}",
        mixed.stderr
    );
    assert!(
        mixed.stderr.contains("\"openspace\": {"),
        "the entry to paste: {}",
        mixed.stderr
    );
    let told = lines(&desk.run(&["register", "kiro", "--json"], 1).stdout).remove(0);
    assert_eq!(told["problem"]["params"]["reason"], "unparsable");
    assert!(
        told["problem"]["params"]["snippet"]
            .as_str()
            .is_some_and(|text| text.contains("mcpServers"))
    );
    desk.run(&["register", "zed", "--create"], 0);
    assert_eq!(desk.state("zed"), "registered");
    desk.finish();
}

/// What is said is said in the person's language.
#[test]
fn hosts_are_told_in_chinese() {
    let desk = Desk::new();
    desk.write(".cursor/mcp.json", "[]");
    let listed = desk
        .hosts(&["list"])
        .env("LANG", "zh_CN.UTF-8")
        .run()
        .expect("runs");
    assert!(listed.stdout.contains("未找到：claude-code"), "{listed:?}");
    let refused = desk
        .hosts(&["register", "cursor"])
        .env("LANG", "zh_CN.UTF-8")
        .run()
        .expect("runs");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("因此未改动该文件"), "{refused:?}");
    desk.finish();
}

/// Whoever came out of a run may neither look at hosts nor change them.
#[test]
fn runs_have_no_hosts() {
    let desk = Desk::new();
    let file = desk.write(".cursor/mcp.json", "{}");
    for arguments in [
        &["list"] as &[&str],
        &["show", "cursor"],
        &["register", "cursor"],
        &["register", "--all"],
        &["unregister", "--all"],
        &["verify", "--all"],
        &["doctor"],
        &[
            "add", "x", "--file", "/x.json", "--format", "json", "--key", "x",
        ],
        &["remove", "x"],
    ] {
        let output = desk
            .hosts(arguments)
            .env("OPENSPACE_RUN_ID", "r-1")
            .run()
            .expect("runs");
        assert_eq!(output.code, Some(1), "{arguments:?}: {output:?}");
        assert!(output.stderr.contains("a run may not"), "{output:?}");
    }
    assert_eq!(fs::read_to_string(&file).expect("a file"), "{}");
    desk.finish();
}

/// Secrets of other servers stay out of what is shown of a change.
#[test]
fn a_change_is_shown_without_secrets() {
    let desk = Desk::new();
    desk.write(
        ".cursor/mcp.json",
        "{\n  \"mcpServers\": {\n    \"a\": {\"env\": {\"MY_TOKEN\": \"tok-123\"}}\n  }\n}\n",
    );
    let dry = desk.run(&["register", "cursor", "--dry-run"], 0);
    assert!(dry.stdout.contains("\"MY_TOKEN\": …"), "{}", dry.stdout);
    let told = desk.run(&["register", "cursor", "--json"], 0).stdout;
    assert!(!told.contains("tok-123"), "{told}");
    let file = fs::read_to_string(desk.path(".cursor/mcp.json")).expect("a file");
    assert!(file.contains("tok-123"), "it is still in the file");
    desk.finish();
}

/// Who keeps settings and data elsewhere has hosts start a server that finds them: most hosts pass
/// none of the variables that say so.
#[test]
fn a_server_finds_folders_that_were_moved() {
    let desk = Desk::new();
    desk.write(".codex/config.toml", "");
    let moved = |name: &str| desk.home.root().join("moved").join(name);
    let hosts = |arguments: &[&str]| {
        let program = desk
            .hosts(arguments)
            .env("OPENSPACE_HOME", "")
            .env("XDG_CONFIG_HOME", moved("config").display().to_string())
            .env("XDG_DATA_HOME", moved("data").display().to_string());
        let output = program.run().expect("the program runs");
        assert_eq!(output.code, Some(0), "{arguments:?}: {output:?}");
        output.stdout
    };
    hosts(&["register", "codex"]);
    let usual = desk.path(".local/share/openspace");
    assert!(moved("data/openspace/hosts.json").is_file());
    let seen = lines(&hosts(&["verify", "codex", "--json"])).remove(0);
    let given = seen["variables"].as_array().expect("variables");
    assert!(given.contains(&json!("XDG_CONFIG_HOME")), "{seen}");
    assert!(!usual.exists(), "nothing is where nobody looks");
    desk.finish();
}

/// All hosts of a project are those that have a file for it, as they stand there and not in the
/// person's own.
#[test]
fn all_hosts_of_a_project_are_those_with_a_file_for_it() {
    let desk = Desk::new();
    for name in [
        ".codex/config.toml",
        ".cursor/mcp.json",
        ".config/goose/config.yaml",
    ] {
        desk.write(name, "");
    }
    desk.run(&["register", "codex"], 0);
    let project = desk.home.workspace().display().to_string();
    let all = |verb, code| {
        let output = desk.run(&[verb, "--all", "--project", &project, "--json"], code);
        let told = lines(&output.stdout);
        let hosts = told
            .iter()
            .map(|line| line["host"].as_str().expect("a host").to_owned());
        hosts.collect::<Vec<_>>()
    };
    assert_eq!(all("register", 0), ["codex", "cursor"]);
    assert_eq!(all("verify", 0), ["codex", "cursor"]);
    desk.run(&["unregister", "codex"], 0);
    assert_eq!(all("unregister", 0), ["codex", "cursor"]);
    assert!(all("unregister", 0).is_empty());
    assert_eq!(
        desk.state("cursor"),
        "not_registered",
        "its own file is left alone"
    );
    desk.run(&["register", "--all", "--file", "x.json"], 2);
    desk.finish();
}
