//! The command line, without a screen.

use openspace_testkit::model::Turn;

use crate::rig::Rig;

/// A task is carried out: the answer alone is on standard output, and the exit code is 0.
#[test]
fn a_task_is_done_and_its_answer_printed() {
    let rig = Rig::headless(vec![
        Turn::shell("printf 42 > answer.txt"),
        Turn::done("The answer is in answer.txt."),
    ]);
    let output = rig.run("Write the answer", &["--backends", "shell"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_eq!(output.stdout, "The answer is in answer.txt.\n");
    let written = std::fs::read_to_string(rig.home.workspace().join("answer.txt"));
    assert_eq!(written.expect("the file"), "42");
    assert!(output.stderr.contains("Changed: "), "{}", output.stderr);
    rig.finish();
}

/// Without a terminal nothing can be asked, so what needs a person is denied, and the model told.
#[test]
fn without_a_terminal_a_question_is_denied() {
    let rig = Rig::headless(vec![
        Turn::shell("rm precious.txt"),
        Turn::done("It was not allowed."),
    ]);
    let file = rig.home.workspace().join("precious.txt");
    std::fs::write(&file, "x").expect("write");
    let output = rig.run("Delete it", &["--backends", "shell"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(file.exists(), "nothing was deleted");
    let seen = rig.server.requests();
    let last = seen.last().expect("a request");
    assert!(last.mentions("nobody can be asked"), "the model knows why");
    rig.finish();
}

/// A question of the model ends the run with exit code 4, and the answer continues it.
#[test]
fn a_question_is_answered_by_continuing() {
    let ask = openspace_testkit::model::Call::new(
        "ask_person",
        serde_json::json!({ "question": "Red or blue?" }),
    );
    let rig = Rig::headless(vec![Turn::call(ask), Turn::done("Blue it is.")]);
    let output = rig.run("Choose a colour", &["--backends", "shell", "--json"]);
    assert_eq!(output.code, Some(4), "{output:?}");
    let run = output
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok())
        .find_map(|event| Some(event.get("run")?.as_str()?.to_owned()))
        .expect("the result names the run");
    let output = rig
        .openspace(&["runs", "continue", &run, "Blue"])
        .run()
        .expect("runs");
    assert_eq!(
        (output.code, output.stdout.as_str()),
        (Some(0), "Blue it is.\n"),
        "{output:?}"
    );
    assert!(
        rig.server
            .requests()
            .last()
            .expect("a request")
            .mentions("Blue")
    );
    rig.finish();
}
