//! Files dragged from another program onto the window.

use std::time::Duration;

use openspace_testkit::{cli::Program, wait::poll};
use serde_json::{Value, json};

use super::{MARKER, SOON, driver::Driver, rig, shown, xdotool};
use crate::rig::Rig;

/// Drags what the program of the fixture shows, step by step as a hand does, and lets go there.
fn drag(rig: &Rig, to: (i32, i32), over: impl FnOnce()) {
    let source = poll(SOON, || shown(rig, "files to drag").pop()).expect("the source");
    xdotool(rig, &["mousemove", "--window", &source, "24", "100"]).expect("moved");
    xdotool(rig, &["mousedown", "1"]).expect("pressed");
    for step in 1..=20 {
        let at = |from: i32, to: i32| (from + (to - from) * step / 20).to_string();
        xdotool(rig, &["mousemove", &at(24, to.0), &at(500, to.1)]).expect("moved");
        std::thread::sleep(Duration::from_millis(30));
    }
    over();
    xdotool(rig, &["mouseup", "1"]).expect("released");
}

/// Where the middle of an element is on the screen.
fn middle(rig: &Rig, driver: &Driver, element: &str) -> (i32, i32) {
    let window = poll(SOON, || shown(rig, MARKER).pop()).expect("the window");
    let told = xdotool(rig, &["getwindowgeometry", "--shell", &window]).expect("its place");
    let value = |name: &str| -> i32 {
        let line = told.lines().find_map(|line| line.strip_prefix(name));
        line.and_then(|value| value.parse().ok()).expect("a number")
    };
    let at = driver.run(&format!(
        "const it = document.querySelector('{element}').getBoundingClientRect();\
         return [it.left + it.width / 2, it.top + it.height / 2].map(Math.round)"
    ));
    let at = |part: usize| at[part].as_i64().expect("a number") as i32;
    (value("X=") + at(0), value("Y=") + at(1))
}

fn attached(driver: &Driver) -> Value {
    let kept = driver.call("ui_state_get", &json!({ "key": "composer" }));
    kept["value"]["attachments"].clone()
}

/// Files of any kind and name are attached by their paths, also beside the field; while they are over
/// the window it says what dropping does.
#[test]
fn dragged_files_are_attached_by_their_paths() {
    let rig = rig(vec![]);
    let report = rig.home.workspace().join("Bericht März 1%.txt");
    let picture = rig.home.workspace().join("北京.png");
    std::fs::write(&report, "text").expect("written");
    std::fs::copy("tests/fixtures/picture.png", &picture).expect("copied");
    let driver = Driver::start(&rig, &[]);
    driver.wait("return document.querySelector('main') !== null");
    driver.run("location.hash = '#/tasks'");
    driver.wait("return document.querySelector('main textarea')");
    let files = [&report, &picture].map(|path| path.display().to_string());
    let mut source = Program::new("/usr/bin/python3")
        .arg(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/fixtures/drag.py"
        ))
        .args(files.clone())
        .environment(rig.environment())
        .limit(SOON * 3)
        .start()
        .expect("the source of files");
    drag(&rig, middle(&rig, &driver, "main textarea"), || {
        driver.wait("return document.querySelector('main form .drop')");
    });
    source.wait_for("taken", SOON).expect("the files are taken");
    driver.wait("return document.querySelectorAll('.attached li').length === 2");
    assert_eq!(
        driver.run("return document.querySelector('main form .drop')"),
        Value::Null
    );
    assert!(poll(SOON, || (attached(&driver) == json!(files)).then_some(())).is_some());
    assert_eq!(
        driver.run("return location.hash"),
        "#/tasks",
        "the page stays"
    );
    let text = driver.run("return document.querySelector('main textarea').value");
    assert_eq!(text, "", "no path is written into the task");

    // Dropped beside the field, the same files are not attached twice.
    drag(&rig, middle(&rig, &driver, "main h1"), || ());
    poll(SOON, || {
        (source.stdout().matches("taken").count() == 2).then_some(())
    })
    .unwrap_or_else(|| panic!("not taken: {}", source.stdout()));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(attached(&driver), json!(files));
    drop(source);
    drop(driver);
    rig.finish();
}
