use std::{path::Path, time::Duration};

use openspace_process::{Child, Command, Environment, kill_marked};

use crate::{eventually, is_alive, shell};

/// Starts `line`, which writes process ids to `pids`, one a line, and waits for `count` of them.
async fn started(line: &str, folder: &Path, run: &str, count: usize) -> (Child, Vec<u32>) {
    let child = shell(line, folder, run).spawn().expect("start");
    let file = folder.join("pids");
    let mut pids = Vec::new();
    eventually("all processes started", || {
        pids = std::fs::read_to_string(&file)
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.trim().parse().ok())
            .collect();
        pids.len() >= count
    })
    .await;
    (child, pids)
}

/// Forks twice, leaves the session, clears the environment, closes everything: the classic daemon.
const DAEMON: &str = r"
import os, sys, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
if len(sys.argv) > 1: os.execve(sys.executable, [sys.executable, '-c', 'import os,time; open(\'pids\',\'a\').write(str(os.getpid())+chr(10)); time.sleep(600)'], {})
open('pids','a').write(str(os.getpid()) + '\n')
time.sleep(600)
";

/// D-11 (c): a sleeping shell with grandchildren is gone, all of it, well within the bound.
#[tokio::test]
async fn grandchildren_are_killed() {
    let folder = tempfile::tempdir().expect("folder");
    let line = "echo $$ >> pids; (sleep 600 & echo $! >> pids; bash -c 'echo $$ >> pids; sleep 600; :'; :) & sleep 600; :";
    let (mut child, pids) = started(line, folder.path(), "tree000001", 3).await;

    tokio::time::timeout(Duration::from_secs(5), child.kill_tree())
        .await
        .expect("in time")
        .expect("killed");

    for pid in pids {
        assert!(!is_alive(pid), "process {pid} is gone");
    }
    assert_eq!(child.tree().members(), Vec::<u32>::new());
}

/// What ignores the request to end is killed.
#[tokio::test]
async fn the_deaf_are_killed() {
    let folder = tempfile::tempdir().expect("folder");
    let line = "trap '' TERM INT HUP; echo $$ >> pids; while :; do sleep 0.05; done";
    let (mut child, pids) = started(line, folder.path(), "tree000002", 1).await;
    let killed = child.kill_tree().await.expect("killed");
    assert!(killed.forced, "{killed:?}");
    assert!(!is_alive(pids[0]), "gone all the same");
}

/// A daemon that left parent, session and group is found by its mark.
#[tokio::test]
async fn daemons_are_killed() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("daemon.py"), DAEMON).expect("write");
    let line = "python3 daemon.py; python3 daemon.py cleared; sleep 600";
    let (mut child, pids) = started(line, folder.path(), "tree000003", 2).await;
    for pid in &pids {
        assert!(is_alive(*pid), "daemon {pid} runs");
    }
    child.kill_tree().await.expect("killed");
    for pid in pids {
        assert!(!is_alive(pid), "daemon {pid} is gone");
    }
}

/// A process left to us is collected, so that no zombie stays behind.
#[tokio::test]
async fn orphans_are_collected() {
    openspace_process::become_subreaper().expect("subreaper");
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("daemon.py"), DAEMON).expect("write");
    let (mut child, pids) = started("python3 daemon.py", folder.path(), "tree000004", 1).await;
    child.wait().await.expect("wait");
    eventually("the daemon is ours", || {
        openspace_process::ancestry::parents(pids[0]).first() == Some(&std::process::id())
    })
    .await;
    child.tree().kill().await.expect("killed");
    eventually("no zombie", || {
        child.tree().reap();
        !Path::new(&format!("/proc/{}", pids[0])).exists()
    })
    .await;
}

/// The guard finds a run's processes without having started them.
#[tokio::test]
async fn a_run_is_killed_from_outside() {
    let folder = tempfile::tempdir().expect("folder");
    std::fs::write(folder.path().join("daemon.py"), DAEMON).expect("write");
    let line = "python3 daemon.py cleared; echo $$ >> pids; sleep 600; :";
    let (mut child, pids) = started(line, folder.path(), "tree000005", 2).await;
    let other = tempfile::tempdir().expect("folder");
    let (mut bystander, others) = started(
        "echo $$ >> pids; sleep 600; :",
        other.path(),
        "tree000006",
        1,
    )
    .await;

    let waiting = tokio::spawn(async move { child.wait().await });
    tokio::task::spawn_blocking(|| kill_marked("tree000005"))
        .await
        .expect("join")
        .expect("killed");

    for pid in pids {
        assert!(!is_alive(pid), "process {pid} of the run is gone");
    }
    assert!(is_alive(others[0]), "another run's process lives");
    waiting.await.expect("join").expect("wait");
    bystander.kill_tree().await.expect("killed");
}

/// A tree that multiplies as fast as it can is brought to a stop.
#[tokio::test]
async fn a_fork_bomb_is_stopped() {
    let folder = tempfile::tempdir().expect("folder");
    // Bounded for the machine's sake: every process has two children, ten levels deep, deaf to
    // requests, in sessions of their own.
    let bomb = r"
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
depth = 0
while depth < 9:
    depth += 1
    if os.fork() == 0: os.setsid()
open('pids','a').write(str(os.getpid()) + '\n')
time.sleep(600)
";
    std::fs::write(folder.path().join("bomb.py"), bomb).expect("write");
    let (mut child, _) = started("python3 bomb.py", folder.path(), "tree000007", 20).await;
    child.kill_tree().await.expect("stopped");
    assert_eq!(child.tree().members(), Vec::<u32>::new(), "nothing is left");
}

/// A child whose owner is dropped does not live on.
#[tokio::test]
async fn dropping_ends_the_tree() {
    let folder = tempfile::tempdir().expect("folder");
    let line = "echo $$ >> pids; (sleep 600 & echo $! >> pids; wait) ; :";
    let (child, pids) = started(line, folder.path(), "tree000008", 2).await;
    drop(child);
    eventually("all gone", || pids.iter().all(|pid| !is_alive(*pid))).await;
}

/// A released child lives on until its tree is ended.
#[tokio::test]
async fn a_released_child_lives_on() {
    let folder = tempfile::tempdir().expect("folder");
    let command = Command {
        arguments: vec!["600".into()],
        ..Command::new(
            "sleep",
            folder.path(),
            "tree000009",
            Environment::of_this_process(),
        )
    };
    let tree = command.spawn().expect("start").release();
    assert!(is_alive(tree.root()), "still there");
    tree.kill().await.expect("killed");
    assert!(!is_alive(tree.root()), "gone");
}
