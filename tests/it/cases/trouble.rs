//! A service in trouble: waiting, trying again, giving up, all without doing anything twice.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use openspace_testkit::{
    Options, RawTarget,
    model::{Fault, Script, SeenRequest, Turn},
    screen::Rect,
    target::{Patch, Window},
};
use serde_json::Value;

use super::{ANY_PROGRAM, outcome, payloads};
use crate::rig::Rig;

const GREEN: [u8; 3] = [20, 150, 20];

fn rig(script: Script) -> (Rig, RawTarget) {
    let options = Options {
        window_manager: false,
        ..Options::sized(1280, 800)
    };
    let rig = Rig::with_screen(options, script);
    let patch = Patch::new("button", Rect::new(500, 300, 120, 60), GREEN);
    let window = Window::full(rig.screen()).with(patch);
    let target = RawTarget::start(rig.screen(), window).expect("a target");
    (rig, target)
}

/// Looks, clicks and ends; before each of these, the service fails as listed.
fn with_faults(before_look: Vec<Turn>, before_click: Vec<Turn>, before_end: Vec<Turn>) -> Script {
    let mut faults = [before_look, before_click, before_end].map(Vec::into_iter);
    Script::decide(move |seen: &SeenRequest| {
        let turn = seen.turns().min(2);
        if let Some(fault) = faults[turn].next() {
            return fault;
        }
        match turn {
            0 => Turn::screenshot(),
            1 => Turn::click_at(seen.find_color(GREEN, 60).expect("the button")),
            _ => Turn::done("Clicked."),
        }
    })
}

fn json_run() -> Vec<&'static str> {
    [&ANY_PROGRAM[..], &["--json"]].concat()
}

/// Whether a run was shown as waiting for the model at some time.
fn was_waiting(stdout: &str) -> bool {
    payloads(stdout, "run.status").iter().any(|status| {
        let reason = status["reason"].as_str().unwrap_or_default();
        serde_json::from_str::<Value>(reason)
            .is_ok_and(|reason| reason["kind"] == "waiting_for_model")
    })
}

/// Every passing trouble there is, and one click in the end.
#[test]
fn d10_passing_trouble_is_waited_out_without_a_second_click() {
    let click = Turn::click_at((560, 330));
    let (rig, target) = rig(with_faults(
        vec![
            Turn::status(429, Some(1)),
            Turn::status(529, None),
            Turn::status(500, None),
        ],
        vec![
            // The call itself is in the answer that breaks off: it must not be carried out.
            click.clone().failing(Fault::OverloadedMidStream),
            click.clone().failing(Fault::Reset),
            click.failing(Fault::Cut),
        ],
        vec![Turn::status(503, Some(1))],
    ));
    let output = rig.run("Click the button", &json_run());
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(target.clicks().len(), 1, "{:?}", target.clicks());
    let waits = payloads(&output.stdout, "model.waiting");
    let step = |step: u64| waits.iter().filter(move |wait| wait["step"] == step);
    assert_eq!(step(1).count(), 3, "{waits:?}");
    assert_eq!(step(2).count(), 3, "{waits:?}");
    let first = step(1).next().expect("a wait");
    assert_eq!(first["reason"], "rate_limited", "{first}");
    assert!(
        first["afterMs"].as_u64() >= Some(1_000),
        "retry-after is kept: {first}"
    );
    assert!(
        first["afterMs"].as_u64() < Some(2_500),
        "and not much more: {first}"
    );
    assert!(was_waiting(&output.stdout), "waiting is a visible state");
    rig.finish();
}

/// A service that stays overloaded ends the run after a few attempts, and it can be continued where
/// it was.
#[test]
fn d10_lasting_trouble_ends_in_a_run_that_can_be_continued() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (rig, target) = rig(Script::decide(move |seen: &SeenRequest| {
        match seen.turns() {
            0 => Turn::screenshot(),
            1 => Turn::click_at(seen.find_color(GREEN, 60).expect("the button")),
            _ => {
                count.fetch_add(1, Ordering::SeqCst);
                Turn::status(529, None)
            }
        }
    }));
    let output = rig.run("Click the button", &json_run());
    assert_eq!(output.code, Some(1), "{output:?}");
    let end = outcome(&output);
    assert_eq!(end["outcome"]["status"], "failed", "{end}");
    assert_eq!(end["outcome"]["reason"]["kind"], "model", "{end}");
    assert_eq!(end["outcome"]["reason"]["retryable"], true, "{end}");
    let attempts = asked.load(Ordering::SeqCst);
    assert!((2..=8).contains(&attempts), "bounded: {attempts}");

    rig.server.set_script(Script::decide(|seen: &SeenRequest| {
        assert!(seen.turns() >= 2, "the conversation is still there");
        assert!(
            seen.results()
                .iter()
                .any(|result| result.input["action"] == "left_click"),
            "the click is in it"
        );
        Turn::done("It was clicked before.")
    }));
    let run = end["run"].as_str().expect("its id");
    let output = rig
        .openspace(&["runs", "continue", run])
        .run()
        .expect("runs");
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(output.stdout, "It was clicked before.\n");
    assert_eq!(target.clicks().len(), 1);
    rig.finish();
}

/// A service that wants an hour is not waited for.
#[test]
fn d10_an_hour_is_not_waited_for() {
    let (rig, _target) = rig(Script::decide(|_: &SeenRequest| {
        Turn::status(429, Some(3_600))
    }));
    let output = rig.run("Click the button", &json_run());
    assert_eq!(output.code, Some(1), "{output:?}");
    let end = outcome(&output);
    assert_eq!(end["outcome"]["reason"]["retryable"], true, "{end}");
    rig.finish();
}
