//! Names of models and addresses of providers.

use openspace_llm::provider::{Endpoints, PROVIDERS, Wire};
use openspace_llm::{Error, Key, ModelName, Options, connect};

/// A name without a known provider is answered with the list of them.
#[test]
fn an_unknown_provider_is_answered_with_the_known_ones() {
    for name in ["claude-sonnet-4-6", "antropic/x", "anthropic/", "", "/x"] {
        let Err(Error::InvalidRequest { message }) = ModelName::parse(name) else {
            panic!("{name} was accepted");
        };
        assert!(
            message.contains("openrouter, aihubmix") && message.contains("ollama"),
            "{message}"
        );
    }
    let name = ModelName::parse(" OpenRouter/anthropic/claude-sonnet-4.5 ").unwrap();
    assert_eq!(name.provider.name, "openrouter");
    assert_eq!(name.model, "anthropic/claude-sonnet-4.5");
    assert_eq!(
        ModelName::parse("openai_compatible/x")
            .unwrap()
            .provider
            .name,
        "openai-compatible"
    );
}

/// However the base is written, the same endpoint comes out.
#[test]
fn every_spelling_of_a_base_leads_to_the_endpoint() {
    let cases = [
        ("openai", None, "https://api.openai.com/v1/chat/completions"),
        (
            "openai",
            Some("https://api.openai.com"),
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "openai",
            Some("https://api.openai.com/v1/"),
            "https://api.openai.com/v1/chat/completions",
        ),
        (
            "openai",
            Some("https://h.example/v1/chat/completions"),
            "https://h.example/v1/chat/completions",
        ),
        (
            "openai",
            Some("https://h.example/v1/models"),
            "https://h.example/v1/chat/completions",
        ),
        (
            "openai",
            Some("h.example"),
            "https://h.example/v1/chat/completions",
        ),
        (
            "openai",
            Some("https://h.example/proxy/"),
            "https://h.example/proxy/v1/chat/completions",
        ),
        (
            "openai",
            Some("https://x.example/openai/deployments/d/chat/completions?api-version=1"),
            "https://x.example/openai/deployments/d/chat/completions?api-version=1",
        ),
        (
            "openrouter",
            Some("https://openrouter.ai"),
            "https://openrouter.ai/api/v1/chat/completions",
        ),
        (
            "openrouter",
            Some("https://openrouter.ai/api"),
            "https://openrouter.ai/api/v1/chat/completions",
        ),
        (
            "gemini",
            None,
            "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        ),
        (
            "volcengine",
            None,
            "https://ark.cn-beijing.volces.com/api/v3/chat/completions",
        ),
        (
            "zhipu",
            Some("https://open.bigmodel.cn/api/paas/v4/"),
            "https://open.bigmodel.cn/api/paas/v4/chat/completions",
        ),
        ("anthropic", None, "https://api.anthropic.com/v1/messages"),
        (
            "anthropic",
            Some("https://api.anthropic.com/"),
            "https://api.anthropic.com/v1/messages",
        ),
        (
            "anthropic",
            Some("https://api.anthropic.com/v1/messages"),
            "https://api.anthropic.com/v1/messages",
        ),
        (
            "anthropic",
            Some("https://h.example/anthropic"),
            "https://h.example/anthropic/v1/messages",
        ),
        (
            "ollama",
            Some("localhost:11434"),
            "http://localhost:11434/v1/chat/completions",
        ),
        (
            "ollama",
            Some("http://0.0.0.0:11434/api/chat"),
            "http://127.0.0.1:11434/v1/chat/completions",
        ),
        (
            "ollama",
            Some("http://127.0.0.1:11434/api"),
            "http://127.0.0.1:11434/v1/chat/completions",
        ),
        (
            "lmstudio",
            Some("192.168.1.5:1234"),
            "http://192.168.1.5:1234/v1/chat/completions",
        ),
        (
            "llamacpp",
            Some(":8081"),
            "http://127.0.0.1:8081/v1/chat/completions",
        ),
    ];
    for (provider, base, expected) in cases {
        let provider = openspace_llm::provider::find(provider).unwrap();
        let endpoints = Endpoints::resolve(provider, base).unwrap();
        assert_eq!(endpoints.chat.as_str(), expected, "{base:?}");
    }
    let find = |name| openspace_llm::provider::find(name).unwrap();
    let models = Endpoints::resolve(find("anthropic"), None).unwrap().models;
    assert_eq!(models.as_str(), "https://api.anthropic.com/v1/models");
    assert!(
        Endpoints::resolve(find("openai"), Some("http://localhost:1"))
            .unwrap()
            .loopback
    );
    assert!(
        !Endpoints::resolve(find("openai"), Some("http://localhost.example"))
            .unwrap()
            .loopback
    );
}

/// An address that cannot be used is refused without repeating what may be a key.
#[test]
fn a_bad_address_is_refused_and_not_repeated() {
    let openai = openspace_llm::provider::find("openai").unwrap();
    for base in [
        "https://user:hunter2@h.example",
        "ftp://hunter2.example",
        "https://hunter2 x/",
    ] {
        let error = Endpoints::resolve(openai, Some(base)).unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }
    let compatible = openspace_llm::provider::find("openai-compatible").unwrap();
    assert!(Endpoints::resolve(compatible, None).is_err());
}

/// A missing key says which variable would hold it; a local server needs none.
#[test]
fn a_missing_key_names_its_variables() {
    let Err(error) = connect(Options::new("openrouter/x")) else {
        panic!("connected without a key");
    };
    let text = error.to_string();
    assert!(matches!(error, Error::Authentication { .. }));
    assert!(
        text.contains("OPENROUTER_API_KEY") && text.contains("OR_API_KEY"),
        "{text}"
    );
    assert!(connect(Options::new("ollama/qwen3")).is_ok());
}

/// Neither key nor header values are printed by anything.
#[test]
fn keys_are_never_printed() {
    let options = Options {
        key: Some(Key::new("sk-secret-1")),
        headers: vec![("x-extra".into(), "sk-secret-2".into())],
        base: Some("https://h.example/sk-secret-3".into()),
        ..Options::new("openai/x")
    };
    let text = format!("{options:?} {:?}", options.key);
    assert!(
        !text.contains("sk-secret") && text.contains("[redacted]"),
        "{text}"
    );
    let bad = Options {
        key: Some(Key::new("sk-secret\n4")),
        ..Options::new("openai/x")
    };
    let Err(error) = connect(bad) else {
        panic!("connected")
    };
    assert!(!format!("{error} {error:?}").contains("secret"));
}

/// The table keeps the order and the variables of the old system.
#[test]
fn the_old_system_s_providers_are_all_there() {
    let names: Vec<_> = PROVIDERS.iter().map(|provider| provider.name).collect();
    assert_eq!(
        names[..13],
        [
            "openrouter",
            "aihubmix",
            "siliconflow",
            "volcengine",
            "anthropic",
            "openai",
            "deepseek",
            "gemini",
            "zhipu",
            "dashscope",
            "moonshot",
            "minimax",
            "groq"
        ]
    );
    for provider in PROVIDERS {
        if let Some(base) = provider.base {
            let endpoints = Endpoints::resolve(provider, None).unwrap();
            assert!(endpoints.chat.as_str().starts_with(base), "{base}");
        }
        let anthropic = provider.name == "anthropic";
        assert_eq!(provider.wire == Wire::Anthropic, anthropic);
    }
}
