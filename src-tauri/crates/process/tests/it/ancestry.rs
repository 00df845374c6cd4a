use std::process;

use openspace_process::{
    Capture, Command, Environment,
    ancestry::{self, Descent},
};

use crate::finish;

/// Run by the test below, inside a run.
#[test]
#[ignore = "answers to another test"]
fn tell_descent() {
    match ancestry::descent(&[]) {
        Some(Descent::Own { run }) => println!("<own {run}>"),
        Some(Descent::Parent { run, .. }) => println!("<parent {run}>"),
        Some(Descent::Marked(mark)) => println!("<marked {}>", mark.is_of_run("ancestry01")),
        Some(Descent::Runner { .. }) => println!("<runner>"),
        None => println!("<none>"),
    }
}

/// Whoever came out of a run is known: by its own environment, by that of a parent, by its mark.
#[tokio::test]
async fn descendants_of_a_run_are_known() {
    let folder = tempfile::tempdir().expect("folder");
    let program = std::env::current_exe().expect("this test");
    let probe = format!(
        "{} --ignored --exact ancestry::tell_descent --nocapture",
        program.display()
    );
    for (line, answer) in [
        (probe.clone(), "<own ancestry01>"),
        (
            format!("env -u OPENSPACE_RUN_ID {probe}; :"),
            "<parent ancestry01>",
        ),
        (format!("exec env -i {probe}"), "<marked true>"),
    ] {
        let environment = Environment::of_this_process();
        let mut command = Command::new("sh", folder.path(), "ancestry01", environment);
        command.arguments = vec!["-c".into(), line.clone().into()];
        command.capture = Capture::Merged;
        let (text, _) = finish(&command).await;
        assert!(text.contains(answer), "`{line}`: {text}");
    }
}

/// The chain of parents starts with the nearest and ends at the first process.
#[test]
fn parents_are_found() {
    let parents = ancestry::parents(process::id());
    assert_eq!(
        parents.first(),
        Some(&std::os::unix::process::parent_id()),
        "nearest first: {parents:?}"
    );
}

/// A runner among the parents gives a process away even when its environment says nothing.
#[test]
fn a_descendant_of_a_runner_is_known() {
    let parent = std::os::unix::process::parent_id();
    assert!(
        ancestry::descent(&[parent]).is_some(),
        "the parent is a runner"
    );
}
