//! The app serves other agents over HTTP: as the settings say, behind the same guard as the server of
//! the command line, and as long as it runs.

use std::{
    net::{TcpListener, TcpStream},
    process::Command,
    time::{Duration, Instant},
};

use openspace_app::RunStatus;
use openspace_testkit::{
    model::{Call, Script, SeenRequest, Turn},
    wait::poll,
};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{
    SOON, assert_by_the_app, driver::Driver, end, endless, program, rig, runs, store, wait_status,
};
use crate::{
    mcp::{
        client::{Door, call, told},
        http::{assert_bounded, assert_guarded},
    },
    rig::Rig,
};

/// Within this time an app that is told to end has let go of its port.
const GONE: Duration = Duration::from_secs(2);

/// A port that nobody has.
fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    listener.local_addr().expect("its address").port()
}

fn config(rig: &Rig, arguments: &[&str]) {
    let all = [&["config", "set"], arguments].concat();
    let output = rig.openspace(&all).run().expect("it runs");
    assert_eq!(output.code, Some(0), "{output:?}");
}

fn answers(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

/// The door of an app that listens there.
fn door(rig: &Rig, port: u16) -> Door {
    poll(SOON, || answers(port).then_some(())).expect("it listens");
    let token = std::fs::read_to_string(rig.home.data().join("mcp-token")).expect("a token");
    let token = token.trim().to_owned();
    Door { port, token }
}

/// The app that serves from its start, without a driver.
fn serving(rig: &Rig, port: u16) -> (openspace_testkit::cli::Running, Door) {
    config(rig, &["mcp.port", &port.to_string()]);
    config(rig, &["mcp.serve", "true"]);
    let app = super::start(rig);
    (app, door(rig, port))
}

/// Begins a session and hands over a task; what was answered.
fn hand_over(door: &Door, task: &str, wait_seconds: u32) -> Value {
    let session = door.session();
    let arguments = json!({ "task": task, "wait_seconds": wait_seconds });
    let more = [("mcp-session-id", session.as_str())];
    told(
        &door
            .post(&call(2, "execute_task", &arguments), &more)
            .message(),
    )
}

/// Nothing listens until it is switched on in the window, which takes effect at once; then an agent
/// hands over a task that the app executes and shows, every wrong caller is refused, and switching it
/// off in the file ends it.
#[test]
fn it_is_switched_on_and_off_while_the_app_runs() {
    let rig = rig(Script::decide(|_: &SeenRequest| {
        Turn::done("Done over the wire.")
    }));
    let port = free_port();
    config(&rig, &["mcp.port", &port.to_string()]);
    let driver = Driver::start(&rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    assert!(!answers(port), "it is off");
    assert!(!rig.home.data().join("mcp-token").exists());
    let check = |what: &str| {
        let request = json!({ "check": "mcp", "askModel": false });
        let made = driver.call("check_run", &request);
        let key = &made["findings"][0]["found"][0]["key"];
        assert_eq!(*key, format!("check.mcp.{what}"), "{made}");
    };
    check("off");
    driver.run("location.hash = '#/settings/agents'");
    driver.wait("return document.body.innerText.includes('Off: nothing listens')");
    driver.wait(
        "return document.querySelector('main [role=switch]:not([disabled])')?.click() ?? true",
    );
    driver.wait("return document.body.innerText.includes('Listening')");
    let url = format!("http://127.0.0.1:{port}/mcp");
    driver.wait(&format!("return document.body.innerText.includes('{url}')"));
    let door = door(&rig, port);
    check("listening");
    assert_guarded(&door);
    assert_bounded(&door);

    let done = hand_over(&door, "Tidy up the scans", 60);
    assert_eq!(done["response"], "Done over the wire.", "{done}");
    let store = store(&rig);
    let run = wait_status(&store, RunStatus::Done);
    assert_by_the_app(&store, &run);
    assert_eq!(run.origin, "host:test-host");
    // No page has the token, whatever it asks for.
    let page = driver.run("return document.documentElement.outerHTML");
    let server = driver.call("mcp_server", &json!({}));
    for told in [page.to_string(), server.to_string()] {
        assert!(!told.contains(&door.token), "the page has no token");
    }
    driver.run("location.hash = '#/tasks'");
    driver.wait("return document.body.innerText.includes('Tidy up the scans')");

    config(&rig, &["mcp.serve", "false"]);
    let ended = poll(Duration::from_secs(6), || (!answers(port)).then_some(()));
    assert!(ended.is_some(), "it has ended");
    check("off");
    drop(driver);
    rig.finish();
}

/// A port of another program is told, in the window and by the check; the window offers one that is
/// free, and a press takes it.
#[test]
fn a_port_that_is_taken_is_told() {
    let rig = rig(vec![]);
    let other = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let taken = other.local_addr().expect("its address").port();
    config(&rig, &["mcp.port", &taken.to_string()]);
    config(&rig, &["mcp.serve", "true"]);
    let driver = Driver::start(&rig, &["openspace://approvals"]);
    driver.wait("return document.querySelector('main') !== null");
    driver.run("location.hash = '#/settings/agents'");
    let said = format!("Another program has port {taken}");
    driver.wait(&format!(
        "return document.body.innerText.includes('{said}')"
    ));
    let made = driver.call("check_run", &json!({ "check": "mcp", "askModel": false }));
    assert_eq!(made["findings"][0]["health"], "problem", "{made}");
    let server = driver.call("mcp_server", &json!({}));
    let free = server["freePort"].as_u64().expect("a free port");
    driver.run(&format!(
        "[...document.querySelectorAll('button')]\
         .find((it) => it.textContent.trim() === 'Use port {free}').click()"
    ));
    driver.wait(&format!(
        "return document.body.innerText.includes('http://127.0.0.1:{free}/mcp')"
    ));
    let free = u16::try_from(free).expect("a port");
    assert_guarded(&door(&rig, free));
    drop(driver);
    drop(other);
    rig.finish();
}

/// Whoever waits is answered when it is switched off, and the run goes on.
#[test]
fn switching_it_off_ends_no_run() {
    let rig = rig(endless());
    let (app, door) = serving(&rig, free_port());
    let port = door.port;
    let handle = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| hand_over(&door, "Wait", 60));
        let store = store(&rig);
        wait_status(&store, RunStatus::Running);
        config(&rig, &["mcp.serve", "false"]);
        let handle = waiting.join().expect("it is answered");
        assert!(poll(SOON, || (!answers(port)).then_some(())).is_some());
        let run = runs(&store).pop().expect("the run");
        assert_eq!(run.status, RunStatus::Running, "it goes on");
        handle
    });
    assert_eq!(handle["status"], "running", "{handle}");
    assert!(handle["task_id"].is_string(), "{handle}");
    end(app);
    rig.finish();
}

/// An app with an open stream and a session lets go of its port and ends within two seconds, and its
/// log has no token.
#[test]
fn it_ends_with_the_app() {
    let rig = rig(vec![]);
    let (mut app, door) = serving(&rig, free_port());
    let _session = door.session();
    let stream = crate::mcp::client::Stream::open(&door);
    let asked = Instant::now();
    app.signal_alone(Signal::TERM);
    let output = app.wait(SOON).expect("it ends");
    assert!(asked.elapsed() < GONE, "{:?}", asked.elapsed());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(!answers(door.port), "the port is free");
    assert!(!output.stderr.contains(&door.token), "the log has no token");
    drop(stream);
    // It is there again with the same token.
    let again = super::start(&rig);
    assert!(self::door(&rig, door.port).token == door.token);
    end(again);
    rig.finish();
}

/// What the app's own runs start is refused whatever it does to its surroundings: delegation never
/// loops.
#[test]
fn a_run_of_the_app_cannot_hand_over() {
    let rig = rig(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => {
            let told = seen.person();
            let (url, token) = told.trim().split_once(' ').unwrap_or_default();
            let python = format!(
                "import urllib.request as u\nr = u.Request(\"{url}\", b\"{{}}\", {{\"Authorization\": \
                 \"Bearer {token}\", \"Content-Type\": \"application/json\"}})\ntry:\n    \
                 print(u.urlopen(r).read())\nexcept u.HTTPError as e:\n    print(e.code, \
                 e.read().decode())"
            );
            let line = format!("env -i /usr/bin/python3 -c '{python}' > got.txt");
            let arguments = json!({ "command": line, "outside_sandbox": true });
            Turn::call(Call::new("run_command", arguments))
        }
        _ => Turn::done("asked"),
    }));
    let port = free_port();
    config(&rig, &["mcp.port", &port.to_string()]);
    config(&rig, &["mcp.serve", "true"]);
    let driver = Driver::start(&rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    let door = door(&rig, port);
    super::queue(
        &rig,
        &format!("http://127.0.0.1:{port}/mcp {}", door.token),
        &["--wait-approval", "5m"],
    );
    let question = poll(SOON, || {
        let open = driver.call("approvals_list", &json!({}))["approvals"].clone();
        open.get(0).cloned()
    });
    let question = question.expect("it asks");
    let yes = json!({ "approval": question["id"], "nonce": question["nonce"], "choice": "once" });
    driver.call("approval_answer", &yes);
    wait_status(&store(&rig), RunStatus::Done);
    let got = std::fs::read_to_string(rig.home.workspace().join("got.txt")).unwrap_or_default();
    assert!(
        got.starts_with("403 ") && got.contains("forbidden"),
        "{got}"
    );
    drop(driver);
    rig.finish();
}

/// What an agent needs is put on the clipboard by the program, and the page is told nothing; while a run
/// has the screen it is refused.
#[test]
fn the_configuration_is_copied_past_the_page() {
    let rig = rig(vec![]);
    let port = free_port();
    config(&rig, &["mcp.port", &port.to_string()]);
    config(&rig, &["mcp.serve", "true"]);
    let driver = Driver::start(&rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    let door = door(&rig, port);
    driver.run("location.hash = '#/settings/agents'");
    let press = "return [...document.querySelectorAll('button')]\
                 .find((it) => it.textContent.trim() === 'Copy configuration')?.click() ?? 'pressed'";
    driver.wait("return document.body.innerText.includes('Copy configuration')");
    driver.run(press);
    driver.wait("return document.body.innerText.includes('It leaves the clipboard in a minute.')");
    let clipboard = || {
        // It waits for ever where an owner has gone meanwhile.
        let output = Command::new("timeout")
            .args(["5", "xclip", "-selection", "clipboard", "-o"])
            .env_clear()
            .envs(rig.environment())
            .output()
            .expect("xclip runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let copied: Value = serde_json::from_str(&clipboard()).expect("JSON");
    let entry = &copied["mcpServers"]["openspace"];
    assert_eq!(entry["url"], format!("http://127.0.0.1:{port}/mcp"));
    let authorization = format!("Bearer {}", door.token);
    assert_eq!(entry["headers"]["Authorization"], authorization);
    let page = driver.run("return document.documentElement.outerHTML");
    assert!(!page.to_string().contains(&door.token));
    drop(driver);
    // It leaves with the app at the latest.
    assert!(poll(SOON, || clipboard().is_empty().then_some(())).is_some());
    rig.finish();
}

/// A second app with data of its own on the same port says so and does not disturb the first.
#[test]
fn two_apps_on_one_port_do_not_mix() {
    let rig = rig(vec![]);
    let (app, door) = serving(&rig, free_port());
    let taken = rig
        .openspace(&[
            "mcp",
            "--transport",
            "streamable-http",
            "--port",
            &door.port.to_string(),
        ])
        .run()
        .expect("it ends");
    assert_eq!(taken.code, Some(1), "{taken:?}");
    let again = program(&rig, &[]).run().expect("it runs");
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(hand_over(&door, " ", 1)["status"] == "error");
    end(app);
    rig.finish();
}
