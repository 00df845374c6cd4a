//! Seeded homes hold what their pictures and figures are taken from.
#![cfg(target_os = "linux")]
#![expect(
    clippy::expect_used,
    reason = "clippy allows it in test functions, not in what they share"
)]

use std::time::Duration;

use openspace_store::{RunFilter, RunStatus, Store};
use openspace_testkit::{Program, TestHome, cli::Running, wait_until};

const SOON: Duration = Duration::from_secs(60);

/// A home with a scene that lives as long as the program runs.
fn seed(home: &TestHome, scene: &[&str]) -> (Running, Store) {
    let mut program = Program::new(env!("CARGO_BIN_EXE_openspace-bench"))
        .arg("seed")
        .args(scene.iter().copied())
        .environment(home.environment())
        .start()
        .expect("it starts");
    program.wait_for("ready", SOON).expect("it is planted");
    (program, Store::open(&home.data()).expect("a store"))
}

fn with_status(store: &Store, status: RunStatus) -> usize {
    let filter = RunFilter {
        statuses: vec![status],
        ..RunFilter::default()
    };
    let runs = store.read_blocking(|db| db.runs().list(&filter));
    runs.expect("runs").len()
}

/// The gallery has every kind of run, one question and pictures; what runs ends with the program.
#[test]
fn the_gallery_shows_every_kind_of_run() {
    let home = TestHome::new().expect("a home");
    let (mut program, store) = seed(&home, &["gallery"]);
    let kinds = [
        RunStatus::Running,
        RunStatus::NeedsApproval,
        RunStatus::NeedsYou,
        RunStatus::Failed,
        RunStatus::Stopped,
        RunStatus::LimitReached,
    ];
    assert_eq!(kinds.map(|kind| with_status(&store, kind)), [1; 6]);
    assert_eq!(with_status(&store, RunStatus::Done), 12);
    let pending = store.read_blocking(|db| db.approvals().pending());
    assert_eq!(pending.expect("questions").len(), 1);
    let demo = RunFilter {
        origin: Some("demo".into()),
        ..RunFilter::default()
    };
    let frames = store.read_blocking(|db| {
        let run = db.runs().list(&demo)?.remove(0);
        db.frames().of_run(&run.id)
    });
    let frames = frames.expect("frames");
    assert_eq!(frames.len(), 7);
    let (frame, picture) = store.read_frame(&frames[0].id).expect("a picture");
    assert_eq!(
        (frame.bytes, &picture[..2]),
        (picture.len() as u64, &[0xFF, 0xD8][..])
    );
    program.close_input();
    program.wait(SOON).expect("it ends");
    let orphans = store.call_blocking(|db| db.runs().mark_orphans());
    assert_eq!(orphans.expect("marked").len(), 2);
}

/// As many tasks as asked for, each of another hour, the last one the newest.
#[test]
fn tasks_are_as_many_as_asked_for() {
    let home = TestHome::new().expect("a home");
    let (_program, store) = seed(&home, &["tasks", "120"]);
    let (count, newest) = store
        .read_blocking(|db| {
            let runs = db.runs().list(&RunFilter::default())?;
            Ok((runs.len(), db.tasks().get(&runs[0].task)?.text))
        })
        .expect("runs");
    assert_eq!(count, 120);
    assert!(newest.ends_with(" 120"), "{newest}");
}

/// Something happens in the busy run about ten times a second, until the program ends.
#[test]
fn the_busy_run_goes_on() {
    let home = TestHome::new().expect("a home");
    let (mut program, store) = seed(&home, &["busy"]);
    let last = || store.read_blocking(|db| db.events().last_id());
    let first = last().expect("an event");
    let grown = |by| last().is_ok_and(|now| now >= first + by);
    assert!(wait_until(SOON, || grown(20)), "it goes on");
    program.close_input();
    let output = program.wait(SOON).expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
}
