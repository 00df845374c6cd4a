use super::*;

fn undo(hosts: &Hosts, host: &'static Host) -> Result<Done, Error> {
    let plan = hosts.plan_undo(host, &Scope::User)?;
    hosts.make(plan, NOW)
}

fn state(hosts: &Hosts, host: &'static Host) -> &'static str {
    hosts.look(host, &Scope::User).expect("a report").state.id()
}

/// With every host: registering and taking that back leads to the same bytes, or to no file where
/// there was none, and so does taking back that it was unregistered.
#[test]
fn the_last_change_is_taken_back() {
    for host in HOSTS {
        for before in [
            None,
            Some(others(host)),
            Some(format!("\u{feff}{}", others(host))),
        ] {
            let rig = Rig::new();
            let hosts = rig.hosts();
            let file = match &before {
                Some(text) => rig.write(host, text),
                None => hosts.file(host, &Scope::User).expect("a file"),
            };
            let what = format!("{} {before:?}", host.id);
            assert_eq!(hosts.undoable(host, &Scope::User).expect("known"), None);
            hosts
                .register(host, &Scope::User, FOUND, NOW)
                .unwrap_or_else(|error| panic!("{what}: {error}"));
            let written = read(&file);
            assert_eq!(hosts.undoable(host, &Scope::User).expect("known"), Some(0));
            let done = undo(&hosts, host).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(read(&done.backup.expect("a copy")), written, "{what}");
            assert_eq!(fs::read_to_string(&file).ok(), before, "{what}");
            assert!(
                matches!(undo(&hosts, host), Err(Error::NothingToUndo { .. })),
                "{what}: it is taken back once"
            );

            hosts
                .register(host, &Scope::User, FOUND, NOW)
                .expect("registered");
            hosts
                .unregister(host, &Scope::User, false, NOW)
                .expect("unregistered");
            undo(&hosts, host).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(read(&file), written, "{what}");
            assert_eq!(state(&hosts, host), "registered", "{what}");
            hosts
                .unregister(host, &Scope::User, false, NOW)
                .expect("known as before");
            assert_eq!(fs::read_to_string(&file).ok(), before, "{what}");
        }
    }
}

/// An entry of somebody else that was replaced is there again, and is somebody else's.
#[test]
fn another_entry_comes_back() {
    let rig = Rig::new();
    let (hosts, codex) = (rig.hosts(), host("codex"));
    let before = "[mcp_servers.openspace]\ncommand = \"npx\" # mine\n";
    let file = rig.write(codex, before);
    let forced = Options {
        force: true,
        ..FOUND
    };
    hosts
        .register(codex, &Scope::User, forced, NOW)
        .expect("replaced");
    assert_eq!(state(&hosts, codex), "registered");
    undo(&hosts, codex).expect("taken back");
    assert_eq!(read(&file), before);
    assert_eq!(state(&hosts, codex), "different");
}

/// What somebody changed since is not thrown away, nor is a file whose copy is gone.
#[test]
fn what_came_later_stays() {
    let rig = Rig::new();
    let (hosts, cursor) = (rig.hosts(), host("cursor"));
    let file = rig.write(cursor, &others(cursor));
    let done = hosts
        .register(cursor, &Scope::User, FOUND, NOW)
        .expect("registered");
    let written = read(&file);
    let stale = hosts.plan_undo(cursor, &Scope::User).expect("possible");
    let later = format!("{written}\n");
    fs::write(&file, &later).expect("changed by the host");
    assert_eq!(hosts.undoable(cursor, &Scope::User).expect("known"), None);
    for refused in [
        undo(&hosts, cursor).expect_err("refused"),
        hosts.make(stale, NOW).expect_err("refused"),
    ] {
        assert!(
            matches!(refused, Error::NothingToUndo { .. } | Error::Changed { .. }),
            "{refused}"
        );
    }
    assert_eq!(read(&file), later);

    fs::write(&file, &written).expect("and back");
    assert!(
        hosts
            .undoable(cursor, &Scope::User)
            .expect("known")
            .is_some()
    );
    fs::remove_file(done.backup.expect("a copy")).expect("removed");
    assert_eq!(hosts.undoable(cursor, &Scope::User).expect("known"), None);
}

/// A list that was written before changes were kept is read, and nothing can be taken back by it.
#[test]
fn an_older_list_is_read() {
    let rig = Rig::new();
    let (hosts, codex) = (rig.hosts(), host("codex"));
    rig.write(codex, "");
    hosts
        .register(codex, &Scope::User, FOUND, NOW)
        .expect("registered");
    let list = rig.path("data/hosts.json");
    let mut stored: Value = serde_json::from_str(&read(&list)).expect("JSON");
    stored.as_object_mut().expect("a map").remove("changes");
    fs::write(&list, stored.to_string()).expect("written");
    assert_eq!(state(&hosts, codex), "registered");
    assert_eq!(hosts.undoable(codex, &Scope::User).expect("known"), None);
    hosts
        .unregister(codex, &Scope::User, false, NOW)
        .expect("still known");
}

/// The same change has the same fingerprint; whatever makes it another one changes that.
#[test]
fn a_change_is_known_by_its_fingerprint() {
    for host in HOSTS {
        let rig = Rig::new();
        let hosts = rig.hosts();
        let file = rig.write(host, &others(host));
        let plan = |options| {
            hosts
                .plan_registration(host, &Scope::User, options, NOW)
                .expect("a plan")
        };
        let first = plan(FOUND);
        assert_eq!(first.other_servers(), 1, "{}", host.id);
        assert_eq!(
            first.fingerprint(),
            plan(FOUND).fingerprint(),
            "{}",
            host.id
        );
        if host.can_trust() {
            let trust = Options {
                trust: true,
                ..FOUND
            };
            assert_ne!(
                first.fingerprint(),
                plan(trust).fingerprint(),
                "{}",
                host.id
            );
        }
        fs::write(&file, others(host) + "\n").expect("changed");
        assert_ne!(
            first.fingerprint(),
            plan(FOUND).fingerprint(),
            "{}",
            host.id
        );
        fs::write(&file, others(host)).expect("changed back");
        assert_eq!(
            first.fingerprint(),
            plan(FOUND).fingerprint(),
            "{}",
            host.id
        );
        let removal = hosts.plan_removal(host, &Scope::User, false);
        let removal = removal.expect("nothing to do").fingerprint();
        assert_ne!(first.fingerprint(), removal, "{}", host.id);
    }
}
