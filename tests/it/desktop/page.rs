//! What the main window shows, may do, and does when it is closed.

use openspace_app::RunStatus;
use openspace_testkit::{Program, TestHome, model::Turn, wait::poll};
use serde_json::{Value, json};

use super::{
    DESKTOP, MARKER, SOON, assert_by_the_app, driver::Driver, elsewhere, end, endless, program,
    queue, rig, runs, shown, start, store, wait_status, xdotool,
};

/// The app starts, paints, and its page reaches the core and nothing else.
#[test]
fn the_window_paints_and_calls_the_core() {
    let rig = rig(vec![]);
    let driver = Driver::start(&rig, &[]);
    driver.wait("return performance.getEntriesByName('first-contentful-paint').length");
    driver.wait("return document.querySelector('main') !== null");
    let state = driver.call("app_state", &json!({}));
    assert_eq!(
        (&state["place"], &state["marker"]),
        (&json!("window"), &json!(MARKER))
    );
    let hotkeys = poll(SOON, || {
        let list = driver.call("hotkeys_list", &json!({}))["hotkeys"].clone();
        (list[0]["state"] == "active").then_some(list)
    });
    assert!(hotkeys.is_some(), "the stop key works");
    assert_eq!(driver.run("return typeof window.__TAURI__"), "undefined");
    assert_eq!(driver.run("return location.protocol"), "tauri:");
    // What the capability does not name, and what no table knows, is refused.
    for refused in [
        "window.__TAURI_INTERNALS__.invoke('plugin:dialog|save', { options: {} })",
        "window.__TAURI_INTERNALS__.invoke('plugin:window|close', { label: 'main' })",
        "window.__TAURI_INTERNALS__.invoke('plugin:opener|open_url', { url: 'https://example.org' })",
        "window.__TAURI_INTERNALS__.invoke('rpc', { name: 'no_such_call', request: {} })",
        "fetch('http://127.0.0.1:9/')",
    ] {
        let answer = driver.settled(refused);
        assert!(answer.get("failed").is_some(), "{refused}: {answer}");
    }
    let policy = "const s = document.createElement('script'); s.textContent = 'window.broken = 1';\
                  document.head.append(s); return window.broken ?? 'blocked'";
    assert_eq!(driver.run(policy), "blocked");
    drop(driver);
    rig.finish();
}

/// A run queued by another process appears in the window while it goes, is executed by the app, and
/// its pictures are shown.
#[test]
fn a_run_of_the_command_line_appears_live() {
    let rig = rig(vec![Turn::screenshot(), Turn::done("Three windows.")]);
    let driver = Driver::start(&rig, &["openspace://tasks"]);
    driver.wait("return location.hash.startsWith('#/')");
    driver.run("location.hash = '#/tasks'");
    driver.wait("return document.querySelector('h1')?.innerText");
    queue(
        &rig,
        "Count the windows",
        &["--allow", "gui:*", "--preset", "hands-off"],
    );
    driver.wait("return document.body.innerText.includes('Count the windows')");
    let store = store(&rig);
    let run = wait_status(&store, RunStatus::Done);
    assert_by_the_app(&store, &run);
    let frames = store
        .read_blocking(|db| db.frames().of_run(&run.id))
        .expect("frames");
    let frame = &frames.first().expect("a frame").id;
    let picture = |address: String| {
        driver.settled(&format!(
            "new Promise((done, failed) => {{ const picture = new Image();\
             picture.onload = () => done(picture.naturalWidth);\
             picture.onerror = () => failed('none'); picture.src = '{address}'; }})"
        ))
    };
    assert_eq!(
        picture(format!("openspace-frame://localhost/{frame}?w=320")),
        json!({ "ok": 320 })
    );
    assert_eq!(
        picture("openspace-frame://localhost/none".into()),
        json!({ "failed": "none" })
    );
    drop(driver);
    rig.finish();
}

/// An address leads to a page and does nothing; a second start hands it over and ends.
#[test]
fn addresses_only_show_pages() {
    let rig = rig(endless());
    let driver = Driver::start(&rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    let open = |address: &str| {
        let output = program(&rig, &[address]).run().expect("it runs");
        assert_eq!(output.code, Some(0), "{output:?}");
    };
    open("openspace://run/0123-abc?start=1");
    driver.wait("return location.hash === '#/runs/0123-abc'");
    for address in [
        "openspace://mcp/add?command=rm",
        "openspace://run/a/b",
        "file:///etc/passwd",
    ] {
        open(address);
        assert_eq!(
            driver.run("return location.hash"),
            "#/runs/0123-abc",
            "{address}"
        );
    }
    assert_eq!(runs(&store(&rig)).len(), 0, "nothing was started");
    drop(driver);
    rig.finish();
}

/// Closing the window hides it; the run goes on, and a second start shows the window again.
#[test]
fn closing_the_window_keeps_the_run() {
    let rig = rig(endless());
    let app = start(&rig);
    queue(
        &rig,
        "Wait",
        &["--backends", "shell", "--preset", "hands-off"],
    );
    let store = store(&rig);
    wait_status(&store, RunStatus::Running);
    let window = poll(SOON, || shown(&rig, MARKER).pop()).expect("the window");
    xdotool(&rig, &["windowactivate", "--sync", &window]).expect("activated");
    xdotool(&rig, &["key", "alt+F4"]).expect("pressed");
    assert!(
        poll(SOON, || shown(&rig, MARKER).is_empty().then_some(())).is_some(),
        "it is hidden"
    );
    wait_status(&store, RunStatus::Running);
    let again = program(&rig, &[]).run().expect("it runs");
    assert_eq!(again.code, Some(0), "{again:?}");
    assert!(
        poll(SOON, || shown(&rig, MARKER).pop()).is_some(),
        "it is shown"
    );
    end(app);
    wait_status(&store, RunStatus::Stopped);
    rig.finish();
}

/// The stop key works while another program has the focus and the page is busy.
#[test]
fn the_stop_key_works_while_the_page_hangs() {
    let rig = rig(endless());
    let driver = Driver::start(&rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    poll(SOON, || {
        let list = driver.call("hotkeys_list", &json!({}));
        (list["hotkeys"][0]["state"] == "active").then_some(())
    })
    .expect("the stop key works");
    queue(
        &rig,
        "Wait",
        &["--backends", "shell", "--preset", "hands-off"],
    );
    let store = store(&rig);
    wait_status(&store, RunStatus::Running);
    let (_terminal, _) = elsewhere(&rig);
    driver.run(
        "setTimeout(() => { const end = Date.now() + 10000; while (Date.now() < end); window.free = Date.now(); }, 50)",
    );
    xdotool(&rig, &["key", "ctrl+alt+period"]).expect("pressed");
    let run = wait_status(&store, RunStatus::Stopped);
    let free = driver.wait("return window.free ?? null");
    let ended = run.ended_at.expect("it ended");
    assert!(
        free.as_i64().is_some_and(|free| ended < free),
        "{ended} {free}: stopped meanwhile"
    );
    drop(driver);
    rig.finish();
}

/// A key that another program has is told as refused, never passed over in silence.
#[test]
fn a_key_of_another_program_is_told() {
    let rig = rig(vec![]);
    let home = TestHome::with_mark(rig.home.mark().clone()).expect("another home");
    let mut other = Program::new(DESKTOP)
        .environment(rig.screen().environment_in(&home))
        .folder(home.workspace())
        .limit(SOON * 3)
        .start()
        .expect("another app, with data of its own");
    other.wait_for("first paint", SOON).expect("it paints");
    let driver = Driver::start(&rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    let refused = poll(SOON, || {
        let list = driver.call("hotkeys_list", &json!({}))["hotkeys"].clone();
        (list[0]["state"] == "refused").then_some(list)
    });
    let refused = refused.expect("the stop key is refused");
    assert!(refused[0]["reason"].is_string(), "{refused}");
    drop(driver);
    end(other);
    rig.finish();
}

/// What the small windows may do is what their capabilities say; the practice window and others may do
/// nothing.
#[test]
fn capabilities_are_minimal() {
    let read = |name: &str| -> Value {
        let path = format!(
            "{}/src-tauri/capabilities/{name}.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let text = std::fs::read_to_string(path).expect("a capability");
        serde_json::from_str(&text).expect("JSON")
    };
    let may = |name: &str| {
        let read = read(name);
        assert_eq!(read["windows"], json!([name]));
        read["permissions"].clone()
    };
    // Its place is the person's; where it leads is decided by the program.
    let pill = [
        "allow-calls",
        "allow-leave",
        "core:window:allow-start-dragging",
    ];
    assert_eq!(may("hud"), json!(pill));
    let quick = ["allow-calls", "allow-leave", "core:window:allow-set-size"];
    assert_eq!(may("quick"), json!(quick));
    assert!(may("main").is_array());
    let folder = std::fs::read_dir(format!(
        "{}/src-tauri/capabilities",
        env!("CARGO_MANIFEST_DIR")
    ));
    assert_eq!(
        folder.expect("the folder").count(),
        3,
        "no other window has any"
    );
    assert!(std::path::Path::new(DESKTOP).exists());
}
