//! Keys that host agents lend.

use openspace_testkit::model::Turn;
use serde_json::json;

use crate::rig::Rig;

/// A rig whose program has no key of its own, and nanobot's configuration beside it.
fn rig(config: &dyn Fn(&Rig) -> serde_json::Value) -> Rig {
    let rig = Rig::headless(vec![Turn::done("Lent and done.")]);
    let folder = rig.home.home().join(".nanobot");
    std::fs::create_dir(&folder).expect("a folder");
    let config = config(&rig).to_string();
    std::fs::write(folder.join("config.json"), config).expect("a file");
    rig
}

fn without_own_key(rig: &Rig, arguments: &[&str]) -> openspace_testkit::cli::Output {
    rig.openspace(arguments)
        .env("OPENSPACE_LLM_API_KEY", "")
        .env("OPENSPACE_LLM_API_BASE", "")
        .env("OPENSPACE_MODEL", "")
        .run()
        .expect("the program runs")
}

/// Who gave neither a model nor a key gets those of nanobot, with the address that belongs to the
/// key, and is told whose they are.
#[test]
fn nanobot_lends_model_and_key() {
    let rig = rig(&|rig| {
        json!({
            "agents": { "defaults": { "model": "claude-sonnet-4-6", "provider": "auto" } },
            "providers": { "anthropic": { "apiKey": rig.server.key(), "apiBase": rig.server.url() } },
        })
    });
    let output = without_own_key(&rig, &["run", "Do it", "--backends", "shell", "--json"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let told = super::lines(&output.stdout);
    let key = told.iter().find(|event| event["kind"] == "run.key");
    let key = &key.expect("where the key is from is told")["payload"];
    assert_eq!(
        key,
        &json!({ "source": "host", "variable": "nanobot (providers.anthropic.apiKey)" })
    );
    assert!(
        !format!("{output:?}").contains(&rig.server.key()),
        "the key itself is not"
    );
    rig.finish();
}

/// A lent key goes to no other address than its host would send it to.
#[test]
fn a_lent_key_goes_nowhere_else() {
    let rig = rig(&|rig| json!({ "providers": { "anthropic": { "apiKey": rig.server.key() } } }));
    let output = rig
        .openspace(&["run", "Do it", "--backends", "shell"])
        .env("OPENSPACE_LLM_API_KEY", "")
        .run()
        .expect("the program runs");
    assert_eq!(output.code, Some(2), "{output:?}");
    assert!(output.stderr.contains("key"), "{output:?}");
    assert!(rig.server.requests().is_empty(), "nothing was sent");
    rig.finish();
}

/// What could be lent is shown by its place, and what is no key is told.
#[test]
fn what_is_lent_is_shown_by_place() {
    let rig = rig(&|_| {
        json!({ "providers": {
            "anthropic": { "apiKey": "sk-lent-0123456789" },
            "openrouter": { "apiKey": "${OPENROUTER_API_KEY}" },
        } })
    });
    let output = without_own_key(&rig, &["hosts", "show", "nanobot"]);
    assert!(
        output
            .stdout
            .contains("could lend: providers.anthropic.apiKey"),
        "{output:?}"
    );
    assert!(
        output
            .stdout
            .contains("not usable as a key: providers.openrouter.apiKey"),
        "{output:?}"
    );
    assert!(!output.stdout.contains("sk-lent"), "{output:?}");
    rig.finish();
}
