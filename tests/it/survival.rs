//! What happens to runs when processes die, hang, wait for each other or are told something.

mod approvals;
mod commands;
mod continued;
mod detached;
mod guard;
mod kills;
mod locked;
mod own_display;
mod sharing;
mod stops;
mod suspended;

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use openspace_app::{CommandKind, Run, RunEvent, RunFilter, RunId, RunStatus, Store};
use openspace_testkit::{
    LeakCheck, Options, RawTarget, TestScreen,
    cli::{Output, Running},
    leak::{Process, wait_released},
    model::Script,
    screen::Rect,
    target::{Patch, Window},
    wait::poll,
    wait_until,
};
use serde_json::Value;

use crate::rig::Rig;

/// Longest a test waits for anything.
const LONG: Duration = Duration::from_secs(60);
/// Within this time a killed run has left nothing pressed and nothing running.
const SECOND: Duration = Duration::from_secs(1);
/// A dialog of zenity is in no menu, so that a rule has to name it.
const SCREEN: &[&str] = &["--allow", "gui:*", "--allow", "gui:zenity"];
const SHELL: &[&str] = &["--backends", "shell"];

/// A rig and the store of its home, as one more process would open it.
struct World {
    rig: Rig,
    store: Store,
    /// Knows what was started since the screen was there.
    started: LeakCheck,
}

impl World {
    fn headless(script: impl Into<Script>) -> Self {
        Self::of(Rig::headless(script))
    }

    /// With a small screen without a window manager.
    fn on_screen(script: impl Into<Script>) -> Self {
        let options = Options {
            window_manager: false,
            ..Options::sized(1024, 768)
        };
        Self::of(Rig::with_screen(options, script))
    }

    fn of(rig: Rig) -> Self {
        let store = Store::open(&rig.home.data()).expect("the store opens");
        let started = LeakCheck::start(&rig.home);
        Self {
            rig,
            store,
            started,
        }
    }

    fn screen(&self) -> &TestScreen {
        self.rig.screen()
    }

    /// A window over the whole screen with two buttons.
    fn target(&self) -> RawTarget {
        let window = Window::full(self.screen())
            .with(Patch::new("first", FIRST, RED))
            .with(Patch::new("second", SECOND_PATCH, BLUE));
        RawTarget::start(self.screen(), window).expect("a target")
    }

    fn start(&self, arguments: &[&[&str]]) -> Running {
        let program = self.rig.openspace(&arguments.concat());
        program.start().expect("the program starts")
    }

    fn openspace(&self, arguments: &[&str]) -> Output {
        self.rig.openspace(arguments).run().expect("it ends")
    }

    /// The run of a task, once it is queued.
    fn run_of(&self, task: &str) -> RunId {
        let found = poll(LONG, || {
            self.runs().into_iter().find(|run| {
                let id = run.task.clone();
                self.store
                    .read_blocking(|db| db.tasks().get(&id))
                    .is_ok_and(|it| it.text == task)
            })
        });
        found.expect("the run is there").id
    }

    fn runs(&self) -> Vec<Run> {
        let all = self
            .store
            .read_blocking(|db| db.runs().list(&RunFilter::default()));
        all.expect("the runs")
    }

    fn run(&self, id: &RunId) -> Run {
        self.store
            .read_blocking(|db| db.runs().get(id))
            .expect("the run")
    }

    /// The run as whoever looks sees it.
    fn looked_at(&self, id: &RunId) -> Run {
        self.store
            .call_blocking(|db| db.runs().mark_orphans())
            .expect("orphans are marked");
        self.run(id)
    }

    fn wait_status(&self, id: &RunId, status: RunStatus) {
        let reached = wait_until(LONG, || self.run(id).status == status);
        assert!(reached, "{status} does not come: {:?}", self.run(id));
    }

    /// Waits until a call of the run's has begun.
    fn wait_call(&self, id: &RunId, tool: &str) {
        let begun = wait_until(LONG, || {
            self.events(id)
                .iter()
                .any(|it| it.kind == "step.call_started" && it.payload["tool"] == tool)
        });
        assert!(begun, "`{tool}` is not called: {:?}", self.events(id));
    }

    /// Whoever looks finds the run interrupted. A child that was being started when its runner died
    /// may keep the runner's locks for some milliseconds more.
    fn assert_interrupted(&self, id: &RunId) {
        let seen = wait_until(LONG, || self.looked_at(id).status == RunStatus::Interrupted);
        let run = self.run(id);
        assert!(seen && run.owner.is_none(), "{run:?}");
    }

    fn events(&self, id: &RunId) -> Vec<RunEvent> {
        self.store
            .read_blocking(|db| db.events().of("run", id.as_str(), 0, u32::MAX))
            .expect("the events")
    }

    fn tell(&self, id: &RunId, kind: CommandKind, payload: &Value) -> i64 {
        self.store
            .call_blocking(|db| db.commands().give(id, kind, payload, "test"))
            .expect("the command is stored")
    }

    /// The process that executes a run.
    fn runner_of(&self, id: &RunId) -> u32 {
        let pid = poll(LONG, || {
            let owner = self.run(id).owner?;
            let row = self.store.read_blocking(|db| db.instances().get(&owner));
            Some(row.ok()?.pid)
        });
        pid.expect("somebody executes it")
    }

    /// Processes of ours by what their command line contains.
    fn processes(&self, word: &str) -> Vec<Process> {
        let mut all = self.started.processes();
        all.retain(|it| it.command.contains(word));
        all
    }

    /// Nothing is pressed any more; how long that took after `since`.
    fn released(&self, since: Instant) -> Duration {
        let left = wait_released(self.screen(), Duration::from_secs(10)).expect("the screen");
        assert!(left.is_empty(), "still pressed: {left:?}");
        since.elapsed()
    }

    /// Only processes whose command line contains `spared` are left; how long that took.
    fn ended(&self, since: Instant, spared: &str) -> Duration {
        let gone = wait_until(Duration::from_secs(10), || self.left(spared).is_empty());
        assert!(gone, "still running: {:#?}", self.left(spared));
        since.elapsed()
    }

    fn left(&self, spared: &str) -> Vec<Process> {
        let mut left = self.started.processes();
        left.retain(|it| spared.is_empty() || !it.command.contains(spared));
        left
    }

    /// No event is missing, for any subject.
    fn assert_no_gaps(&self) {
        let all = self
            .store
            .read_blocking(|db| db.events().after(0, u32::MAX));
        let mut last = std::collections::BTreeMap::new();
        for event in all.expect("the events") {
            let seen = last.entry((event.topic, event.key)).or_insert(0);
            assert_eq!(event.seq, *seen + 1, "a gap before event {}", event.id);
            *seen = event.seq;
        }
    }

    fn finish(self) {
        self.assert_no_gaps();
        drop(self.store);
        self.rig.finish();
    }
}

const FIRST: Rect = Rect {
    x: 100,
    y: 100,
    width: 80,
    height: 60,
};
const SECOND_PATCH: Rect = Rect {
    x: 500,
    y: 400,
    width: 80,
    height: 60,
};
const RED: [u8; 3] = [230, 20, 20];
const BLUE: [u8; 3] = [20, 20, 230];

/// Kills one process, as `kill -9` does.
fn kill(pid: u32) {
    signal(pid, rustix::process::Signal::KILL);
}

fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a process id");
    // One that is gone already is fine.
    let _gone = rustix::process::kill_process(pid, signal);
}

fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(PathBuf::from(format!("/proc/{pid}/stat")));
    stat.is_ok_and(|it| {
        let state = it
            .rsplit_once(')')
            .and_then(|(_, rest)| rest.trim().chars().next());
        !matches!(state, Some('Z' | 'X') | None)
    })
}
