//! Our skills in a host's folder, from the page.

use super::{CODEX, Desk, TOML, Value, change, fs, json, row};

const SKILL: &str = ".codex/skills/delegate-task/SKILL.md";

fn effects(preview: &Value) -> Vec<&str> {
    let skills = preview["skills"].as_array().expect("skills").iter();
    skills
        .map(|skill| skill["effect"].as_str().expect("an effect"))
        .collect()
}

fn with_skills(what: &str) -> Value {
    let mut request = change("codex", what);
    request["skills"] = json!(true);
    request
}

fn states(desk: &Desk) -> Vec<Value> {
    let host = desk.host("codex");
    let skills = host["skills"].as_array().expect("skills").iter();
    skills.map(|skill| skill["state"].clone()).collect()
}

/// They come with a registration that asks for them, shown line by line, and go with the entry.
#[test]
fn skills_come_and_go_with_the_entry() {
    let desk = Desk::new(&[(CODEX, TOML)]);
    assert_eq!(
        effects(&desk.preview(&change("codex", "register"))),
        [""; 0]
    );
    let shown = desk.preview(&with_skills("register"));
    assert_eq!(effects(&shown), ["install", "install"]);
    assert_eq!(
        row(&shown["skills"][0], "name: delegate-task")["row"],
        "added"
    );
    assert!(!desk.path(SKILL).exists(), "showing writes nothing");
    desk.make(&with_skills("register"));
    assert!(desk.path(SKILL).exists());
    assert_eq!(states(&desk), ["current", "current"]);
    // Undoing it takes both back.
    let undone = desk.make(&with_skills("undo"));
    assert_eq!(effects(&undone), ["remove", "remove"]);
    assert_eq!(desk.read(CODEX), TOML);
    assert!(!desk.path(".codex/skills").exists());
    desk.make(&with_skills("register"));
    assert_eq!(
        effects(&desk.make(&change("codex", "unregister"))),
        ["remove", "remove"]
    );
    assert_eq!(desk.read(CODEX), TOML);
    assert!(!desk.path(".codex/skills").exists());
    desk.served.finish();
}

/// By themselves they leave the file of the host alone; one that a person changed stays as it is, and
/// one that changed after it was shown is shown again.
#[test]
fn skills_are_changed_by_themselves() {
    let desk = Desk::new(&[(CODEX, TOML)]);
    let shown = desk.make(&change("codex", "install_skills"));
    assert_eq!(
        (&shown["effect"], &shown["diff"]),
        (&json!("nothing"), &json!([]))
    );
    assert_eq!(desk.read(CODEX), TOML);
    assert_eq!(states(&desk), ["current", "current"]);

    let remove = change("codex", "remove_skills");
    let shown = desk.preview(&remove);
    fs::write(desk.path(SKILL), "mine").expect("changed by the person");
    let answer = desk
        .apply(&remove, &shown["fingerprint"])
        .expect("answered");
    assert_eq!(answer["made"], false, "{answer}");
    assert_eq!(effects(&answer["preview"]), ["remove", "keep"]);
    let made = desk.make(&remove);
    assert_eq!(made["skills"][0]["skill"], "skill-discovery");
    assert_eq!(desk.read(SKILL), "mine");
    assert_eq!(states(&desk), ["changed", "absent"]);
    desk.served.finish();
}
