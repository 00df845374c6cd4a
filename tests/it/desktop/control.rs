//! What shows while a run has control, and that the run neither sees nor reaches it.

use std::time::Duration;

use openspace_app::RunStatus;
use openspace_testkit::{
    model::{Call, Script, SeenRequest, Turn},
    wait::poll,
};

use super::{FREE, SOON, end, program, queue, rig, shown, start, store, wait_status, xdotool};

/// Title of pill and frame.
const CONTROL: &str = "OpenSpace\u{2060} control";
/// Width of the screen, pixels.
const SCREEN: u32 = 1_400;
/// Paint over the pill in pictures, and the colour of the frame on the screen.
const NEUTRAL: [u8; 3] = [0x80, 0x80, 0x80];
const FRAME: [u8; 3] = [0x9A, 0x34, 0x12];

/// Moves the pointer again and again, then clicks where the pill is painted over.
fn clicks_the_pill() -> Script {
    Script::decide(|seen: &SeenRequest| {
        let pill = seen
            .find_area(NEUTRAL, 3)
            // Not the main window, which is painted over, too.
            .filter(|area| area.width > 150 && (20..200).contains(&area.height));
        match (seen.turns(), pill) {
            (0, _) => Turn::screenshot(),
            (turn, _) if seen.mentions("are off limits") => {
                Turn::done(&format!("It refused after {turn}."))
            }
            (_, Some(area)) => Turn::click_at((area.centre.0 as i32, area.centre.1 as i32)),
            (turn, None) if turn < 20 => {
                // Beside the app's window, which is refused as well.
                let place = 10 + turn as i32;
                Turn::call(Call::point_at("mouse_move", (place, 300)))
            }
            _ => Turn::done("There was no pill."),
        }
    })
}

/// While a run has control the pill and the frame are on the screen; its pictures have neither, its
/// click on the pill is refused, and both are gone afterwards.
#[test]
fn the_pill_is_neither_seen_nor_clicked() {
    let rig = rig(clicks_the_pill());
    let app = start(&rig);
    queue(&rig, "Click the pill", &FREE);
    let store = store(&rig);
    let framed = poll(SOON, || {
        let picture = rig.screen().screenshot().ok()?;
        (picture.get_pixel(700, 1).0 == FRAME && !shown(&rig, CONTROL).is_empty()).then_some(())
    });
    assert!(
        framed.is_some(),
        "the frame and the pill are shown: {:?} {:?} {}",
        shown(&rig, CONTROL),
        rig.server.requests().last().map(|told| said(told)),
        app.stderr()
    );
    let run = wait_status(&store, RunStatus::Done);
    let answer = run.outcome.expect("an outcome")["answer"].to_string();
    assert!(answer.contains("It refused"), "{answer}");
    for request in rig.server.requests() {
        let Some(picture) = request.newest_image() else {
            continue;
        };
        let edge = picture.get_pixel(picture.width() / 2, 1).0;
        // JPEG and scaling blur the colour, the black of the empty screen stays far from it.
        assert!(edge[0] < 0x40, "no picture shows the frame: {edge:?}");
    }
    let gone = poll(SOON, || shown(&rig, CONTROL).is_empty().then_some(()));
    assert!(gone.is_some(), "both are gone: {:?}", shown(&rig, CONTROL));
    end(app);
    rig.finish();
}

/// The practice window is a process of its own and may be used.
#[test]
fn the_practice_window_may_be_clicked() {
    let rig = rig(vec![]);
    let app = start(&rig);
    let practice = program(&rig, &["--practice"]).start().expect("it starts");
    let window = poll(SOON, || shown(&rig, "Practice window").pop()).expect("its window");
    xdotool(&rig, &["windowactivate", "--sync", &window]).expect("activated");
    xdotool(&rig, &["windowmove", "--sync", &window, "100", "100"]).expect("moved");
    rig.server
        .set_script(Script::decide(|seen: &SeenRequest| match seen.turns() {
            0 => Turn::screenshot(),
            1 => {
                let width = match seen.newest_image() {
                    Some(picture) => picture.width(),
                    None => SCREEN,
                };
                // The field for a name, in a window whose place the test has chosen.
                let sent = |at: u32| (at * width / SCREEN) as i32;
                let field = (sent(449), sent(236));
                Turn::calls([Call::click_at(field), Call::type_text("Ada Lovelace")])
            }
            2 => Turn::call(Call::key("Return")),
            3 => Turn::screenshot().after(Duration::from_millis(300)),
            _ => Turn::done(if seen.read_text().contains("Lovelace") {
                "It is listed."
            } else {
                "It is not."
            }),
        }));
    queue(&rig, "Practise", &FREE);
    let run = wait_status(&store(&rig), RunStatus::Done);
    let answer = run.outcome.expect("an outcome")["answer"].to_string();
    let told = rig.server.requests().pop().expect("a request");
    assert!(answer.contains("It is listed"), "{:?}", said(&told));
    end_practice(practice);
    end(app);
    rig.finish();
}

/// What the tools answered.
fn said(told: &SeenRequest) -> Vec<String> {
    let results = told.results();
    results.iter().map(|result| result.text.clone()).collect()
}

fn end_practice(mut practice: openspace_testkit::cli::Running) {
    practice.signal(rustix::process::Signal::TERM);
    practice.wait(SOON).expect("it ends");
}
