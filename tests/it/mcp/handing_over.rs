//! Tasks that are handed over, waited for, looked at and stopped.

use std::time::{Duration, Instant};

use openspace_testkit::model::{Call, Script, SeenRequest, Turn};
use serde_json::{Value, json};

use super::{Delegating, Host, Rig, SOON, answers, end_runners};

/// Works for some seconds, then answers.
fn works(seconds: u64, answer: &'static str) -> Script {
    Script::decide(move |seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell(&format!("sleep {seconds}")),
        _ => Turn::done(answer),
    })
}

/// A short task comes back with its result, and the result has the fields that hosts know.
#[test]
fn a_short_task_comes_back_with_its_result() {
    let mut test = Delegating::start(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("echo hello > made.txt"),
        1 => Turn::shell("exit 3"),
        _ => Turn::done("Made it."),
    }));
    let answer = test.task(
        "make the file",
        json!({ "wait_seconds": 60, "why": "because" }),
    );
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(answer["response"], "Made it.");
    assert_eq!(answer["iterations"], 3);
    assert_eq!(answer["skills_used"], json!([]));
    assert_eq!(answer["imported_skills"], json!([]));
    assert_eq!(answer["tool_call_count"], 2);
    assert_eq!(
        answer["tool_summary"],
        json!([
            { "tool": "run_command", "status": "success", "error": null },
            { "tool": "run_command", "status": "error", "error": answer["tool_summary"][1]["error"] },
        ])
    );
    let made = test.rig.home.workspace().join("made.txt");
    let made = made.canonicalize().expect("it is there");
    assert_eq!(answer["files_changed"], json!([made]));
    assert!(answer["execution_time"].as_f64().expect("seconds") > 0.0);
    let notes = answer["notes"].to_string();
    assert!(notes.contains("no parameter `why`"), "{notes}");
    test.finish();
}

/// A long task is a handle well before any host gives up waiting; it goes on, and its result comes
/// from the same server or another one, also much later.
#[test]
fn d14_a_long_task_outlives_calls_servers_and_hosts() {
    let mut test = Delegating::start(works(6, "It took long."));
    let began = Instant::now();
    let handle = test.task("work long", json!({ "wait_seconds": 1 }));
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(handle["status"], "running", "{handle}");
    let task = handle["task_id"].as_str().expect("an id").to_owned();
    assert_eq!(handle["next"]["tool"], "task_wait");
    assert_eq!(handle["next"]["arguments"]["task_id"], task.as_str());
    let waited = test
        .host
        .call("task_wait", json!({ "task_id": task, "wait_seconds": 1 }));
    assert_eq!(waited["status"], "running", "{waited}");

    // The host goes away, group and all, in the middle of a call.
    test.host
        .ask_tool("task_wait", &json!({ "task_id": task, "wait_seconds": 60 }));
    test.host.signal(rustix::process::Signal::KILL);
    assert_eq!(test.host.wait().signal, Some(9));
    let mut host = Host::start(&test.rig, &[]);
    host.initialize("2024-11-05");
    let result = host.call("task_wait", json!({ "task_id": task, "wait_seconds": 60 }));
    assert_eq!(result["status"], "success", "{result}");
    assert_eq!(result["response"], "It took long.");
    assert_eq!(host.call("task_status", json!({ "task_id": task })), result);
    test.host = host;
    test.finish();
}

/// The same key is the same task, however often and from wherever it is asked for; for other words it
/// is refused.
#[test]
fn d14_a_repeated_call_starts_nothing_twice() {
    let mut test = Delegating::start(works(2, "Once."));
    let key = json!({ "wait_seconds": 0, "idempotency_key": "k-1" });
    let first = test.task("work", key.clone());
    let ids: Vec<_> = (0..5)
        .map(|_| {
            test.host.ask_tool(
                "execute_task",
                &json!({ "task": "work", "wait_seconds": 30, "idempotency_key": "k-1" }),
            )
        })
        .collect();
    for id in ids {
        let answer = test.host.result(id);
        assert_eq!(answer["task_id"], first["task_id"]);
        assert_eq!(answer["response"], "Once.", "{answer}");
    }
    let mut host = Host::start(&test.rig, &[]);
    host.initialize("2025-06-18");
    let again = host.call(
        "execute_task",
        json!({ "task": "work", "idempotency_key": "k-1" }),
    );
    assert_eq!(again["task_id"], first["task_id"]);
    assert_eq!(again["response"], "Once.");
    host.close();
    host.wait();
    let other = test.task("something else", key);
    assert_eq!(other["code"], "invalid_request", "{other}");
    let asked = test.rig.server.requests();
    let tasks = asked.iter().filter(|seen| !seen.tools.is_empty()).count();
    assert_eq!(tasks, 2, "one run of two turns");
    test.finish();
}

/// Whoever asks for it hears how the task goes on while the call lasts.
#[test]
fn progress_is_told_to_who_asks_for_it() {
    let mut test = Delegating::start(works(3, "Done."));
    let id = test.host.ask(
        "tools/call",
        json!({
            "name": "execute_task",
            "arguments": { "task": "work", "wait_seconds": 60 },
            "_meta": { "progressToken": "p-7" },
        }),
    );
    assert_eq!(test.host.result(id)["status"], "success");
    let told: Vec<Value> = test
        .host
        .messages()
        .into_iter()
        .filter(|it| it["method"] == "notifications/progress")
        .map(|it| it["params"].clone())
        .collect();
    assert!(told.len() >= 2, "{told:?}");
    assert!(told.iter().all(|it| it["progressToken"] == "p-7"));
    let numbers: Vec<_> = told
        .iter()
        .map(|it| it["progress"].as_f64().expect("a number"))
        .collect();
    assert!(
        numbers.windows(2).all(|pair| pair[0] < pair[1]),
        "{numbers:?}"
    );
    let words = format!("{told:?}");
    assert!(words.contains("run_command"), "{words}");
    test.finish();
}

/// Stopping is a tool of its own.
#[test]
fn a_task_is_stopped_by_task_cancel() {
    let mut test = Delegating::start(works(600, "Never."));
    let handle = test.task("work", json!({ "wait_seconds": 2 }));
    let task = &handle["task_id"];
    let stopped = test.host.call("task_cancel", json!({ "task_id": task }));
    assert_eq!(stopped["status"], "cancelled", "{stopped}");
    let again = test.host.call("task_cancel", json!({ "task_id": task }));
    assert_eq!(again["code"], "wrong_state", "{again}");
    let status = test.host.call("task_status", json!({ "task_id": task }));
    assert_eq!(status["status"], "cancelled");
    assert!(
        !test
            .rig
            .processes()
            .iter()
            .any(|it| it.command.contains("sleep 600"))
    );
    test.finish();
}

/// What a cancelled call stops: its run, when somebody wants that before the handle was given out;
/// never because the client has waited long enough.
#[test]
fn d11_a_cancelled_call_stops_its_run_only_if_that_is_wanted() {
    let mut test = Delegating::start(works(3, "Worked."));
    for (reason, status) in [
        (
            json!("McpError: MCP error -32001: Request timed out"),
            "success",
        ),
        (json!("AbortError: This operation was aborted"), "cancelled"),
    ] {
        let key = format!("cancelled {reason}");
        let arguments = json!({ "task": "work", "wait_seconds": 60, "idempotency_key": key });
        let id = test.host.ask_tool("execute_task", &arguments);
        let begun = openspace_testkit::wait_until(SOON, || {
            test.rig
                .processes()
                .iter()
                .any(|it| it.command.contains("sleep 3"))
        });
        assert!(begun, "it works");
        test.host.tell(
            "notifications/cancelled",
            json!({ "requestId": id, "reason": reason }),
        );
        let result = test.host.call("execute_task", arguments);
        assert_eq!(result["status"], status, "{reason}: {result}");
        let answered = test.host.messages().iter().any(|it| it["id"] == id);
        assert!(!answered, "a cancelled call is not answered");
    }
    // A wait that is cancelled stops nothing.
    let handle = test.task("work", json!({ "wait_seconds": 0 }));
    let id = test.host.ask_tool(
        "task_wait",
        &json!({ "task_id": handle["task_id"], "wait_seconds": 60 }),
    );
    test.host.tell(
        "notifications/cancelled",
        json!({ "requestId": id, "reason": "enough" }),
    );
    let result = test.host.call(
        "task_wait",
        json!({ "task_id": handle["task_id"], "wait_seconds": 60 }),
    );
    assert_eq!(result["status"], "success", "{result}");
    test.finish();
}

/// A cancelled call stops no task whose handle was given out before: not one that it found by its key,
/// nor one that it goes on with.
#[test]
fn d11_a_cancelled_call_stops_no_task_that_is_known_already() {
    let mut test = Delegating::start(Script::decide(|seen: &SeenRequest| {
        if !seen.mentions("violet") {
            Turn::call(Call::new(
                "ask_person",
                json!({ "question": "Shall I go ahead?" }),
            ))
        } else if seen.turns() < 2 {
            Turn::shell("sleep 4")
        } else {
            Turn::done("Worked.")
        }
    }));
    let asked = test.task("work", json!({ "wait_seconds": 60 }));
    assert_eq!(asked["status"], "needs_you", "{asked}");
    let arguments = json!({
        "task": "violet", "task_id": asked["task_id"], "wait_seconds": 60, "idempotency_key": "k-2",
    });
    // The first call goes on with it, the second finds that by the key.
    for _ in 0..2 {
        let id = test.host.ask_tool("execute_task", &arguments);
        let begun = openspace_testkit::wait_until(SOON, || {
            let processes = test.rig.processes();
            processes.iter().any(|it| it.command.contains("sleep 4"))
        });
        assert!(begun, "it works");
        test.host.tell(
            "notifications/cancelled",
            json!({ "requestId": id, "reason": "AbortError: This operation was aborted" }),
        );
    }
    let result = test.host.call(
        "task_wait",
        json!({ "task_id": asked["task_id"], "wait_seconds": 60 }),
    );
    assert_eq!(result["status"], "success", "{result}");
    assert_eq!(result["response"], "Worked.", "{result}");
    test.finish();
}

/// A question of the model's is told, and answered by going on with the same task.
#[test]
fn a_question_is_answered_by_going_on() {
    let mut test = Delegating::start(Script::decide(|seen: &SeenRequest| {
        if seen.mentions("The red one") {
            Turn::done("Took the red one.")
        } else {
            Turn::call(Call::new(
                "ask_person",
                json!({ "question": "Which one do you want, the red or the blue?" }),
            ))
        }
    }));
    let asked = test.task("take one", json!({ "wait_seconds": 60 }));
    assert_eq!(asked["status"], "needs_you", "{asked}");
    let question = asked["question"].as_str().expect("a question");
    assert!(question.contains("red or the blue"), "{asked}");
    assert_eq!(asked["next"]["tool"], "execute_task");
    let answer = test.task(
        "The red one",
        json!({ "task_id": asked["task_id"], "wait_seconds": 60 }),
    );
    assert_eq!(answer["status"], "success", "{answer}");
    assert_eq!(answer["task_id"], asked["task_id"]);
    assert_eq!(answer["response"], "Took the red one.");
    test.finish();
}

/// A run that needs permission says what it asks and where that is answered; the wait after that lasts
/// until somebody answered.
#[test]
fn a_permission_is_asked_of_the_person() {
    let mut test = Delegating::start(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("rm old.txt"),
        _ => Turn::done("That is settled."),
    }));
    let old = test.rig.home.workspace().join("old.txt");
    std::fs::write(&old, "old").expect("written");
    let asked = test.task("delete old.txt", json!({ "wait_seconds": 60 }));
    assert_eq!(asked["status"], "needs_approval", "{asked}");
    let approval = &asked["approvals"][0];
    assert!(
        approval["asks"]
            .as_str()
            .expect("words")
            .contains("rm old.txt"),
        "{asked}"
    );
    assert_eq!(
        (&approval["risk"], &approval["reversible"]),
        (&json!("high"), &json!(false))
    );
    let task = json!({ "task_id": asked["task_id"], "wait_seconds": 2 });
    // Told once, it waits for the answer.
    let began = Instant::now();
    let waited = test.host.call("task_wait", task);
    assert_eq!(waited["status"], "needs_approval", "{waited}");
    assert!(
        began.elapsed() >= Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    let id = approval["id"].as_str().expect("an id");
    let denied = test.rig.openspace(&["deny", id]).run().expect("it ends");
    assert_eq!(denied.code, Some(0), "{denied:?}");
    let result = test.host.call(
        "task_wait",
        json!({ "task_id": asked["task_id"], "wait_seconds": 60 }),
    );
    assert_eq!(result["status"], "success", "{result}");
    assert!(old.exists());
    test.finish();
}

/// A limit of the host's is kept, and never above the person's own.
#[test]
fn limits_of_a_host_only_lower_those_of_the_person() {
    let mut test = Delegating::start(Script::decide(|_: &SeenRequest| Turn::shell("true")));
    let answer = test.task(
        "go on for ever",
        json!({ "wait_seconds": 60, "max_iterations": 2 }),
    );
    assert_eq!(answer["status"], "incomplete", "{answer}");
    assert_eq!(answer["iterations"], 2);
    assert!(
        answer["warning"].as_str().expect("words").contains("steps"),
        "{answer}"
    );
    let capped = test.task(
        "again",
        json!({ "wait_seconds": 60, "max_iterations": 100_000 }),
    );
    assert_eq!(capped["status"], "incomplete", "{capped}");
    assert_eq!(capped["iterations"], 50, "the settings' own limit");
    assert!(capped["notes"].to_string().contains("50"), "{capped}");
    test.finish();
}

/// A run that cannot begin is an error with the reason, not a success that says so.
#[test]
fn a_run_that_fails_is_an_error() {
    let mut test = Delegating::start(Script::decide(|_: &SeenRequest| Turn::status(401, None)));
    let answer = test.task("anything", json!({ "wait_seconds": 60 }));
    assert_eq!(answer["status"], "error", "{answer}");
    assert!(!answer["error"].as_str().expect("words").is_empty());
    test.host.close();
    test.host.wait();
    end_runners(&test.rig);
}

/// Tasks of the person, and of nobody, are none of a host's business.
#[test]
fn tasks_of_the_person_are_not_told() {
    let mut test = Delegating::start(answers("Mine."));
    let output = test.rig.run("private", &["--json", "--backends", "shell"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let store = openspace_app::Store::open(&test.rig.home.data()).expect("the store");
    let runs = store
        .read_blocking(|db| db.runs().list(&openspace_app::RunFilter::default()))
        .expect("runs");
    for tool in ["task_status", "task_wait", "task_cancel"] {
        let answer = test.host.call(tool, json!({ "task_id": runs[0].task }));
        assert_eq!(answer["code"], "not_found", "{tool}: {answer}");
    }
    test.finish();
}

/// What comes out of a run hands nothing over: delegation never loops.
#[test]
fn a_run_cannot_delegate() {
    let rig = Rig::headless(answers("done"));
    let mut environment = super::host::rig_environment(&rig);
    environment.insert("OPENSPACE_RUN_ID".into(), "0123456789".into());
    let mut host = Host::start_in(&rig, &[], environment);
    host.initialize("2025-11-25");
    let answer = host.call("execute_task", json!({ "task": "more" }));
    assert_eq!(answer["code"], "forbidden", "{answer}");
    assert_eq!(answer["params"]["run"], "0123456789");
    host.close();
    host.wait();
    rig.finish();
}

/// A hundred calls at once are a hundred runs, each with its own answer.
#[test]
fn a_hundred_calls_at_once_are_answered() {
    let mut test = Delegating::start(Script::decide(|seen: &SeenRequest| {
        Turn::done(&format!("Answer to {}", seen.person().trim()))
    }));
    let ids: Vec<_> = (0..100)
        .map(|number| {
            let arguments = json!({ "task": format!("question {number}"), "wait_seconds": 120 });
            (number, test.host.ask_tool("execute_task", &arguments))
        })
        .collect();
    for (number, id) in ids {
        let answer = test.host.result(id);
        assert_eq!(
            answer["response"],
            format!("Answer to question {number}"),
            "{answer}"
        );
    }
    let runners = test.rig.processes();
    let runners = runners.iter().filter(|it| it.command.ends_with(" runner"));
    assert_eq!(runners.count(), 1, "one runner for all");
    test.finish();
}
