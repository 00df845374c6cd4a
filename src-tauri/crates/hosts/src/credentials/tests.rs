use serde_json::json;

use super::*;
use crate::Platform;

const PROVIDERS: [Names; 4] = [
    Names {
        provider: "openrouter",
        keys: &["OPENROUTER_API_KEY", "OR_API_KEY"],
        bases: &["OPENROUTER_API_BASE"],
    },
    Names {
        provider: "anthropic",
        keys: &["ANTHROPIC_API_KEY"],
        bases: &["ANTHROPIC_API_BASE"],
    },
    Names {
        provider: "volcengine",
        keys: &["VOLCENGINE_API_KEY", "ARK_API_KEY"],
        bases: &["ARK_API_BASE"],
    },
    Names {
        provider: "openai-compatible",
        keys: &[],
        bases: &[],
    },
];

struct Home {
    folder: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Home {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        }
        Self {
            folder,
            variables: Vec::new(),
        }
    }

    fn read(&self) -> Credentials {
        Credentials::read(&Machine {
            platform: Platform::Linux,
            home: self.folder.path().to_owned(),
            environment: self.variables.iter().cloned().collect(),
        })
    }
}

fn nanobot(said: &serde_json::Value) -> Credentials {
    Home::new(&[(".nanobot/config.json", &said.to_string())]).read()
}

fn key(credentials: &Credentials, provider: &str) -> Option<(String, String, Option<String>)> {
    let names = PROVIDERS.iter().find(|names| names.provider == provider)?;
    let lent = credentials.key(names)?;
    Some((lent.key.into_exposed(), lent.origin.place, lent.base))
}

/// nanobot keeps keys by provider, in either spelling, with an address and headers.
#[test]
fn nanobot_lends_keys_by_provider() {
    let credentials = nanobot(&json!({ "providers": {
        "anthropic": { "apiKey": " sk-a ", "extraHeaders": { "X-Team": "t", "n": 1 } },
        "openrouter": { "api_key": "sk-o", "api_base": "https://proxy.example/v1" },
        "custom": { "apiKey": "sk-c", "apiBase": "http://127.0.0.1:9/v1" },
        "volcengine": { "apiKey": "" },
    }}));
    assert_eq!(
        key(&credentials, "anthropic"),
        Some(("sk-a".into(), "providers.anthropic.apiKey".into(), None))
    );
    assert_eq!(
        key(&credentials, "openrouter"),
        Some((
            "sk-o".into(),
            "providers.openrouter.api_key".into(),
            Some("https://proxy.example/v1".into())
        ))
    );
    assert_eq!(
        key(&credentials, "openai-compatible"),
        Some((
            "sk-c".into(),
            "providers.custom.apiKey".into(),
            Some("http://127.0.0.1:9/v1".into())
        ))
    );
    assert_eq!(
        key(&credentials, "volcengine"),
        None,
        "no key of its own, and no other's"
    );
    let lent = credentials.key(&PROVIDERS[1]).expect("a key");
    let names: Vec<_> = lent.headers.keys().map(String::as_str).collect();
    assert_eq!(names, ["X-Team"]);
    assert_eq!(lent.headers["X-Team"].expose(), "t");
}

/// The model of nanobot is named as we name models, and only where its key is there as well.
#[test]
fn nanobot_lends_its_model() {
    let model = |model: &str, provider: &str| {
        let credentials = nanobot(&json!({
            "agents": { "defaults": { "model": model, "provider": provider } },
            "providers": { "anthropic": { "apiKey": "k" }, "openrouter": { "apiKey": "k" }, "custom": { "apiKey": "k" } },
        }));
        credentials.model(&PROVIDERS).map(|(model, _)| model)
    };
    assert_eq!(
        model("anthropic/claude-x", "auto").as_deref(),
        Some("anthropic/claude-x")
    );
    assert_eq!(
        model("claude-x", "auto").as_deref(),
        Some("anthropic/claude-x")
    );
    assert_eq!(
        model("anthropic/claude-x", "openrouter").as_deref(),
        Some("openrouter/anthropic/claude-x")
    );
    assert_eq!(
        model("openrouter/a/b", "openrouter").as_deref(),
        Some("openrouter/a/b")
    );
    assert_eq!(
        model("anthropic/claude-x", "anthropic").as_deref(),
        Some("anthropic/claude-x")
    );
    assert_eq!(
        model("my/model", "custom").as_deref(),
        Some("openai-compatible/my/model")
    );
    assert_eq!(model("spark-x", "auto"), None, "`ark` is not a word of it");
    assert_eq!(model("ark-x", "volcengine"), None, "no key for it");
    assert_eq!(model("", "anthropic"), None);
}

/// openclaw keeps variables; those meant for us go before those for everything.
#[test]
fn openclaw_lends_variables() {
    let text = "{ // comments are fine\n\
        env: { vars: { ANTHROPIC_API_KEY: 'sk-all', ANTHROPIC_API_BASE: 'https://a.example', OR_API_KEY: 'sk-or' } },\n\
        skills: { entries: { openspace: { env: { ANTHROPIC_API_KEY: 'sk-us', OPENSPACE_API_KEY: 'sk_c', OPENSPACE_API_BASE: 'https://hub.example' } } } },\n}";
    let credentials = Home::new(&[(".openclaw/openclaw.json", text)]).read();
    assert_eq!(
        key(&credentials, "anthropic"),
        Some((
            "sk-us".into(),
            "skills.entries.openspace.env.ANTHROPIC_API_KEY".into(),
            Some("https://a.example".into())
        ))
    );
    assert_eq!(
        key(&credentials, "openrouter"),
        Some(("sk-or".into(), "env.vars.OR_API_KEY".into(), None))
    );
    let community = credentials.community().expect("a key");
    assert_eq!(community.key.expose(), "sk_c");
    assert_eq!(community.base.as_deref(), Some("https://hub.example"));
    assert_eq!(credentials.overview(&PROVIDERS).len(), 3);

    let text = r#"{"env":{"vars":{"ANTHROPIC_API_KEY":"sk-all"}},"skills":{"entries":{"openspace":{"env":{
        "OPENSPACE_LLM_API_KEY":"sk-own","OPENSPACE_LLM_API_BASE":"http://127.0.0.1:1","OPENSPACE_LLM_EXTRA_HEADERS":"{\"a\":\"b\"}"}}}}}"#;
    let credentials = Home::new(&[(".moltbot/moltbot.json", text)]).read();
    let lent = credentials.key(&PROVIDERS[1]).expect("a key");
    assert_eq!(lent.key.expose(), "sk-own");
    assert_eq!(lent.base.as_deref(), Some("http://127.0.0.1:1"));
    assert_eq!(lent.headers["a"].expose(), "b");
}

/// The community's key is taken from the first host that has one; an empty block hides nobody's.
#[test]
fn the_community_key_is_from_one_block() {
    let home = Home::new(&[
        (
            ".nanobot/config.json",
            r#"{"tools":{"mcpServers":{"openspace":{"env":{"OPENSPACE_API_BASE":"https://n.example"}}}}}"#,
        ),
        (
            ".openclaw/openclaw.json",
            r#"{"skills":{"entries":{"openspace":{"env":{"OPENSPACE_API_KEY":"sk_o"}}}}}"#,
        ),
    ]);
    let lent = home.read().community().expect("a key");
    assert_eq!((lent.key.expose().as_str(), lent.base), ("sk_o", None));
    assert_eq!(lent.origin.host, "openclaw");
}

/// References are not followed, other types are not bent into keys, and both are told.
#[test]
fn what_is_no_key_is_refused() {
    let credentials = nanobot(&json!({ "providers": {
        "anthropic": { "apiKey": "${ANTHROPIC_API_KEY}" },
        "openrouter": { "apiKey": { "source": "env", "id": "X" } },
        "volcengine": { "apiKey": "two words" },
    }}));
    for names in &PROVIDERS {
        assert_eq!(credentials.key(names).map(|lent| lent.origin), None);
    }
    let refused: Vec<_> = credentials
        .refused(&PROVIDERS)
        .into_iter()
        .map(|origin| origin.place)
        .collect();
    assert_eq!(
        refused,
        [
            "providers.openrouter.apiKey",
            "providers.anthropic.apiKey",
            "providers.volcengine.apiKey"
        ]
    );
}

/// Variables say where the files are; a named one that is missing is not looked for elsewhere.
#[test]
fn the_files_are_where_variables_say() {
    let key = r#"{"env":{"vars":{"ANTHROPIC_API_KEY":"sk-1"}}}"#;
    let mut home = Home::new(&[
        (".openclaw/openclaw.json", key),
        ("state/moldbot.json", key),
    ]);
    let found = |home: &Home| {
        let lent = home.read().key(&PROVIDERS[1]);
        lent.map(|lent| {
            lent.origin
                .file
                .strip_prefix(home.folder.path())
                .expect("within")
                .to_owned()
        })
    };
    assert_eq!(found(&home), Some(".openclaw/openclaw.json".into()));
    home.variables = vec![("OPENCLAW_STATE_DIR", "~/state".into())];
    assert_eq!(found(&home), Some("state/moldbot.json".into()));
    home.variables = vec![("OPENCLAW_CONFIG_PATH", "~/missing.json".into())];
    assert_eq!(found(&home), None);
}

/// A broken file is a problem to be told, with its place, and lends nothing.
#[test]
fn a_broken_file_is_told() {
    let home = Home::new(&[(
        ".nanobot/config.json",
        "{\"providers\": {\"anthropic\": {\"apiKey\": \"sk-1\"}}",
    )]);
    let credentials = home.read();
    assert!(credentials.key(&PROVIDERS[1]).is_none());
    assert!(matches!(
        credentials.problems.as_slice(),
        [Error::Unparsable { line: 1, .. }]
    ));
    assert!(!format!("{credentials:?}").contains("sk-1"));
}
