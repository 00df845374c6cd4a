use std::{
    fs,
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
};

use openspace_process::{Command, Exit, Sandbox, Support, sandbox};
use tempfile::TempDir;

use crate::{finish, is_alive, shell};

struct World {
    base: TempDir,
}

impl World {
    fn new() -> Self {
        let base = tempfile::tempdir().expect("folder");
        for folder in ["work", "home/.ssh", "work/keys"] {
            fs::create_dir_all(base.path().join(folder)).expect("create");
        }
        fs::write(base.path().join("home/.ssh/id_test"), "SECRET").expect("write");
        fs::write(base.path().join("work/keys/token"), "SECRET").expect("write");
        Self { base }
    }

    fn path(&self, part: &str) -> String {
        self.base.path().join(part).display().to_string()
    }

    fn command(&self, line: &str, network: bool) -> Command {
        let mut command = shell(line, &self.base.path().join("work"), "sandbox001");
        command.sandbox = Some(Sandbox {
            read_write: vec![self.base.path().join("work")],
            hidden: vec![self.base.path().join("work/keys")],
            network,
            ..Sandbox::default()
        });
        command
    }

    async fn run(&self, line: &str) -> (String, Exit) {
        finish(&self.command(line, false)).await
    }
}

/// This machine has to be able to enforce a sandbox, or the tests below prove nothing.
#[test]
fn the_sandbox_is_supported() {
    assert!(Support::detect().is_enforced(), "{:?}", Support::detect());
}

/// Ordinary work goes on inside: files, pipes, here-documents, programs, the standard devices.
#[tokio::test]
async fn ordinary_work_works() {
    let world = World::new();
    fs::create_dir(world.base.path().join("work/sub")).expect("create");
    let line = "set -e; cd sub; echo one > file; cat file | tr a-z A-Z > /dev/null; mv file other; \
        cat <(echo two); cat <<< three; python3 -c 'import os, subprocess; \
        print(subprocess.check_output([\"uname\"]).decode().strip())'; ls /etc > /dev/null; \
        chmod +x other; ln -s other link; rm other link; echo four > /dev/stderr; mkdir -p a/b; rmdir a/b";
    let (text, exit) = world.run(line).await;
    assert_eq!(
        (text.as_str(), exit),
        ("two\nthree\nLinux\nfour\n", Exit::Code(0))
    );
}

/// Secrets in the home folder cannot be read, not by path and not through a link.
#[tokio::test]
async fn secrets_cannot_be_read() {
    let world = World::new();
    let secret = world.path("home/.ssh/id_test");
    symlink(&secret, world.base.path().join("work/link")).expect("link");
    for line in [
        format!("cat {secret}"),
        "cat link".to_owned(),
        "cat ../home/.ssh/id_test".to_owned(),
        format!("ln {secret} hard && cat hard"),
        format!("mv {secret} moved && cat moved"),
        "cat keys/token".to_owned(),
        "cat /etc/shadow".to_owned(),
    ] {
        let (text, exit) = world.run(&line).await;
        assert!(!exit.success(), "`{line}` must fail: {text}");
        assert!(
            !text.contains("SECRET") && !text.contains("root:"),
            "`{line}` shows: {text}"
        );
    }
}

/// A folder inside something hidden can be allowed by itself: the run's scratch in our data folder.
#[tokio::test]
async fn the_narrower_folder_counts() {
    let world = World::new();
    fs::create_dir(world.base.path().join("work/keys/scratch")).expect("create");
    let mut command = world.command(
        "echo x > keys/scratch/f; cat keys/scratch/f keys/token",
        false,
    );
    if let Some(sandbox) = &mut command.sandbox {
        sandbox
            .read_write
            .push(world.base.path().join("work/keys/scratch"));
    }
    let (text, exit) = finish(&command).await;
    assert!(
        text.starts_with("x\n") && !text.contains("SECRET") && !exit.success(),
        "{text}"
    );
}

/// Nothing outside changes: no new file, no changed one, none removed or cut.
#[tokio::test]
async fn nothing_outside_can_be_written() {
    let world = World::new();
    let outside = world.path("home/.ssh/id_test");
    symlink(world.path("home/new"), world.base.path().join("work/out")).expect("link");
    for line in [
        format!("echo x > {outside}"),
        format!("truncate -s 0 {outside}"),
        format!("rm -f {outside}"),
        format!("echo x > {}", world.path("home/new")),
        "echo x > out".to_owned(),
        format!("mkdir {}", world.path("home/folder")),
        "touch /tmp/openspace-sandbox-test".to_owned(),
        "echo x > /dev/shm/openspace-sandbox-test".to_owned(),
    ] {
        let (text, exit) = world.run(&line).await;
        assert!(!exit.success(), "`{line}` must fail: {text}");
    }
    assert_eq!(fs::read_to_string(outside).expect("still there"), "SECRET");
    assert!(!world.base.path().join("home/new").exists());
    assert!(!Path::new("/tmp/openspace-sandbox-test").exists());
}

/// No socket of any kind can be made, nor pointed at one that listens.
#[tokio::test]
async fn no_sockets_without_network() {
    let world = World::new();
    let listener = UnixListener::bind(world.base.path().join("work/socket")).expect("listen");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("listen");
    let port = tcp.local_addr().expect("address").port();
    let unix = "socket.socket(socket.AF_UNIX).connect('socket')";
    for attempt in [
        unix.to_owned(),
        format!("socket.create_connection(('127.0.0.1', {port}), 2)"),
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)".to_owned(),
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)".to_owned(),
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)".to_owned(),
    ] {
        let (text, exit) = world
            .run(&format!("python3 -c \"import socket; {attempt}\""))
            .await;
        assert!(!exit.success(), "`{attempt}` must fail");
        assert!(text.contains("PermissionError"), "`{attempt}`: {text}");
    }
    let (text, exit) = world
        .run("python3 -c \"import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\"")
        .await;
    assert!(exit.success(), "a private pair stays possible: {text}");
    drop(listener);
}

/// With network, addresses are reachable, the sockets of this machine's programs are not.
#[tokio::test]
async fn network_is_not_local_sockets() {
    let world = World::new();
    let listener = UnixListener::bind(world.base.path().join("work/socket")).expect("listen");
    let tcp = std::net::TcpListener::bind("127.0.0.1:0").expect("listen");
    let port = tcp.local_addr().expect("address").port();
    let connect = format!(
        "python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 5); print('in')\""
    );
    let (text, _) = finish(&world.command(&connect, true)).await;
    assert_eq!(text, "in\n");
    let unix = "python3 -c \"import socket; socket.socket(socket.AF_UNIX).connect('socket')\"";
    let (text, exit) = finish(&world.command(unix, true)).await;
    assert!(
        !exit.success() && text.contains("PermissionError"),
        "{text}"
    );
    drop(listener);
}

/// Other processes can neither be read, traced nor signalled.
#[tokio::test]
async fn other_processes_are_out_of_reach() {
    let world = World::new();
    let outside = shell("sleep 600; :", world.base.path(), "sandbox002")
        .spawn()
        .expect("start");
    let pid = outside.id();
    for line in [
        format!("kill -9 {pid}"),
        format!("kill -0 {pid}"),
        format!("cat /proc/{pid}/environ"),
        format!("cat /proc/{pid}/root/etc/shadow"),
        "cat /proc/1/environ".to_owned(),
        format!("head -c 1 /proc/{}/mem", std::process::id()),
        "unshare -Ur true".to_owned(),
        format!("prlimit --pid {pid} --nofile=1"),
    ] {
        let (text, exit) = world.run(&line).await;
        assert!(!exit.success(), "`{line}` must fail: {text}");
        assert!(!text.contains("PATH="), "`{line}` shows: {text}");
    }
    assert!(is_alive(pid), "the process outside lives");
}

/// The sandbox holds for everything that comes out of it, and its processes keep their mark.
#[tokio::test]
async fn descendants_stay_inside() {
    let world = World::new();
    let secret = world.path("home/.ssh/id_test");
    let line = format!("setsid -w env -i /bin/sh -c '(/bin/cat {secret}) || echo refused'");
    let (text, _) = world.run(&line).await;
    assert!(
        text.contains("refused") && !text.contains("SECRET"),
        "{text}"
    );
    let (text, exit) = world
        .run("python3 -c 'import resource; resource.setrlimit(10, (1, 1))'")
        .await;
    assert!(!exit.success(), "the mark cannot be wiped off: {text}");
}

/// The self-test behind `doctor` finds the same.
#[test]
fn the_self_test_holds() {
    let folder = tempfile::tempdir().expect("folder");
    let report = sandbox::self_test(folder.path()).expect("probe");
    assert!(report.holds(), "{report:?}");
    assert_eq!(report.probes.len(), sandbox::Attempt::ALL.len());
    assert_eq!(
        fs::read_dir(folder.path()).expect("read").count(),
        0,
        "nothing stays behind"
    );
}
