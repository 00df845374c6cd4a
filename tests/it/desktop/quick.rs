//! The quick window: opened by a key in any program, and gone once the task is handed over.

use openspace_app::{RunStatus, desk::QUICK};
use openspace_testkit::{
    model::{Script, SeenRequest, Turn},
    wait::poll,
};

use super::{
    SOON, assert_by_the_app, elsewhere, end, place, queue, rig, runs, shown, start, store,
    wait_status, xdotool,
};
use crate::rig::Rig;

const TITLE: &str = "OpenSpace\u{2060} New task";
const KEYS: &str = "ctrl+alt+space";

fn focused(rig: &Rig) -> Option<String> {
    xdotool(rig, &["getwindowfocus"]).map(|window| window.trim().to_owned())
}

/// Presses the hotkey until the quick window has the focus: the key works a moment after the start.
fn open(rig: &Rig) -> String {
    let opened = poll(SOON, || {
        if shown(rig, TITLE).is_empty() {
            xdotool(rig, &["key", KEYS]);
        }
        poll(std::time::Duration::from_secs(5), || {
            let title = xdotool(rig, &["getactivewindow", "getwindowname"])?;
            let window = shown(rig, TITLE).pop()?;
            let has_focus = focused(rig).as_ref() == Some(&window);
            (title.contains("New task") && has_focus).then_some(window)
        })
    });
    opened.expect("the quick window")
}

/// A task is typed and handed over in another program, which has the focus again afterwards.
#[test]
fn a_task_is_handed_over_from_anywhere() {
    let rig = rig(vec![Turn::done("Tidied.")]);
    let app = start(&rig);
    let (_terminal, other) = elsewhere(&rig);
    open(&rig);
    xdotool(&rig, &["type", "--delay", "20", "Tidy up the scans"]).expect("typed");
    xdotool(&rig, &["key", "Return"]).expect("pressed");
    let store = store(&rig);
    let run = wait_status(&store, RunStatus::Done);
    assert_by_the_app(&store, &run);
    let task = store.read_blocking(|db| db.tasks().get(&run.task));
    assert_eq!(task.expect("the task").text, "Tidy up the scans");
    assert_eq!(run.origin, "app");
    poll(SOON, || shown(&rig, TITLE).is_empty().then_some(())).expect("it is gone");
    let back = poll(SOON, || focused(&rig).filter(|window| *window == other));
    assert!(
        back.is_some(),
        "{:?} has the focus, not {other}",
        focused(&rig)
    );
    end(app);
    rig.finish();
}

/// Escape closes it without starting anything and keeps what was typed; the key closes it, too.
#[test]
fn escape_gives_the_screen_back() {
    let rig = rig(vec![Turn::done("Done.")]);
    let app = start(&rig);
    let (_terminal, other) = elsewhere(&rig);
    open(&rig);
    xdotool(&rig, &["type", "--delay", "20", "Half a thought"]).expect("typed");
    let gone = |keys: &str| {
        xdotool(&rig, &["key", keys]).expect("pressed");
        let gone = poll(SOON, || shown(&rig, TITLE).is_empty().then_some(()));
        gone.unwrap_or_else(|| panic!("{keys} does not close it"));
        let back = poll(SOON, || focused(&rig).filter(|window| *window == other));
        back.unwrap_or_else(|| panic!("{:?} has the focus", focused(&rig)));
    };
    gone("Escape");
    assert_eq!(runs(&store(&rig)).len(), 0, "nothing was started");
    open(&rig);
    gone(KEYS);
    open(&rig);
    xdotool(&rig, &["key", "End", "Return"]).expect("pressed");
    let store = store(&rig);
    let run = wait_status(&store, RunStatus::Done);
    let task = store.read_blocking(|db| db.tasks().get(&run.task));
    assert_eq!(task.expect("the task").text, "Half a thought");
    end(app);
    rig.finish();
}

/// What is missing is told, and the way to the main window is one step.
#[test]
fn what_is_missing_is_told() {
    let rig = rig(vec![]);
    let mut app = super::program(&rig, &[])
        .env("OPENSPACE_MODEL", "")
        .start()
        .expect("the app starts");
    app.wait_for("first paint", SOON).expect("it paints");
    let (_terminal, _) = elsewhere(&rig);
    let window = open(&rig);
    let height = || place(&rig, &window).map(|place| place.height);
    xdotool(&rig, &["type", "--delay", "20", "Tidy up"]).expect("typed");
    // One line and the foot take 110 pixels; what is missing takes two lines more at least.
    let one_line = poll(SOON, || height().filter(|height| *height < 130));
    assert!(one_line.is_some(), "one line has {:?} pixels", height());
    xdotool(&rig, &["key", "Return"]).expect("pressed");
    let has_room = poll(SOON, || height().filter(|height| *height >= 150));
    assert!(
        has_room.is_some(),
        "what is missing has room: {:?}",
        height()
    );
    assert!(!shown(&rig, TITLE).is_empty());
    assert_eq!(runs(&store(&rig)).len(), 0, "nothing was started");
    end(app);
    rig.finish();
}

/// No picture of a run has it: what is typed there is nobody else's.
#[test]
fn no_picture_has_the_quick_window() {
    assert_eq!(QUICK, "quick");
    let rig = rig(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        _ => Turn::done("Seen."),
    }));
    let app = start(&rig);
    let (_terminal, _) = elsewhere(&rig);
    let window = open(&rig);
    xdotool(&rig, &["type", "--delay", "20", "A private word"]).expect("typed");
    let (x, y) = place(&rig, &window).expect("its place").centre();
    queue(&rig, "Look", &["--allow", "gui:*", "--preset", "hands-off"]);
    wait_status(&store(&rig), RunStatus::Done);
    let request = rig.server.requests().pop().expect("a request");
    let picture = request.newest_image().expect("a picture");
    let scale = f64::from(picture.width()) / 1_400.0;
    let pixel = picture
        .get_pixel((f64::from(x) * scale) as u32, (f64::from(y) * scale) as u32)
        .0;
    assert!(
        pixel.iter().all(|part| part.abs_diff(0x80) < 6),
        "{pixel:?}"
    );
    assert!(
        !request.read_text().contains("private"),
        "{}",
        request.read_text()
    );
    end(app);
    rig.finish();
}
