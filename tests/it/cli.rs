//! The command line, without a screen.

use openspace_testkit::model::Turn;
use serde_json::{Value, json};

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

/// A follow-up in a session knows what was said before.
#[test]
fn a_session_goes_on() {
    let rig = Rig::headless(vec![
        Turn::done("The capital is Quito."),
        Turn::done("It lies at 2,850 m."),
    ]);
    let first = rig.run("Capital of Ecuador?", &["--backends", "shell", "--json"]);
    let run = result(&first.stdout)["run"].clone();
    let shown = rig
        .openspace(&["runs", "show", run.as_str().expect("an id"), "--json"])
        .run()
        .expect("runs");
    let shown: Value = serde_json::from_str(&shown.stdout).expect("JSON");
    let session = shown["run"]["session"].as_str().expect("a session");
    let output = rig.run("How high?", &["--backends", "shell", "--session", session]);
    assert_eq!(output.stdout, "It lies at 2,850 m.\n", "{output:?}");
    let requests = rig.server.requests();
    let last = requests.last().expect("a request");
    for said in ["Capital of Ecuador?", "The capital is Quito.", "How high?"] {
        assert!(last.mentions(said), "the model is told {said:?} again");
    }
    rig.finish();
}

/// A limit ends the run with exit code 3, and says which one.
#[test]
fn a_limit_ends_the_run() {
    let rig = Rig::headless(vec![Turn::shell("true"), Turn::done("never asked for")]);
    let output = rig.run(
        "Go on",
        &["--backends", "shell", "--max-steps", "1", "--json"],
    );
    assert_eq!(output.code, Some(3), "{output:?}");
    let outcome = &result(&output.stdout)["outcome"];
    assert_eq!(outcome["status"], "limit_reached");
    assert_eq!(
        outcome["reason"],
        json!({ "kind": "limit", "limit": "steps" })
    );
    assert_eq!(
        rig.server
            .requests()
            .iter()
            .filter(|seen| !seen.tools.is_empty())
            .count(),
        1
    );
    rig.finish();
}

/// Attached pictures are shown, other files are named so that tools can read them.
#[test]
fn attachments_reach_the_model() {
    let rig = Rig::headless(vec![Turn::done("Seen.")]);
    let folder = rig.home.home();
    let (picture, text) = (folder.join("dot.png"), folder.join("notes.txt"));
    std::fs::write(&picture, PNG).expect("write");
    std::fs::write(&text, "hello").expect("write");
    let (picture, text) = (picture.display().to_string(), text.display().to_string());
    let arguments = [
        "--backends",
        "shell",
        "--attach",
        &picture,
        "--attach",
        &text,
    ];
    let output = rig.run("Look", &arguments);
    assert_eq!(output.code, Some(0), "{output:?}");
    let requests = rig.server.requests();
    let last = requests.last().expect("a request");
    assert_eq!(
        last.newest_image().expect("a picture").dimensions(),
        (40, 30)
    );
    assert!(last.mentions(&text));
    rig.finish();
}

/// An attached picture is as large as the model sees it, by the person's own word on that.
#[test]
fn attachments_fit_the_model_as_the_settings_have_it() {
    let rig = Rig::headless(vec![Turn::done("Seen.")]);
    let picture = rig.home.home().join("dot.png");
    std::fs::write(&picture, PNG).expect("write");
    let path = rig.openspace(&["config", "path"]).run().expect("runs");
    let mut words = path.stdout.split_whitespace();
    let file = words.find(|word| word.ends_with("settings.toml"));
    let file = std::path::Path::new(file.expect("a settings file"));
    std::fs::create_dir_all(file.parent().expect("a folder")).expect("made");
    let settings = format!(
        "[model.profiles.\"{}\"]\nmax_edge = 20\n",
        crate::rig::MODEL
    );
    std::fs::write(file, settings).expect("written");
    let picture = picture.display().to_string();
    let output = rig.run("Look", &["--backends", "shell", "--attach", &picture]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let requests = rig.server.requests();
    let shown = requests.last().and_then(|seen| seen.newest_image());
    assert_eq!(shown.expect("a picture").dimensions(), (20, 15));
    rig.finish();
}

/// An exported run holds its events, its words and its files.
#[test]
fn a_run_is_exported() {
    let big = "for i in $(seq 20000); do echo line $i; done";
    let rig = Rig::headless(vec![Turn::shell(big), Turn::done("Counted.")]);
    let run = rig.run("Count", &["--backends", "shell", "--json"]);
    let id = result(&run.stdout)["run"]
        .as_str()
        .expect("an id")
        .to_owned();
    let folder = rig.home.home().join("export");
    let to = folder.display().to_string();
    let output = rig
        .openspace(&["runs", "export", &id, "--output", &to])
        .run()
        .expect("runs");
    assert_eq!(output.code, Some(0), "{output:?}");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect(name);
    assert!(read("messages.jsonl").contains("Counted."));
    let events: Vec<i64> = read("events.jsonl")
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).expect("JSON")["seq"]
                .as_i64()
                .expect("seq")
        })
        .collect();
    assert_eq!(
        events,
        (1..=events.len() as i64).collect::<Vec<_>>(),
        "no event is missing"
    );
    let files: Vec<_> = std::fs::read_dir(folder.join("artefacts"))
        .expect("artefacts")
        .map(|entry| std::fs::read_to_string(entry.expect("entry").path()).expect("text"))
        .collect();
    assert!(
        files.iter().any(|text| text.ends_with("line 20000\n")),
        "the whole output is kept"
    );
    rig.finish();
}

/// The line with the result of `--json`.
fn result(stdout: &str) -> Value {
    let lines = stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut results = lines.filter(|line| line["kind"] == "result");
    results.next().expect("a result line")
}

/// A picture of 40x30 coloured dots.
const PNG: &[u8] = include_bytes!("../fixtures/picture.png");
