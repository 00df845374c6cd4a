//! A command that a person changes on a page before allowing it.

use super::{SOON, Served, Value, deletes, json};

/// The question of a run that wants to delete `old.txt`.
fn asked() -> (Served, String, Value) {
    let served = Served::headless(deletes());
    std::fs::write(served.rig.home.workspace().join("old.txt"), "old").expect("written");
    let run = served.run_until("delete it", "needs_approval");
    let question = served.question();
    (served, run, question)
}

fn preview(served: &Served, question: &Value, command: &str) -> Value {
    served.call(
        "approval_preview",
        json!({ "approval": question["id"], "command": command }),
    )
}

/// An answer to `question` with more in it.
fn answer(served: &Served, question: &Value, more: &Value) -> Result<Value, Value> {
    let mut request = json!({ "approval": question["id"], "nonce": question["nonce"] });
    for (name, value) in more.as_object().expect("an object") {
        request[name] = value.clone();
    }
    served.client.call("approval_answer", request)
}

/// The page is told what another command would be, runs exactly that, and the model, the log and the
/// answer say so.
#[test]
fn what_was_written_runs_and_is_told() {
    let (served, run, question) = asked();
    assert_eq!(question["editable"], true);
    assert_eq!(question["edited"], Value::Null);
    let line = "printf 'as written\\n' >\tkept.txt";
    assert_eq!(
        preview(&served, &question, line),
        json!({ "forbidden": null, "reading": null })
    );
    let read = preview(&served, &question, "rm -r docs")["reading"].clone();
    assert_eq!(read["title"]["key"], "approval.subject.delete");
    assert_eq!(read["title"]["params"]["target"], "docs");
    assert_eq!(
        (&read["risk"], &read["reversible"]),
        (&json!("high"), &json!(false))
    );
    let network = preview(&served, &question, "curl https://example.org")["reading"].clone();
    assert_eq!(network["title"]["key"], "approval.subject.network_hosts");
    assert_eq!(
        served.status(&run),
        "needs_approval",
        "looking answers nothing"
    );

    let given = json!({ "choice": "once", "command": line });
    let counted = answer(&served, &question, &given).expect("taken");
    assert_eq!(counted["counted"], true);
    assert_eq!(counted["approval"]["state"], "allowed_once");
    assert_eq!(counted["approval"]["edited"], line);
    assert_eq!(counted["approval"]["exactly"][0]["verbatim"], "rm old.txt");
    let again = answer(&served, &question, &given).expect("harmless");
    assert_eq!(again["counted"], false);
    served.wait_status(&run, "done");
    let workspace = served.rig.home.workspace();
    assert!(
        workspace.join("old.txt").exists(),
        "what was asked for did not run"
    );
    let kept = std::fs::read_to_string(workspace.join("kept.txt")).expect("written");
    assert_eq!(kept, "as written\n");

    let requests = served.rig.server.requests();
    let told = requests
        .iter()
        .any(|seen| seen.mentions("The person changed the command") && seen.mentions("as written"));
    assert!(told, "the model is told what ran");
    let detail = served.call("run_detail", json!({ "run": run }));
    let events = detail["events"].as_array().expect("events");
    let edited = events
        .iter()
        .find(|event| event["kind"] == "step.call_edited")
        .expect("an edit");
    assert_eq!(edited["payload"]["arguments"]["command"], line);
    let finished = events
        .iter()
        .find(|event| event["kind"] == "step.call_finished")
        .expect("an end");
    assert_eq!(finished["payload"]["evidence"][0]["line"], line);
    assert_eq!(detail["approvals"][0]["edited"], line);
    served.finish();
}

/// An edit allows nothing that no answer allows, no more than the one time, and nothing that is no
/// command; the question stays open until there is an answer that counts.
#[test]
fn an_edit_allows_no_more_than_an_answer_can() {
    let (served, run, question) = asked();
    let data = served.rig.home.data().display().to_string();
    for line in [
        "cat ~/.ssh/id_ed25519".to_owned(),
        format!("ls {data}"),
        "openspace approve x".to_owned(),
    ] {
        let told = preview(&served, &question, &line);
        assert!(told["forbidden"].is_string(), "{line}: {told}");
        assert_eq!(told["reading"], Value::Null);
        let refused = answer(
            &served,
            &question,
            &json!({ "choice": "once", "command": line }),
        )
        .expect_err("refused");
        assert_eq!(refused["code"], "forbidden", "{line}: {refused}");
    }
    for more in [
        json!({ "choice": "run", "command": "ls" }),
        json!({ "choice": null, "command": "ls" }),
        json!({ "choice": "once", "command": "ls", "rule": "command:ls" }),
        json!({ "choice": "once", "command": " \n" }),
        json!({ "choice": "once", "command": "ls\0" }),
    ] {
        let refused = answer(&served, &question, &more).expect_err("refused");
        assert_eq!(refused["code"], "invalid_request", "{more}: {refused}");
    }
    assert_eq!(served.status(&run), "needs_approval");
    let rules = served.call("rules_list", json!({}));
    assert_eq!(rules["rules"], json!([]));
    // The command as it was is no edit.
    let same = json!({ "choice": "once", "command": "rm old.txt" });
    let counted = answer(&served, &question, &same).expect("taken");
    assert_eq!(counted["approval"]["edited"], Value::Null);
    served.wait_status(&run, "done");
    assert!(!served.rig.home.workspace().join("old.txt").exists());
    let told = served
        .rig
        .server
        .requests()
        .iter()
        .any(|seen| seen.mentions("changed the command"));
    assert!(!told);
    served.finish();
}

/// Whoever watches the run in a terminal reads what ran, and so does whoever looks at it later.
#[test]
fn a_terminal_shows_what_ran() {
    let served = Served::headless(deletes());
    let mut running = served
        .rig
        .openspace(&["run", "delete it", "--wait-approval", "10m"])
        .start()
        .expect("it starts");
    let question = served.question();
    let given = json!({ "choice": "once", "command": "touch new.txt" });
    answer(&served, &question, &given).expect("taken");
    let output = running.wait(SOON).expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
    let told = "edited before it was allowed: run touch new.txt";
    let (asked, after) = output.stderr.split_once(told).expect("told as it happens");
    assert!(asked.contains("run rm old.txt"), "{output:?}");
    assert!(after.contains("ok ("), "{output:?}");
    let run = question["run"].as_str().expect("a run");
    let shown = served
        .rig
        .openspace(&["runs", "show", run])
        .run()
        .expect("it runs");
    assert!(shown.stdout.contains(told), "{shown:?}");
    served.finish();
}

/// Questions about anything but a command offer no edit.
#[test]
fn other_questions_offer_no_edit() {
    use super::{Script, SeenRequest, Turn};
    let served = Served::headless(Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::call(openspace_testkit::model::Call::new(
            "list_dir",
            json!({ "path": "../elsewhere" }),
        )),
        _ => Turn::done("That is settled."),
    }));
    let elsewhere = served.rig.home.workspace().join("../elsewhere");
    std::fs::create_dir(elsewhere).expect("a folder");
    let run = served.run_until("look elsewhere", "needs_approval");
    let question = served.question();
    assert_eq!(question["editable"], false);
    let asked = json!({ "approval": question["id"], "command": "ls" });
    let refused = served
        .client
        .call("approval_preview", asked)
        .expect_err("refused");
    assert_eq!(refused["code"], "invalid_request");
    let given = json!({ "choice": "once", "command": "ls" });
    let refused = answer(&served, &question, &given).expect_err("refused");
    assert_eq!(refused["code"], "invalid_request");
    assert_eq!(served.status(&run), "needs_approval");
    answer(&served, &question, &json!({ "choice": null })).expect("taken");
    served.wait_status(&run, "done");
    served.finish();
}
