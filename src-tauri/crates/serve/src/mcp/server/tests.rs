use std::{
    fs::File,
    io::{BufRead as _, BufReader, Write as _, pipe},
    os::fd::OwnedFd,
    sync::atomic::{AtomicU32, Ordering},
};

use openspace_app::{App, Environment, InstanceKind, Surface};
use serde_json::{Value, json};

use super::*;
use crate::mcp::{Streams, serve_stdio};

/// A program in a folder of its own, for a server that comes that far.
fn open(folder: &std::path::Path) -> Result<Arc<App>, Failure> {
    let home = folder.display().to_string();
    let environment: Environment = [("HOME", home.clone()), ("OPENSPACE_HOME", home)]
        .into_iter()
        .collect();
    let surface = Surface {
        kind: InstanceKind::Mcp,
        claims_runs: false,
        asks_on_terminal: false,
        program: folder.join("openspace"),
        web_view: None,
    };
    App::open(environment, surface, &[])
}

/// A tool that panics is answered with an error that says nothing of the panic's own words, whatever
/// comes on the stream is a message, and the next call finds the server as it was.
#[test]
fn a_tool_that_panics_is_an_error_and_the_server_lives_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let home = folder.path().to_owned();
    let opened = AtomicU32::new(0);
    let server = Server::new(Opening::later(move || {
        match opened.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => panic!("private words of a panic"),
            _ => open(&home),
        }
    }));
    let (input, mut host) = pipe().expect("a pipe");
    let (heard, output) = pipe().expect("a pipe");
    let streams = Streams::of(
        File::from(OwnedFd::from(input)),
        File::from(OwnedFd::from(output)),
    );
    let serving = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let runtime = runtime.expect("a runtime");
        runtime.block_on(serve_stdio(&server, streams))
    });
    let mut lines = BufReader::new(heard).lines();
    let mut next = move || -> Value {
        let line = lines.next().expect("a message").expect("read");
        serde_json::from_str(&line).expect("only messages come")
    };
    let mut write = |message: Value| writeln!(host, "{message}").expect("written");
    write(
        json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test-host", "version": "1" } } }),
    );
    assert_eq!(next()["id"], 0);
    write(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let mut call = |id: u32, tool: &str| {
        write(
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": tool, "arguments": { "task_id": "0123456789abcdef" } } }),
        );
        let reply = next();
        assert_eq!(reply["id"], id, "{reply}");
        reply
    };
    for id in [1, 2] {
        let reply = call(id, "task_status");
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        let told = &reply["result"]["structuredContent"];
        assert_eq!(told["code"], "internal", "{reply}");
        assert!(!reply.to_string().contains("private words"), "{reply}");
    }
    let reply = call(3, "task_status");
    let told = &reply["result"]["structuredContent"];
    assert_eq!(
        told["code"], "not_found",
        "it was really looked for: {reply}"
    );
    drop(host);
    serving.join().expect("no panic").expect("served");
}
