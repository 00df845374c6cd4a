//! Nobody is let in who should not be, on any route.

use openspace_testkit::model::Call;

use super::{
    Client, Reply, SOON, Script, SeenRequest, Served, Signal, Turn, Value, deletes, json, poll,
};

/// Every route that needs the token, as method, path and body.
fn routes() -> [(&'static str, &'static str, &'static str); 4] {
    [
        ("POST", "/rpc", r#"{"name":"app_state","request":{}}"#),
        ("GET", "/events?after=0", ""),
        ("GET", "/frames/0123456789?w=320", ""),
        ("GET", "/artefacts/0123456789", ""),
    ]
}

struct Door<'a> {
    client: &'a Client,
    host: String,
    authorization: String,
}

impl<'a> Door<'a> {
    fn of(client: &'a Client) -> Self {
        Self {
            client,
            host: client.host(),
            authorization: client.authorization(),
        }
    }

    /// What our own page sends.
    fn headers(&self) -> Vec<(&str, &str)> {
        vec![
            ("host", &self.host),
            ("content-type", "application/json"),
            ("authorization", &self.authorization),
        ]
    }

    fn with<'b>(&'b self, name: &'b str, value: &'b str) -> Vec<(&'b str, &'b str)> {
        let mut headers = self.headers();
        headers.retain(|(known, _)| *known != name);
        headers.push((name, value));
        headers
    }

    fn refused(&self, why: &str, headers: &[(&str, &str)], status: u16) {
        for (method, path, body) in routes() {
            let reply = self.client.send(method, path, headers, body);
            assert_eq!(reply.status, status, "{why}: {method} {path}: {reply:?}");
            assert!(
                !String::from_utf8_lossy(&reply.body).contains("version"),
                "{why}: {method} {path} told something: {reply:?}"
            );
        }
    }
}

/// Another host name, another origin, a wrong token, and none: refused on every route, pages too
/// where they could be read by others.
#[test]
fn wrong_callers_are_refused_on_every_route() {
    let served = Served::headless(Script::decide(|_: &SeenRequest| Turn::done("done")));
    let door = Door::of(&served.client);
    let port = served.client.port;

    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
        format!("[::1]:{port}"),
        String::new(),
    ] {
        door.refused(&host, &door.with("host", &host), 421);
        let reply = served.client.send("GET", "/", &[("host", &host)], "");
        assert_eq!(reply.status, 421, "the pages for {host}");
    }
    let mut twice = door.headers();
    twice.push(("host", &door.host));
    // Refused by the server's own reading of the request, or by us.
    for (method, path, body) in routes() {
        let reply = served.client.send(method, path, &twice, body);
        assert!([400, 421].contains(&reply.status), "{reply:?}");
    }

    for origin in [
        "http://evil.example",
        "null",
        "http://127.0.0.1",
        "https://localhost",
        &format!("https://127.0.0.1:{port}"),
        &format!("http://127.0.0.1:{port}.evil.example"),
    ] {
        door.refused(origin, &door.with("origin", origin), 403);
        let reply = served
            .client
            .send("GET", "/", &[("host", &door.host), ("origin", origin)], "");
        assert_eq!(reply.status, 403, "the pages for {origin}");
    }
    for site in ["cross-site", "same-site"] {
        door.refused(site, &door.with("sec-fetch-site", site), 403);
    }

    let wrong = format!("Bearer {}x", served.client.token);
    let basic = format!("Basic {}", served.client.token);
    for authorization in ["", "Bearer ", "Bearer x", &wrong, &basic] {
        door.refused(
            authorization,
            &door.with("authorization", authorization),
            401,
        );
    }
    let mut none = door.headers();
    none.retain(|(name, _)| *name != "authorization");
    door.refused("no token", &none, 401);
    let in_address = format!("/events?after=0&token={}", served.client.token);
    assert_eq!(
        served
            .client
            .send("GET", &in_address, &[("host", &door.host)], "")
            .status,
        401
    );
    served.finish();
}

/// What another page could send without asking the browser first is refused, and so is what is too
/// large or no call.
#[test]
fn forms_and_oversized_bodies_are_refused() {
    let served = Served::headless(Script::decide(|_: &SeenRequest| Turn::done("done")));
    let door = Door::of(&served.client);
    let call = routes()[0].2;
    let send = |headers: &[(&str, &str)], body: &str| -> Reply {
        served.client.send("POST", "/rpc", headers, body)
    };
    for form in [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "text/plain; application/json",
        "",
    ] {
        let reply = send(&door.with("content-type", form), call);
        assert_eq!(reply.status, 415, "{form}: {reply:?}");
    }
    assert_eq!(
        send(
            &door.with("content-type", "application/json; charset=utf-8"),
            call
        )
        .status,
        200
    );
    let huge = format!(
        r#"{{"name":"app_state","request":"{}"}}"#,
        "x".repeat(13_000_000)
    );
    assert_eq!(send(&door.headers(), &huge).status, 413);
    for broken in [
        "",
        "{",
        "[]",
        r#"{"name":1}"#,
        r#"{"name":"app_state","request":{},"more":1}"#,
    ] {
        let reply = send(&door.headers(), broken);
        assert_eq!(reply.status, 400, "{broken}");
        assert_eq!(reply.json()["failure"]["code"], "invalid_request");
    }
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "//etc/passwd",
        "/assets/../../x",
        "/rpcx",
        "/nothing.js",
    ] {
        let reply = served.client.send("GET", path, &[("host", &door.host)], "");
        assert_eq!(reply.status, 404, "{path}: {reply:?}");
    }
    // GET performs nothing.
    let reply = served.client.send("GET", "/rpc", &door.headers(), "");
    assert_eq!(reply.status, 405);
    served.finish();
}

/// The pages are there for our own address, with headers that keep others from framing them.
#[test]
fn pages_are_served_with_a_strict_policy() {
    let served = Served::headless(Script::decide(|_: &SeenRequest| Turn::done("done")));
    for host in [
        served.client.host(),
        format!("localhost:{}", served.client.port),
    ] {
        let reply = served.client.send("GET", "/", &[("host", &host)], "");
        assert_eq!(reply.status, 200);
        assert_eq!(reply.body, b"<title>pages</title>");
        let policy = reply.header("content-security-policy").expect("a policy");
        for part in [
            "default-src 'self'",
            "frame-ancestors 'none'",
            "script-src 'self'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(reply.header("access-control-allow-origin"), None);
    }
    served.finish();
}

/// The token lies in a file of the owner's, stays the same, and stands in no log.
#[cfg(unix)]
#[test]
fn the_token_is_private_and_stays() {
    use std::os::unix::fs::PermissionsExt as _;

    let mut served = Served::headless(Script::decide(|_: &SeenRequest| Turn::done("done")));
    let first = served.client.token.clone();
    served.restart(Signal::TERM);
    assert_eq!(served.client.token, first);
    let file = served.rig.home.data().join("ui-token");
    let mode = std::fs::metadata(&file)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!served.serving.stderr().contains(&first));
    served.finish();
}

/// What a run starts gets nothing from here, though it holds the token.
#[test]
fn a_run_cannot_use_the_windows_calls() {
    let served = Served::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => {
            let url = seen
                .person()
                .rsplit(' ')
                .next()
                .unwrap_or_default()
                .to_owned();
            let (address, token) = url.split_once("/#token=").unwrap_or_default();
            let line = format!(
                "python3 -c 'import urllib.request, json\nrequest = urllib.request.Request(\"{address}/rpc\", data=json.dumps({{\"name\": \"app_state\", \"request\": {{}}}}).encode(), headers={{\"Content-Type\": \"application/json\", \"Authorization\": \"Bearer {token}\"}})\ntry:\n    print(urllib.request.urlopen(request).read().decode())\nexcept urllib.error.HTTPError as error:\n    print(error.code, error.read().decode())' > got.txt"
            );
            Turn::call(Call::new(
                "run_command",
                json!({ "command": line, "outside_sandbox": true }),
            ))
        }
        _ => Turn::done("asked"),
    }));
    let url = format!(
        "http://{}/#token={}",
        served.client.host(),
        served.client.token
    );
    let run = served.start_run(&format!("ask {url}"));
    let question = served.question();
    served.call(
        "approval_answer",
        json!({ "approval": question["id"], "nonce": question["nonce"], "choice": "once" }),
    );
    served.wait_status(&run, "done");
    let got =
        std::fs::read_to_string(served.rig.home.workspace().join("got.txt")).unwrap_or_default();
    assert!(
        got.starts_with("403 ") && got.contains("forbidden"),
        "{got}"
    );
    assert!(!got.contains("version"), "{got}");
    served.finish();
}

/// A page's yes is refused while a run moves the mouse: the run could be giving it. A no is not.
#[test]
fn answers_are_refused_while_a_run_has_control() {
    let served = Served::on_screen(Script::decide(|seen: &SeenRequest| {
        let controls = seen.person().contains("move");
        match (controls, seen.turns()) {
            (true, 0) => Turn::screenshot(),
            (true, 1) => Turn::call(Call::computer(
                json!({ "action": "mouse_move", "coordinate": [40, 40] }),
            )),
            (true, _) => Turn::shell("sleep 600"),
            (false, 0) => Turn::shell("rm old.txt"),
            (false, _) => Turn::done("That is settled."),
        }
    }));
    let deleting = served.run_until("delete", "needs_approval");
    let question = served.question();
    let moving = served.start_run("move the mouse");
    let holds = poll(SOON, || {
        let state = served.call("app_state", json!({}));
        (state["inControl"] == json!([moving])).then_some(())
    });
    assert!(
        holds.is_some(),
        "the other run has control: {} {}",
        served.call("app_state", json!({})),
        served.call("run_detail", json!({ "run": moving }))
    );
    let answer = |choice: Value| {
        served.client.call(
            "approval_answer",
            json!({ "approval": question["id"], "nonce": question["nonce"], "choice": choice }),
        )
    };
    let refused = answer(json!("once")).expect_err("refused");
    assert_eq!(refused["code"], "forbidden", "{refused}");
    let edited = json!({ "approval": question["id"], "nonce": question["nonce"], "choice": "once", "command": "ls" });
    let refused = served
        .client
        .call("approval_answer", edited)
        .expect_err("refused");
    assert_eq!(refused["code"], "forbidden", "{refused}");
    let refused = served
        .client
        .call(
            "rule_add",
            json!({ "rule": "gui:chromium", "allows": true }),
        )
        .expect_err("refused");
    assert_eq!(refused["code"], "forbidden", "{refused}");
    let refused = served
        .client
        .call(
            "setting_set",
            json!({ "key": "policy.preset", "value": "hands-off" }),
        )
        .expect_err("refused");
    assert_eq!(refused["code"], "forbidden", "{refused}");
    let codex = json!({ "place": { "host": "codex" }, "change": "register", "create": true });
    let shown = served.call("host_preview", codex.clone());
    for (name, request) in [
        (
            "host_change",
            json!({ "request": codex, "fingerprint": shown["fingerprint"] }),
        ),
        ("host_verify", json!({ "host": "codex" })),
        ("host_program", json!({ "renew": true })),
        ("host_give_up", json!({ "host": "codex" })),
        (
            "host_add",
            json!({ "name": "x", "file": "/x.json", "format": "json", "key": "x" }),
        ),
        ("host_forget", json!({ "host": "codex" })),
    ] {
        let refused = served.client.call(name, request).expect_err("refused");
        assert_eq!(refused["code"], "forbidden", "{name}: {refused}");
    }
    assert!(!served.rig.home.home().join(".codex").exists());
    assert_eq!(served.status(&deleting), "needs_approval");
    assert_eq!(answer(Value::Null).expect("a no is taken")["counted"], true);
    served.wait_status(&deleting, "done");
    served.call("run_stop", json!({ "run": moving }));
    assert_eq!(served.status(&moving), "stopped");
    served.finish();
}

/// An answer that belongs to another question is none.
#[test]
fn answers_name_the_question_they_belong_to() {
    let served = Served::headless(deletes());
    std::fs::write(served.rig.home.workspace().join("old.txt"), "old").expect("written");
    let run = served.run_until("delete it", "needs_approval");
    let question = served.question();
    let answer = |nonce: &str, choice: &str| {
        served.client.call(
            "approval_answer",
            json!({ "approval": question["id"], "nonce": nonce, "choice": choice }),
        )
    };
    assert_eq!(
        answer("0", "once").expect_err("refused")["code"],
        "invalid_request"
    );
    let nonce = question["nonce"].as_str().expect("a nonce");
    // Deleting is asked for each time.
    assert_eq!(
        answer(nonce, "run").expect_err("refused")["code"],
        "invalid_request"
    );
    assert_eq!(served.status(&run), "needs_approval");
    assert!(served.rig.home.workspace().join("old.txt").exists());
    let counted = answer(nonce, "once").expect("taken");
    assert_eq!(counted["counted"], true);
    assert_eq!(counted["approval"]["state"], "allowed_once");
    served.wait_status(&run, "done");
    assert!(!served.rig.home.workspace().join("old.txt").exists());
    assert_eq!(answer(nonce, "once").expect("harmless")["counted"], false);
    served.finish();
}
