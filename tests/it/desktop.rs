//! The real app under a real window manager: its page by WebDriver, its windows by X11, its tray by
//! D-Bus.

use std::{collections::BTreeMap, process::Command, time::Duration};

use openspace_app::{InstanceKind, Run, RunFilter, RunStatus, Store};
use openspace_testkit::{
    cli::{Program, Running},
    model::{Script, SeenRequest, Turn},
    screen::{Options, Rect},
    spawn::Spawned,
    wait::poll,
};
use rustix::process::Signal;

use crate::rig::Rig;

mod agents;
mod aside;
mod control;
mod diagnose;
mod driver;
mod drops;
mod first;
mod page;
mod pill;
mod quick;
mod ring;
mod tray;

/// The app itself.
const DESKTOP: &str = env!("CARGO_BIN_EXE_openspace-desktop");
/// Longest a test waits for something that should come soon.
const SOON: Duration = Duration::from_secs(60);
/// The invisible characters around the name in every title of ours.
const MARKER: &str = "\u{2060}OpenSpace\u{2060}";

/// What a run on the screen may do without a question.
const FREE: [&str; 6] = [
    "--backends",
    "gui",
    "--allow",
    "gui:*",
    "--preset",
    "hands-off",
];

/// A screen with a session bus, as a desktop has.
fn rig(script: impl Into<Script>) -> Rig {
    let options = Options {
        width: 1400,
        height: 900,
        session_bus: true,
        ..Options::default()
    };
    Rig::with_screen(options, script)
}

/// Waits in a command until it is stopped.
fn endless() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("sleep 600"),
        _ => Turn::done("Done."),
    })
}

/// The app without a driver, waiting until it paints.
fn start(rig: &Rig) -> Running {
    let mut app = program(rig, &[]).start().expect("the app starts");
    app.wait_for("first paint", SOON).expect("it paints");
    app
}

fn program(rig: &Rig, arguments: &[&str]) -> Program {
    Program::new(DESKTOP)
        .args(arguments.iter().copied())
        .environment(rig.environment())
        .folder(rig.home.workspace())
        .limit(Duration::from_secs(300))
}

/// Ends the app as a service manager or `kill` does.
fn end(mut app: Running) {
    app.signal_alone(Signal::TERM);
    let output = app.wait(SOON).expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
}

/// Queues a run by the command line, as another process does.
fn queue(rig: &Rig, task: &str, more: &[&str]) {
    let all = [&["run", task, "--detach"], more].concat();
    let output = rig.openspace(&all).run().expect("the program runs");
    assert_eq!(output.code, Some(0), "{output:?}");
}

fn store(rig: &Rig) -> Store {
    Store::open(&rig.home.data()).expect("the store opens")
}

fn runs(store: &Store) -> Vec<Run> {
    let all = RunFilter::default();
    store
        .read_blocking(|db| db.runs().list(&all))
        .expect("the runs")
}

/// The only run, once it stands there.
fn wait_status(store: &Store, status: RunStatus) -> Run {
    let mut last = None;
    let found = poll(SOON, || {
        last = runs(store).pop();
        last.clone().filter(|run| run.status == status)
    });
    found.unwrap_or_else(|| panic!("never {status:?}: {last:?}"))
}

/// The app executed it, not a runner of its own.
fn assert_by_the_app(store: &Store, run: &Run) {
    let runner = run.runner.clone().expect("somebody executed it");
    let row = store
        .read_blocking(|db| db.instances().get(&runner))
        .expect("the instance");
    assert_eq!(row.kind, InstanceKind::Desktop);
}

/// What xdotool prints, where it finds something.
fn xdotool(rig: &Rig, arguments: &[&str]) -> Option<String> {
    let environment: BTreeMap<_, _> = rig.environment();
    let output = Command::new("xdotool")
        .args(arguments)
        .env_clear()
        .envs(environment)
        .output()
        .expect("xdotool runs");
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The windows that are shown under a title.
fn shown(rig: &Rig, title: &str) -> Vec<String> {
    let found = xdotool(rig, &["search", "--onlyvisible", "--name", title]);
    let found = found.unwrap_or_default();
    found.lines().map(str::to_owned).collect()
}

/// Another program with the focus, and its window.
fn elsewhere(rig: &Rig) -> (Spawned, String) {
    let terminal = rig
        .screen()
        .run("xterm", &["-title", "elsewhere"])
        .expect("xterm");
    let window = poll(SOON, || shown(rig, "elsewhere").pop()).expect("another window");
    xdotool(rig, &["windowactivate", "--sync", &window]).expect("activated");
    (terminal, window)
}

/// Numbers that xdotool told about something: of each name one.
fn numbers<const N: usize>(told: &str, names: [&str; N]) -> Option<[i32; N]> {
    let mut numbers = [0; N];
    for (number, name) in numbers.iter_mut().zip(names) {
        let of_name = |line: &'_ str| Some(line.strip_prefix(name)?.strip_prefix('=')?.parse());
        *number = told.lines().find_map(of_name)?.ok()?;
    }
    Some(numbers)
}

/// Where a window is, while it is there.
fn place(rig: &Rig, window: &str) -> Option<Rect> {
    let told = xdotool(rig, &["getwindowgeometry", "--shell", window])?;
    let [x, y, width, height] = numbers(&told, ["X", "Y", "WIDTH", "HEIGHT"])?;
    Some(Rect::new(x, y, width as u32, height as u32))
}
