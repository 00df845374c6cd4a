//! How a server ends: soon, and alone.

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use openspace_testkit::model::{Script, SeenRequest, Turn};
use serde_json::json;

use super::{Delegating, Host, Rig, SOON, answers, end_runners, host::rig_environment};

/// Within this time a server whose input has ended is gone.
const GONE: Duration = Duration::from_secs(2);

fn works() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("sleep 4"),
        _ => Turn::done("Worked."),
    })
}

/// The end of input answers whoever waits, ends the server and leaves the run alone.
#[test]
fn the_end_of_input_ends_the_server_and_not_the_run() {
    let mut test = Delegating::start(works());
    let waiting = test.host.ask_tool(
        "execute_task",
        &json!({ "task": "work", "wait_seconds": 60, "idempotency_key": "k" }),
    );
    let begun = openspace_testkit::wait_until(SOON, || {
        test.rig
            .processes()
            .iter()
            .any(|it| it.command.contains("sleep 4"))
    });
    assert!(begun, "it works");
    test.host.close();
    let took = test.host.ends_after();
    assert!(took < GONE, "{took:?}");
    let handle = test.host.result(waiting);
    assert_eq!(
        handle["status"], "running",
        "whoever waits is told: {handle}"
    );
    let mut host = Host::start(&test.rig, &[]);
    host.initialize("2025-11-25");
    let result = host.call(
        "task_wait",
        json!({ "task_id": handle["task_id"], "wait_seconds": 60 }),
    );
    assert_eq!(result["response"], "Worked.", "{result}");
    test.host = host;
    test.finish();
}

/// A server that nobody has said anything to ends as well, and so does one that is told to end.
#[test]
fn an_idle_server_ends_at_once() {
    let rig = Rig::headless(answers("done"));
    let mut host = Host::start(&rig, &[]);
    host.close();
    assert!(host.ends_after() < GONE);
    let mut host = Host::start(&rig, &[]);
    host.initialize("2025-11-25");
    host.signal(rustix::process::Signal::TERM);
    let began = Instant::now();
    assert_eq!(host.wait().code, Some(0));
    assert!(began.elapsed() < GONE);
    rig.finish();
}

/// A host that never reads is not listened to without bound, costs little, and its end is noticed.
#[test]
fn a_host_that_never_reads_costs_little_and_its_end_is_noticed() {
    let rig = Rig::headless(answers("done"));
    let mut child = {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_openspace"));
        command
            .arg("mcp")
            .env_clear()
            .envs(rig_environment(&rig))
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null());
        command.spawn().expect("the server starts")
    };
    let mut input = child.stdin.take().expect("its input");
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "deaf", "version": "1" } } });
    writeln!(input, "{hello}").expect("written");
    // Each answer is a hundred times as long as its question.
    for id in 1..20_000 {
        writeln!(
            input,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#
        )
        .expect("written");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).expect("alive");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .expect("a peak");
    let kib: u64 = line
        .split_whitespace()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .expect("a number");
    assert!(kib < 120 * 1024, "{line}");
    drop(input);
    let began = Instant::now();
    let ended = openspace_testkit::wait_until(SOON, || {
        child.try_wait().is_ok_and(|status| status.is_some())
    });
    let took = began.elapsed();
    if !ended {
        child.kill().expect("killed");
    }
    child.wait().expect("it ended");
    assert!(ended && took < GONE, "{took:?}");
    end_runners(&rig);
    rig.finish();
}
