//! Positions: what the model points at is what gets the click, on any screen.

use std::sync::{Arc, Mutex};

use openspace_testkit::{
    Options, RawTarget,
    find::{self, Point},
    model::{Call, ImageClass, Rules, Script, SeenRequest, Turn},
    screen::Rect,
    target::{Patch, Window},
};
use serde_json::json;

use super::ANY_PROGRAM;
use crate::rig::{MODEL, Rig};

/// A model that sees pictures of up to 2576 px.
const SHARP: &str = "anthropic/claude-opus-4-7";
/// The probes of [`Window::with_probes`], as a person would describe them.
const PROBES: [(&str, [u8; 3]); 5] = [
    ("top_left", [230, 20, 20]),
    ("top_right", [20, 150, 20]),
    ("bottom_left", [20, 20, 230]),
    ("bottom_right", [200, 20, 200]),
    ("centre", [240, 130, 0]),
];
/// How far a small target's colour may be off after shrinking and compression.
const TOLERANCE: u8 = 75;

/// Where the model pointed, in which size of picture.
type Pointed = Arc<Mutex<Vec<(Point, (u32, u32))>>>;

/// Clicks the middle of each colour it finds in the newest picture, then ends.
fn clicks_colours(colours: Vec<[u8; 3]>, pointed: &Pointed) -> Script {
    let mut colours = colours.into_iter();
    let pointed = Arc::clone(pointed);
    Script::decide(move |seen: &SeenRequest| {
        let Some(picture) = seen.newest_image() else {
            return Turn::screenshot();
        };
        let Some(colour) = colours.next() else {
            return Turn::done("All of them are clicked.");
        };
        let point = seen
            .find_color(colour, TOLERANCE)
            .unwrap_or_else(|| panic!("no {colour:?} in a picture of {:?}", picture.dimensions()));
        let mut pointed = pointed.lock().expect("nobody panicked");
        pointed.push((point, picture.dimensions()));
        Turn::click_at(point)
    })
}

fn bare(width: u32, height: u32) -> Options {
    Options {
        window_manager: false,
        ..Options::sized(width, height)
    }
}

/// Each click lies within a pixel of where the middle of the pixel that was named lies on the screen,
/// and on the target.
fn assert_exact(rig: &Rig, target: &RawTarget, pointed: &Pointed, names: &[&str]) {
    let (width, height) = rig.screen().size();
    let clicks = target.clicks();
    let pointed = pointed.lock().expect("nobody panicked");
    assert_eq!(clicks.len(), names.len(), "one click each: {clicks:?}");
    for ((click, (point, sent)), name) in clicks.iter().zip(pointed.iter()).zip(names) {
        let exact = |at: i32, sent: u32, screen: u32| {
            (f64::from(at) + 0.5) * f64::from(screen) / f64::from(sent) - 0.5
        };
        let (x, y) = (
            exact(point.x, sent.0, width),
            exact(point.y, sent.1, height),
        );
        let off = ((f64::from(click.1) - x).abs()).max((f64::from(click.2) - y).abs());
        assert!(
            off <= 1.0,
            "{name}: {click:?} is {off:.2} px from ({x:.2}, {y:.2})"
        );
        assert_eq!(
            click.0.as_deref(),
            Some(*name),
            "the right target: {click:?}"
        );
    }
}

fn probes_are_hit(width: u32, height: u32) {
    let pointed = Pointed::default();
    let colours = PROBES.iter().map(|(_, colour)| *colour).collect();
    let rig = Rig::with_screen(bare(width, height), clicks_colours(colours, &pointed));
    let window = Window::full(rig.screen()).with_probes(12);
    let target = RawTarget::start(rig.screen(), window).expect("a target");
    let output = rig.run("Click the five buttons", &ANY_PROGRAM);
    assert_eq!(output.code, Some(0), "{output:?}");
    let names = PROBES.map(|(name, _)| name);
    assert_exact(&rig, &target, &pointed, &names);
    rig.finish();
}

/// A 16:9 screen larger than what the model is sent.
#[test]
fn d01_small_targets_are_hit_on_2560x1440() {
    probes_are_hit(2560, 1440);
}

/// A very wide screen.
#[test]
fn d01_small_targets_are_hit_on_3440x1440() {
    probes_are_hit(3440, 1440);
}

/// A screen that stands upright.
#[test]
fn d01_small_targets_are_hit_on_1080x1920() {
    probes_are_hit(1080, 1920);
}

/// What is sent has exactly the size that the class of the model allows and the tool declares, a
/// closer look included, and a click after the closer look still refers to the whole picture.
fn sizes_are_kept(screen: (u32, u32), class: ImageClass, sent: (u32, u32)) {
    const COLOUR: [u8; 3] = [230, 20, 20];
    let model = match class {
        ImageClass::Large => SHARP,
        _ => MODEL,
    };
    let pointed = Pointed::default();
    let known = Arc::clone(&pointed);
    let mut zoomed: Option<(Point, [i32; 4])> = None;
    let script = Script::decide(move |seen: &SeenRequest| match seen.turns() {
        0 => Turn::screenshot(),
        1 => {
            let picture = seen.newest_image().expect("a picture").dimensions();
            let point = seen.find_color(COLOUR, TOLERANCE).expect("the button");
            known.lock().expect("unbroken").push((point, picture));
            let area = [point.x - 70, point.y - 40, point.x + 130, point.y + 80];
            zoomed = Some((point, area));
            Turn::call(Call::computer(json!({"action": "zoom", "region": area})))
        }
        2 => {
            let (point, area) = zoomed.expect("a region");
            let close = seen.newest_image().expect("a closer look");
            let found = find::colour(close, COLOUR, 60).expect("the button, closer");
            let back = |at: f64, size: u32, low: i32, high: i32| {
                f64::from(low) + at * f64::from(high - low) / f64::from(size)
            };
            let x = back(found.centre.0, close.width(), area[0], area[2]);
            let y = back(found.centre.1, close.height(), area[1], area[3]);
            let off = (x - f64::from(point.x) - 0.5)
                .abs()
                .max((y - f64::from(point.y) - 0.5).abs());
            assert!(off <= 1.0, "the closer look is {off:.2} px off");
            assert!(
                close.width() > 2 * (area[2] - area[0]) as u32 || screen.0 == sent.0,
                "a closer look shows more: {:?}",
                close.dimensions()
            );
            Turn::click_at(point)
        }
        _ => Turn::done("Clicked."),
    });
    let rules = Rules {
        images: class,
        ..Rules::default()
    };
    let rig = Rig::with_screen_and(bare(screen.0, screen.1), rules, script);
    let area = Rect::new(screen.0 as i32 * 3 / 5, screen.1 as i32 / 3, 40, 40);
    let window = Window::full(rig.screen()).with(Patch::new("button", area, COLOUR));
    let target = RawTarget::start(rig.screen(), window).expect("a target");
    let all = [&ANY_PROGRAM[..], &["--model", model]].concat();
    let output = rig.run("Click the red button", &all);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(
        pointed.lock().expect("unbroken")[0].1,
        sent,
        "the size that was sent"
    );
    assert_exact(&rig, &target, &pointed, &["button"]);
    let declared: Vec<_> = rig
        .server
        .requests()
        .iter()
        .filter_map(|seen| seen.tool("computer")?.display)
        .collect();
    assert!(
        declared.iter().all(|size| *size == sent),
        "declared: {declared:?}"
    );
    rig.finish();
}

/// A 16:10 screen, a model of the standard class.
#[test]
fn d02_2880x1800_is_sent_as_declared_to_the_standard_class() {
    sizes_are_kept((2880, 1800), ImageClass::Standard, (1389, 868));
}

/// A 16:10 screen, a model that sees more.
#[test]
fn d02_2880x1800_is_sent_as_declared_to_the_large_class() {
    sizes_are_kept((2880, 1800), ImageClass::Large, (2420, 1512));
}

/// A 4K screen, a model of the standard class.
#[test]
fn d02_4k_is_sent_as_declared_to_the_standard_class() {
    sizes_are_kept((3840, 2160), ImageClass::Standard, (1456, 819));
}

/// A 4K screen, a model that sees more.
#[test]
fn d02_4k_is_sent_as_declared_to_the_large_class() {
    sizes_are_kept((3840, 2160), ImageClass::Large, (2576, 1449));
}

fn three_monitors() -> Options {
    Options {
        monitors: (0..3)
            .map(|index| Rect::new(index * 1280, 0, 1280, 1024))
            .collect(),
        ..bare(3840, 1024)
    }
}

/// A target of the same colour on each of the three monitors.
fn three_targets(rig: &Rig) -> RawTarget {
    let window = (0..3).fold(Window::full(rig.screen()), |window, index| {
        let area = Rect::new(index * 1280 + 300 + 150 * index, 400, 30, 30);
        window.with(Patch::new(
            &format!("on_{}", index + 1),
            area,
            [20, 20, 230],
        ))
    });
    RawTarget::start(rig.screen(), window).expect("a target")
}

/// The chosen monitor alone is shown, the model is told which it is, and the click and the pointer
/// land there.
#[test]
fn d03_the_chosen_monitor_is_seen_and_clicked() {
    let pointed = Pointed::default();
    let rig = Rig::with_screen(
        three_monitors(),
        clicks_colours(vec![[20, 20, 230]], &pointed),
    );
    let target = three_targets(&rig);
    let all = [&ANY_PROGRAM[..], &["--monitor", "TEST-2"]].concat();
    let output = rig.run("Click the blue button", &all);
    assert_eq!(output.code, Some(0), "{output:?}");
    let clicks = target.clicks();
    assert_eq!(clicks.len(), 1, "{clicks:?}");
    assert_eq!(clicks[0].0.as_deref(), Some("on_2"), "{clicks:?}");
    let at = rig.screen().pointer().expect("the pointer");
    assert_eq!(
        at,
        (clicks[0].1, clicks[0].2),
        "the pointer is on the middle monitor"
    );
    assert!((1280..2560).contains(&at.0), "{at:?}");
    let seen = rig.server.requests();
    assert!(
        seen.iter()
            .all(|seen| seen.system().is_empty() || seen.system().contains("TEST-2")),
        "the model is told which monitor it sees"
    );
    rig.finish();
}

/// Without a choice it is the primary one.
#[test]
fn d03_without_a_choice_it_is_the_primary_monitor() {
    let pointed = Pointed::default();
    let rig = Rig::with_screen(
        three_monitors(),
        clicks_colours(vec![[20, 20, 230]], &pointed),
    );
    let target = three_targets(&rig);
    let output = rig.run("Click the blue button", &ANY_PROGRAM);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(target.clicks()[0].0.as_deref(), Some("on_1"));
    rig.finish();
}

/// A monitor that does not exist is no reason to work on another one: the names there are get told.
#[test]
fn d03_an_unknown_monitor_is_refused() {
    let rig = Rig::with_screen(
        three_monitors(),
        vec![Turn::screenshot(), Turn::done("Seen.")],
    );
    let all = [
        &ANY_PROGRAM[..],
        &["--monitor", "HDMI-7", "--backends", "gui"],
    ]
    .concat();
    let output = rig.run("Look", &all);
    assert!(matches!(output.code, Some(1 | 2)), "{output:?}");
    assert!(output.stderr.contains("HDMI-7"), "{output:?}");
    assert!(
        output.stderr.contains("TEST-3"),
        "the names there are: {output:?}"
    );
    rig.finish();
}
