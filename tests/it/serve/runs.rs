//! What a page sees of runs, and what it can do with them.

use super::{SOON, Script, SeenRequest, Served, Signal, Turn, Value, deletes, json, poll};

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .filter_map(|event| event["kind"].as_str())
        .collect()
}

/// A run that the command line starts appears as it happens, and can be stopped from the page.
#[test]
fn a_run_of_another_process_is_seen_live_and_stopped() {
    let served = Served::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("echo started; sleep 600"),
        _ => Turn::done("not reached"),
    }));
    let cursor = served.call("app_state", json!({}))["cursor"]
        .as_i64()
        .expect("a position");
    let mut running = served
        .rig
        .openspace(&["run", "sleep long"])
        .start()
        .expect("it starts");
    let events = served.client.events(cursor, |events| {
        events
            .last()
            .is_some_and(|event| event["kind"] == "step.call_started")
    });
    let ids: Vec<_> = events
        .iter()
        .filter_map(|event| event["id"].as_i64())
        .collect();
    assert!(ids.is_sorted() && ids[0] > cursor, "{ids:?}");
    let run = events[0]["key"].as_str().expect("a run").to_owned();
    let list = served.call("runs_list", json!({ "statuses": [] }));
    assert_eq!(list["runs"][0]["id"], json!(run));
    assert_eq!(list["runs"][0]["text"], "sleep long");
    assert_eq!(list["runs"][0]["origin"], "cli");
    assert_eq!(list["runs"][0]["going"], true);

    served.call("run_stop", json!({ "run": run }));
    assert_eq!(served.status(&run), "stopped");
    assert_eq!(running.wait(SOON).expect("it ends").code, Some(3));
    // What a page missed is told again from where it was.
    let again = served
        .client
        .events(cursor, |again| again.len() >= events.len());
    assert_eq!(kinds(&again)[..events.len()], kinds(&events));
    served.finish();
}

/// An open question survives the death of the server, keeps its id, and is answered once.
#[test]
fn a_question_outlives_the_server() {
    let mut served = Served::headless(deletes());
    std::fs::write(served.rig.home.workspace().join("old.txt"), "old").expect("written");
    let run = served.run_until("delete it", "needs_approval");
    let before = served.question();
    served.restart(Signal::KILL);
    let after = served.question();
    assert_eq!(before, after);
    assert_eq!(after["exactly"][0]["verbatim"], "rm old.txt");
    assert_eq!(after["title"]["key"], "approval.subject.delete");
    let request = json!({ "approval": after["id"], "nonce": after["nonce"], "choice": null, "note": "keep it" });
    assert_eq!(
        served.call("approval_answer", request.clone())["counted"],
        true
    );
    assert_eq!(served.call("approval_answer", request)["counted"], false);
    served.wait_status(&run, "done");
    assert!(served.rig.home.workspace().join("old.txt").exists());
    let detail = served.call("run_detail", json!({ "run": run }));
    assert_eq!(detail["approvals"][0]["state"], "denied");
    assert_eq!(detail["approvals"][0]["answeredBy"], "page");
    let told = served
        .rig
        .server
        .requests()
        .iter()
        .any(|seen| seen.mentions("keep it"));
    assert!(told, "the model is told why");
    served.finish();
}

/// What is said to a busy run waits, can be taken back, and is heard otherwise.
#[test]
fn words_wait_until_they_are_heard_and_can_be_taken_back() {
    let served = Served::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("while [ ! -e go ]; do sleep 0.05; done"),
        _ => Turn::done("heard"),
    }));
    let run = served.start_run("wait for me");
    let started = poll(SOON, || {
        let detail = served.call("run_detail", json!({ "run": run }));
        let events = detail["events"].as_array()?.clone();
        kinds(&events).contains(&"step.call_started").then_some(())
    });
    assert!(started.is_some());
    for text in ["first words", "second words"] {
        served.call(
            "run_command",
            json!({ "run": run, "command": "message", "text": text }),
        );
    }
    let waiting = served.call("run_detail", json!({ "run": run }))["waitingMessages"].clone();
    assert_eq!(waiting[0]["text"], "first words");
    assert_eq!(waiting[1]["text"], "second words");
    let taken = served.call(
        "run_message_withdraw",
        json!({ "message": waiting[0]["id"] }),
    );
    assert_eq!(taken["text"], "first words");
    std::fs::write(served.rig.home.workspace().join("go"), "").expect("written");
    served.wait_status(&run, "done");
    let requests = served.rig.server.requests();
    assert!(requests.iter().any(|seen| seen.mentions("second words")));
    assert!(!requests.iter().any(|seen| seen.mentions("first words")));
    // It is too late to take back what was heard.
    let late = served.call(
        "run_message_withdraw",
        json!({ "message": waiting[1]["id"] }),
    );
    assert_eq!(late["text"], Value::Null);
    assert_eq!(
        served.call("run_detail", json!({ "run": run }))["waitingMessages"],
        json!([])
    );
    served.finish();
}

/// A picture of a step is there whole and small, and never inside an event.
#[test]
fn pictures_are_fetched_by_their_id() {
    let served = Served::on_screen(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 | 1 => Turn::screenshot(),
        _ => Turn::done("looked"),
    }));
    let run = served.run_until("look twice", "done");
    let detail = served.call("run_detail", json!({ "run": run }));
    let text = detail.to_string();
    assert!(
        !text.contains("jpeg\":") && !text.contains("/9j/"),
        "no picture in the answer"
    );
    let frame = &detail["frames"][0];
    let id = frame["id"].as_str().expect("an id");
    let whole = served.client.get(&format!("/frames/{id}"));
    assert_eq!(whole.status, 200);
    assert_eq!(whole.header("content-type"), Some("image/jpeg"));
    let (width, height) = jpeg_size(&whole.body).expect("a picture");
    assert_eq!(
        (json!(width), json!(height)),
        (frame["width"].clone(), frame["height"].clone())
    );
    let small = served.client.get(&format!("/frames/{id}?w=320"));
    let (width, small_height) = jpeg_size(&small.body).expect("a picture");
    assert_eq!(width, 320);
    assert_eq!(
        small_height,
        320 * height / frame["width"].as_u64().map_or(1, |w| w as u32)
    );
    assert!(small.body.len() < 25_000, "{} bytes", small.body.len());
    assert_eq!(served.client.get("/frames/0000000000").status, 404);
    assert_eq!(served.client.get("/frames/..%2f..%2fx").status, 404);
    served.finish();
}

/// A change is undone from the page, the export holds no secret, and a stopped run goes on.
#[test]
fn a_run_is_undone_exported_and_continued() {
    let secret = format!("sk-test-{}", "Z9".repeat(12));
    let said = secret.clone();
    let served = Served::headless(Script::decide(move |seen: &SeenRequest| {
        match seen.turns() {
            0 => Turn::call(openspace_testkit::model::Call::new(
                "write_file",
                json!({ "path": "note.txt", "content": "changed" }),
            )),
            1 => Turn::shell(&format!("echo {said}")),
            2 if !seen.mentions("yes, go on") => Turn::call(openspace_testkit::model::Call::new(
                "ask_person",
                json!({ "question": "Shall I go on?" }),
            )),
            _ => Turn::done("gone on"),
        }
    }));
    let note = served.rig.home.workspace().join("note.txt");
    std::fs::write(&note, "original").expect("written");
    let run = served.run_until("change the note", "needs_you");
    assert_eq!(std::fs::read_to_string(&note).expect("there"), "changed");
    let detail = served.call("run_detail", json!({ "run": run }));
    assert_eq!(detail["run"]["reason"]["kind"], "question");
    assert_eq!(detail["run"]["canContinue"], true);
    let call = detail["events"]
        .as_array()
        .and_then(|events| {
            events.iter().find(|event| {
                event["kind"] == "step.call_started" && event["payload"]["tool"] == "run_command"
            })
        })
        .map(|event| event["payload"]["call"].clone())
        .expect("the command");
    let output = served.call("call_output", json!({ "run": run, "call": call }));
    assert!(
        output["text"]
            .as_str()
            .is_some_and(|text| text.contains(&secret)),
        "{output}"
    );
    let find = |words: &str| {
        let found = served.call("calls_find", json!({ "run": run, "words": words }));
        found["calls"].clone()
    };
    assert_eq!(find(&secret.to_uppercase()), json!([call]));
    assert_eq!(find("what nothing answered"), json!([]));
    assert_eq!(find("  "), json!([]));

    let preview = served.call("run_export_preview", json!({ "run": run }));
    assert!(
        preview["redacted"].as_u64().is_some_and(|count| count > 0),
        "{preview}"
    );
    let folder = served.rig.home.root().join("exported");
    served.call("run_export", json!({ "run": run, "folder": folder }));
    let mut files = 0;
    for entry in walk(&folder) {
        files += 1;
        let bytes = std::fs::read(&entry).expect("readable");
        assert!(
            !String::from_utf8_lossy(&bytes).contains(&secret),
            "{} holds the secret",
            entry.display()
        );
    }
    assert_eq!(preview["files"].as_array().map(Vec::len), Some(files));

    served.call(
        "run_continue",
        json!({ "run": run, "message": "yes, go on" }),
    );
    served.wait_status(&run, "done");
    let change = served.call("run_detail", json!({ "run": run }))["changes"][0].clone();
    assert_eq!(change["canBeUndone"], true);
    served.call("change_undo", json!({ "change": change["id"] }));
    assert_eq!(std::fs::read_to_string(&note).expect("there"), "original");
    served.finish();
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() {
            files.extend(walk(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}

/// A setting that is changed from a page applies at once, is told to the others, and a wrong one
/// changes nothing.
#[test]
fn settings_change_while_it_runs() {
    let served = Served::headless(Script::decide(|_: &SeenRequest| Turn::done("done")));
    let cursor = served.call("app_state", json!({}))["cursor"]
        .as_i64()
        .expect("a position");
    let set = served.call(
        "setting_set",
        json!({ "key": "run.max_steps", "value": "7" }),
    );
    assert_eq!(
        (&set["value"], &set["origin"]),
        (&json!("7"), &json!("file"))
    );
    let told = served.client.events(cursor, |events| !events.is_empty());
    assert_eq!(told[0]["kind"], "settings.changed");
    assert_eq!(told[0]["key"], "run.max_steps");
    let run = served.run_until("anything", "done");
    assert_eq!(
        served.call("run_detail", json!({ "run": run }))["limits"]["steps"],
        7
    );
    let wrong = served
        .client
        .call(
            "setting_set",
            json!({ "key": "run.max_steps", "value": "many" }),
        )
        .expect_err("refused");
    assert_eq!(wrong["code"], "configuration");
    let back = served.call(
        "setting_set",
        json!({ "key": "run.max_steps", "value": null }),
    );
    assert_eq!(
        (&back["value"], &back["origin"]),
        (&json!("50"), &json!("default"))
    );
    // A file that somebody else broke is told, and what applied before goes on applying.
    std::fs::write(served.rig.home.data().join("settings.toml"), "run = 3\n").expect("written");
    let list = served.call("settings_list", json!({}));
    assert!(
        list["wrong"]
            .as_str()
            .is_some_and(|text| text.contains("settings.toml")),
        "{list}"
    );
    served.finish();
}

/// What a window keeps is there after a restart; what is too large is refused.
#[test]
fn what_a_window_keeps_outlives_the_server() {
    let mut served = Served::headless(Script::decide(|_: &SeenRequest| Turn::done("done")));
    served.call(
        "ui_state_set",
        json!({ "key": "draft", "value": { "text": "half a ta" } }),
    );
    served.restart(Signal::TERM);
    let kept = served.call("ui_state_get", json!({ "key": "draft" }));
    assert_eq!(kept["value"], json!({ "text": "half a ta" }));
    let large = json!({ "key": "draft", "value": "x".repeat(300_000) });
    assert!(served.client.call("ui_state_set", large).is_err());
    served.call("ui_state_set", json!({ "key": "draft", "value": null }));
    assert_eq!(
        served.call("ui_state_get", json!({ "key": "draft" }))["value"],
        Value::Null
    );
    served.finish();
}

/// The demo runs on a display of its own, asks its question, and its files can be removed again.
#[test]
fn the_demo_is_started_from_a_page() {
    let served = Served::headless(Script::decide(|_: &SeenRequest| Turn::done("not asked")));
    let run = served.call("demo_start", json!({ "private": true }))["run"]
        .as_str()
        .expect("a run")
        .to_owned();
    let question = served.question();
    assert_eq!(question["run"], json!(run));
    assert_eq!(question["risk"], "high");
    served.call(
        "approval_answer",
        json!({ "approval": question["id"], "nonce": question["nonce"], "choice": "once" }),
    );
    served.wait_status(&run, "done");
    let folder = served.rig.home.home().join("openspace-demo");
    let text = std::fs::read_to_string(folder.join("greeting.txt")).expect("written");
    assert_eq!(text, "Grüße aus OpenSpace: Ω, “naïve”, 北京 and 👍.\n");
    std::fs::write(folder.join("mine.txt"), "kept").expect("written");
    served.call("demo_reset", json!({}));
    let left: Vec<_> = std::fs::read_dir(&folder)
        .expect("there")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(left, ["mine.txt"], "only what the demo made is removed");
    served.finish();
}

/// Width and height in the frame header of a JPEG (ITU-T T.81, B.2.2).
fn jpeg_size(data: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let marker = *data.get(at + 1)?;
        let length = usize::from(u16::from_be_bytes([*data.get(at + 2)?, *data.get(at + 3)?]));
        if matches!(marker, 0xC0..=0xC2) {
            let number = |at: usize| {
                Some(u32::from(u16::from_be_bytes([
                    *data.get(at)?,
                    *data.get(at + 1)?,
                ])))
            };
            return Some((number(at + 7)?, number(at + 5)?));
        }
        at += 2 + length;
    }
}
