//! Every variable is answered.

use std::collections::BTreeSet;

use openspace_config::{
    Environment,
    env_vars::{self, Notice, Status, VARIABLES},
};

fn review(pairs: &[(&str, &str)]) -> Vec<String> {
    let environment: Environment = pairs.iter().copied().collect();
    env_vars::review(&environment)
        .iter()
        .map(Notice::to_string)
        .collect()
}

/// A variable that does nothing says so and names what does its work; values are never printed.
#[test]
fn variables_without_effect_are_answered() {
    let notices = review(&[
        ("OPENSPACE_CONFIG_JSON", "{\"secret\":1}"),
        ("OPENSPACE_MCP_SERVERS_JSON", "{}"),
        ("OPENSPACE_MODEL", "claude-opus-4-5"),
        ("OPENSPACE_MODLE", "secret"),
        ("OPENSPACE_COFFEE", "secret"),
        ("OPENSPACE_DEBUG", ""),
        ("DEBUG", "1"),
        ("PATH", "/bin"),
    ]);
    let expected = [
        "`OPENSPACE_COFFEE` has no effect: there is no such variable",
        "`OPENSPACE_CONFIG_JSON` has no effect: use `openspace config set`",
        "`OPENSPACE_MCP_SERVERS_JSON` has no effect: the MCP client is not part of this version",
        "`OPENSPACE_MODLE` has no effect; did you mean `OPENSPACE_MODEL`?",
    ];
    assert_eq!(notices, expected);
}

/// The list names each variable once, and every setting with its variable.
#[test]
fn every_variable_is_declared_once() {
    let names: BTreeSet<_> = VARIABLES.iter().map(|variable| variable.name).collect();
    assert_eq!(names.len(), VARIABLES.len(), "no name twice");
    let settings: BTreeSet<_> = env_vars::settings().map(|(_, key)| key).collect();
    assert_eq!(
        settings.len(),
        env_vars::settings().count(),
        "no setting twice"
    );
    assert!(env_vars::settings().any(|pair| pair == ("OPENSPACE_MODEL", "model.name")));
}

/// The variables of the system this one succeeds are all on the list.
#[test]
fn the_old_systems_variables_are_all_there() {
    let communication = "CONFIG DATA_DIR HOST PORT MAX_ITERATIONS ENABLE_RECORDING \
        RECORDING_BACKENDS BACKEND_SCOPE GROUNDING_CONFIG_PATH WORKSPACE_ROOT LLM_TIMEOUT \
        HISTORY_TURNS MAX_PARALLEL IDLE_TTL QUEUE_SIZE MAX_ATTACHMENT_BYTES \
        MAX_SESSION_ATTACHMENT_BYTES WHATSAPP_POLL_INTERVAL";
    let general = "MODEL LLM_API_KEY LLM_API_BASE LLM_EXTRA_HEADERS LLM_CONFIG WORKSPACE \
        MAX_ITERATIONS ENABLE_RECORDING BACKEND_SCOPE HOST_SKILL_DIRS CONFIG_PATH CONFIG_JSON \
        SHELL_CONDA_ENV SHELL_WORKING_DIR SKILLS_DIRS MCP_SERVERS_JSON LOG_LEVEL DEBUG \
        MCP_TRANSPORT MCP_HOST MCP_PORT API_KEY API_BASE";
    let names: BTreeSet<_> = VARIABLES.iter().map(|variable| variable.name).collect();
    for name in communication.split_whitespace() {
        let name = format!("OPENSPACE_COMMUNICATION_{name}");
        assert!(names.contains(name.as_str()), "`{name}` has no answer");
    }
    for name in general.split_whitespace() {
        let name = format!("OPENSPACE_{name}");
        assert!(names.contains(name.as_str()), "`{name}` has no answer");
    }
}

/// A provider's variables come in the order they are tried.
#[test]
fn a_provider_has_its_variables() {
    let names: Vec<_> = env_vars::of_provider("gemini")
        .map(|variable| variable.name)
        .collect();
    assert_eq!(names, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
}

/// The reference has one row per variable, with nothing that would break the table.
#[test]
fn the_reference_is_a_table() {
    let markdown = env_vars::markdown();
    assert_eq!(markdown.lines().count(), VARIABLES.len() + 2);
    for line in markdown.lines() {
        assert_eq!(line.matches('|').count(), 4, "{line}");
    }
    assert!(markdown.contains("| `OPENSPACE_MODEL` | the model | sets `model.name` |"));
    assert!(
        VARIABLES
            .iter()
            .all(|variable| variable.status != Status::Setting(""))
    );
}

/// The table in the README is the table of the program.
#[test]
fn the_readme_lists_every_variable() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../README.md");
    let readme = std::fs::read_to_string(path).expect("the README");
    let inside = readme
        .split_once("<!-- variables -->\n")
        .and_then(|(_, rest)| rest.split_once("<!-- /variables -->"))
        .map(|(inside, _)| inside);
    let expected = openspace_config::env_vars::markdown();
    assert_eq!(
        inside,
        Some(expected.as_str()),
        "put this between the marks:\n{expected}"
    );
}
