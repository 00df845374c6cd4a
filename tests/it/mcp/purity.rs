//! Standard output carries messages only, whatever happens beside it.

use std::io::Write as _;

use openspace_testkit::{
    Program,
    model::{Script, SeenRequest, Turn},
};
use serde_json::{Value, json};

use super::{Host, Rig, SOON, answers, end_runners, host::rig_environment};

fn conversation(host: &mut Host) {
    host.initialize("2025-11-25");
    host.request("tools/list", json!({}));
    let answer = host.call(
        "execute_task",
        json!({ "task": "talk", "wait_seconds": 60 }),
    );
    assert_eq!(answer["status"], "success", "{answer}");
    host.close();
    assert_eq!(host.wait().code, Some(0));
}

/// Programs that print in the middle of everything.
fn noisy() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("echo to the output; echo to the error >&2; seq 1 2000"),
        _ => Turn::done("Talked."),
    })
}

/// A first run with everything logged, noisy programs and no display.
#[test]
fn d12_only_messages_come_out() {
    let rig = Rig::headless(noisy());
    let mut environment = rig_environment(&rig);
    environment.insert("OPENSPACE_LOG_LEVEL".into(), "trace".into());
    environment.insert("RUST_LOG".into(), "trace".into());
    environment.insert("RUST_BACKTRACE".into(), "1".into());
    environment.remove("DISPLAY");
    let mut host = Host::start_in(&rig, &[], environment);
    conversation(&mut host);
    assert!(host.stderr().len() > 10_000, "everything is logged");
    let file = rig.home.data().join("logs/mcp.log");
    assert!(std::fs::metadata(file).expect("a log file").len() > 10_000);
    end_runners(&rig);
    rig.finish();
}

/// Standard error that is closed, or goes nowhere, changes nothing.
#[test]
fn d12_a_closed_standard_error_changes_nothing() {
    let rig = Rig::headless(noisy());
    let program = Program::new("/bin/sh")
        .args([
            "-c",
            r#"exec "$0" mcp 2>&-"#,
            env!("CARGO_BIN_EXE_openspace"),
        ])
        .environment(rig_environment(&rig))
        .env("OPENSPACE_LOG_LEVEL", "trace")
        .folder(rig.home.workspace());
    let mut host = Host::of(program);
    conversation(&mut host);
    end_runners(&rig);
    rig.finish();
}

/// A host that never reads standard error, whose pipe holds one page, stalls nothing.
#[test]
fn d13_standard_error_that_nobody_reads_stalls_nothing() {
    let rig = Rig::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("head -c 5000000 /dev/zero | tr '\\0' x"),
        _ => Turn::done("Talked."),
    }));
    // The other end of this pipe is open for as long as the test lasts, and never read.
    let (_unread, error) = std::io::pipe().expect("a pipe");
    rustix::pipe::fcntl_setpipe_size(&error, 4096).expect("a small pipe");
    let mut child = {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_openspace"));
        command
            .arg("mcp")
            .env_clear()
            .envs(rig_environment(&rig))
            .env("OPENSPACE_LOG_LEVEL", "trace")
            .current_dir(rig.home.workspace())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(error);
        command.spawn().expect("the server starts")
    };
    let mut input = child.stdin.take().expect("its input");
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "deaf", "version": "1" } } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "execute_task", "arguments": { "task": "talk", "wait_seconds": 60 } } }),
    ];
    for message in messages {
        writeln!(input, "{message}").expect("written");
    }
    let output = child.stdout.take().expect("its output");
    let lines = std::io::BufRead::lines(std::io::BufReader::new(output));
    let reply = lines
        .map(|line| serde_json::from_str::<Value>(&line.expect("read")).expect("a message"))
        .find(|message| message["id"] == 2)
        .expect("a reply");
    let text = reply["result"]["content"][0]["text"]
        .as_str()
        .expect("text");
    assert!(text.contains("\"success\""), "{text}");
    drop(input);
    let ended = openspace_testkit::wait_until(SOON, || {
        child.try_wait().is_ok_and(|status| status.is_some())
    });
    if !ended {
        child.kill().expect("killed");
    }
    child.wait().expect("it ended");
    assert!(ended, "the server ends although nobody reads");
    end_runners(&rig);
    rig.finish();
}

/// Lines that are no messages are passed over, and the conversation goes on.
#[test]
fn what_is_no_message_is_passed_over() {
    let rig = Rig::headless(answers("done"));
    let mut host = Host::start(&rig, &[]);
    host.initialize("2025-11-25");
    for nonsense in ["", "hello", "{", "\u{feff}", "[1, 2", "\0"] {
        host.write(nonsense);
    }
    let long = "x".repeat(9 * 1024 * 1024);
    host.write(&long);
    let listed = host.request("tools/list", json!({}));
    assert!(listed["result"]["tools"].is_array(), "{listed}");
    host.close();
    assert_eq!(host.wait().code, Some(0));
    rig.finish();
}
