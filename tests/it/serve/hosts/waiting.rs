//! A host that thinks about its file for long.

use std::{os::unix::fs::PermissionsExt as _, time::Instant};

use openspace_testkit::wait::poll;

use super::{super::SOON, Desk, backups, change, fs, json};

const FILE: &str = ".openclaw/openclaw.json";
const JSON5: &str = "{ gateway: { port: 1 } }\n";

/// Giving it up ends what was started for it, and nothing is changed.
#[test]
fn a_host_that_thinks_too_long_is_given_up() {
    let desk = Desk::new(&[(FILE, JSON5)]);
    let program = desk.path("bin/openclaw");
    fs::create_dir_all(desk.path("bin")).expect("a folder");
    let started = desk.path("started");
    let script = format!(
        "#!/bin/sh\nsleep 300 &\necho $! > '{0}.part'\nmv '{0}.part' '{0}'\nwait\n",
        started.display()
    );
    fs::write(&program, script).expect("a script");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");

    let request = change("openclaw", "register");
    let shown = desk.preview(&request);
    let client = &desk.served.client;
    std::thread::scope(|scope| {
        let applied = json!({ "request": request, "fingerprint": shown["fingerprint"] });
        let making = scope.spawn(move || client.call("host_change", applied));
        let child = poll(SOON, || fs::read_to_string(&started).ok());
        let child = child.expect("it is asked").trim().to_owned();
        let begun = Instant::now();
        desk.served
            .call("host_give_up", json!({ "host": "openclaw" }));
        let refused = making.join().expect("no panic").expect_err("given up");
        assert_eq!(refused["params"]["reason"], "stopped", "{refused}");
        assert!(begun.elapsed() < SOON / 4, "{:?}", begun.elapsed());
        // One that has ended has no command any more, whoever is to collect it.
        let command = std::path::Path::new("/proc").join(child).join("cmdline");
        let lives = || fs::read(&command).is_ok_and(|command| !command.is_empty());
        let gone = poll(SOON, || (!lives()).then_some(()));
        assert!(gone.is_some(), "its child is gone");
    });
    assert_eq!(desk.read(FILE), JSON5);
    assert!(backups(&desk.path(FILE)).is_empty());
    assert_eq!(desk.host("openclaw")["state"], "not_registered");
    // Nothing that goes on is fine.
    desk.served
        .call("host_give_up", json!({ "host": "openclaw" }));
    desk.served.finish();
}
