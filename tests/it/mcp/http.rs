//! The transports over a port: who is let in, and that they do what the pipes do.

use std::time::{Duration, Instant};

use openspace_testkit::{
    model::{Script, SeenRequest, Turn},
    wait_until,
};
use serde_json::{Value, json};

use super::{
    Rig, SOON, answers,
    client::{Door, Served, Stream, call, initialize, told},
    end_runners,
};

/// Every route, as method, path and body.
fn routes() -> Vec<(&'static str, &'static str, String)> {
    let hello = initialize(1, "2025-11-25").to_string();
    vec![
        ("POST", "/mcp", hello.clone()),
        ("GET", "/mcp", String::new()),
        ("DELETE", "/mcp", String::new()),
        ("GET", "/sse", String::new()),
        ("POST", "/messages?session_id=x", hello.clone()),
        ("OPTIONS", "/mcp", String::new()),
        ("GET", "/", String::new()),
        (
            "POST",
            "/rpc",
            r#"{"name":"app_state","request":{}}"#.to_owned(),
        ),
        ("GET", "/events?after=0", String::new()),
        ("POST", "/mcp/", hello),
    ]
}

fn refused(served: &Door, why: &str, headers: &[(String, String)], status: u16) {
    for (method, path, body) in routes() {
        let reply = served.send(method, path, headers, &body);
        assert_eq!(reply.status, status, "{why}: {method} {path}: {reply:?}");
        assert!(
            !reply.body.contains("openspace"),
            "{why}: {method} {path}: {reply:?}"
        );
    }
}

fn with(served: &Door, name: &str, value: &str) -> Vec<(String, String)> {
    let mut headers = served.headers();
    headers.retain(|(known, _)| known != name);
    headers.push((name.to_owned(), value.to_owned()));
    headers
}

/// Another host name, another origin, a wrong token and none are refused on every route.
pub(crate) fn assert_guarded(served: &Door) {
    let port = served.port;
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("127.0.0.1:{port}.evil.example"),
        format!("127.0.0.1.evil.example:{port}"),
        "127.0.0.1:1".to_owned(),
        format!("0.0.0.0:{port}"),
    ] {
        refused(served, &host, &with(served, "host", &host), 421);
    }
    for origin in [
        "http://evil.example".to_owned(),
        "null".to_owned(),
        format!("http://localhost:{port}.evil.com"),
        format!("https://127.0.0.1:{port}"),
    ] {
        refused(served, &origin, &with(served, "origin", &origin), 403);
    }
    let pages = openspace_testkit::home::Mark::new().as_str().repeat(2);
    for wrong in [
        "",
        "Bearer ",
        &format!("Bearer {}x", served.token),
        &format!("Basic {}", served.token),
        &format!("Bearer {pages}"),
    ] {
        refused(served, wrong, &with(served, "authorization", wrong), 401);
    }
    let mut none = served.headers();
    none.retain(|(name, _)| name != "authorization");
    refused(served, "no token", &none, 401);
    let reply = served.send("POST", "/mcp", &none, "{}");
    assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
}

/// Wrong callers are refused; so is the token of the pages, and theirs by us.
#[test]
fn wrong_callers_are_refused_on_every_route() {
    let rig = Rig::headless(answers("done"));
    let served = Served::start(&rig, &[]);
    assert_guarded(&served);

    // The pages' own token opens nothing here, and this one nothing there.
    let folder = rig.home.root().join("pages");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("index.html"), "pages").expect("written");
    let folder = folder.display().to_string();
    let mut pages = rig
        .openspace(&["serve", "--json", "--ui", &folder])
        .start()
        .expect("the pages are served");
    let line = pages
        .wait_for_line(SOON, |line| line.contains("\"url\""))
        .expect("the address");
    let told: Value = serde_json::from_str(&line).expect("JSON");
    let url = told["url"].as_str().expect("the address");
    let (_, of_pages) = url.split_once("#token=").expect("a token");
    refused(
        &served,
        "the pages' token",
        &with(&served, "authorization", &format!("Bearer {of_pages}")),
        401,
    );
    let there = Served {
        program: pages,
        door: Door {
            port: told["port"]
                .as_u64()
                .and_then(|it| it.try_into().ok())
                .expect("a port"),
            token: served.token.clone(),
        },
    };
    for (method, path) in [
        ("POST", "/rpc"),
        ("GET", "/events?after=0"),
        ("GET", "/frames/0123456789"),
    ] {
        let reply = there.send(method, path, &there.headers(), "{}");
        assert_eq!(reply.status, 401, "{path}: {reply:?}");
    }
    there.end();
    served.end();
    rig.finish();
}

/// Who is let in: our own names, and clients without an origin.
#[test]
fn honest_callers_are_let_in() {
    let rig = Rig::headless(answers("done"));
    let served = Served::start(&rig, &[]);
    let port = served.port;
    for (name, value) in [
        ("host", format!("localhost:{port}")),
        ("origin", format!("http://localhost:{port}")),
        ("origin", format!("http://127.0.0.1:{port}")),
    ] {
        let body = initialize(1, "2025-11-25").to_string();
        let reply = served.send("POST", "/mcp", &with(&served, name, &value), &body);
        assert_eq!(reply.status, 200, "{name}: {value}: {reply:?}");
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    served.end();
    rig.finish();
}

/// Too much, the wrong kind, and nonsense are refused.
pub(crate) fn assert_bounded(served: &Door) {
    let huge = call(1, "execute_task", &json!({ "task": "x".repeat(5_000_000) })).to_string();
    let stream = Stream::open(served);
    for path in ["/mcp", &stream.endpoint] {
        let reply = served.send("POST", path, &served.headers(), &huge);
        assert_eq!(reply.status, 413, "{path}: {}", reply.headers);
        let plain = with(served, "content-type", "text/plain");
        assert_eq!(
            served.send("POST", path, &plain, "{}").status,
            415,
            "{path}"
        );
        let reply = served.send("POST", path, &served.headers(), "{");
        assert!([400, 415].contains(&reply.status), "{path}: {reply:?}");
    }
    stream.close();
}

/// Requests are bounded, and nothing but loopback is listened on.
#[test]
fn oversized_and_broken_requests_are_refused() {
    let rig = Rig::headless(answers("done"));
    let served = Served::start(&rig, &[]);
    assert_bounded(&served);
    served.end();
    for host in ["0.0.0.0", "192.0.2.1", "::"] {
        let refused = rig
            .openspace(&["mcp", "--transport", "sse", "--port", "0", "--host", host])
            .run()
            .expect("it ends");
        assert_eq!(refused.code, Some(1), "{host}: {refused:?}");
        assert!(refused.stderr.contains("loopback"), "{host}: {refused:?}");
    }
    rig.finish();
}

/// The same versions as over pipes, in sessions and without.
#[test]
fn d15_versions_are_negotiated_over_http() {
    let rig = Rig::headless(answers("done"));
    for arguments in [&[] as &[&str], &["--stateless"]] {
        let served = Served::start(&rig, arguments);
        for (asked, agreed) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-03-26"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("2099-01-01", "2025-11-25"),
        ] {
            let reply = served.post(&initialize(1, asked), &[]);
            assert_eq!(reply.status, 200, "{asked}: {reply:?}");
            assert_eq!(
                reply.message()["result"]["protocolVersion"],
                agreed,
                "{asked}"
            );
            assert_eq!(
                reply.header("mcp-session-id").is_some(),
                arguments.is_empty()
            );
        }
        // Since 2026-07-28 every request stands alone.
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": { "_meta": meta } });
        let headers = [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/list"),
        ];
        let reply = served.post(&list, &headers);
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.header("mcp-session-id"), None);
        assert_eq!(
            reply.message()["result"]["tools"]
                .as_array()
                .expect("tools")
                .len(),
            7
        );
        served.end();
    }
    rig.finish();
}

/// A task over each transport, with its result.
#[test]
fn tasks_are_handed_over_by_every_transport() {
    let rig = Rig::headless(answers("Done over the wire."));
    let arguments = json!({ "task": "work", "wait_seconds": 60 });
    for stateless in [false, true] {
        let served = Served::start(&rig, if stateless { &["--stateless"] } else { &[] });
        let session = if stateless {
            String::new()
        } else {
            served.session()
        };
        let more = [("mcp-session-id", session.as_str())];
        let more = if stateless { &[] as &[_] } else { &more };
        let reply = served.post(&call(2, "execute_task", &arguments), more);
        assert_eq!(
            told(&reply.message())["response"],
            "Done over the wire.",
            "{reply:?}"
        );
        if !stateless {
            let ended = served.send(
                "DELETE",
                "/mcp",
                &[
                    served.headers(),
                    vec![("mcp-session-id".into(), session.clone())],
                ]
                .concat(),
                "",
            );
            assert_eq!(ended.status, 202, "{ended:?}");
            let gone = served.post(&call(3, "task_status", &json!({ "task_id": "x" })), more);
            assert_eq!(gone.status, 404, "{gone:?}");
        }
        served.end();
    }
    let served = Served::start(&rig, &[]);
    let stream = Stream::open(&served);
    assert!(
        stream.endpoint.starts_with("/messages?session_id="),
        "{}",
        stream.endpoint
    );
    let say = |message: &Value| {
        let reply = served.send(
            "POST",
            &stream.endpoint,
            &served.headers(),
            &message.to_string(),
        );
        assert_eq!(reply.status, 202, "{reply:?}");
    };
    say(&initialize(1, "2024-11-05"));
    assert_eq!(stream.reply(1)["result"]["protocolVersion"], "2024-11-05");
    say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    say(&call(2, "execute_task", &arguments));
    assert_eq!(told(&stream.reply(2))["response"], "Done over the wire.");
    stream.close();
    let gone = wait_until(SOON, || {
        let body = initialize(3, "2024-11-05").to_string();
        served
            .send("POST", &stream.endpoint, &served.headers(), &body)
            .status
            == 404
    });
    assert!(gone, "the stream is closed for good");
    served.end();
    end_runners(&rig);
    rig.finish();
}

/// A hundred calls at once over each transport: a hundred runs, each with its own answer.
#[test]
fn a_hundred_calls_at_once_over_each_transport() {
    let rig = Rig::headless(Script::decide(|seen: &SeenRequest| {
        Turn::done(&format!("Answer to {}", seen.person().trim()))
    }));
    let asked = |number: i64, by: &str| {
        let arguments = json!({ "task": format!("{by} {number}"), "wait_seconds": 120 });
        call(number, "execute_task", &arguments)
    };
    for stateless in [false, true] {
        let served = Served::start(&rig, if stateless { &["--stateless"] } else { &[] });
        let session = if stateless {
            String::new()
        } else {
            served.session()
        };
        let by = if stateless { "stateless" } else { "session" };
        std::thread::scope(|scope| {
            for number in 100..200 {
                let (served, session) = (&served, &session);
                scope.spawn(move || {
                    let more = [("mcp-session-id", session.as_str())];
                    let more = if stateless { &[] as &[_] } else { &more };
                    let reply = served.post(&asked(number, by), more);
                    let answer = told(&reply.message());
                    assert_eq!(
                        answer["response"],
                        format!("Answer to {by} {number}"),
                        "{answer}"
                    );
                });
            }
        });
        served.end();
    }
    let served = Served::start(&rig, &[]);
    let stream = Stream::open(&served);
    let send = |message: &Value| {
        let reply = served.send(
            "POST",
            &stream.endpoint,
            &served.headers(),
            &message.to_string(),
        );
        assert_eq!(reply.status, 202, "{reply:?}");
    };
    send(&initialize(1, "2025-03-26"));
    stream.reply(1);
    for number in 100..200 {
        send(&asked(number, "stream"));
    }
    for number in 100..200 {
        let answer = told(&stream.reply(number));
        assert_eq!(
            answer["response"],
            format!("Answer to stream {number}"),
            "{answer}"
        );
    }
    stream.close();
    served.end();
    end_runners(&rig);
    rig.finish();
}

/// There are only so many sessions and streams; requests that need none are served all the same.
#[test]
fn sessions_are_capped() {
    const MOST: usize = 256;
    let rig = Rig::headless(answers("done"));
    let served = Served::start(&rig, &[]);
    for _ in 0..MOST {
        served.session();
    }
    let full = served.post(&initialize(1, "2025-11-25"), &[]);
    assert_eq!(full.status, 503, "{full:?}");
    assert_eq!(full.header("retry-after"), Some("30"));
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list =
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": { "_meta": meta } });
    let alone = served.post(
        &list,
        &[
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/list"),
        ],
    );
    assert_eq!(alone.status, 200, "{alone:?}");
    let streams: Vec<_> = (0..MOST).map(|_| Stream::open(&served)).collect();
    let full = served.send("GET", "/sse", &served.headers(), "");
    assert_eq!(full.status, 503, "{full:?}");
    streams[0].close();
    let room = wait_until(SOON, || {
        // A stream that opens stays open, so only its first line is read.
        let mut line = String::new();
        let stream = served.open("GET", "/sse", &served.headers(), "");
        let _read = std::io::BufRead::read_line(&mut std::io::BufReader::new(stream), &mut line);
        line.contains(" 200 ")
    });
    assert!(room, "a stream that ended makes room");
    served.end();
    rig.finish();
}

/// The end of the server answers whoever waits, and leaves the run alone.
#[test]
fn the_end_of_the_server_is_not_the_end_of_the_run() {
    let rig = Rig::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("sleep 4"),
        _ => Turn::done("Worked."),
    }));
    let served = Served::start(&rig, &["--stateless"]);
    let arguments = json!({ "task": "work", "wait_seconds": 60 });
    let mut waiting = served.open(
        "POST",
        "/mcp",
        &served.headers(),
        &call(1, "execute_task", &arguments).to_string(),
    );
    let begun = wait_until(SOON, || {
        rig.processes()
            .iter()
            .any(|it| it.command.contains("sleep 4"))
    });
    assert!(begun, "it works");
    let asked = Instant::now();
    served.end();
    assert!(asked.elapsed() < Duration::from_secs(2));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut waiting, &mut text).expect("an answer");
    assert!(text.contains("running"), "{text}");
    let task = text.split("task_id").nth(1).and_then(|it| {
        let plain = it.trim_start_matches(['\\', '"', ':', ' ']);
        plain.get(..10)
    });
    let task = task.expect("an id").to_owned();
    let served = Served::start(&rig, &["--stateless"]);
    let wait = json!({ "task_id": task, "wait_seconds": 60 });
    let reply = served.post(&call(2, "task_wait", &wait), &[]);
    assert_eq!(told(&reply.message())["response"], "Worked.", "{reply:?}");
    served.end();
    end_runners(&rig);
    rig.finish();
}
