//! Behaviour of child processes, through the public surface.
#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test that cannot go on has failed")]

mod ancestry;
mod sandbox;
mod spawn;
mod tree;

use std::{path::Path, time::Duration};

use openspace_process::{Capture, Command, Environment, Exit};
use tokio::io::AsyncReadExt;

/// `bash -c line` in `folder`, output merged.
fn shell(line: &str, folder: &Path, run: &str) -> Command {
    let mut command = Command::new("bash", folder, run, Environment::of_this_process());
    command.arguments = vec!["-c".into(), line.into()];
    command.capture = Capture::Merged;
    command
}

/// Runs it to the end of its output.
async fn finish(command: &Command) -> (String, Exit) {
    let mut child = command.spawn().expect("start");
    let mut text = Vec::new();
    let mut output = child.output.take().expect("output is captured");
    let read = output.read_to_end(&mut text);
    tokio::time::timeout(Duration::from_secs(30), read)
        .await
        .expect("output ends in time")
        .expect("read");
    let exit = child.wait().await.expect("wait");
    (String::from_utf8_lossy(&text).into_owned(), exit)
}

/// Polls until `condition` holds, for at most ten seconds.
async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not happen");
}

fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}
