//! Where a task that was handed over may work.

use openspace_testkit::model::{Script, SeenRequest, Turn};
use serde_json::{Value, json};

use super::{Delegating, Host, Rig, answers, end_runners};

/// Makes a file where the run works.
fn makes() -> Script {
    Script::decide(|seen: &SeenRequest| match seen.turns() {
        0 => Turn::shell("echo made > made.txt"),
        _ => Turn::done("Made."),
    })
}

/// A host without any folder of the settings.
fn bare(script: Script) -> Delegating {
    let rig = Rig::headless(script);
    let mut environment = super::host::rig_environment(&rig);
    environment.remove("OPENSPACE_WORKSPACE");
    let mut host = Host::start_in(&rig, &[], environment);
    host.initialize("2025-11-25");
    Delegating { rig, host }
}

fn answer(test: &Delegating, asked: &Value, verb: &[&str]) {
    let id = asked["approvals"][0]["id"].as_str().expect("a question");
    let program = test.rig.openspace(&[verb, &[id]].concat());
    let output = if verb[0] == "approve" {
        let mut running = program.terminal().start().expect("it starts");
        running
            .wait_for("allow once", super::SOON)
            .expect("a prompt");
        running.send("y\n").expect("typed");
        running.wait(super::SOON)
    } else {
        program.run()
    };
    let output = output.expect("it ends");
    assert_eq!(output.code, Some(0), "{output:?}");
}

/// A task without a folder works in one of its own in the home folder, never where the host happens
/// to be.
#[test]
fn a_task_without_a_folder_has_one_of_its_own() {
    let mut test = bare(makes());
    let result = test.task("make it", json!({ "wait_seconds": 60 }));
    assert_eq!(result["status"], "success", "{result}");
    let folder = test.rig.home.home().join("OpenSpace");
    assert!(folder.join("made.txt").exists());
    assert!(!test.rig.home.workspace().join("made.txt").exists());
    test.finish();
}

/// A folder that a host names is asked for once, before anything happens, and then is the run's.
#[test]
fn a_folder_of_a_hosts_is_asked_for() {
    let mut test = bare(makes());
    let folder = test.rig.home.workspace();
    let arguments = json!({ "wait_seconds": 60, "workspace_dir": folder });
    let asked = test.task("make it", arguments.clone());
    assert_eq!(asked["status"], "needs_approval", "{asked}");
    let words = asked["approvals"][0]["asks"].as_str().expect("words");
    assert!(words.contains(&folder.display().to_string()), "{asked}");
    assert!(
        test.rig
            .server
            .requests()
            .iter()
            .all(|seen| seen.tools.is_empty())
    );
    answer(&test, &asked, &["approve"]);
    let wait = json!({ "task_id": asked["task_id"], "wait_seconds": 60 });
    let result = test.host.call("task_wait", wait);
    assert_eq!(result["status"], "success", "{result}");
    assert!(folder.join("made.txt").exists());

    // A no ends the run with the reason.
    std::fs::remove_file(folder.join("made.txt")).expect("removed");
    let asked = test.task("make it again", arguments);
    answer(&test, &asked, &["deny", "--note", "not there"]);
    let wait = json!({ "task_id": asked["task_id"], "wait_seconds": 60 });
    let result = test.host.call("task_wait", wait);
    assert_eq!(result["status"], "error", "{result}");
    let error = result["error"].as_str().expect("words");
    assert!(error.contains("not there"), "{error}");
    assert!(!folder.join("made.txt").exists());
    test.finish();
}

/// A folder that a setting allows is not asked for, and one that holds credentials never is.
#[test]
fn settings_and_protection_decide_before_a_person_is_asked() {
    let mut test = bare(makes());
    let folder = test.rig.home.workspace();
    let list = json!([folder]).to_string();
    let set = test
        .rig
        .openspace(&["config", "set", "policy.folders", &list])
        .run();
    assert_eq!(set.expect("it ends").code, Some(0));
    let arguments = json!({ "wait_seconds": 60, "workspace_dir": folder });
    let result = test.task("make it", arguments);
    assert_eq!(result["status"], "success", "{result}");
    assert!(folder.join("made.txt").exists());
    let keys = test.rig.home.home().join(".ssh");
    std::fs::create_dir(&keys).expect("made");
    for folder in [keys, test.rig.home.data()] {
        let result = test.task(
            "look",
            json!({ "wait_seconds": 60, "workspace_dir": folder }),
        );
        assert_eq!(result["status"], "error", "{result}");
        let error = result["error"].as_str().expect("words");
        assert!(error.contains("off limits"), "{error}");
    }
    test.finish();
}

/// A question about a folder can be left: the run stops at once.
#[test]
fn a_task_that_waits_for_its_folder_can_be_stopped() {
    let mut test = bare(answers("never"));
    let arguments = json!({ "wait_seconds": 60, "workspace_dir": test.rig.home.workspace() });
    let asked = test.task("make it", arguments);
    assert_eq!(asked["status"], "needs_approval", "{asked}");
    let stopped = test
        .host
        .call("task_cancel", json!({ "task_id": asked["task_id"] }));
    assert_eq!(stopped["status"], "cancelled", "{stopped}");
    test.host.close();
    test.host.wait();
    end_runners(&test.rig);
    test.rig.finish();
}
