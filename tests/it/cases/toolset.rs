//! The hosted computer tool of the newest models: a set of members, several in a turn.

use openspace_testkit::{
    Options, RawTarget,
    model::{Call, ImageClass, Rules, Script, SeenRequest, Turn},
    screen::Rect,
    target::{Patch, Window},
};
use serde_json::{Value, json};

use super::{ANY_PROGRAM, assert_released};
use crate::rig::Rig;

/// What a turn's later actions are answered with after one has failed.
const NOT_EXECUTED: &str = "Not executed: an earlier computer action in this turn failed.";

/// Members are carried out in their order, a key as often as it says; after the first that fails the
/// rest of the turn is answered and not carried out, other tools excepted.
#[test]
fn members_are_carried_out_in_order_until_one_fails() {
    let script = Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        1 => Turn::calls([
            Call::computer(json!({"action": "key", "text": "a", "repeat": 3})),
            Call::computer(json!({"action": "left_click", "coordinate": [5000, 5000]})),
            Call::type_text("never"),
            Call::shell("echo other"),
            Call::screenshot(),
        ]),
        _ => Turn::done("Done."),
    });
    let rules = Rules {
        images: ImageClass::Large,
        ..Rules::default()
    };
    let options = Options {
        window_manager: false,
        ..Options::sized(1280, 800)
    };
    let rig = Rig::with_screen_and(options, rules, script);
    let patch = Patch::new("patch", Rect::new(100, 100, 200, 150), [230, 20, 20]);
    let window = Window::full(rig.screen()).with(patch);
    let target = RawTarget::start(rig.screen(), window).expect("a target");
    let model = ["--model", "anthropic/claude-opus-5-5"];
    // The window shows nothing of the keys, so how the run ends is another matter.
    let output = rig.run("Press", &[&ANY_PROGRAM[..], &model].concat());
    assert_eq!(target.keys(), ["a", "a", "a"], "{output:?}");

    let requests = rig.server.requests();
    let with_results = requests
        .iter()
        .find(|seen| seen.turns() == 2)
        .expect("the results");
    let tool = with_results.tool("computer").expect("it is on offer");
    assert_eq!(tool.hosted.as_deref(), Some("computer_toolset_20260801"));
    assert!(!with_results.headers.contains_key("anthropic-beta"));
    let results = with_results.new_results();
    let texts: Vec<_> = results.iter().map(|it| (it.is_error, &*it.text)).collect();
    assert!(!texts[0].0 && texts[1].0, "{texts:?}");
    assert_eq!(texts[2], (true, NOT_EXECUTED));
    assert!(!texts[3].0 && texts[3].1.contains("other"), "{texts:?}");
    assert_eq!(texts[4], (true, NOT_EXECUTED));
    let blocks: Vec<&Value> = with_results.body["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|message| message["content"].as_array())
        .flatten()
        .filter(|block| block["type"] == "tool_use")
        .collect();
    let named: Vec<_> = blocks
        .iter()
        .map(|it| (it["name"].as_str(), it["toolset_name"].as_str()))
        .collect();
    let member = |name| (Some(name), Some("computer"));
    assert_eq!(
        named,
        [
            member("screenshot"),
            member("key"),
            member("left_click"),
            member("type"),
            (Some("run_command"), None),
            member("screenshot"),
        ]
    );
    assert_released(rig.screen());
    rig.finish();
}
