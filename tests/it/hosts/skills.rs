//! The two skills that tell a host's agent when and how to use us.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{Desk, lines};

const BOTH: [&str; 2] = ["delegate-task", "skill-discovery"];

/// The sources of this program.
fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn ours(skill: &str) -> String {
    let file = source("src-tauri/crates/hosts/skills").join(skill);
    fs::read_to_string(file.join("SKILL.md")).expect("a skill")
}

/// What a command said of each skill.
fn told(change: &Value) -> Vec<(String, String, bool)> {
    let skills = change["skills"].as_array().expect("skills").iter();
    skills
        .map(|skill| {
            let text = |key: &str| skill[key].as_str().expect("text").to_owned();
            let made = skill["made"].as_bool().expect("a truth");
            (text("skill"), text("kind"), made)
        })
        .collect()
}

/// They come with the entry when that is asked for and go with it always; every file and folder is as
/// it was.
#[test]
fn skills_come_and_go_with_the_entry() {
    let desk = Desk::new();
    let config = desk.write(".codex/config.toml", "model = \"x\"\n");
    let folder = desk.path(".codex/skills");
    desk.run(&["register", "codex"], 0);
    assert!(!folder.exists(), "only when it is asked for");

    let dry = desk.run(&["register", "codex", "--skills", "--dry-run"], 0);
    assert!(
        dry.stderr.contains("delegate-task would be put into"),
        "{dry:?}"
    );
    assert!(
        dry.stdout.contains("+name: skill-discovery"),
        "{}",
        dry.stdout
    );
    assert!(
        dry.stderr.contains("Nothing was changed."),
        "{}",
        dry.stderr
    );
    assert!(!folder.exists());

    let done = lines(
        &desk
            .run(&["register", "codex", "--skills", "--json"], 0)
            .stdout,
    )
    .remove(0);
    assert_eq!(
        (&done["kind"], &done["made"]),
        (&json!("nothing"), &json!(false))
    );
    let installed: Vec<_> = BOTH
        .map(|it| (it.to_owned(), "install".to_owned(), true))
        .into();
    assert_eq!(told(&done), installed);
    for skill in BOTH {
        let text = fs::read_to_string(folder.join(skill).join("SKILL.md"));
        assert_eq!(text.expect("a skill"), ours(skill));
    }
    let shown = desk.run(&["show", "codex"], 0).stdout;
    assert!(shown.contains("delegate-task: there"), "{shown}");

    let removed = desk.run(&["unregister", "codex"], 0);
    assert!(
        removed.stderr.contains("delegate-task was removed"),
        "{removed:?}"
    );
    assert!(!folder.exists(), "the folder came with them");
    assert_eq!(
        fs::read_to_string(config).expect("a file"),
        "model = \"x\"\n"
    );
    desk.finish();
}

/// They can go without the entry, which stays.
#[test]
fn only_the_skills_are_removed() {
    let desk = Desk::new();
    desk.write(".codex/config.toml", "");
    desk.run(&["register", "codex", "--skills"], 0);
    let removed = desk.run(&["unregister", "codex", "--skills"], 0);
    assert!(
        removed.stderr.contains("skill-discovery was removed"),
        "{removed:?}"
    );
    assert!(!desk.path(".codex/skills").exists());
    assert_eq!(desk.state("codex"), "registered");
    desk.run(&["unregister", "codex", "--skills", "--force"], 2);
    desk.finish();
}

/// Everywhere at once, also where only the entry is there already; a host without a folder of skills is
/// told so.
#[test]
fn all_hosts_get_them_at_once() {
    let desk = Desk::new();
    desk.write(".codex/config.toml", "");
    desk.write(".claude.json", "{}");
    desk.write(".cursor/mcp.json", "{}");
    desk.run(&["register", "codex"], 0);
    let done = lines(
        &desk
            .run(&["register", "--all", "--skills", "--json"], 0)
            .stdout,
    );
    let counts: Vec<_> = done
        .iter()
        .map(|line| (line["host"].as_str(), told(line).len()))
        .collect();
    assert_eq!(
        counts,
        [
            (Some("claude-code"), 2),
            (Some("codex"), 2),
            (Some("cursor"), 0)
        ]
    );
    let cursor = desk.run(&["register", "cursor", "--skills"], 0);
    assert!(
        cursor.stderr.contains("Cursor has no folder for skills"),
        "{cursor:?}"
    );
    desk.run(&["unregister", "--all"], 0);
    for folder in [".codex/skills", ".claude/skills"] {
        assert!(!desk.path(folder).exists(), "{folder}");
    }
    // They belong to the person, not to a project.
    desk.run(&["register", "codex", "--skills", "--project", "."], 2);
    desk.finish();
}

/// A skill of the same name that is not ours is left alone and told; the rest is done all the same.
#[test]
fn somebody_elses_skill_is_left_alone() {
    let desk = Desk::new();
    desk.write(".codex/config.toml", "");
    let theirs = "---\nname: delegate-task\ndescription: Mine.\n---\n";
    let file = desk.write(".codex/skills/delegate-task/SKILL.md", theirs);
    let done = desk.run(&["register", "codex", "--skills"], 1);
    assert!(done.stderr.contains("is not ours"), "{done:?}");
    assert_eq!(desk.state("codex"), "registered");
    assert!(desk.path(".codex/skills/skill-discovery/SKILL.md").exists());
    let again = lines(
        &desk
            .run(&["register", "codex", "--skills", "--json"], 1)
            .stdout,
    )
    .remove(0);
    let problem = &again["skills"][0]["problem"];
    assert_eq!(problem["params"]["reason"], "foreign_skill", "{again}");
    desk.run(&["unregister", "codex"], 0);
    assert_eq!(fs::read_to_string(&file).expect("a file"), theirs);
    assert!(!desk.path(".codex/skills/skill-discovery").exists());
    desk.finish();
}

/// One that the person changed stays, with the reason; also when nothing else is left of us.
#[test]
fn a_changed_skill_stays() {
    let desk = Desk::new();
    desk.write(".codex/config.toml", "");
    desk.run(&["register", "codex", "--skills"], 0);
    let file = desk.path(".codex/skills/delegate-task/SKILL.md");
    let mine = format!("{}\nAlways in French.\n", ours("delegate-task"));
    fs::write(&file, &mine).expect("changed");
    let kept = desk.run(&["register", "codex", "--skills"], 0);
    assert!(kept.stderr.contains("changed by you"), "{kept:?}");
    let removed = desk.run(&["unregister", "codex"], 0);
    assert!(removed.stderr.contains("changed by you"), "{removed:?}");
    assert_eq!(fs::read_to_string(&file).expect("a file"), mine);
    assert!(!desk.path(".codex/skills/skill-discovery").exists());
    desk.finish();
}

/// Skills that an earlier version wrote are found, offered, and renewed by `doctor` as well.
#[test]
fn skills_of_an_earlier_version_are_renewed() {
    let desk = Desk::new();
    desk.write(".codex/config.toml", "");
    desk.run(&["register", "codex", "--skills"], 0);
    // As if the program had been renewed since.
    let old = "---\nname: delegate-task\ndescription: As it was.\n---\n";
    let file = desk.write(".codex/skills/delegate-task/SKILL.md", old);
    let ledger = desk.home.data().join("hosts.json");
    let text = fs::read_to_string(&ledger).expect("our list");
    let mut known: Value = serde_json::from_str(&text).expect("JSON");
    for skill in known["skills"].as_array_mut().expect("skills") {
        if skill["folder"]
            .as_str()
            .is_some_and(|it| it.ends_with("delegate-task"))
        {
            skill["version"] = json!(0);
            skill["hash"] = json!(blake3::hash(old.as_bytes()).to_hex().to_string());
        }
    }
    fs::write(&ledger, known.to_string()).expect("our list");

    let listed = desk.run(&["list"], 0).stdout;
    assert!(listed.contains("register codex --skills"), "{listed}");
    let dry = desk.run(&["doctor", "--dry-run"], 1).stdout;
    assert!(
        dry.contains("delegate-task") && dry.contains("would be renewed"),
        "{dry}"
    );
    assert_eq!(fs::read_to_string(&file).expect("a file"), old);
    let cured = desk.run(&["doctor"], 0).stdout;
    assert!(cured.contains("was renewed"), "{cured}");
    assert_eq!(
        fs::read_to_string(&file).expect("a file"),
        ours("delegate-task")
    );
    let copies = fs::read_dir(desk.home.data().join("backups")).expect("copies");
    let copies: Vec<_> = copies
        .map(|copy| fs::read_to_string(copy.expect("a copy").path()).expect("text"))
        .collect();
    assert_eq!(copies, [old]);
    assert!(!desk.run(&["list"], 0).stdout.contains("earlier version"));
    desk.finish();
}

/// The skills name tools and parameters as the server has them, and every tool is in one of them.
#[test]
fn the_skills_speak_of_the_tools_there_are() {
    let text = fs::read_to_string(source("src-tauri/crates/serve/src/mcp/tools.json"));
    let tools: Value = serde_json::from_str(&text.expect("the tools")).expect("JSON");
    let tools = tools.as_array().expect("tools");
    let name = |tool: &Value| tool["name"].as_str().expect("a name").to_owned();
    let texts = BOTH.map(ours);
    for tool in tools {
        let name = format!("`{}`", name(tool));
        assert!(texts.iter().any(|text| text.contains(&name)), "{name}");
    }
    for (text, tool) in texts.iter().zip(["execute_task", "search_skills"]) {
        let tool = tools.iter().find(|it| name(it) == tool).expect("a tool");
        let known = tool["inputSchema"]["properties"].as_object().expect("them");
        let after = text.split("| Parameter |").nth(1).expect("a table");
        let named: Vec<_> = after
            .lines()
            .skip(2)
            .map_while(|line| line.strip_prefix("| `")?.split('`').next())
            .collect();
        assert!(named.len() > 3, "{named:?}");
        for parameter in named {
            assert!(known.contains_key(parameter), "`{parameter}`");
        }
    }
}
