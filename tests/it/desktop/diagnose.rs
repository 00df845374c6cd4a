//! What Diagnostics of the real app finds of graphics and input, and starting anew.

use openspace_app::RunStatus;
use openspace_testkit::{
    model::{Call, Script, SeenRequest, Turn},
    wait::poll,
};
use serde_json::{Value, json};

use super::{
    MARKER, SOON, driver::Driver, end, queue, rig, shown, start, store, wait_status, xdotool,
};
use crate::rig::Rig;

const PRACTICE: &str = "Practice window";
/// What the app sets to draw without the graphics card.
const SAFE: &str = "WEBKIT_DISABLE_COMPOSITING_MODE=openspace";

fn pointer(rig: &Rig) -> String {
    let told = xdotool(rig, &["getmouselocation", "--shell"]).expect("a place");
    told.lines().take(2).collect::<Vec<_>>().join(" ")
}

fn diagnostics(rig: &Rig) -> Driver {
    let driver = Driver::start(rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    driver.run("location.hash = '#/diagnostics'");
    driver.wait("return document.querySelector('[data-check=variables] .took')");
    driver
}

fn check(driver: &Driver, name: &str) -> Value {
    let made = driver.call("check_run", &json!({ "check": name, "askModel": false }));
    made["findings"][0].clone()
}

fn set(rig: &Rig, key: &str, value: &str) {
    let output = rig.openspace(&["config", "set", key, value]).run();
    assert_eq!(output.expect("it runs").code, Some(0));
}

/// Variables of a process.
fn variables(pid: &str) -> String {
    let read = std::fs::read(format!("/proc/{}/environ", pid.trim())).unwrap_or_default();
    String::from_utf8_lossy(&read).replace('\0', "\n")
}

/// Looking at Diagnostics takes no mouse. A press of the button opens the practice window, clicks its
/// target exactly, tells how it went, closes the window and puts the pointer back.
#[test]
fn a_click_lands_where_it_is_meant() {
    let rig = rig(vec![]);
    xdotool(&rig, &["mousemove", "1390", "890"]).expect("moved");
    let before = pointer(&rig);
    let driver = diagnostics(&rig);
    assert_eq!(
        check(&driver, "input")["found"][0]["key"],
        "check.input.untried"
    );
    assert_eq!(pointer(&rig), before, "nothing moved by looking");
    assert!(shown(&rig, PRACTICE).is_empty());
    driver.run(
        "[...document.querySelectorAll('[data-check=input] button')]\
         .find((it) => it.textContent.trim() === 'Try a click').click()",
    );
    poll(SOON, || shown(&rig, PRACTICE).pop()).expect("the practice window");
    driver.wait("return document.querySelector('[data-check=input] .word.ok')");
    let told = driver.run("return document.querySelector('[data-check=input] .found').innerText");
    let told = told.as_str().unwrap_or_default();
    assert!(
        told.starts_with("the click landed 0 pixels off the middle after "),
        "{told}"
    );
    assert_eq!(pointer(&rig), before, "the pointer is back");
    assert!(poll(SOON, || shown(&rig, PRACTICE).is_empty().then_some(())).is_some());

    let again = driver.call("click_test", &json!({}))["findings"][0].clone();
    assert_eq!(again["found"][0]["key"], "check.input.landed", "{again}");
    assert_eq!(again["found"][0]["params"]["off"], "0");
    let took: u64 = again["found"][0]["params"]["ms"]
        .as_str()
        .and_then(|text| text.parse().ok())
        .expect("milliseconds");
    assert!(took < 1_000, "{again}");
    drop(driver);
    rig.finish();
}

/// While a run has the mouse no click is tried and no window opens.
#[test]
fn no_click_is_tried_while_a_run_has_control() {
    let rig = rig(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        // Beside our own window, which no run may touch.
        1 => Turn::call(Call::point_at("mouse_move", (20, 300))),
        2 => Turn::shell("sleep 600"),
        _ => Turn::done("Done."),
    }));
    let driver = diagnostics(&rig);
    let free = ["--allow", "gui:*", "--preset", "hands-off"];
    queue(&rig, "Look and wait", &free);
    let store = store(&rig);
    wait_status(&store, RunStatus::Running);
    let controls = poll(SOON, || {
        let state = driver.call("app_state", &json!({}));
        state["inControl"].get(0).cloned()
    });
    assert!(controls.is_some(), "it has control");
    let refused = driver
        .settled("window.__TAURI_INTERNALS__.invoke('rpc', { name: 'click_test', request: {} })");
    assert_eq!(refused["failed"], "forbidden", "{refused}");
    assert!(shown(&rig, PRACTICE).is_empty());
    driver.call("runs_stop_all", &json!({}));
    let after = poll(SOON, || {
        let tried = driver.settled(
            "window.__TAURI_INTERNALS__.invoke('rpc', { name: 'click_test', request: {} })",
        );
        tried["ok"]["findings"][0]["found"][0]["key"]
            .as_str()
            .map(str::to_owned)
    });
    assert_eq!(after.as_deref(), Some("check.input.landed"));
    drop(driver);
    rig.finish();
}

/// What draws the windows is told with its version and switches; a process without windows says that
/// it has none.
#[test]
fn graphics_are_told() {
    let rig = rig(vec![]);
    let driver = diagnostics(&rig);
    let found = check(&driver, "graphics");
    assert_eq!(found["health"], "ok", "{found}");
    let view = &found["found"][0];
    assert_eq!(view["params"]["name"], "WebKitGTK");
    let version = view["params"]["version"].as_str().expect("a version");
    assert!(version.starts_with("2."), "{version}");
    let switches = found["found"][1]["params"]["switches"].as_str();
    let switches = switches.expect("switches");
    assert!(
        switches.contains("WEBKIT_DISABLE_DMABUF_RENDERER=1"),
        "{switches}"
    );
    let output = rig.openspace(&["doctor", "--json"]).run().expect("it runs");
    assert!(
        output.stdout.contains("check.graphics.no_window"),
        "{}",
        output.stdout
    );
    drop(driver);
    rig.finish();
}

/// Safe graphics wait for a restart, which the window offers and performs; they stay until they are
/// switched off.
#[test]
fn safe_graphics_take_effect_after_a_restart() {
    let rig = rig(vec![]);
    let driver = diagnostics(&rig);
    let window = poll(SOON, || shown(&rig, MARKER).pop()).expect("the window");
    let pid = xdotool(&rig, &["getwindowpid", &window]).expect("its process");
    assert!(!variables(&pid).contains(SAFE));
    assert_eq!(
        driver.call("app_state", &json!({}))["needsRestart"],
        json!([])
    );
    set(&rig, "desktop.safe_graphics", "true");
    let waits = poll(SOON, || {
        let found = check(&driver, "graphics");
        (found["needsRestart"] == true).then_some(found)
    });
    let waits = waits.expect("it waits for a restart");
    assert_eq!(waits["health"], "warning", "{waits}");
    driver.run("location.hash = '#/settings/appearance'");
    driver.wait(
        "return document.body.innerText.includes('Takes effect once OpenSpace is started again.')",
    );
    driver.run(
        "setTimeout(() => [...document.querySelectorAll('button')]\
         .find((it) => it.textContent.trim() === 'Restart now').click(), 200)",
    );
    let safe = poll(SOON, || variables(&pid).contains(SAFE).then_some(()));
    assert!(safe.is_some(), "the same process, started anew");
    drop(driver);
    // What a driver started may not outlive it; what a person starts is safe from its start.
    let app = start(&rig);
    assert!(variables(&app.id().to_string()).contains(SAFE));
    end(app);
    set(&rig, "desktop.safe_graphics", "false");
    let app = start(&rig);
    assert!(!variables(&app.id().to_string()).contains(SAFE));
    end(app);
    rig.finish();
}
