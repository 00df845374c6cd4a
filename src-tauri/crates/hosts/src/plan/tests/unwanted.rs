//! A host is asked about what was written into its file, and does not like it or is not waited for.

use std::{os::unix::fs::PermissionsExt as _, process::Command, thread, time::Duration};

use super::*;
use crate::Stop;

const BEFORE: &str = "\u{feff}{\n  // mine\n  gateway: { port: 1 },\n}\n";

/// A host that accepts its file once; then it does this, with its file as `$FILE`.
fn hosts(rig: &Rig, then: &str) -> Hosts {
    let asked = rig.path("asked");
    let script = format!(
        "FILE='{}'\nif mkdir '{}' 2>/dev/null; then exit 0; fi\n{then}\n",
        rig.path("home/.openclaw/openclaw.json").display(),
        asked.display(),
    );
    program(rig, &script);
    let path = format!("{}:/usr/bin:/bin", rig.path("bin").display());
    let machine = Machine {
        platform: rig.platform,
        home: rig.path("home"),
        environment: [("PATH", path)].into_iter().collect(),
    };
    Hosts::new(machine, rig.path("data"), &rig.path("first/openspace"))
}

/// Makes the host's program. Another process writes it, so that no other test holds it open for
/// writing when it is started.
fn program(rig: &Rig, script: &str) {
    fs::create_dir_all(rig.path("bin")).expect("a folder");
    let draft = rig.path("bin/draft");
    fs::write(&draft, format!("#!/bin/sh\n{script}\n")).expect("a script");
    fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("a mode");
    let copied = Command::new("cp")
        .arg(&draft)
        .arg(rig.path("bin/openclaw"))
        .status();
    assert!(copied.expect("cp").success());
}

fn register(hosts: &Hosts) -> Result<Done, Error> {
    let claw = host("openclaw");
    let plan = hosts.plan_registration(claw, &Scope::User, FOUND, NOW)?;
    hosts.make(plan, NOW)
}

/// Registers, and gives up once the host is asked for the second time.
fn give_up(rig: &Rig, hosts: Hosts) -> Result<Done, Error> {
    let stop = Stop::default();
    let hosts = hosts.until(stop.clone());
    let thinking = rig.path("thinking");
    thread::scope(|scope| {
        let registering = scope.spawn(|| register(&hosts));
        while !thinking.exists() && !registering.is_finished() {
            thread::sleep(Duration::from_millis(5));
        }
        stop.now();
        registering.join().expect("no panic")
    })
}

fn copies(file: &Path) -> usize {
    let folder = fs::read_dir(file.parent().expect("a folder")).expect("a folder");
    let names = folder.map(|entry| entry.expect("an entry").file_name());
    names
        .filter(|name| name.to_string_lossy().ends_with(".bak"))
        .count()
}

/// What the host refuses is taken out again, byte for byte; so is what nobody waits for any more,
/// whose copy goes then.
#[test]
fn what_is_not_wanted_is_taken_out() {
    let rig = Rig::new();
    let file = rig.write(host("openclaw"), BEFORE);
    let refusing = hosts(&rig, "echo 'no such key' >&2; exit 1");
    match register(&refusing) {
        Err(Error::Refused { message, .. }) => assert_eq!(message, "no such key"),
        other => panic!("{other:?}"),
    }
    assert_eq!(read(&file), BEFORE);
    assert_eq!(copies(&file), 1);
    assert_eq!(refusing.ledger.find(&file).expect("a list"), None);

    let rig = Rig::new();
    let file = rig.write(host("openclaw"), BEFORE);
    let slow = format!("mkdir '{}'\nexec sleep 300", rig.path("thinking").display());
    let stopped = give_up(&rig, hosts(&rig, &slow));
    assert!(matches!(stopped, Err(Error::Stopped { .. })), "{stopped:?}");
    assert_eq!(read(&file), BEFORE);
    assert_eq!(copies(&file), 0);
}

/// What another program wrote while the host was asked stays, and our entry in it is known and taken
/// out of it later.
#[test]
fn what_others_write_meanwhile_stays() {
    for refused in [true, false] {
        let rig = Rig::new();
        let file = rig.write(host("openclaw"), BEFORE);
        let thinking = rig.path("thinking");
        let end = if refused { "exit 1" } else { "exec sleep 300" };
        let write = format!(
            "echo '// theirs' >> \"$FILE\"\nmkdir '{}'\n{end}",
            thinking.display()
        );
        let claw = hosts(&rig, &write);
        let made = if refused {
            register(&claw)
        } else {
            give_up(&rig, claw.clone())
        };
        match made {
            Err(Error::NotPutBack { source, .. }) => {
                assert!(matches!(*source, Error::Changed { .. }), "{source:?}");
            }
            other => panic!("{other:?}"),
        }
        let text = read(&file);
        assert!(text.ends_with("// theirs\n") && text.contains("openspace"));
        assert_eq!(copies(&file), 1);
        let still = claw.look(host("openclaw"), &Scope::User).expect("a report");
        assert_eq!(still.state.id(), "registered");
        let removed = claw.unregister(host("openclaw"), &Scope::User, false, NOW);
        removed.expect("removed");
        assert_eq!(read(&file), format!("{BEFORE}// theirs\n"));
    }
}

/// A file that cannot be put back keeps its copy, and what was written can be taken back later.
#[test]
fn what_cannot_be_put_back_is_known() {
    let rig = Rig::new();
    let file = rig.write(host("openclaw"), BEFORE);
    let thinking = rig.path("thinking");
    let lock = format!(
        "chmod 400 \"$FILE\"\nmkdir '{}'\nexec sleep 300",
        thinking.display()
    );
    let claw = hosts(&rig, &lock);
    match give_up(&rig, claw.clone()) {
        Err(Error::NotPutBack { source, .. }) => {
            assert!(matches!(*source, Error::ReadOnly { .. }), "{source:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(copies(&file), 1);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("a mode");
    let plan = claw.plan_undo(host("openclaw"), &Scope::User);
    program(&rig, "exit 0");
    claw.make(plan.expect("known"), NOW).expect("taken back");
    assert_eq!(read(&file), BEFORE);
}
