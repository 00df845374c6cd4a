use std::{ffi::OsString, os::fd::AsRawFd};

use openspace_process::{Capture, Command, Environment, Error, Exit, Stdin};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{finish, shell};

/// A child knows its run and nothing of our environment beyond the allow-list.
#[tokio::test]
async fn the_environment_is_an_allow_list() {
    let folder = tempfile::tempdir().expect("folder");
    let mut environment = Environment::allowed([
        ("PATH", "/usr/bin:/bin"),
        ("OPENSPACE_LLM_API_KEY", "secret"),
        ("ANTHROPIC_API_KEY", "secret"),
    ]);
    environment.set("GIVEN", "yes").expect("a harmless name");
    let mut command = Command::new("env", folder.path(), "run0000001", environment);
    command.capture = Capture::Merged;

    let (text, exit) = finish(&command).await;

    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert!(exit.success(), "{text}");
    assert_eq!(lines.len(), 4, "{text}");
    assert_eq!(lines[0], "GIVEN=yes");
    assert!(lines[1].starts_with("OPENSPACE_COMMAND_ID="), "{text}");
    assert_eq!(lines[2], "OPENSPACE_RUN_ID=run0000001");
    assert_eq!(lines[3], "PATH=/usr/bin:/bin");
}

/// Both streams arrive in the order they were written.
#[tokio::test]
async fn merged_output_keeps_its_order() {
    let folder = tempfile::tempdir().expect("folder");
    let line = "echo 1; echo 2 >&2; echo 3; echo 4 >&2; exit 7";
    let (text, exit) = finish(&shell(line, folder.path(), "run0000002")).await;
    assert_eq!((text.as_str(), exit), ("1\n2\n3\n4\n", Exit::Code(7)));
}

/// A child is told by a signal from one that ended by itself.
#[tokio::test]
async fn a_signal_is_no_exit_code() {
    let folder = tempfile::tempdir().expect("folder");
    let (_, exit) = finish(&shell("kill -9 $$", folder.path(), "run0000003")).await;
    assert_eq!(exit, Exit::Signal(9));
}

/// Input reaches the child, and output and errors come apart.
#[tokio::test]
async fn streams_can_be_separate() {
    let folder = tempfile::tempdir().expect("folder");
    let mut command = shell("cat; echo problem >&2", folder.path(), "run0000004");
    command.stdin = Stdin::Piped;
    command.capture = Capture::Separate;
    let mut child = command.spawn().expect("start");
    let mut input = child.input.take().expect("input");
    input.write_all(b"hello").await.expect("write");
    drop(input);
    let (mut output, mut errors) = (String::new(), String::new());
    let mut stdout = child.output.take().expect("output");
    let mut stderr = child.errors.take().expect("errors");
    stdout.read_to_string(&mut output).await.expect("read");
    stderr.read_to_string(&mut errors).await.expect("read");
    child.wait().await.expect("wait");
    assert_eq!((output.as_str(), errors.as_str()), ("hello", "problem\n"));
}

/// A descriptor that was opened without care does not reach the child.
#[tokio::test]
async fn descriptors_are_not_inherited() {
    let folder = tempfile::tempdir().expect("folder");
    let file = std::fs::File::create(folder.path().join("secret")).expect("create");
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).expect("inheritable");
    let line = format!(
        "test -e /proc/self/fd/{} && echo inherited",
        file.as_raw_fd()
    );
    let (text, _) = finish(&shell(&line, folder.path(), "run0000005")).await;
    assert_eq!(
        text, "",
        "only the three standard descriptors are passed on"
    );
}

/// What cannot be started says why.
#[tokio::test]
async fn failures_are_typed() {
    let folder = tempfile::tempdir().expect("folder");
    let environment = Environment::of_this_process();
    let missing = Command::new(
        OsString::from("no-such-program-here"),
        folder.path(),
        "run0000006",
        environment.clone(),
    );
    let error = missing.spawn().expect_err("no such program");
    assert!(
        matches!(&error, Error::ProgramNotFound { program } if program == "no-such-program-here"),
        "{error}"
    );
    let nowhere = Command::new(
        "true",
        folder.path().join("gone"),
        "run0000006",
        environment,
    );
    assert!(matches!(nowhere.spawn(), Err(Error::NoFolder { .. })));
}
