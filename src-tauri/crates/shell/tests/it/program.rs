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

/// What the system's menu starts as an application is known to be graphical; nothing else is.
#[tokio::test]
async fn graphical_programs_are_known() {
    let entry = |exec: &str, more: &str| {
        format!("[Desktop Entry]\nType=Application\nName=X\nExec={exec}\n{more}")
    };
    let world = World::new();
    let share = world.path("home/share");
    let variables = [
        (
            "PATH",
            format!("{}:/usr/bin:/bin", world.path("home/bin").display()),
        ),
        ("XDG_DATA_DIRS", share.display().to_string()),
    ];
    let variables = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let world = world.again(variables);
    for name in ["editor", "tool", "runner", "textual", "hidden", "called"] {
        executable(&world, &format!("home/bin/{name}"), "#!/bin/sh\n");
    }
    std::fs::copy("/bin/dash", world.path("home/bin/dash")).expect("copied");
    std::fs::hard_link(world.path("home/bin/dash"), world.path("home/bin/paint")).expect("a name");
    for (name, text) in [
        ("editor", entry("editor %U", "")),
        (
            "runner",
            entry("runner run org.example %U", "Terminal=false\n"),
        ),
        ("textual", entry("textual", "Terminal=true\n")),
        ("hidden", entry("hidden", "Hidden=true\n")),
        ("python", entry("python3", "")),
        ("shell", entry("sh -c tool", "")),
        ("paint", entry("paint", "")),
        ("variables", entry("env A=1 B=2 called --new %F", "")),
        (
            "address",
            "[Desktop Entry]\nType=Link\nName=X\nExec=tool\n".to_owned(),
        ),
    ] {
        world.write(&format!("home/share/applications/{name}.desktop"), text);
    }
    // The run could have written this one itself.
    world.write("work/share/applications/tool.desktop", entry("tool", ""));
    for (program, right) in [
        ("editor", true),
        ("called", true),
        ("tool", false),
        ("textual", false),
        ("hidden", false),
        ("python3", false),
        ("sh", false),
        ("paint", false),
    ] {
        assert_eq!(graphical(&world, program).await, right, "{program}");
    }
    let by_path = world.path("home/bin/editor").display().to_string();
    assert!(graphical(&world, &by_path).await, "however it is named");
    assert!(graphical(&world, "X").await, "by its title");
    std::os::unix::fs::symlink(world.path("home/bin/editor"), world.path("home/bin/alias"))
        .expect("a link");
    assert!(graphical(&world, "alias").await, "a link to it");
    // An entry that makes a program run something says nothing about the program alone.
    assert!(!graphical(&world, "runner").await);
    assert!(graphical(&world, "runner.desktop").await);

    let share = format!("{}:{}", share.display(), world.path("work/share").display());
    let path = format!("{}:/usr/bin:/bin", world.path("home/bin").display());
    let world = world.again([("PATH", path.as_str()), ("XDG_DATA_DIRS", share.as_str())].into());
    assert!(
        !graphical(&world, "tool").await,
        "an entry in the workspace"
    );
}

/// A bundle of macOS is an application, too.
#[tokio::test]
async fn bundles_are_graphical() {
    let world = World::new();
    executable(&world, "home/Edit.app/Contents/MacOS/Edit", "#!/bin/sh\n");
    executable(&world, "home/Edit/Contents/MacOS/Edit", "#!/bin/sh\n");
    let path = |part: &str| world.path(part).display().to_string();
    assert!(graphical(&world, &path("home/Edit.app/Contents/MacOS/Edit")).await);
    assert!(!graphical(&world, &path("home/Edit/Contents/MacOS/Edit")).await);
}

/// Who shows a window has shown that it is graphical.
#[tokio::test]
async fn owners_of_windows_are_graphical() {
    let mut world = World::new();
    std::fs::copy("/bin/sleep", world.path("home/viewer")).expect("copied");
    let program = world.path("home/viewer").display().to_string();
    let mut viewer = std::process::Command::new(&program)
        .arg("600")
        .spawn()
        .expect("started");
    assert!(!graphical(&world, &program).await);
    let pid = viewer.id();
    world.show_windows_of(vec![pid]);
    assert!(graphical(&world, &program).await);
    viewer.kill().expect("ended");
    viewer.wait().expect("gone");
}

async fn graphical(world: &World, program: &str) -> bool {
    let actions = world
        .actions("open_program", json!({"program": program}))
        .await
        .expect("found");
    let [Action::Launch(launch)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    launch.graphical
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

/// Processes whose standard input is this pipe.
fn listeners(pipe: &Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("processes");
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            std::fs::read_link(format!("/proc/{pid}/fd/0")).is_ok_and(|at| at == pipe)
        })
        .collect()
}

/// A program that complains without end neither fills the disk nor stumbles when the run is gone.
#[tokio::test]
async fn complaints_are_heard_and_not_kept() {
    let world = World::new();
    let script = "#!/bin/sh\ntrap '' PIPE\necho $$ > pid\nwhile [ ! -e enough ]; do\n\
                  head -c 200000 /dev/zero >&2 || echo x >> trouble\n\
                  echo x >> rounds; sleep 0.02\ndone\nexec sleep 600\n";
    executable(&world, "work/noisy", script);
    world
        .text("open_program", json!({"program": "./noisy"}))
        .await;
    let pid = pids(&world.path("work/pid"))[0];
    let heard = std::fs::read_link(format!("/proc/{pid}/fd/2")).expect("standard error");
    assert!(heard.to_string_lossy().starts_with("pipe:"), "{heard:?}");
    let rounds = || std::fs::metadata(world.path("work/rounds")).map_or(0, |file| file.len());
    world.shell.leave().await;
    let before = rounds();
    eventually("it goes on", || rounds() > before + 40).await;
    assert!(!world.path("work/trouble").exists());
    assert_eq!(listeners(&heard).len(), 1);

    world.write("work/enough", "");
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(pid.cast_signed()).expect("pid"),
        rustix::process::Signal::KILL,
    )
    .expect("ended by the test");
    eventually("the listener ends with it", || listeners(&heard).is_empty()).await;
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
