use std::{
    fs::File,
    io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe},
    os::fd::OwnedFd,
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc::channel,
    },
    thread::JoinHandle,
    time::{Duration, Instant},
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

/// Both ends of the streams, and the server behind them.
struct Host {
    input: PipeWriter,
    output: PipeReader,
    serving: JoinHandle<std::io::Result<()>>,
}

fn host(server: Server) -> Host {
    let (theirs, input) = pipe().expect("a pipe");
    let (output, ours) = pipe().expect("a pipe");
    let streams = Streams::of(
        File::from(OwnedFd::from(theirs)),
        File::from(OwnedFd::from(ours)),
    );
    let serving = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let runtime = runtime.expect("a runtime");
        let ended = runtime.block_on(serve_stdio(&server, streams));
        runtime.shutdown_background();
        ended
    });
    Host {
        input,
        output,
        serving,
    }
}

fn hello() -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test-host", "version": "1" } } })
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
    let Host {
        mut input,
        output,
        serving,
    } = host(server);
    let mut lines = BufReader::new(output).lines();
    let mut next = move || -> Value {
        let line = lines.next().expect("a message").expect("read");
        serde_json::from_str(&line).expect("only messages come")
    };
    let mut write = |message: Value| writeln!(input, "{message}").expect("written");
    write(hello());
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
    drop(input);
    serving.join().expect("no panic").expect("served");
}

/// A host that does not read, while the store takes its time, is left within two seconds all the same.
#[test]
fn the_end_of_input_is_the_end_within_two_seconds() {
    let (release, held) = channel::<()>();
    let (tell, begun) = channel();
    let held = Mutex::new(held);
    let server = Server::telling(
        Opening::later(|| Err(Failure::new(Code::Internal, "not for this"))),
        move |_| {
            tell.send(()).expect("awaited");
            let _released = held.lock().expect("ours").recv();
            Ok(())
        },
    );
    let Host {
        mut input,
        output,
        serving,
    } = host(server);
    writeln!(input, "{}", hello()).expect("written");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    writeln!(input, "{initialized}").expect("written");
    for id in 1..200 {
        let list = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list" });
        writeln!(input, "{list}").expect("written");
    }
    begun
        .recv_timeout(Duration::from_secs(20))
        .expect("it is told");
    let ended = Instant::now();
    drop(input);
    serving.join().expect("no panic").expect("served");
    let took = ended.elapsed();
    assert!(took < Duration::from_secs(2), "{took:?}");
    drop((output, release));
}
