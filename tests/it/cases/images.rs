//! Long runs: the pictures of a conversation stay within what the service takes.

use openspace_testkit::{
    Options, RawTarget,
    model::{Call, Fault, ImageClass, Rules, Script, SeenRequest, Turn},
    screen::Rect,
    target::{Patch, Window},
};

use super::{ANY_PROGRAM, outcome};
use crate::rig::{MODEL, Rig};

const SHARP: &str = "anthropic/claude-opus-4-7";

/// A model that looks `turns` times, `each` pictures a time, and then ends.
fn looks(turns: usize, each: usize) -> Script {
    let mut left = turns;
    Script::decide(move |_: &SeenRequest| {
        if left == 0 {
            return Turn::done("I have seen enough.");
        }
        left -= 1;
        Turn::calls((0..each).map(|_| Call::screenshot()))
    })
}

fn bare(width: u32, height: u32) -> Options {
    Options {
        window_manager: false,
        ..Options::sized(width, height)
    }
}

/// Fine coloured tiles, which compress badly.
fn busy(rig: &Rig) -> RawTarget {
    let (width, height) = rig.screen().size();
    let mut window = Window::full(rig.screen());
    let mut seed = 12_345_u32;
    for index in 0..4_000_i32 {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = (index % 80) * width as i32 / 80;
        let y = (index / 80) * height as i32 / 50;
        let [_, red, green, blue] = seed.to_be_bytes();
        let area = Rect::new(x, y, width / 160, height / 100);
        window = window.with(Patch::dead("tile", area, [red, green, blue]));
    }
    RawTarget::start(rig.screen(), window).expect("a target")
}

/// How many pictures each request of the conversation had.
fn counts(rig: &Rig) -> Vec<usize> {
    let requests = rig.server.requests();
    let conversation = requests.iter().filter(|seen| !seen.tools.is_empty());
    conversation.map(|seen| seen.images().len()).collect()
}

/// More than 25 pictures of a 4K screen for a model that sees 2576 px: the service refuses more than
/// 20 of that size for good, so older ones are replaced by text, several at once.
#[test]
fn d09_many_large_pictures_keep_the_rule_for_many() {
    let rules = Rules {
        images: ImageClass::Large,
        ..Rules::default()
    };
    let rig = Rig::with_screen_and(bare(3840, 2160), rules, looks(10, 3));
    let _target = busy(&rig);
    let output = rig.run(
        "Watch",
        &[&ANY_PROGRAM[..], &["--model", SHARP, "--json"]].concat(),
    );
    assert_eq!(output.code, Some(0), "{output:?}");
    let counts = counts(&rig);
    assert!(counts.iter().all(|count| *count <= 20), "{counts:?}");
    assert!(
        counts.iter().any(|count| *count >= 15),
        "as many as allowed stay: {counts:?}"
    );
    let drops = counts.windows(2).filter(|pair| pair[1] < pair[0]);
    let shrinking: Vec<_> = drops.map(|pair| pair[0] + 3 - pair[1]).collect();
    assert!(
        !shrinking.is_empty() && shrinking.iter().all(|count| *count >= 6),
        "in blocks: {counts:?}"
    );
    let last = rig.server.requests();
    assert!(last.last().expect("one").mentions("left out to save room"));
    rig.finish();
}

/// A service that takes small bodies only gets small bodies.
#[test]
fn d09_bodies_stay_below_the_cap() {
    const CAP: usize = 4_000_000;
    let rules = Rules {
        max_body: CAP,
        ..Rules::default()
    };
    let rig = Rig::with_screen_and(bare(1920, 1080), rules, looks(10, 3));
    let _target = busy(&rig);
    let settings = format!("[model.profiles.\"{MODEL}\"]\nmax_request_bytes = {CAP}\n");
    let path = rig.openspace(&["config", "path"]).run().expect("runs");
    let file = path
        .stdout
        .split_whitespace()
        .find(|word| word.ends_with("settings.toml"))
        .unwrap_or_else(|| panic!("no settings file in {path:?}"))
        .to_owned();
    std::fs::create_dir_all(std::path::Path::new(&file).parent().expect("a folder")).expect("made");
    std::fs::write(&file, settings).expect("written");
    let output = rig.run("Watch", &ANY_PROGRAM);
    assert_eq!(output.code, Some(0), "{output:?}");
    let bytes: Vec<_> = rig
        .server
        .requests()
        .iter()
        .map(|seen| seen.bytes)
        .collect();
    assert!(
        bytes.iter().any(|bytes| *bytes > CAP / 2),
        "the cap mattered: {bytes:?}"
    );
    let counts = counts(&rig);
    assert!(
        counts.windows(2).any(|pair| pair[1] < pair[0]),
        "{counts:?}"
    );
    rig.finish();
}

/// A service that refuses the pictures gets fewer of them once, and the run goes on.
#[test]
fn d09_refused_pictures_are_left_out_once() {
    let mut turn = 0;
    let script = Script::decide(move |seen: &SeenRequest| {
        turn += 1;
        match turn {
            1..=4 => Turn::screenshot(),
            5 => {
                assert_eq!(seen.images().len(), 4);
                Turn::fault(Fault::ImageRejected)
            }
            6 => {
                assert_eq!(seen.images().len(), 1, "the newest stays");
                Turn::screenshot()
            }
            _ => Turn::done("Seen."),
        }
    });
    let rig = Rig::with_screen(bare(1280, 800), script);
    let _target = busy(&rig);
    let output = rig.run("Watch", &[&ANY_PROGRAM[..], &["--json"]].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(outcome(&output)["outcome"]["status"], "done");
    rig.finish();
}

/// A service that refuses every picture ends the run soon, and it can be continued.
#[test]
fn d09_pictures_refused_for_good_end_the_run() {
    let script = Script::decide(|seen: &SeenRequest| {
        if seen.images().len() < 3 && seen.turns() < 3 {
            Turn::screenshot()
        } else {
            Turn::fault(Fault::ImageRejected)
        }
    });
    let rig = Rig::with_screen(bare(1280, 800), script);
    let _target = busy(&rig);
    let output = rig.run("Watch", &[&ANY_PROGRAM[..], &["--json"]].concat());
    assert_eq!(output.code, Some(1), "{output:?}");
    let end = outcome(&output);
    assert_eq!(end["outcome"]["reason"]["kind"], "model", "{end}");
    let asked = rig.server.requests().len();
    assert!(asked <= 10, "no endless asking: {asked}");
    rig.finish();
}
