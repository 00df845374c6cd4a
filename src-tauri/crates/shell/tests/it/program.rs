use std::{os::unix::fs::PermissionsExt, path::Path};

use openspace_grounding::{Action, Backend, ToolError};
use serde_json::json;

use crate::world::{World, eventually, is_alive, pids};

fn executable(world: &World, part: &str, script: &str) {
    world.write(part, script);
    std::fs::set_permissions(world.path(part), PermissionsExt::from_mode(0o755)).expect("mode");
}

/// A name, a path and a desktop entry all lead to the same description.
#[tokio::test]
async fn programs_are_found() {
    let world = World::new();
    executable(&world, "work/Editor", "#!/bin/sh\nsleep 600\n");
    let entry = format!(
        "[Desktop Entry]\nName=Text Editor\nExec={} --new %U\n",
        world.path("work/Editor").display()
    );
    world.write(
        "home/.local/share/applications/org.test.Edit.desktop",
        entry,
    );
    for (program, arguments) in [
        ("./Editor", vec!["file"]),
        ("text editor", vec!["--new", "file"]),
        ("edit", vec!["--new", "file"]),
    ] {
        let call = json!({"program": program, "arguments": ["file"]});
        let actions = world.actions("open_program", call).await.expect("found");
        let [Action::Launch(launch)] = actions.as_slice() else {
            panic!("{actions:?}")
        };
        assert_eq!(launch.program, world.path("work/Editor"), "{program}");
        assert_eq!(launch.arguments, arguments, "{program}");
        assert_eq!(
            (launch.app.name.as_str(), launch.app.terminal),
            ("editor", false)
        );
    }
    let actions = world
        .actions("open_program", json!({"program": "python3"}))
        .await
        .expect("found");
    let [Action::Launch(launch)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert!(
        launch.app.terminal,
        "an interpreter is as good as a terminal: {launch:?}"
    );
    let missing = world
        .actions("open_program", json!({"program": "no-such-program"}))
        .await;
    assert!(
        matches!(missing, Err(ToolError::NotFound(_))),
        "{missing:?}"
    );
}

/// An opened program has the display, and lives on when the run is done.
#[tokio::test]
async fn a_program_outlives_a_done_run() {
    let world = World::with([("DISPLAY", ":77"), ("SECRET_KEY", "x")].into());
    let script = "#!/bin/sh\necho $$ > pid; echo \"$DISPLAY:$SECRET_KEY\" > seen; exec sleep 600\n";
    executable(&world, "work/viewer", script);
    let opened = world
        .text("open_program", json!({"program": "./viewer"}))
        .await;
    assert!(opened.starts_with("Opened viewer (process "), "{opened}");
    assert_eq!(world.read("work/seen"), ":77:\n");
    let pid = pids(&world.path("work/pid"))[0];

    world.shell.leave().await;
    assert!(is_alive(pid), "it stays for the person");
    assert!(
        world.keep.groups.lock().expect("lock").is_empty(),
        "the guard lets it be"
    );

    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid.cast_signed()).expect("pid"),
        rustix::process::Signal::KILL,
    )
    .expect("ended by the test");
}

/// A run that is stopped takes its programs with it.
#[tokio::test]
async fn a_program_ends_with_a_stopped_run() {
    let world = World::new();
    executable(
        &world,
        "work/viewer",
        "#!/bin/sh\necho $$ > pid; exec sleep 600\n",
    );
    world
        .text("open_program", json!({"program": "./viewer"}))
        .await;
    let pid = pids(&world.path("work/pid"))[0];
    world.shell.close().await;
    eventually("it is gone", || !is_alive(pid)).await;
    assert!(!Path::new(&format!("/proc/{pid}/cwd")).exists());
}

/// A program that cannot start says why.
#[tokio::test]
async fn an_early_end_is_told() {
    let world = World::new();
    executable(
        &world,
        "work/broken",
        "#!/bin/sh\necho 'cannot open display' >&2; exit 1\n",
    );
    let call = json!({"program": "./broken"});
    let output = world.call("open_program", call).await.expect("tried");
    assert!(output.is_error);
    let shown = crate::world::text(&output);
    assert_eq!(
        shown,
        "broken ended at once (exit code 1): cannot open display"
    );
}
