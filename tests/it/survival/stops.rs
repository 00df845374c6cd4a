//! Stops and ends while the store does not work, or the app does not hear.

use std::{
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, mpsc},
    thread::JoinHandle,
};

use openspace_app::{
    App, Code, Display, Environment, GuardSeat, InstanceKind, Limits, Reason, RunId, RunRequest,
    RunStatus, SpecAttendance, Surface,
};
use openspace_testkit::{
    InputWatch, LeakCheck,
    model::{Script, SeenRequest, Turn},
    wait_until,
};
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use crate::rig::Rig;

use super::{Duration, Instant, LONG, SCREEN, SECOND, SHELL, World, alive, signal};

/// Long before anything that waits for the store, or for a process that hangs, is done.
const AT_ONCE: Duration = Duration::from_secs(6);

/// Does what the task says: waits for a file, or sleeps.
fn script() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 if seen.person().contains("wait") => Turn::shell("until test -e go; do sleep 0.05; done"),
        0 => Turn::shell("setsid sleep 641 & sleep 642"),
        _ => Turn::done("It came."),
    })
}

/// The app without its windows, in this process.
struct Desktop {
    app: Arc<App>,
    runtime: tokio::runtime::Runtime,
    cancel: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
}

fn surface(kind: InstanceKind, program: &str) -> Surface {
    Surface {
        kind,
        claims_runs: kind == InstanceKind::Desktop,
        asks_on_terminal: false,
        program: program.into(),
        web_view: None,
    }
}

impl Desktop {
    /// A world in which it runs. Both use one store: SQLite's locks are the process's, and a second
    /// one that is opened in it would drop them.
    fn start(script: Script) -> (World, Self) {
        Self::start_with(script, env!("CARGO_BIN_EXE_openspace"))
    }

    fn start_with(script: Script, program: &str) -> (World, Self) {
        let rig = Rig::headless(script);
        let environment: Environment = rig.environment().into_iter().collect();
        let app = App::open(environment, surface(InstanceKind::Desktop, program), &[]);
        let app = app.expect("opened");
        let world = World {
            started: LeakCheck::start(&rig.home),
            store: app.store.clone(),
            rig,
        };
        (world, Self::of(app))
    }

    fn of(app: Arc<App>) -> Self {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let cancel = CancellationToken::new();
        let (serving, until) = (Arc::clone(&app), cancel.clone());
        let guards = Arc::new(GuardSeat::default());
        let serving = runtime.spawn(async move { serving.serve_runs(guards, None, until).await });
        Self {
            app,
            runtime,
            cancel,
            serving,
        }
    }

    /// Stops a run as its window does.
    fn stop(&self, run: &RunId) -> Result<(), Code> {
        let stopped = self.runtime.block_on(self.app.stop(run, "test"));
        stopped.map_err(|failure| failure.code)
    }

    /// Queues a task, as its window does: programs that this process starts may not.
    fn queue(&self, world: &World, task: &str) -> RunId {
        let request = RunRequest {
            task: task.to_owned(),
            session: None,
            origin: "app".to_owned(),
            idempotency_key: None,
            model: None,
            backends: Some(vec!["shell".to_owned()]),
            workspace: None,
            folder: world.rig.home.workspace().clone(),
            limits: Limits::default(),
            preset: None,
            allow: Vec::new(),
            display: Display::Session,
            monitor: None,
            attendance: SpecAttendance::Absent,
            attachments: Vec::new(),
        };
        let queued = self.runtime.block_on(self.app.enqueue(&request));
        queued.expect("queued").run
    }

    /// The same, and waits until its command runs.
    fn begin(&self, world: &World, task: &str) -> RunId {
        let id = self.queue(world, task);
        world.wait_call(&id, "run_command");
        id
    }

    fn quit(self) {
        self.cancel.cancel();
        self.runtime.block_on(self.serving).expect("it ends");
    }
}

/// Hands a task to an app in another process and waits until its command runs.
fn begin(world: &World, task: &str) -> RunId {
    let output = world.openspace(&[&["run", task, "--detach"], SHELL].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    let id = world.run_of(task);
    world.wait_call(&id, "run_command");
    id
}

/// Keeps everybody from writing until it is dropped.
struct WriteLock {
    release: mpsc::Sender<()>,
    holder: Option<JoinHandle<()>>,
}

impl WriteLock {
    fn take(world: &World) -> Self {
        let store = world.store.clone();
        let (release, released) = mpsc::channel();
        let (taken, is_taken) = mpsc::channel();
        let hold = move || {
            let held = store.call_blocking(|_| {
                taken.send(()).expect("somebody waits");
                let _dropped = released.recv();
                Ok(())
            });
            held.expect("the lock");
        };
        let holder = Some(std::thread::spawn(hold));
        is_taken.recv_timeout(LONG).expect("the lock");
        Self { release, holder }
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        self.release.send(()).expect("it is held");
        if let Some(holder) = self.holder.take() {
            holder.join().expect("it ends");
        }
    }
}

/// Makes the store refuse what the trigger says, or no longer.
fn sql(world: &World, statement: &str) {
    let code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=20); \
                c.execute(sys.argv[2]); c.commit(); c.close()";
    let database = world.rig.home.data().join("openspace.db");
    let status = Command::new("/usr/bin/python3")
        .args(["-c", code])
        .arg(database)
        .arg(statement)
        .status();
    assert!(status.expect("python3").success());
}

const REFUSED: &str = "begin select raise(abort, 'refused'); end";

fn sleepers(world: &World) -> usize {
    world.processes("sleep 64").len()
}

/// A stop given where the run is executed waits for no store: with its lock taken by somebody else,
/// the commands are gone at once and the run is stored as stopped when that is possible again.
#[test]
fn a_stop_in_the_same_process_needs_no_store() {
    for all in [false, true] {
        let (world, desktop) = Desktop::start(script());
        let id = desktop.begin(&world, "sleep");
        let lock = WriteLock::take(&world);
        let given = Instant::now();
        if all {
            let stopped = desktop.runtime.block_on(desktop.app.stop_all("test"));
            assert_eq!(stopped.expect("stopped"), std::slice::from_ref(&id));
        } else {
            assert_eq!(desktop.stop(&id), Ok(()));
        }
        assert!(given.elapsed() < AT_ONCE, "{:?}", given.elapsed());
        assert_eq!(sleepers(&world), 0);
        drop(lock);
        world.wait_status(&id, RunStatus::Stopped);
        desktop.quit();
        world.finish();
    }
}

/// The commands of such a run are gone within a second, also those it left in the background.
#[test]
fn a_stop_in_the_same_process_ends_commands_while_the_store_waits() {
    let (world, desktop) =
        Desktop::start(Script::decide(|seen: &SeenRequest| match seen.turns() {
            0 => Turn::call(openspace_testkit::model::Call::new(
                "run_command",
                serde_json::json!({ "command": "sleep 643", "background": true }),
            )),
            1 => Turn::shell("sleep 644"),
            _ => Turn::done("Done."),
        }));
    let id = desktop.begin(&world, "sleep");
    assert!(wait_until(LONG, || sleepers(&world) == 2), "both run");
    let lock = WriteLock::take(&world);
    let given = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(desktop.stop(&id), Ok(())));
        assert!(wait_until(LONG, || sleepers(&world) == 0));
        assert!(given.elapsed() < SECOND * 2, "{:?}", given.elapsed());
    });
    drop(lock);
    world.wait_status(&id, RunStatus::Stopped);
    desktop.quit();
    world.finish();
}

/// Given elsewhere, a stop that the store does not take reaches the run all the same.
#[test]
fn a_stop_from_elsewhere_reaches_the_run_beside_the_store() {
    let (world, desktop) = Desktop::start(script());
    let id = desktop.begin(&world, "sleep");
    sql(
        &world,
        &format!("create trigger no_commands before insert on commands {REFUSED}"),
    );
    let stopped = world.openspace(&["stop", id.as_str()]);
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(sleepers(&world), 0);
    assert_eq!(world.run(&id).status, RunStatus::Stopped);
    desktop.quit();
    world.finish();
}

/// The same while somebody else holds the lock of the store, also for a command that opens it first.
#[test]
fn a_stop_from_elsewhere_does_not_wait_for_the_lock() {
    let (world, desktop) = Desktop::start(script());
    let id = desktop.begin(&world, "sleep");
    let lock = WriteLock::take(&world);
    let given = Instant::now();
    let mut stopping = world
        .rig
        .openspace(&["stop", id.as_str()])
        .start()
        .expect("starts");
    assert!(wait_until(LONG, || sleepers(&world) == 0));
    assert!(given.elapsed() < AT_ONCE, "{:?}", given.elapsed());
    drop(lock);
    let stopped = stopping.wait(LONG).expect("it ends");
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    assert_eq!(world.run(&id).status, RunStatus::Stopped);
    desktop.quit();
    world.finish();
}

/// A claim that the store refuses ends neither the claiming nor the runs that go on.
#[test]
fn claiming_goes_on_when_the_store_works_again() {
    let (world, desktop) = Desktop::start(script());
    let first = desktop.begin(&world, "wait a");
    sql(
        &world,
        &format!(
            "create trigger no_claims before update of owner on runs when new.owner is not null {REFUSED}"
        ),
    );
    let second = desktop.queue(&world, "wait b");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(world.run(&second).status, RunStatus::Queued);
    assert_eq!(world.run(&first).status, RunStatus::Running);
    sql(&world, "drop trigger no_claims");
    world.wait_call(&second, "run_command");
    std::fs::write(world.rig.home.workspace().join("go"), "").expect("written");
    world.wait_status(&first, RunStatus::Done);
    world.wait_status(&second, RunStatus::Done);
    desktop.quit();
    world.finish();
}

/// An end that the store refuses is stored later; meanwhile the run can be stopped, which it is.
#[test]
fn an_end_is_stored_when_the_store_works_again() {
    let (world, desktop) = Desktop::start(script());
    let id = desktop.begin(&world, "wait");
    sql(
        &world,
        &format!(
            "create trigger no_ends before update of ended_at on runs when new.ended_at is not null {REFUSED}"
        ),
    );
    std::fs::write(world.rig.home.workspace().join("go"), "").expect("written");
    let answered = || {
        let events = world.events(&id);
        events.iter().any(|it| it.kind == "step.call_finished")
    };
    assert!(wait_until(LONG, answered));
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(world.run(&id).ended_at, None);
    assert_eq!(desktop.stop(&id), Ok(()), "it does nothing any more");
    sql(&world, "drop trigger no_ends");
    world.wait_status(&id, RunStatus::Done);
    desktop.quit();
    world.finish();
}

/// Where no guard can be started, the run fails and says so, wherever it was begun.
#[test]
fn a_run_without_a_guard_fails_and_says_why() {
    let (world, desktop) = Desktop::start_with(script(), "/nowhere");
    desktop.queue(&world, "sleep");
    let rpc = openspace_app::rpc::Rpc::new(Arc::clone(&desktop.app), Arc::default());
    let demo = rpc.call(
        openspace_app::rpc::Caller::Window,
        "demo_start",
        serde_json::json!({ "private": true }),
    );
    desktop.runtime.block_on(demo).expect("started");
    for run in world.runs() {
        world.wait_status(&run.id, RunStatus::Failed);
        let reason = world.run(&run.id).reason.expect("a reason");
        let reason: Reason = serde_json::from_str(&reason).expect("a reason");
        assert!(
            matches!(&reason, Reason::Internal { message } if message.contains("guard")),
            "{reason:?}"
        );
    }
    assert_eq!(world.runs().len(), 2);
    desktop.quit();
    world.finish();
}

/// Where the app of [`an_app_that_hangs_is_not_killed_for_a_run`] finds what it needs.
const HOME_OF_APP: &str = "OPENSPACE_TEST_APP";

/// No test: the process of the app of another test.
#[test]
#[ignore = "started by another test"]
fn the_app_of_another_test() {
    if std::env::var_os(HOME_OF_APP).is_none() {
        return;
    }
    let surface = surface(InstanceKind::Desktop, env!("CARGO_BIN_EXE_openspace"));
    let app = App::open(Environment::of_this_process(), surface, &[]).expect("opened");
    let desktop = Desktop::of(app);
    desktop.runtime.block_on(std::future::pending::<()>());
}

/// The app without its windows, in a process of its own.
fn app_process(world: &World) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "--ignored",
            "survival::stops::the_app_of_another_test",
        ])
        .env_clear()
        .envs(world.rig.environment())
        .env(HOME_OF_APP, "1")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("started")
}

/// The app is more than one of its runs: while it hangs, its guard releases what the run has pressed
/// and ends its commands, the stop says that the run has not ended, and the app lives on. Once it is
/// awake it obeys.
#[test]
fn an_app_that_hangs_is_not_killed_for_a_run() {
    let world = World::on_screen(Script::decide(|seen: &SeenRequest| {
        let types = seen.person().contains("type");
        match seen.turns() {
            0 if types => Turn::screenshot(),
            1 if types => Turn::type_text(&"The quick brown FOX. ".repeat(450)),
            0 => Turn::shell("sleep 645"),
            _ => Turn::done("Done."),
        }
    }));
    let target = world.target();
    let watch = InputWatch::start(world.screen()).expect("a watch");
    let mut app = app_process(&world);
    let claims = || {
        world
            .store
            .read_blocking(|db| db.instances().claimer_alive())
    };
    assert!(wait_until(LONG, || claims().expect("the store")));
    let sleeps = begin(&world, "sleep");
    let output = world.openspace(&[&["run", "type", "--detach"], SCREEN].concat());
    assert_eq!(output.code, Some(0), "{output:?}");
    let types = world.run_of("type");
    assert!(watch.wait_for(200, LONG), "it types");
    signal(app.id(), Signal::STOP);

    for id in [&sleeps, &types] {
        let stopped = world.openspace(&["stop", id.as_str()]);
        assert_eq!(stopped.code, Some(1), "{stopped:?}");
        assert!(stopped.stderr.contains("has not ended yet"), "{stopped:?}");
        assert!(alive(app.id()), "the app is not killed for a run");
    }
    world.released(Instant::now());
    assert_eq!(sleepers(&world), 0, "its guard ended what it ran");

    signal(app.id(), Signal::CONT);
    world.wait_status(&sleeps, RunStatus::Stopped);
    world.wait_status(&types, RunStatus::Stopped);
    assert!(alive(app.id()));
    app.kill().expect("killed");
    app.wait().expect("reaped");
    drop(target);
    world.ended(Instant::now(), "");
    world.finish();
}

/// A program of that name, ahead of the real one, which says nothing and does not end.
fn silent(world: &World, name: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = world.rig.home.workspace().join("silent");
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join(name);
    std::fs::write(&program, "#!/bin/sh\nexec sleep 646\n").expect("written");
    let may_run = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, may_run).expect("it may run");
    folder
}

/// While a display of a run's own does not come, a stop is heard and ends the run in time, and nothing
/// of the display is left.
#[test]
fn a_stop_is_heard_while_a_display_does_not_come() {
    for program in ["Xvfb", "dbus-daemon"] {
        let world = World::headless(script());
        let path = format!(
            "{}:{}",
            silent(&world, program).display(),
            world.rig.environment()["PATH"]
        );
        let mut running = world
            .rig
            .openspace(&["run", "look", "--display", "private", "--backends", "gui"])
            .env("PATH", path)
            .start()
            .expect("starts");
        let id = world.run_of("look");
        assert!(wait_until(LONG, || sleepers(&world) == 1), "{program}");
        let given = Instant::now();
        let stopped = world.openspace(&["stop", id.as_str()]);
        assert_eq!(stopped.code, Some(0), "{program}: {stopped:?}");
        assert!(
            given.elapsed() < AT_ONCE,
            "{program}: {:?}",
            given.elapsed()
        );
        assert_eq!(world.run(&id).status, RunStatus::Stopped, "{program}");
        let output = running.wait(LONG).expect("it ends");
        assert_eq!(output.code, Some(3), "{program}: {output:?}");
        world.ended(Instant::now(), "");
        world.finish();
    }
}

/// A message bus that never tells its address keeps no run from its display.
#[test]
fn a_silent_bus_keeps_no_run_waiting() {
    let world = World::headless(vec![Turn::screenshot(), Turn::done("Seen.")]);
    let path = format!(
        "{}:{}",
        silent(&world, "dbus-daemon").display(),
        world.rig.environment()["PATH"]
    );
    let output = world
        .rig
        .openspace(&["run", "look", "--display", "private", "--backends", "gui"])
        .env("PATH", path)
        .args(["--allow", "gui:*"])
        .run()
        .expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
    world.ended(Instant::now(), "");
    world.finish();
}
