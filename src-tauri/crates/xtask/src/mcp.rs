//! `cargo xtask test --mcp`: the MCP server against what others use: the official conformance suite,
//! the Inspector, the clients of the Python SDKs. Apart from the other tests because of its downloads.

use std::{
    env, fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, ExitCode, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

use crate::run::{built, cargo, root, run, say, shown, which, words};

/// From npm. The suite needs a newer Node than Debian has, which the package `node` brings.
const NPM: [&str; 3] = [
    "@modelcontextprotocol/conformance@0.2.0-alpha.12",
    "@modelcontextprotocol/inspector@2.12.0",
    "node@22",
];
/// From PyPI.
const PYPI: [&str; 2] = ["mcp==2.3.0", "fastmcp==4.2.3"];
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// What cannot be without sessions: the server asks the client something in the middle of a call, and
/// there is no stream that would carry the answer back to it; the last one looks for a session's id.
const NEED_SESSIONS: [&str; 5] = [
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "server-sse-multiple-streams",
];

pub(crate) fn test() -> Result<ExitCode> {
    let tools = Tools::install()?;
    run(
        "build",
        cargo()?.args(words("build --bin openspace --quiet")),
    )?;
    let fixture = "build --package openspace-serve --example conformance --features conformance";
    run("build", cargo()?.args(words(fixture)))?;
    let home = env::temp_dir().join(format!("openspace-mcp-home-{}", std::process::id()));
    let tested = conformance(&tools, &home).and_then(|()| clients(&tools, &home));
    // Whatever cannot be removed lies in the temporary folder, where it does no harm.
    let _ = fs::remove_dir_all(&home);
    tested?;
    say("mcp: all passed");
    Ok(ExitCode::SUCCESS)
}

/// What is downloaded once, below the target folder.
struct Tools {
    folder: PathBuf,
}

impl Tools {
    fn install() -> Result<Self> {
        let target = built("debug", "openspace")?;
        let folder = target
            .ancestors()
            .nth(2)
            .context("finding the target folder")?
            .join("mcp-tools");
        fs::create_dir_all(&folder).context("creating a folder for the tools")?;
        let tools = Self { folder };
        let wanted = [NPM.as_slice(), &PYPI].concat().join("\n");
        let noted = tools.folder.join("installed");
        if fs::read_to_string(&noted).is_ok_and(|known| known == wanted) {
            return Ok(tools);
        }
        let npm =
            which("npm").context("npm was not found: install Node.js 20 or newer with npm")?;
        let mut packages = Command::new(npm);
        packages
            .args([
                "install",
                "--no-audit",
                "--no-fund",
                "--loglevel=error",
                "--prefix",
            ])
            .arg(&tools.folder)
            .args(NPM)
            .stdin(Stdio::null());
        run("npm packages", &mut packages)?;
        let python = which("python3").context("python3 was not found")?;
        let mut environment = Command::new(python);
        environment
            .args(["-m", "venv"])
            .arg(tools.folder.join("python"));
        run("python", &mut environment)?;
        let mut packages = Command::new(tools.python());
        packages
            .args(["-m", "pip", "install", "--quiet"])
            .args(PYPI);
        run("python packages", &mut packages)?;
        fs::write(noted, wanted).context("noting what is installed")?;
        Ok(tools)
    }

    fn module(&self, name: &str) -> PathBuf {
        self.folder.join("node_modules").join(name)
    }

    fn node(&self) -> Command {
        let mut node = Command::new(self.module(".bin/node"));
        node.stdin(Stdio::null());
        node
    }

    fn python(&self) -> PathBuf {
        self.folder.join("python/bin/python")
    }
}

/// A server of ours, ended when the value is dropped.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

fn serve(mut command: Command, home: &Path, port: u16) -> Result<Serving> {
    fs::create_dir_all(home)?;
    command
        .env("HOME", home)
        .env("OPENSPACE_HOME", home)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let serving = Serving(
        command
            .spawn()
            .with_context(|| format!("starting {}", shown(&command)))?,
    );
    let asked = Instant::now();
    while asked.elapsed() < Duration::from_secs(20) {
        if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(serving);
        }
        thread::sleep(Duration::from_millis(20));
    }
    bail!("{} does not listen", shown(&command))
}

/// Every scenario that is scored, of both revisions, with sessions and without.
fn conformance(tools: &Tools, home: &Path) -> Result<()> {
    let fixture = built("debug", "examples/conformance")?;
    let suite = tools.module("@modelcontextprotocol/conformance/dist/index.js");
    let mut failed = Vec::new();
    for stateless in [false, true] {
        let mode = if stateless { "stateless" } else { "sessions" };
        let port = free_port()?;
        let mut server = Command::new(&fixture);
        server.arg(port.to_string());
        if stateless {
            server.arg("--stateless");
        }
        let serving = serve(server, home, port)?;
        for revision in REVISIONS {
            let expected = tools.folder.join("expected.yaml");
            let list = if stateless && revision == REVISIONS[0] {
                NEED_SESSIONS.map(|name| format!("  - {name}\n")).concat()
            } else {
                String::new()
            };
            let text = if list.is_empty() {
                "server: []\n".to_owned()
            } else {
                format!("server:\n{list}")
            };
            fs::write(&expected, text).context("writing what is expected")?;
            let mut command = tools.node();
            command
                .arg(&suite)
                .args(["server", "--url"])
                .arg(format!("http://127.0.0.1:{port}/mcp"))
                .args(["--requirements", revision, "--expected-failures"])
                .arg(&expected)
                .args(["--output-dir"])
                .arg(tools.folder.join("results"));
            if run(&format!("conformance {revision}, {mode}"), &mut command).is_err() {
                failed.push(format!("{revision}, {mode}"));
            }
        }
        drop(serving);
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("the conformance suite failed: {}", failed.join("; "))
}

/// The Inspector and the Python clients, over a pipe and over a port.
fn clients(tools: &Tools, home: &Path) -> Result<()> {
    let program = built("debug", "openspace")?;
    let port = free_port()?;
    let mut server = Command::new(&program);
    server.args(["mcp", "--transport", "streamable-http", "--port"]);
    server.arg(port.to_string());
    let serving = serve(server, home, port)?;
    let token = fs::read_to_string(home.join("mcp-token")).context("reading the token")?;
    let inspector = tools.module(".bin/mcp-inspector");
    let url = format!("http://127.0.0.1:{port}");
    let header = format!("Authorization: Bearer {}", token.trim());
    let asks: [&[&str]; 2] = [
        &["--method", "tools/list"],
        &[
            "--method",
            "tools/call",
            "--tool-name",
            "task_status",
            "--tool-arg",
            "task_id=0000000000",
        ],
    ];
    for ask in asks {
        for over in ["pipe", "mcp", "sse"] {
            let mut command = tools.node();
            command
                .arg(&inspector)
                .arg("--cli")
                .env("HOME", home)
                .env("OPENSPACE_HOME", home);
            if over == "pipe" {
                command.args(ask).arg("--").arg(&program).arg("mcp");
            } else {
                command
                    .arg(format!("{url}/{over}"))
                    .args(ask)
                    .args(["--header", &header]);
            }
            let output = command.output().context("starting the Inspector")?;
            let text = String::from_utf8_lossy(&output.stdout);
            let wanted = if ask.len() == 2 {
                "execute_task"
            } else {
                "there is no task"
            };
            if !text.contains(wanted) {
                let errors = String::from_utf8_lossy(&output.stderr);
                bail!("the Inspector over {over}: {text}{errors}");
            }
            say(&format!("inspector over {over}: {}", ask[1]));
        }
    }
    let script = root()?.join("tests/fixtures/mcp/clients.py");
    let mut python = Command::new(tools.python());
    python
        .arg(script)
        .arg(&program)
        .arg(port.to_string())
        .arg(token.trim())
        .env("HOME", home)
        .env("OPENSPACE_HOME", home);
    run("python clients", &mut python)?;
    drop(serving);
    Ok(())
}
