//! Agents of real hosts hand over a task that takes longer than one of their calls may, and pass on
//! its result. Their model and ours is a server that checks every request.

use std::fs;

use openspace_testkit::{
    cli::Output,
    model::{Call, ModelServer, Rules, Script, SeenRequest, Turn},
};
use serde_json::json;

use super::{super::Desk, Installed};

/// What the agent is asked.
const ASKED: &str = "Let OpenSpace count slowly and tell me what it says.";
/// What comes out of it.
const RESULT: &str = "Counted slowly to the end.";
/// Seconds the task takes, and seconds a host waits for a call.
const TASK: u64 = 14;
const CALL: u64 = 8;

/// A desk whose OpenSpace has a model and works with commands only.
struct Delegation {
    installed: Installed,
    desk: Desk,
    /// The model of the host's agent.
    agent: ModelServer,
    /// The model of our run.
    ours: ModelServer,
}

impl Delegation {
    fn new() -> Self {
        let desk = Desk::new();
        let without_key = Rules {
            key: None,
            ..Rules::default()
        };
        let ours = Script::decide(|seen: &SeenRequest| match seen.turns() {
            0 => Turn::shell(&format!("sleep {TASK}; echo counted")),
            _ => Turn::done(RESULT),
        });
        let ours = ModelServer::start_with(ours, without_key).expect("a model");
        let settings = format!(
            "[model]\nname = \"openai-compatible/ours\"\nbase_url = \"{}\"\n\n[run]\nbackends = [\"shell\"]\n",
            ours.openai_url()
        );
        fs::write(desk.home.data().join("settings.toml"), settings).expect("settings");
        Self {
            installed: Installed::here(),
            agent: ModelServer::start(Script::decide(hand_over)).expect("a model"),
            desk,
            ours,
        }
    }

    fn register(&self, host: &str) {
        let done = self.installed.hosts(&self.desk, &["register", host]);
        assert_eq!(done.code, Some(0), "{done:?}");
    }

    /// The result came through, although no call could wait for it.
    fn assert_relayed(self, output: &Output) {
        let said = format!("{}{}", output.stdout, output.stderr);
        let asked = self.agent.requests();
        let heard: Vec<_> = asked
            .iter()
            .flat_map(|seen| seen.new_results())
            .map(|result| result.text.clone())
            .collect();
        assert!(output.stdout.contains(RESULT), "{said}\n{heard:#?}");
        assert!(
            heard.iter().any(|text| text.contains("running")),
            "{heard:#?}"
        );
        self.ours.assert_clean();
        drop(self.agent);
        self.desk.end_runners();
        self.desk.finish();
    }
}

/// What a model does that knows how to use us: hand over, wait as often as it takes, pass on.
fn hand_over(seen: &SeenRequest) -> Turn {
    let names = seen.tool_names();
    let Some(execute) = names.iter().find(|name| name.ends_with("execute_task")) else {
        // Titles and summaries, which hosts ask for on the side.
        return Turn::done("OpenSpace");
    };
    let Some(result) = seen.new_results().last().map(|result| result.text.clone()) else {
        let arguments = json!({ "task": "Count slowly", "wait_seconds": 2 });
        return Turn::call(Call::new(execute, arguments));
    };
    let task = result
        .split_once("\"task_id\"")
        .and_then(|(_, rest)| rest.split('"').nth(1));
    match task {
        Some(task) if result.contains("\"running\"") => {
            let wait = execute.replace("execute_task", "task_wait");
            Turn::call(Call::new(
                &wait,
                json!({ "task_id": task, "wait_seconds": 4 }),
            ))
        }
        _ => Turn::done(&format!("OpenSpace says: {result}")),
    }
}

/// Claude Code, whose calls may take eight seconds here.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn claude_code_hands_over() {
    let test = Delegation::new();
    test.register("claude-code");
    let tools = ["execute_task", "task_wait"].map(|tool| format!("mcp__openspace__{tool}"));
    let arguments = ["-p", ASKED, "--allowedTools", &tools[0], &tools[1]];
    let output = test
        .installed
        .command(&test.desk, "claude", &arguments)
        .env("ANTHROPIC_BASE_URL", test.agent.url())
        .env("ANTHROPIC_API_KEY", test.agent.key())
        .env("MCP_TOOL_TIMEOUT", (CALL * 1000).to_string())
        .run()
        .expect("it ends");
    test.assert_relayed(&output);
}

/// opencode.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn opencode_hands_over() {
    let test = Delegation::new();
    let config = json!({
        "model": "test/agent",
        "small_model": "test/agent",
        "provider": { "test": {
            "npm": "@ai-sdk/openai-compatible",
            "options": { "baseURL": test.agent.openai_url(), "apiKey": test.agent.key() },
            "models": { "agent": {} },
        } },
    });
    let file = test
        .desk
        .write(".config/opencode/opencode.json", config.to_string());
    test.register("opencode");
    let written = fs::read_to_string(&file).expect("a file");
    let written = written.replace(
        "\"environment\":",
        &format!("\"timeout\":{},\"environment\":", CALL * 1000),
    );
    fs::write(&file, written).expect("a shorter time");
    let output = test.installed.ask(&test.desk, "opencode", &["run", ASKED]);
    test.assert_relayed(&output);
}

/// nanobot.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn nanobot_hands_over() {
    let test = Delegation::new();
    let config = json!({
        "agents": { "defaults": { "model": "agent", "provider": "custom" } },
        "providers": { "custom": { "apiKey": test.agent.key(), "apiBase": test.agent.openai_url() } },
    });
    let file = test.desk.write(".nanobot/config.json", config.to_string());
    test.register("nanobot");
    let written = fs::read_to_string(&file).expect("a file");
    assert!(written.contains("\"toolTimeout\":1200"), "{written}");
    let written = written.replace("\"toolTimeout\":1200", &format!("\"toolTimeout\":{CALL}"));
    fs::write(&file, written).expect("a shorter time");
    let output = test.installed.ask(
        &test.desk,
        "nanobot",
        &["agent", "-m", ASKED, "--no-markdown"],
    );
    test.assert_relayed(&output);
}
