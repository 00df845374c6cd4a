use std::sync::atomic::Ordering;

use openspace_grounding::{Action, Backend, ChangeKind, Evidence, ToolError};
use serde_json::json;

use crate::world::{World, eventually, is_alive, pids, text};

/// Output, exit code and changed files are reported.
#[tokio::test]
async fn a_command_reports_what_it_did() {
    let world = World::new();
    world.write("work/old", "1");
    world.write("work/gone", "1");
    let line = "echo out; echo err >&2; echo 22 > old; rm gone; mkdir d; echo x > d/new; exit 3";
    let output = world
        .call("run_command", json!({"command": line}))
        .await
        .expect("ran");

    let shown = text(&output);
    assert!(shown.starts_with("out\nerr\n[exit code 3"), "{shown}");
    assert!(
        shown.contains("[files: created d/new, deleted gone, modified old]"),
        "{shown}"
    );
    assert!(output.is_error, "a failed command is an error");
    let file = |part: &str, change| Evidence::File {
        path: world.path(part),
        change,
        undo: None,
    };
    assert_eq!(
        output.evidence,
        [
            Evidence::Command {
                line: line.into(),
                code: Some(3),
                output: None
            },
            file("work/d/new", ChangeKind::Created),
            file("work/gone", ChangeKind::Deleted),
            file("work/old", ChangeKind::Modified),
        ]
    );
    assert_eq!(
        *world.keep.groups.lock().expect("lock"),
        Vec::<u32>::new(),
        "the guard knows"
    );
}

/// The policy sees the command as it would run.
#[tokio::test]
async fn the_action_is_the_command() {
    let world = World::new();
    world.write("work/sub/file", "");
    let call = json!({"command": "true", "folder": "sub", "network": true});
    let actions = world.actions("run_command", call).await.expect("a plan");
    let [Action::Command(command)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert_eq!(command.folder, world.path("work/sub"));
    assert!(command.sandboxed && command.network, "{command:?}");
    let call = json!({"command": "true", "outside_sandbox": true});
    let actions = world.actions("run_command", call).await.expect("a plan");
    let [Action::Command(command)] = actions.as_slice() else {
        panic!("{actions:?}")
    };
    assert!(
        !command.sandboxed && command.network,
        "nothing holds it back: {command:?}"
    );
}

/// A person's command takes the place of the model's and leaves the rest of the call as it was.
#[tokio::test]
async fn another_command_is_the_same_call() {
    let world = World::new();
    let call = json!({"command": "rm *", "network": true, "timeout_seconds": 5});
    let tool = world.tool("run_command").await;
    let edited = tool.with_command(&call, "ls\n").expect("a command");
    assert_eq!(
        edited,
        json!({"command": "ls\n", "network": true, "timeout_seconds": 5})
    );
    let other = world.tool("write_file").await;
    assert_eq!(other.with_command(&json!({"path": "a"}), "ls"), None);
}

/// Inside the sandbox secrets are out of reach; scratch and workspace are not.
#[tokio::test]
async fn commands_are_sandboxed() {
    let world = World::new();
    let secret = world.path("home/.ssh/id");
    let line = format!(
        "cat {}; echo x > $TMPDIR/f && cat $TMPDIR/f",
        secret.display()
    );
    let shown = world.text("run_command", json!({"command": line})).await;
    assert!(
        !shown.contains("SECRET") && shown.contains("Permission denied"),
        "{shown}"
    );
    assert!(shown.contains("x\n[exit code 0"), "{shown}");
    let line = format!("cat {}", secret.display());
    let shown = world
        .text(
            "run_command",
            json!({"command": line, "outside_sandbox": true}),
        )
        .await;
    assert!(shown.contains("SECRET"), "outside it is: {shown}");
}

/// D-13: five megabytes neither stall nor flood; the whole is kept and can be paged through.
#[tokio::test]
async fn long_output_is_cut_and_kept() {
    let world = World::new();
    let line = "echo first; yes 0123456789abcdef | head -c 5000000; echo; echo last";
    let output = world
        .call("run_command", json!({"command": line}))
        .await
        .expect("ran");
    let shown = text(&output);
    assert!(shown.len() <= 32 * 1024, "{} bytes", shown.len());
    assert!(shown.starts_with("first\n") && shown.contains("\nlast\n[exit code 0"));
    let Some(Evidence::Command {
        output: Some(id), ..
    }) = output.evidence.first()
    else {
        panic!("no artefact in {:?}", output.evidence)
    };
    assert!(shown.contains(id.as_str()), "the text names the artefact");
    assert_eq!(
        world.keep.artefacts.lock().expect("lock")[id].len(),
        5_000_012
    );
    let page = json!({"id": id.as_str(), "offset": 5_000_000, "limit": 100});
    let page = world.text("read_artefact", page).await;
    assert!(page.contains("last") && page.contains("the end"), "{page}");
}

/// A command that takes too long is ended as a whole, and what it said is not lost.
#[tokio::test]
async fn a_timeout_ends_the_tree() {
    let world = World::new();
    let line = "echo begun; (sleep 600 & echo $! >> pids; wait) & echo $! >> pids; sleep 600; :";
    let call = json!({"command": line, "timeout_seconds": 1});
    let output = world.call("run_command", call).await.expect("ran");
    let shown = text(&output);
    assert!(
        output.is_error && shown.starts_with("begun\n") && shown.contains("timed out after 1 s"),
        "{shown}"
    );
    let pids = pids(&world.path("work/pids"));
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| !is_alive(*pid)), "everything is gone");
}

/// D-11 (c): cancelling ends a sleeping command with its grandchildren.
#[tokio::test]
async fn cancelling_ends_the_tree() {
    let world = World::new();
    let file = world.path("work/pids");
    let line = "(sleep 600 & echo $! >> pids; wait) & echo $! >> pids; sleep 600; :";
    let cancel = world.context.cancel.clone();
    let started = async {
        eventually("the command started", || pids(&file).len() == 2).await;
        cancel.cancel();
    };
    let (result, ()) = tokio::join!(world.call("run_command", json!({"command": line})), started);
    assert_eq!(
        result.map(|output| text(&output)),
        Err(ToolError::Cancelled)
    );
    assert!(
        pids(&file).iter().all(|pid| !is_alive(*pid)),
        "everything is gone"
    );
}

/// A call whose future is dropped leaves nothing behind.
#[tokio::test]
async fn dropping_a_call_ends_the_tree() {
    let world = World::new();
    let file = world.path("work/pids");
    let call = world.call(
        "run_command",
        json!({"command": "echo $$ > pids; sleep 600; :"}),
    );
    tokio::select! {
        _ = call => panic!("must not end"),
        () = eventually("the command started", || pids(&file).len() == 1) => {}
    }
    eventually("it is gone", || !is_alive(pids(&file)[0])).await;
}

/// Commands in the background are looked at, waited for and ended.
#[tokio::test]
async fn background_commands_are_followed() {
    let world = World::new();
    let line = "echo $$ > pid; echo one; while ! test -e go; do sleep 0.05; done; echo two > made; echo two; exit 5";
    let shown = world
        .text("run_command", json!({"command": line, "background": true}))
        .await;
    assert!(shown.contains("`job1`; it runs"), "{shown}");
    let first = world.text("command_status", json!({"id": "job1"})).await;
    assert!(first.starts_with("one\n[still running"), "{first}");
    world.write("work/go", "");
    let end = world
        .call("command_status", json!({"id": "job1", "wait_seconds": 30}))
        .await
        .expect("known");
    let shown = text(&end);
    assert!(
        shown.starts_with("two\n[exit code 5") && shown.contains("created made"),
        "{shown}"
    );

    let line = "echo $$ > pid; sleep 600; :";
    world
        .text("run_command", json!({"command": line, "background": true}))
        .await;
    let pid = pids(&world.path("work/pid"))[0];
    let shown = world.text("command_stop", json!({"id": "job2"})).await;
    assert!(
        shown.contains("ended on request") && !is_alive(pid),
        "{shown}"
    );
    let gone = world.call("command_status", json!({"id": "job2"})).await;
    assert!(matches!(gone, Err(ToolError::NotFound(_))));
}

/// What commands leave behind lives as long as the run, and no longer.
#[tokio::test]
async fn closing_ends_what_is_left() {
    let world = World::new();
    let line =
        "nohup setsid sleep 600 > /dev/null 2>&1 & echo $! > pids; sleep 600 & echo $! >> pids";
    let shown = world.text("run_command", json!({"command": line})).await;
    assert!(
        shown.contains("2 processes it started still run"),
        "{shown}"
    );
    let pids = pids(&world.path("work/pids"));
    assert!(pids.iter().all(|pid| is_alive(*pid)), "still there");
    world.shell.close().await;
    assert!(pids.iter().all(|pid| !is_alive(*pid)), "all gone");
    let late = world.call("run_command", json!({"command": "true"})).await;
    assert_eq!(
        late.map(|output| text(&output)),
        Err(ToolError::Cancelled),
        "nothing starts any more"
    );
    world.shell.close().await;
}

/// A run that was stopped starts nothing, a refused permission neither.
#[tokio::test]
async fn nothing_starts_without_leave() {
    let world = World::new();
    world.gate.halted.store(true, Ordering::Relaxed);
    let result = world
        .call("run_command", json!({"command": "touch made"}))
        .await;
    assert!(matches!(result, Err(ToolError::Stale(_))), "{result:?}");
    let result = world
        .call("write_file", json!({"path": "made", "content": ""}))
        .await;
    assert!(matches!(result, Err(ToolError::Stale(_))), "{result:?}");
    assert!(!world.path("work/made").exists());
}

/// Arguments that do not fit are explained.
#[tokio::test]
async fn bad_arguments_are_explained() {
    let world = World::new();
    for arguments in [
        json!({}),
        json!({"command": " "}),
        json!({"command": "a\u{0}b"}),
        json!({"command": "true", "timeout_seconds": 0}),
        json!({"command": "true", "timeout_seconds": 99999}),
        json!({"command": "true", "surprise": 1}),
        json!({"command": 5}),
    ] {
        let result = world.actions("run_command", arguments.clone()).await;
        assert!(
            matches!(result, Err(ToolError::InvalidArguments(_))),
            "{arguments}: {result:?}"
        );
    }
}

/// Nothing waits for input that never comes, and keys do not leak.
#[tokio::test]
async fn commands_get_no_input_and_no_secrets() {
    let world = World::with([("ANTHROPIC_API_KEY", "sk-1"), ("DISPLAY", ":0")].into());
    let line = "cat; env | grep -c -e ANTHROPIC -e DISPLAY; echo $OPENSPACE_RUN_ID";
    let shown = world.text("run_command", json!({"command": line})).await;
    assert!(
        shown.starts_with(&format!("0\n{}\n", world.context.run)),
        "{shown}"
    );
}
