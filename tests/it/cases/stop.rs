//! Stop means stop: given in another process, whatever the run is doing.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use openspace_testkit::{
    InputWatch, Options, RawTarget,
    cli::{Output, Running},
    model::{Script, Turn},
    target::Window,
    wait_until,
};
use serde_json::Value;

use super::{ANY_PROGRAM, SOON, assert_released, outcome, run_id, told};
use crate::rig::Rig;

/// No input after a stop was given.
const LAST_INPUT: Duration = Duration::from_millis(200);
/// No process after a stop was given.
const LAST_PROCESS: Duration = Duration::from_secs(1);

/// Both clocks at one moment, to compare what the store wrote with what was seen here.
struct Clocks(Instant, Duration);

impl Clocks {
    fn now() -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
        Self(Instant::now(), since_1970.expect("a clock after 1970"))
    }

    /// A Unix time in milliseconds, as an instant.
    fn instant(&self, at: i64) -> Instant {
        let ago = self.1.as_millis() as i64 - at;
        let ago = Duration::from_millis(u64::try_from(ago).expect("in the past"));
        self.0.checked_sub(ago).expect("after the machine started")
    }
}

fn rig(script: impl Into<Script>) -> (Rig, RawTarget) {
    let options = Options {
        window_manager: false,
        ..Options::sized(1280, 800)
    };
    let rig = Rig::with_screen(options, script);
    let target = RawTarget::start(rig.screen(), Window::full(rig.screen())).expect("a target");
    (rig, target)
}

fn start(rig: &Rig) -> Running {
    let all = [&["run", "Be busy", "--json"][..], &ANY_PROGRAM].concat();
    rig.openspace(&all).start().expect("starts")
}

/// Stops the only run from another process.
fn stop(rig: &Rig) -> Output {
    let output = rig.openspace(&["stop"]).run().expect("runs");
    assert_eq!(output.code, Some(0), "{output:?}");
    output
}

/// When the stop was written, from the run's own events.
fn stopped_at(output: &Output, clocks: &Clocks) -> Instant {
    let event = told(&output.stdout)
        .into_iter()
        .find(|event| event["kind"] == "run.command" && event["payload"]["kind"] == "stop")
        .unwrap_or_else(|| panic!("the stop is an event: {output:?}"));
    clocks.instant(event["at"].as_i64().expect("a time"))
}

/// The run ended as stopped, said so with its exit code, and everybody else sees the same.
fn assert_stopped(rig: &Rig, running: &mut Running) -> Output {
    let run = run_id(running);
    let output = running.wait(SOON).expect("the run ends");
    assert_eq!(output.code, Some(3), "{output:?}");
    assert_eq!(
        outcome(&output)["outcome"]["status"],
        "stopped",
        "{output:?}"
    );
    let shown = rig
        .openspace(&["runs", "list", "--json"])
        .run()
        .expect("runs");
    let row: Value =
        serde_json::from_str(shown.stdout.lines().next().expect("a row")).expect("JSON");
    assert_eq!(row["run"]["id"], run.as_str(), "{row}");
    assert_eq!(row["run"]["status"], "stopped", "{row}");
    assert_released(rig.screen());
    output
}

/// While the model speaks: it is not listened to any further.
#[test]
fn d11_stop_while_the_model_speaks() {
    let words = "word after word ".repeat(2_000);
    let (rig, _target) = rig(vec![
        Turn::done(&words).per_delta(Duration::from_millis(50)),
    ]);
    let mut running = start(&rig);
    running
        .wait_for("\"step.text\"", SOON)
        .expect("the model speaks");
    stop(&rig);
    assert_stopped(&rig, &mut running);
    assert!(
        wait_until(SOON, || rig.server.dropped() == 1),
        "the answer is dropped"
    );
    rig.finish();
}

/// What a model answers after the stop is not carried out.
#[test]
fn d11_a_late_reply_is_ignored() {
    let (rig, target) = rig(vec![
        Turn::screenshot(),
        Turn::click_at((500, 300)).after(Duration::from_secs(2)),
        Turn::done("Never asked for."),
    ]);
    let mut running = start(&rig);
    // The check of the address, the first turn, the late one.
    let asked = || rig.server.requests().iter().any(|seen| seen.turns() == 1);
    assert!(wait_until(SOON, asked), "the model is asked");
    stop(&rig);
    assert_stopped(&rig, &mut running);
    let late = Instant::now();
    wait_until(Duration::from_secs(20), || {
        late.elapsed() > Duration::from_secs(3)
    });
    assert_eq!(target.clicks(), [], "no late click");
    assert_eq!(rig.server.turns_left(), 1, "and no further question");
    rig.finish();
}

/// While 5000 characters are typed: the last event comes at most 200 ms after the stop was written.
#[test]
fn d11_stop_while_typing() {
    let text: String = "Typing Goes On ".chars().cycle().take(5_000).collect();
    let (rig, _target) = rig(vec![Turn::screenshot(), Turn::type_text(&text)]);
    let set = rig.openspace(&["config", "set", "screen.type_delay_ms", "4"]);
    assert_eq!(set.run().expect("runs").code, Some(0));
    let watch = InputWatch::start(rig.screen()).expect("a watch");
    let mut running = start(&rig);
    assert!(watch.wait_for(300, SOON), "it types");
    stop(&rig);
    let output = assert_stopped(&rig, &mut running);
    let stopped = stopped_at(&output, &Clocks::now());
    let inputs = watch.inputs();
    assert!(
        inputs.len() < 9_000,
        "it was stopped in the middle: {}",
        inputs.len()
    );
    // The server's clock and ours tick alike; the event that reached us fastest tells how far apart
    // they are.
    let first = inputs.first().expect("an event");
    let since_first = |input: &openspace_testkit::watch::Input| {
        Duration::from_millis(u64::from(input.server_time - first.server_time))
    };
    let origin = inputs
        .iter()
        .filter_map(|input| input.at.checked_sub(since_first(input)))
        .min()
        .expect("an event");
    let last = origin + since_first(inputs.last().expect("an event"));
    let late = last.saturating_duration_since(stopped);
    assert!(
        late <= LAST_INPUT,
        "the last input came {late:?} after the stop"
    );
    rig.finish();
}

/// While a command runs that has started others, some of them in sessions of their own: the whole
/// tree is gone within a second.
#[test]
fn d11_stop_while_a_tree_of_commands_runs() {
    let (rig, _target) = rig(vec![Turn::shell(
        "sleep 611 & setsid sleep 612 & nohup sleep 613 & (sleep 614 & sleep 615) & sleep 616",
    )]);
    let sleepers = || {
        let all = rig.processes();
        let ours = all
            .iter()
            .filter(|process| process.command.starts_with("sleep 61"));
        ours.count()
    };
    let mut running = start(&rig);
    assert!(
        wait_until(SOON, || sleepers() == 6),
        "the tree stands: {:?} {}",
        rig.processes(),
        running.stdout()
    );
    let mut stopping = rig.openspace(&["stop"]).start().expect("starts");
    assert!(
        wait_until(SOON, || sleepers() == 0),
        "{:?}",
        rig.processes()
    );
    let gone = Instant::now();
    let ended = stopping.wait(SOON).expect("the stop ends");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let output = assert_stopped(&rig, &mut running);
    let took = gone.saturating_duration_since(stopped_at(&output, &Clocks::now()));
    assert!(
        took <= LAST_PROCESS,
        "the tree was gone only {took:?} after the stop"
    );
    rig.finish();
}

/// A tree that ignores being asked is gone as fast.
#[test]
fn d11_stop_while_a_stubborn_command_runs() {
    let (rig, _target) = rig(vec![Turn::shell(
        "trap '' TERM INT HUP; (trap '' TERM; sleep 621; sleep 622) & sleep 623; sleep 624",
    )]);
    let stubborn = || {
        let all = rig.processes();
        all.iter()
            .filter(|process| process.command.starts_with("sleep 62"))
            .count()
    };
    let mut running = start(&rig);
    assert!(
        wait_until(SOON, || stubborn() == 2),
        "{:?} {}",
        rig.processes(),
        running.stdout()
    );
    let mut stopping = rig.openspace(&["stop"]).start().expect("starts");
    assert!(
        wait_until(SOON, || stubborn() == 0),
        "{:?}",
        rig.processes()
    );
    let gone = Instant::now();
    assert_eq!(stopping.wait(SOON).expect("the stop ends").code, Some(0));
    let output = assert_stopped(&rig, &mut running);
    let took = gone.saturating_duration_since(stopped_at(&output, &Clocks::now()));
    assert!(
        took <= LAST_PROCESS,
        "the tree was gone only {took:?} after the stop"
    );
    rig.finish();
}

/// While the run waits because the service asked it to.
#[test]
fn d11_stop_while_waiting_to_try_again() {
    let (rig, _target) = rig(vec![Turn::status(429, Some(200))]);
    let mut running = start(&rig);
    running
        .wait_for("\"model.waiting\"", SOON)
        .expect("it waits");
    stop(&rig);
    assert_stopped(&rig, &mut running);
    rig.finish();
}

/// While a chord is held down: it is released.
#[test]
fn d11_stop_while_a_key_is_held() {
    let hold = openspace_testkit::Call::computer(
        serde_json::json!({"action": "hold_key", "text": "ctrl+shift+x", "duration": 60}),
    );
    let (rig, target) = rig(vec![Turn::screenshot(), Turn::call(hold)]);
    let mut running = start(&rig);
    assert!(
        wait_until(SOON, || target.keys().len() == 3),
        "{:?}",
        target.keys()
    );
    stop(&rig);
    assert_stopped(&rig, &mut running);
    rig.finish();
}
