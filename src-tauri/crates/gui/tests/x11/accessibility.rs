//! What accessible programs tell about themselves.

use std::time::{Duration, Instant};

use openspace_gui::{InputPoint, InputRect, TypeOptions};
use openspace_testkit::wait::poll;
use openspace_testkit::{GtkTarget, Options, TestScreen};

use super::{open, yes};

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(500)
}

/// Elements have the role, name and place of the widgets; the text of a password is never told.
#[test]
fn elements_are_the_widgets() {
    let screen = TestScreen::start(Options {
        session_bus: true,
        ..Options::sized(1280, 800)
    })
    .unwrap();
    let target = GtkTarget::start(&screen).unwrap();
    let mut platform = open(&screen);
    let tree = platform.tree.unwrap();
    let delay = Duration::ZERO;
    platform
        .input
        .type_text("Ada\tsecret", TypeOptions { delay }, &yes)
        .unwrap();
    target.wait_for_text("password", "secret", Duration::from_secs(5));

    let area = target.area("save").unwrap();
    let (x, y) = area.centre();
    let point = InputPoint { x, y };
    let save = poll(Duration::from_secs(10), || tree.element_at(point, soon())).unwrap();
    assert_eq!(
        (save.role.as_str(), save.name.as_str()),
        ("push button", "Save")
    );
    let place = InputRect {
        x: area.x,
        y: area.y,
        width: area.width,
        height: area.height,
    };
    assert_eq!(save.area, place);
    assert!(save.enabled && !save.password);

    let window = platform.screen.window_at(point).unwrap().unwrap();
    let all = tree.elements(&window, Instant::now() + Duration::from_secs(5));
    assert!(all.complete);
    let named = |name: &str| {
        let widget = |it: &&openspace_gui::Element| it.name == name && it.role != "label";
        all.elements.iter().find(widget).unwrap()
    };
    assert_eq!(named("Full name").value.as_deref(), Some("Ada"));
    assert_eq!(named("Subscribe").role, "check box");
    let password = all.elements.iter().find(|it| it.password).unwrap();
    assert_eq!((password.value.as_deref(), password.focused), (None, true));
    let focused = tree.focused(soon()).unwrap();
    assert!(focused.password);
    assert_eq!(tree.passwords(soon()), [password.area]);
    let order: Vec<_> = ["Full name", "Password", "Save"]
        .map(|name| {
            all.elements
                .iter()
                .position(|it| it.name == name && it.role != "label")
                .unwrap()
        })
        .to_vec();
    assert!(order.is_sorted(), "{order:?}");
}

/// Without an accessibility bus every answer is empty, and comes in time.
#[test]
fn no_accessibility_is_normal() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let _target = GtkTarget::start(&screen).unwrap();
    let platform = open(&screen);
    let tree = platform.tree.unwrap();
    let window = platform.screen.focused().unwrap().unwrap();
    assert_eq!(tree.focused(soon()), None);
    assert_eq!(tree.element_at(InputPoint { x: 320, y: 240 }, soon()), None);
    assert!(tree.elements(&window, soon()).elements.is_empty());
    assert!(tree.passwords(soon()).is_empty());
}
