//! What a killed run held is released by another process.

use openspace_gui::platform::release_held;
use openspace_gui::{Button, InputPoint, TypeOptions};
use openspace_testkit::{GtkTarget, Options, TestScreen};
use std::time::Duration;

use super::{SHIFT, keys_down, mapping, open, yes};

/// Keys, buttons and lent keys of an input that never cleaned up are put right; a key somebody
/// else holds stays down.
#[test]
fn what_was_held_is_released() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let _target = GtkTarget::start(&screen).unwrap();
    let before = mapping(&screen);
    let mut platform = open(&screen);
    let delay = Duration::ZERO;
    platform
        .input
        .type_text("北", TypeOptions { delay }, &yes)
        .unwrap();
    platform.input.key(SHIFT, true, &yes).unwrap();
    platform
        .input
        .move_to(InputPoint { x: 5, y: 5 }, &yes)
        .unwrap();
    platform.input.button(Button::Left, true, &yes).unwrap();
    let held = platform.input.held();
    assert_eq!(
        (held.keycodes.len(), held.buttons.len(), held.remapped.len()),
        (1, 1, 1)
    );
    // As after kill -9: nothing of it runs any more.
    std::mem::forget(platform);
    assert_eq!(keys_down(&screen).len(), 1);

    let text = serde_json::to_string(&held).unwrap();
    release_held(&serde_json::from_str(&text).unwrap()).unwrap();
    assert_eq!(keys_down(&screen), Vec::<u8>::new());
    assert_eq!(mapping(&screen), before);
    // A second guard finds nothing to do.
    release_held(&held).unwrap();
}
