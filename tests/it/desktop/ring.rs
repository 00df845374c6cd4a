//! The ring around the place of the next click: on the screen for the person, in no picture of the run.

use openspace_app::RunStatus;
use openspace_testkit::{
    RawTarget,
    model::{Call, Script, SeenRequest, Turn},
    screen::Rect,
    target::Window,
    wait::poll,
};

use super::{FREE, SOON, end, queue, rig, start, store, wait_status};

/// The colour of control, and that of the window that is clicked.
const CONTROL: [u8; 3] = [0x9A, 0x34, 0x12];
const WIDTH: f64 = 1_400.0;
/// Where the run clicks, beside our own window.
const TARGET: Rect = Rect {
    x: 0,
    y: 760,
    width: 1_000,
    height: 140,
};
const CLICK: (i32, i32) = (300, 830);
/// Right of the middle, on the ring.
const ON_IT: (u32, u32) = (322, 830);

/// The run clicks again and again; a person sees where, its pictures do not show it, and each click is
/// told to have changed nothing.
#[test]
fn clicks_are_pointed_out_to_the_person_only() {
    let script = Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        // One more without an effect, and the run would count as stuck.
        turn if turn <= 2 => {
            let picture = seen
                .newest_image()
                .map_or(WIDTH, |it| f64::from(it.width()));
            let sent = |at: i32| (f64::from(at) * picture / WIDTH) as i32;
            Turn::calls([
                Call::click_at((sent(CLICK.0), sent(CLICK.1))),
                Call::point_at("mouse_move", (sent(CLICK.0), sent(CLICK.1) - turn as i32)),
            ])
        }
        // Who has changed nothing and says that it is done is told to look first.
        4 => Turn::screenshot(),
        _ => Turn::done("Clicked."),
    });
    let rig = rig(script);
    let app = start(&rig);
    let target = RawTarget::start(rig.screen(), Window::new(TARGET)).expect("a window");
    queue(&rig, "Click", &FREE);
    let seen = poll(SOON, || {
        let picture = rig.screen().screenshot().ok()?;
        (picture.get_pixel(ON_IT.0, ON_IT.1).0 == CONTROL).then_some(picture)
    });
    let seen = seen.expect("the ring is shown");
    let middle = seen.get_pixel(CLICK.0 as u32, CLICK.1 as u32).0;
    assert_ne!(middle, CONTROL, "its middle is free");
    let run = wait_status(&store(&rig), RunStatus::Done);
    assert!(run.outcome.is_some());
    assert_eq!(target.clicks().len(), 2, "every click went through it");
    for request in rig.server.requests() {
        let Some(picture) = request.newest_image() else {
            continue;
        };
        let scale = f64::from(picture.width()) / WIDTH;
        let around =
            |at: i32| ((f64::from(at - 40) * scale) as u32)..((f64::from(at + 40) * scale) as u32);
        for y in around(CLICK.1) {
            for x in around(CLICK.0) {
                let [red, green, blue] = picture.get_pixel(x, y).0;
                let reddish = i32::from(red) - i32::from(green.max(blue));
                assert!(reddish < 30, "{x}, {y} is {red} {green} {blue}");
            }
        }
        for result in request.results() {
            assert!(!result.text.contains("Changed: "), "{}", result.text);
        }
    }
    drop(target);
    end(app);
    rig.finish();
}
