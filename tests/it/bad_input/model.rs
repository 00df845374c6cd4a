//! Models that are not there, refuse, or send rubbish.

use openspace_testkit::{
    Program,
    cli::Output,
    model::{Call, Fault, ModelServer, Rules, Turn},
};
use serde_json::json;

use super::{assert_says, assert_store_is_whole, openspace};
use crate::rig::{LIMIT, Rig};

const RUN: &[&str] = &["run", "Anything", "--backends", "shell"];

fn run_with(rig: &Rig, changes: &[(&str, Option<&str>)]) -> Output {
    let mut environment = rig.environment();
    for (name, value) in changes {
        match value {
            Some(value) => environment.insert((*name).to_owned(), (*value).to_owned()),
            None => environment.remove(*name),
        };
    }
    Program::new(env!("CARGO_BIN_EXE_openspace"))
        .args(RUN.iter().copied())
        .environment(environment)
        .folder(rig.home.workspace())
        .limit(LIMIT)
        .run()
        .expect("the program runs")
}

/// Without a model the message says the three ways to name one.
#[test]
fn no_model_is_named() {
    let rig = Rig::headless(Vec::new());
    let output = run_with(&rig, &[("OPENSPACE_MODEL", None)]);
    assert_says(
        &output,
        2,
        &[
            "no model is named",
            "--model",
            "OPENSPACE_MODEL",
            "config set model.name",
        ],
    );
    assert_store_is_whole(&rig, &[]);
    rig.finish();
}

/// A missing and a wrong key are told with the variable to set, and the key is not repeated.
#[test]
fn keys_that_are_missing_or_wrong() {
    let rig = Rig::headless(Vec::new());
    let address = [("OPENSPACE_LLM_API_KEY", None)];
    let output = run_with(&rig, &address);
    assert_says(&output, 2, &["OPENSPACE_LLM_API_KEY", "ANTHROPIC_API_KEY"]);
    let output = run_with(
        &rig,
        &[("OPENSPACE_LLM_API_KEY", Some("sk-wrong-1234567890"))],
    );
    assert_says(
        &output,
        2,
        &["refused the key", "OPENSPACE_LLM_API_KEY", "hint:"],
    );
    assert!(!output.stderr.contains("sk-wrong"), "{output:?}");
    rig.server.take_violations();
    assert_store_is_whole(&rig, &["failed", "failed"]);
    rig.finish();
}

/// An address nobody listens on, and one that is none.
#[test]
fn addresses_that_are_wrong() {
    let rig = Rig::headless(Vec::new());
    let base = |address| [("OPENSPACE_LLM_API_BASE", Some(address))];
    let output = run_with(&rig, &base("http://127.0.0.1:1"));
    assert_says(
        &output,
        1,
        &[
            "cannot reach anthropic at http://127.0.0.1:1",
            "refused",
            "hint:",
            "model.base_url",
        ],
    );
    let id = {
        let listed = openspace(&rig, &["runs", "list"]);
        listed.stdout[..10].to_owned()
    };
    let shown = openspace(&rig, &["runs", "show", &id]);
    assert!(
        !shown.stderr.contains("inside the program") && shown.stderr.contains("cannot reach"),
        "it was not the program's fault: {shown:?}"
    );
    let output = run_with(&rig, &base("not an address"));
    assert_says(&output, 2, &["not a web address", "hint:"]);
    rig.finish();
}

/// A model the service does not have.
#[test]
fn a_model_that_does_not_exist() {
    let mut rig = Rig::headless(Vec::new());
    let rules = Rules {
        models: vec!["some-other-model".to_owned()],
        ..Rules::default()
    };
    rig.server = ModelServer::start_with(Vec::new(), rules).expect("a server");
    let output = run_with(&rig, &[]);
    assert_says(
        &output,
        2,
        &["no model `claude-sonnet-4-6`", "hint:", "--model"],
    );
    rig.server.take_violations();
    assert_store_is_whole(&rig, &["failed"]);
    rig.finish();
}

/// A page in place of a reply, after the retries: the address is doubted, and the run can go on.
#[test]
fn a_page_in_place_of_a_reply() {
    let pages = (0..20).map(|_| Turn::fault(Fault::Html));
    let rig = Rig::headless(pages.collect::<Vec<_>>());
    let output = run_with(&rig, &[]);
    assert_says(&output, 1, &["is the address right?", "runs continue"]);
    assert_store_is_whole(&rig, &["failed"]);
    rig.server.set_script(vec![Turn::done("Now it works.")]);
    let listed = openspace(&rig, &["runs", "list"]);
    let output = openspace(&rig, &["runs", "continue", &listed.stdout[..10]]);
    assert_eq!(output.stdout, "Now it works.\n", "{output:?}");
    assert_store_is_whole(&rig, &["done"]);
    rig.finish();
}

/// A stream cut in its middle is asked for again; when it stays so, the run fails and can go on.
#[test]
fn a_stream_that_is_cut() {
    let rig = Rig::headless(vec![
        Turn::fault(Fault::Cut),
        Turn::fault(Fault::Reset),
        Turn::done("Whole."),
    ]);
    let output = run_with(&rig, &[]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "Whole.\n"),
        "{output:?}"
    );
    let cuts = (0..20).map(|_| Turn::fault(Fault::Cut));
    rig.server.set_script(cuts.collect::<Vec<_>>());
    let output = run_with(&rig, &[]);
    assert_says(&output, 1, &["anthropic", "runs continue"]);
    assert_eq!(output.stdout, "", "half an answer is no answer");
    assert_store_is_whole(&rig, &["failed", "done"]);
    rig.finish();
}

/// Bytes that are no text do no harm.
#[test]
fn bytes_that_are_no_text() {
    let rig = Rig::headless(vec![
        Turn::fault(Fault::InvalidUtf8),
        Turn::done("Whole."),
        Turn::done("Whole."),
    ]);
    let output = run_with(&rig, &[]);
    assert!(!output.stderr.contains("panicked"), "{output:?}");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_store_is_whole(&rig, &["done"]);
    rig.finish();
}

/// Calls no tool can make sense of are answered with what is wrong, and the run goes on.
#[test]
fn calls_that_make_no_sense() {
    let calls = vec![
        Call::huge("run_command", "command", 200_000),
        Call::huge("write_file", "content", 200_000),
        Call::huge("no_such_tool", "x", 200_000),
        Call::raw("run_command", "{not json"),
        Call::raw("run_command", "[]"),
        Call::raw("run_command", ""),
        Call::new("run_command", json!({"command": 5})),
        Call::new("run_command", json!({"command": ""})),
        Call::new(
            "run_command",
            json!({"command": "true", "timeout_seconds": -1}),
        ),
        Call::new("run_command", json!({"command": "true", "colour": "red"})),
        Call::new("read_file", json!({"path": "\u{0}"})),
        Call::new("read_file", json!({"path": "nowhere.txt"})),
        Call::new("read_file", json!({"path": "x".repeat(10_000)})),
        Call::new("search", json!({"pattern": "("})),
        Call::new(
            "edit_file",
            json!({"path": "nowhere", "old": "", "new": ""}),
        ),
        Call::new("list_dir", json!({"depth": 1e30})),
    ];
    let count = calls.len();
    let turns = calls
        .into_iter()
        .map(Turn::call)
        .chain([Turn::done("Enough.")]);
    let rig = Rig::headless(turns.collect::<Vec<_>>());
    let output = run_with(&rig, &[]);
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "Enough.\n"),
        "{output:?}"
    );
    let requests = rig.server.requests();
    let results = requests.last().expect("a request").results();
    assert_eq!(results.len(), count, "each was answered");
    for result in results {
        assert!(result.is_error, "{}", result.text);
        assert!(
            result.text.len() < 30_000,
            "kept short: {}",
            result.text.len()
        );
    }
    assert_store_is_whole(&rig, &["done"]);
    rig.finish();
}
