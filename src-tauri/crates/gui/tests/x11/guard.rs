//! What a killed run held is released by another process.

use openspace_gui::platform::release_held;
use openspace_gui::{Button, InputPoint, TypeOptions};
use openspace_testkit::{GtkTarget, Options, TestScreen};
use std::sync::{Arc, Mutex};
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

/// What is about to be pressed or lent is told while it is not yet so: whoever is told afterwards is
/// told too late when this process dies in between.
#[test]
fn what_will_be_held_is_told_before() {
    let screen = Arc::new(TestScreen::start(Options::sized(640, 480)).unwrap());
    let before = mapping(&screen);
    let mut platform = open(&screen);
    let told = Arc::new(Mutex::new(Vec::new()));
    let (sink, seen) = (told.clone(), screen.clone());
    platform.input.report_to(Some(Arc::new(move |held| {
        let now = (keys_down(&seen), mapping(&seen));
        sink.lock().unwrap().push((held.clone(), now));
    })));
    platform.input.key(SHIFT, true, &yes).unwrap();
    platform.input.key(SHIFT, false, &yes).unwrap();
    let delay = Duration::ZERO;
    let typing = TypeOptions { delay };
    platform.input.type_text("北", typing, &yes).unwrap();
    let told = told.lock().unwrap();
    let (held, (down, _)) = &told[0];
    assert_eq!((held.keycodes.len(), down.len()), (1, 0), "{held:?}");
    let lent = told.iter().find(|(held, _)| !held.remapped.is_empty());
    let (held, (_, keyboard)) = lent.unwrap();
    assert_eq!(held.remapped.len(), 1);
    assert!(*keyboard == before, "the key is lent afterwards");
}
