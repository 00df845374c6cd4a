//! `openspace-bench eval tools` with a model that checks its requests and the real MCP server.

#![cfg(target_os = "linux")]
#![allow(
    clippy::expect_used,
    reason = "a test's helpers may fail the test as the test itself may"
)]

use std::{collections::BTreeMap, path::Path, time::Duration};

use openspace_testkit::{
    ModelServer, Program, Script, SeenRequest, TestHome, Turn, cli::Output, leak::LeakCheck,
    model::Call,
};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(120);

fn evaluate(home: &TestHome, variables: &BTreeMap<&str, String>, arguments: &[&str]) -> Output {
    let bench = Path::new(env!("CARGO_BIN_EXE_openspace-bench"));
    let beside = bench.with_file_name(format!("openspace{}", std::env::consts::EXE_SUFFIX));
    assert!(
        beside.exists(),
        "the program is built by `cargo test --workspace`, not with this crate alone"
    );
    let mut environment = home.environment();
    let variables = variables.iter();
    environment.extend(variables.map(|(name, value)| ((*name).to_owned(), value.clone())));
    Program::new(bench)
        .args(["eval", "tools"])
        .args(arguments.iter().copied())
        .environment(environment)
        .folder(home.workspace())
        .limit(LIMIT)
        .run()
        .expect("it runs")
}

/// Everything beyond the repository is handed over, and nothing else is known.
fn delegates(seen: &SeenRequest) -> Turn {
    let said = seen.person();
    let own = [
        "src/",
        "tests",
        "commits",
        "idempotent",
        "about rain",
        "README",
    ];
    if own.iter().any(|word| said.contains(word)) {
        return Turn::call(Call::new("bash", json!({ "command": "ls" })));
    }
    Turn::call(Call::new(
        "mcp__openspace__execute_task",
        json!({ "task": "what the user wants" }),
    ))
}

fn lines(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect()
}

/// The model is offered what the server says beside a host's own tools, over every wire format, and
/// its choices are counted.
#[test]
fn choices_of_a_model_are_counted() {
    for model in ["anthropic/claude-sonnet-4-6", "openai/gpt-5.5"] {
        let home = TestHome::new().expect("a home");
        let leaks = LeakCheck::start(&home);
        let server = ModelServer::start(Script::decide(delegates)).expect("a model");
        let variables = BTreeMap::from([
            ("OPENSPACE_LLM_API_BASE", server.url()),
            ("OPENSPACE_LLM_API_KEY", server.key()),
        ]);
        let output = evaluate(&home, &variables, &["--model", model, "--json"]);
        assert_eq!(output.code, Some(0), "{output:?}");
        let mut told = lines(&output);
        let summary = told.pop().expect("a summary");
        assert_eq!(told.len(), 30);
        assert_eq!(summary["model"], model);
        assert_eq!(summary["of"], 30);
        let of = |tool: &str| summary["byTool"][tool].clone();
        assert_eq!(
            of("execute_task"),
            json!({ "hits": 11, "of": 11 }),
            "{summary}"
        );
        assert_eq!(of("search_skills"), json!({ "hits": 0, "of": 3 }));
        assert_eq!(of("none of ours")["of"], 8);
        let missed: Vec<_> = told.iter().filter(|line| line["hit"] == false).collect();
        let names: Vec<_> = missed.iter().map(|line| line["request"].clone()).collect();
        assert_eq!(summary["missed"], json!(names));
        let hits = 30 - missed.len();
        assert_eq!(summary["hits"], hits, "{summary}");

        let asked = server.requests();
        let asked: Vec<_> = asked.iter().filter(|seen| !seen.tools.is_empty()).collect();
        assert_eq!(asked.len(), 30, "once each");
        let names = asked[0].tool_names();
        for name in ["bash", "edit", "read_file", "mcp__openspace__task_wait"] {
            assert!(names.contains(&name), "{name}: {names:?}");
        }
        assert_eq!(names.len(), 10, "{names:?}");
        let system = asked[0].system();
        assert!(system.contains("Call `execute_task` when"), "{system}");
        server.assert_clean();
        leaks.assert_no_leak();
    }
}

/// People get a table, with the misses named.
#[test]
fn people_get_a_table() {
    let home = TestHome::new().expect("a home");
    let script = Script::decide(|_: &SeenRequest| Turn::done("I cannot see your screen."));
    let server = ModelServer::start(script).expect("a model");
    let variables = BTreeMap::from([
        ("OPENSPACE_MODEL", "anthropic/claude-sonnet-4-6".to_owned()),
        ("OPENSPACE_LLM_API_BASE", server.url()),
        ("OPENSPACE_LLM_API_KEY", server.key()),
    ]);
    let output = evaluate(&home, &variables, &[]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let begins = "anthropic/claude-sonnet-4-6: 8 of 30\n";
    assert!(output.stdout.starts_with(begins), "{}", output.stdout);
    let missed = "missed: screen: nothing instead of execute_task";
    assert!(output.stdout.contains(missed), "{}", output.stdout);
    server.assert_clean();
}

/// Without a model, or without its key, it says what to do and ends with 2; a key that is refused is
/// another matter.
#[test]
fn what_is_missing_is_told() {
    let home = TestHome::new().expect("a home");
    let nothing = evaluate(&home, &BTreeMap::new(), &[]);
    assert_eq!(nothing.code, Some(2), "{nothing:?}");
    assert!(nothing.stderr.contains("no model is named"), "{nothing:?}");
    let no_key = evaluate(
        &home,
        &BTreeMap::new(),
        &["--model", "anthropic/claude-sonnet-4-6"],
    );
    assert_eq!(no_key.code, Some(2), "{no_key:?}");
    assert!(
        no_key.stderr.contains("openspace keys set anthropic"),
        "{no_key:?}"
    );
    assert!(no_key.stdout.is_empty());
    let typo = evaluate(&home, &BTreeMap::new(), &["--modle", "x"]);
    assert_eq!(typo.code, Some(2), "{typo:?}");
}
