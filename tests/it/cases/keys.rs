//! Names of keys, as models write them.

use openspace_testkit::{
    Options, RawTarget,
    model::{Script, SeenRequest, Turn},
    target::Window,
};
use serde_json::{Value, json};

use super::{ANY_PROGRAM, assert_released, batch, newest, payloads};
use crate::rig::Rig;

fn bare() -> Options {
    Options {
        window_manager: false,
        ..Options::sized(1280, 800)
    }
}

fn press(chord: &str) -> Value {
    json!({"action": "key", "text": chord})
}

/// The keys that went down, without the Shift a layout needs for a character.
fn pressed(target: &RawTarget) -> Vec<String> {
    target
        .keys()
        .into_iter()
        .filter(|key| key != "Shift_L")
        .collect()
}

/// Every usual way to write a key presses it.
#[test]
fn d07_keys_have_many_names() {
    let cases: [(&str, &[&str]); 16] = [
        ("Return", &["Return"]),
        ("ENTER", &["Return"]),
        ("esc", &["Escape"]),
        ("Escape", &["Escape"]),
        ("ctrl+shift+t", &["Control_L", "T"]),
        ("cmd+c", &["Super_L", "c"]),
        ("super_L", &["Super_L"]),
        ("Page_Down", &["Page_Down"]),
        ("pgdn", &["Page_Down"]),
        ("KP_Enter", &["KP_Enter"]),
        ("plus", &["+"]),
        ("ctrl++", &["Control_L", "+"]),
        ("alt+F4", &["Alt_L", "F4"]),
        ("+", &["+"]),
        ("  ctrl + c ", &["Control_L", "c"]),
        ("ControlLeft+ArrowUp", &["Control_L", "Up"]),
    ];
    let actions: Vec<_> = cases.iter().map(|(chord, _)| press(chord)).collect();
    let rig = Rig::with_screen(
        bare(),
        vec![
            Turn::screenshot(),
            batch(&actions),
            Turn::done("Pressed."),
            Turn::done("Pressed; I looked at the keyboard."),
        ],
    );
    let target = RawTarget::start(rig.screen(), Window::full(rig.screen())).expect("a target");
    rig.run("Press the keys", &ANY_PROGRAM);
    let wanted: Vec<&str> = cases.iter().flat_map(|(_, keys)| *keys).copied().collect();
    assert_eq!(pressed(&target), wanted);
    assert_released(rig.screen());
    rig.finish();
}

/// A person with a model that thinks of another system can have `cmd` mean Control.
#[test]
fn d07_cmd_is_control_when_asked() {
    let rig = Rig::with_screen(
        bare(),
        vec![
            Turn::screenshot(),
            batch(&[press("cmd+c")]),
            Turn::done("Pressed."),
            Turn::done("Pressed."),
        ],
    );
    let target = RawTarget::start(rig.screen(), Window::full(rig.screen())).expect("a target");
    let set = rig.openspace(&["config", "set", "screen.cmd_is_ctrl", "true"]);
    assert_eq!(set.run().expect("runs").code, Some(0));
    rig.run("Press the keys", &ANY_PROGRAM);
    assert_eq!(pressed(&target), ["Control_L", "c"]);
    rig.finish();
}

/// What is no key is an error the model can read, and not a letter of it is typed.
#[test]
fn d07_an_unknown_key_types_nothing() {
    let mut left = [
        "hyperdrive",
        "ctrl+frobnicate",
        "ctrl+",
        "",
        "Retrun",
        "ctrl-shift-k-",
    ]
    .into_iter();
    let count = left.len();
    let script = Script::decide(move |seen: &SeenRequest| {
        if seen.newest_image().is_none() {
            return Turn::screenshot();
        }
        if seen.turns() > 1 {
            let (text, error) = newest(seen);
            assert!(error, "refused: {text}");
        }
        match left.next() {
            Some(chord) => Turn::key(chord),
            None => Turn::done("None of these is a key."),
        }
    });
    let rig = Rig::with_screen(bare(), script);
    let target = RawTarget::start(rig.screen(), Window::full(rig.screen())).expect("a target");
    let output = rig.run("Press the keys", &[&ANY_PROGRAM[..], &["--json"]].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(target.keys(), Vec::<String>::new());
    let calls = payloads(&output.stdout, "step.call_finished");
    let refused = calls
        .iter()
        .filter(|call| call["failure"] == "invalid_arguments");
    assert_eq!(refused.count(), count, "each is a typed error: {calls:?}");
    rig.finish();
}
