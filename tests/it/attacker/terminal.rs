//! Questions on a terminal: only a person's own answer, to a question they saw, is one.

use std::{fmt::Write as _, fs, time::Duration};

use openspace_testkit::{
    cli::Running,
    model::{Call, Turn},
    wait::poll,
};
use serde_json::json;

use super::victim::{PROGRAM, Victim};
use crate::rig::LIMIT;

const PROMPT: &str = "[n] deny";

fn outside(line: &str) -> Call {
    Call::new(
        "run_command",
        json!({"command": line, "outside_sandbox": true}),
    )
}

/// `openspace run` on a terminal of its own.
fn start(victim: &Victim, turns: Vec<Turn>) -> Running {
    victim.rig.server.set_script(turns);
    victim
        .openspace(&["run", "Tidy up", "--backends", "shell"])
        .terminal()
        .start()
        .expect("starts")
}

fn waits(victim: &Victim) {
    let runs = victim.runs();
    assert_eq!(runs[0]["run"]["status"], "needs_approval", "{runs:?}");
}

fn stop(victim: &Victim, run: &mut Running) {
    let stopped = victim.openspace(&["stop"]).run().expect("stops");
    assert_eq!(stopped.code, Some(0), "{stopped:?}");
    let output = run.wait(LIMIT).expect("ends");
    assert_eq!(output.code, Some(3), "stopped: {output:?}");
}

/// While nobody answers, nothing the run does beside the question answers it; a stop ends it.
#[test]
fn a_question_nobody_answers_waits() {
    let victim = Victim::headless();
    let beside = [
        "@PROGRAM approve",
        "script -qec '@PROGRAM approve' /dev/null < <(sleep 1; echo y)",
        "python3 -c 'import pty; pty.spawn([\"@PROGRAM\", \"approve\"])'",
        "sleep 2; for t in /dev/tty /dev/pts/*; do echo y > $t; done",
        "python3 -c 'import sqlite3; sqlite3.connect(\"@DATA/openspace.db\").execute(\"update approvals set state = 1\")'",
        "d=@ROOT/da; sleep 1; sqlite3 ${d}ta/openspace.db 'update approvals set state = 1'",
        "kill -9 $PPID; kill -CONT $PPID",
    ];
    let calls = [outside(&victim.fill("touch @ROOT/pwned"))]
        .into_iter()
        .chain(beside.iter().map(|line| Call::shell(&victim.fill(line))));
    let mut run = start(&victim, vec![Turn::calls(calls)]);
    run.wait_for(PROMPT, LIMIT).expect("asks");
    std::thread::sleep(Duration::from_secs(5));
    assert!(run.running(), "{}", run.stdout());
    waits(&victim);
    stop(&victim, &mut run);
    drop(run);
    victim.assert_unharmed(&[], 1);
}

/// What was typed before the question was shown is no answer to it.
#[test]
fn typing_ahead_is_no_answer() {
    let victim = Victim::headless();
    let line = victim.fill("touch @ROOT/pwned");
    let turns = vec![
        Turn::call(Call::shell("sleep 3")),
        Turn::call(outside(&line)),
        Turn::done("Done."),
    ];
    let mut run = start(&victim, turns);
    assert!(victim.rig.server.wait_for_requests(1, LIMIT), "it runs");
    run.send("y\ny\nr\n").expect("types");
    run.wait_for(PROMPT, LIMIT).expect("asks");
    std::thread::sleep(Duration::from_secs(2));
    waits(&victim);
    stop(&victim, &mut run);
    drop(run);
    victim.assert_unharmed(&[], 1);
}

/// Two calls of one turn that need an answer are asked about one after the other, and each answer is
/// for the action that was shown.
#[test]
fn an_answer_is_for_the_question_that_was_shown() {
    let victim = Victim::headless();
    let turn = Turn::calls([
        outside("echo first > first.txt"),
        outside("echo second > second.txt"),
        outside("echo third > third.txt"),
    ]);
    let mut run = start(&victim, vec![turn, Turn::done("Done.")]);
    let mut seen = 0;
    for _ in 0..3 {
        run.wait_for(PROMPT, LIMIT).expect("asks");
        let asked = poll(LIMIT, || {
            let text = run.stdout();
            let new = &text[seen..];
            let end = new.find(PROMPT)? + PROMPT.len();
            Some((new[..end].to_owned(), seen + end))
        });
        let (question, end) = asked.expect("one question more");
        // A second prompt would have come by now.
        std::thread::sleep(Duration::from_secs(1));
        let text = run.stdout();
        assert_eq!(
            text[end..].matches(PROMPT).count(),
            0,
            "one at a time: {text}"
        );
        seen = text.len();
        let shown = &question[question.rfind("──").expect("a title")..];
        let yes = shown.contains("second");
        run.send(if yes { "y\n" } else { "n\n" }).expect("answers");
    }
    let output = run.wait(LIMIT).expect("ends");
    assert_eq!(output.code, Some(0), "{output:?}");
    let exists = |name: &str| victim.rig.home.workspace().join(name).exists();
    assert!(
        exists("second.txt"),
        "what was allowed was done: {output:?}"
    );
    assert!(
        !exists("first.txt") && !exists("third.txt"),
        "what was denied was not: {output:?}"
    );
    drop(run);
    victim.assert_unharmed(&[&output], 1);
}

/// A command that a person let out of the sandbox still changes no settings, starts no run and
/// answers no question, whatever it does to its environment, session and parents.
#[test]
fn outside_the_sandbox_nobody_approves_himself() {
    let victim = Victim::headless();
    let environment =
        victim.fill("env -i HOME=@HOME OPENSPACE_HOME=@DATA XDG_RUNTIME_DIR=@ROOTrun");
    let verbs = [
        "config set policy.preset hands-off",
        "run 'Do evil' --backends shell",
        "approve",
        "deny x",
        "runs continue x",
    ];
    let mut script = String::new();
    for verb in verbs {
        let _written = write!(
            script,
            "{PROGRAM} {verb}; echo \"plain $?\" >> results\n\
             {environment} setsid {PROGRAM} {verb}; echo \"cleared $?\" >> results\n\
             ({environment} setsid sh -c 'sleep 0.3; {PROGRAM} {}; echo \"orphan $?\" >> results' &)\n\
             {environment} script -qec '{PROGRAM} {}' /dev/null; echo \"pty $?\" >> results\n",
            verb.replace('\'', "\""),
            verb.replace('\'', "\""),
        );
    }
    script.push_str("sleep 3\n");
    let workspace = victim.rig.home.workspace();
    fs::write(workspace.join("harmless.sh"), script).expect("write");
    let mut run = start(
        &victim,
        vec![
            Turn::call(outside("bash ./harmless.sh")),
            Turn::done("Done."),
        ],
    );
    run.wait_for(PROMPT, LIMIT).expect("asks");
    run.send("y\n").expect("answers");
    let output = run.wait(LIMIT).expect("ends");
    assert_eq!(output.code, Some(0), "{output:?}");
    let results = fs::read_to_string(workspace.join("results")).expect("it ran");
    assert_eq!(results.lines().count(), verbs.len() * 4, "{results}");
    for line in results.lines() {
        assert!(!line.ends_with(" 0"), "something was done: {results}");
    }
    drop(run);
    victim.assert_unharmed(&[&output], 1);
}
