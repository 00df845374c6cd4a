//! What becomes of a request that comes again, or finds nobody to carry it out.

use std::sync::Arc;

use openspace_store::{CommandKind, InstanceKind, NewEvent, NewRun, RunId};
use serde_json::json;

use super::*;
use crate::{
    Environment, Surface,
    desk::double::{Seat, seat},
};

/// An app whose runs nobody executes. Whether it says that it does.
fn app(folder: &std::path::Path, claims_runs: bool) -> Arc<App> {
    let home = folder.display().to_string();
    let environment: Environment = [
        ("HOME", home.as_str()),
        ("OPENSPACE_HOME", &home),
        ("OPENSPACE_MODEL", "recorded/none"),
    ]
    .into_iter()
    .collect();
    let surface = Surface {
        kind: InstanceKind::Mcp,
        claims_runs,
        asks_on_terminal: false,
        program: folder.join("no-such-program"),
        web_view: None,
    };
    App::open(environment, surface, &[]).expect("it opens")
}

fn request(task: &str, key: Option<&str>, earlier: Option<&TaskId>) -> Delegation {
    Delegation {
        task: task.to_owned(),
        host: "test-host".to_owned(),
        idempotency_key: key.map(str::to_owned),
        earlier: earlier.map(ToString::to_string),
        ..Delegation::default()
    }
}

/// Somebody executes the run, and ends it so.
async fn ends(app: &App, run: &RunId, status: RunStatus) {
    let (run, owner) = (run.clone(), app.instance.id().clone());
    let ended = app.store.call(move |db| {
        let fence = db.runs().claim(&run, &owner)?.expect("it waits");
        db.runs().finish(&fence, status, None, None)
    });
    ended.await.expect("ended");
}

/// What the run was told, and by whom.
async fn told(app: &App, run: &RunId) -> Vec<(String, String)> {
    let run = run.clone();
    let open = app.store.read(move |db| db.commands().open(&run));
    let open = open.await.expect("read");
    assert!(open.iter().all(|it| it.kind == CommandKind::Answer));
    let text = |payload: &Value| payload["text"].as_str().expect("words").to_owned();
    open.into_iter()
        .map(|it| (text(&it.payload), it.given_by))
        .collect()
}

/// A host whose connection broke sends its answer again: while the run goes on, after it has asked
/// once more and after it is done, the words are said once, and recorded as the host's.
#[tokio::test(flavor = "multi_thread")]
async fn words_to_a_task_are_said_once_however_often_they_come() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = app(folder.path(), true);
    let first = app
        .delegate(&request("paint it", Some("k-1"), None))
        .await
        .expect("queued");
    ends(&app, &first.run, RunStatus::NeedsYou).await;
    let answer = request("red", Some("k-2"), Some(&first.task));
    let said = [("red".to_owned(), "host:test-host".to_owned())];

    let gone_on = app.delegate(&answer).await.expect("it goes on");
    assert_eq!((&gone_on.task, gone_on.existed), (&first.task, false));
    assert_eq!(told(&app, &first.run).await, said);
    for status in [None, Some(RunStatus::NeedsYou)] {
        if let Some(status) = status {
            ends(&app, &first.run, status).await;
        }
        let again = app.delegate(&answer).await.expect("known");
        assert_eq!((&again.task, again.existed), (&first.task, true));
        assert_eq!(told(&app, &first.run).await, said, "{status:?}");
        let state = app.task_state(first.task.as_str()).await.expect("there");
        assert_eq!(state.run.status, status.unwrap_or(RunStatus::Queued));
    }

    let other = request("blue", Some("k-2"), Some(&first.task));
    let refused = app.delegate(&other).await.expect_err("other words");
    assert_eq!(refused.code, Code::InvalidRequest);
    // The name that began the task began it, and says nothing to it.
    let began = request("paint it", Some("k-1"), Some(&first.task));
    assert!(app.delegate(&began).await.expect("known").existed);
    assert_eq!(told(&app, &first.run).await, said);

    let more = request("green", Some("k-3"), Some(&first.task));
    app.delegate(&more).await.expect("it goes on");
    ends(&app, &first.run, RunStatus::Done).await;
    let next = request("and the door", Some("k-4"), Some(&first.task));
    let next_task = app.delegate(&next).await.expect("another task");
    assert_ne!(next_task.task, first.task);
    let again = app.delegate(&next).await.expect("known");
    assert_eq!((&again.task, again.existed), (&next_task.task, true));
}

/// A task that is queued is told of, whatever goes wrong afterwards: whoever waits for it finds it
/// somebody who carries it out.
#[tokio::test(flavor = "multi_thread")]
async fn a_queued_task_is_never_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let app = app(folder.path(), false);
    app.ensure_runner().await.expect_err("there is no program");
    let queued = app
        .delegate(&request("work", None, None))
        .await
        .expect("its handle");
    let state = app.task_state(queued.task.as_str()).await.expect("there");
    assert_eq!(state.run.status, RunStatus::Queued);
}

/// What a host calls itself becomes a short word without anything that could be misread.
#[test]
fn names_of_hosts_are_plain_words() {
    for (given, name) in [
        ("claude-code", "claude-code"),
        ("Claude Code", "claude-code"),
        ("codex_mcp 1.0", "codex_mcp-1.0"),
        ("", "unknown"),
        ("  ", "unknown"),
        ("\u{202e}app", "app"),
        ("a:b", "a-b"),
    ] {
        assert_eq!(host_name(given), name, "{given:?}");
    }
    assert_eq!(host_name(&"x".repeat(200)).len(), LONGEST_NAME);
}

/// However much a run did, only the calls that are told are read, and none while it goes.
#[tokio::test(flavor = "multi_thread")]
async fn a_report_reads_what_it_tells() {
    let Seat { desk, .. } = seat();
    let app = desk.app();
    let owner = app.instance.id().clone();
    let new = NewRun {
        session: None,
        text: "Count the files".to_owned(),
        origin: "host:codex".to_owned(),
        parent: None,
        idempotency_key: None,
        limits: json!({}),
        settings: json!({}),
    };
    let begun = app.store.call(move |db| {
        let queued = db.runs().enqueue(&new)?;
        let fence = db.runs().claim(&queued.run, &owner)?;
        // Nested so deeply that no reader takes it.
        let deep = (0..200).fold(Value::Null, |inner, _| json!([inner]));
        db.events()
            .append(NewEvent::of_run(&queued.run, "step.other", deep))?;
        for number in 0..30 {
            let failed = number % 2 == 1;
            let finished =
                json!({ "tool": format!("t{number}"), "error": failed, "message": "no" });
            db.events().append(NewEvent::of_run(
                &queued.run,
                "step.call_finished",
                finished,
            ))?;
        }
        Ok((queued.task.to_string(), fence))
    });
    let (task, fence) = begun.await.expect("stored");
    let report = app.task_report(&task).await.expect("it goes");
    assert_eq!((report.call_count, report.calls), (0, Vec::new()));

    let fence = fence.expect("claimed");
    let ended = app
        .store
        .call(move |db| db.runs().finish(&fence, RunStatus::Failed, None, None));
    ended.await.expect("stored");
    let report = app.task_report(&task).await.expect("it ended");
    assert_eq!((report.call_count, report.calls.len()), (30, 20));
    let second = CallReport {
        tool: "t1".to_owned(),
        error: Some("no".to_owned()),
    };
    assert_eq!(report.calls[1], second);
}
