//! Changes within an entry that is ours already.

use super::*;

const TRUSTING: Options = Options {
    trust: true,
    ..FOUND
};

/// The same machine and list, as another copy of our program sees them.
fn another_copy(rig: &Rig, hosts: &Hosts) -> Hosts {
    Hosts {
        data: hosts.data.clone(),
        ledger: hosts.ledger.clone(),
        ..Hosts::new(
            hosts.machine.clone(),
            rig.path("data2"),
            &rig.program("second"),
        )
    }
}

fn forced(hosts: &Hosts, host: &'static Host) -> Done {
    let options = Options {
        force: true,
        ..FOUND
    };
    hosts
        .register(host, &Scope::User, options, NOW)
        .unwrap_or_else(|error| panic!("{}: {error}", host.id))
}

fn added(before: &str, after: &str) -> Vec<String> {
    let old: Vec<_> = before.lines().collect();
    let lines = after.lines().filter(|line| !old.contains(line));
    lines.map(str::to_owned).collect()
}

/// A host is told to trust us after it was registered: nothing but that is written, and unregistering
/// leads back to the bytes from before, or to no file.
#[test]
fn trust_is_added_to_the_entry_that_is_there() {
    for host in HOSTS.iter().filter(|host| host.can_trust()) {
        for before in [None, Some(others(host))] {
            let rig = Rig::new();
            let hosts = rig.hosts();
            let file = match &before {
                Some(text) => rig.write(host, text),
                None => hosts.file(host, &Scope::User).expect("a file"),
            };
            hosts
                .register(host, &Scope::User, FOUND, NOW)
                .expect("registered");
            let registered = read(&file);
            let done = hosts
                .register(host, &Scope::User, TRUSTING, NOW)
                .expect("trusted");
            let what = format!("{} {before:?}\n{}", host.id, read(&file));
            assert_eq!(done.plan.kind, Kind::Adjust, "{what}");
            assert!(added(&registered, &read(&file)).len() <= 2, "{what}");
            let (key, value) = host.trust.expect("a key");
            let said = host.dialect.read(&read(&file)).expect("read");
            let entry = find(&said, host.at(&said)).expect("an entry");
            assert_eq!(entry.get(key), Some(&value.value()), "{what}");
            let again = hosts
                .register(host, &Scope::User, TRUSTING, NOW)
                .expect("again");
            assert_eq!(again.plan.kind, Kind::Nothing, "{what}");
            hosts
                .unregister(host, &Scope::User, false, NOW)
                .expect("unregistered");
            assert_eq!(fs::read_to_string(&file).ok(), before, "{what}");
            let state = hosts.look(host, &Scope::User).expect("a report").state;
            assert!(!state.is_registered(), "{what}");
        }
    }
}

/// What a person added to our entry stays when it is told to trust us, and goes with the entry.
#[test]
fn what_a_person_added_stays_until_the_entry_goes() {
    let rig = Rig::new();
    let (hosts, codex) = (rig.hosts(), host("codex"));
    let file = rig.write(codex, "model = \"x\"\n");
    hosts
        .register(codex, &Scope::User, FOUND, NOW)
        .expect("registered");
    let theirs = "cwd = \"/work\" # mine\nenabled_tools = [\"execute_task\"]\nenv.MY_API_KEY = \"sk-mine\"\n";
    let registered = read(&file);
    let lines = registered.split_inclusive('\n');
    let changed: String = lines.filter(|line| !line.starts_with("env")).collect();
    fs::write(&file, changed + theirs).expect("changed by the person");
    hosts
        .register(codex, &Scope::User, TRUSTING, NOW)
        .expect("trusted");
    let trusted = read(&file);
    assert!(trusted.contains(theirs), "{trusted}");
    assert!(
        trusted.contains("default_tools_approval_mode = \"approve\""),
        "{trusted}"
    );
    let list = read(&rig.path("data/hosts.json"));
    assert!(!list.contains("sk-mine"), "{list}");
    hosts
        .unregister(codex, &Scope::User, false, NOW)
        .expect("unregistered");
    assert_eq!(read(&file), "model = \"x\"\n");
}

/// Another copy of our program takes the entry over, in every format: only the program changes.
#[test]
fn another_copy_takes_the_entry_over() {
    for host in HOSTS {
        for before in [None, Some(others(host))] {
            let rig = Rig::new();
            let first = rig.hosts();
            let file = match &before {
                Some(text) => rig.write(host, text),
                None => first.file(host, &Scope::User).expect("a file"),
            };
            first
                .register(host, &Scope::User, FOUND, NOW)
                .expect("registered");
            let registered = read(&file);
            let second = another_copy(&rig, &first);
            let done = forced(&second, host);
            assert_eq!(done.plan.kind, Kind::Adjust, "{}", host.id);
            let (old, new) = (first.wanted(host).command, second.wanted(host).command);
            assert_eq!(read(&file), registered.replace(&old, &new), "{}", host.id);
            second
                .unregister(host, &Scope::User, false, NOW)
                .expect("unregistered");
            assert_eq!(fs::read_to_string(&file).ok(), before, "{}", host.id);
        }
    }
}

/// A list that knows how to lead back to an older entry of ours only: the entry goes all the same.
#[test]
fn an_undo_that_leads_to_our_own_entry_is_not_taken() {
    let rig = Rig::new();
    let (hosts, codex) = (rig.hosts(), host("codex"));
    let file = rig.write(codex, "model = \"x\"\n");
    hosts
        .register(codex, &Scope::User, FOUND, NOW)
        .expect("registered");
    let old = read(&file);
    let new = format!("{old}default_tools_approval_mode = \"approve\"\n");
    fs::write(&file, &new).expect("trusted");
    let record = hosts.ledger.find(&file).expect("a list").expect("known");
    let record = Record {
        splice: Splice::between(&old, &new),
        created: 0,
        new_file: false,
        ..record
    };
    hosts.ledger.put(&file, Some(record), None).expect("kept");
    hosts
        .unregister(codex, &Scope::User, false, NOW)
        .expect("unregistered");
    assert_eq!(read(&file), "model = \"x\"\n");
}

/// An entry of the name that the program had before gets the argument that the present one wants.
#[test]
fn the_arguments_are_corrected_with_the_program() {
    for id in ["cursor", "opencode", "codex", "goose"] {
        let rig = Rig::new();
        let (hosts, host) = (rig.hosts(), host(id));
        let old = Launch {
            command: "/gone/bin/openspace-mcp".to_owned(),
            args: Vec::new(),
            env: hosts.wanted(host).env,
        };
        let at = At {
            path: host.key,
            name: NAME,
        };
        let text = host
            .dialect
            .add(&others(host), at, &host.entry(&old, false))
            .expect("an entry");
        rig.write(host, &text);
        let done = hosts
            .register(host, &Scope::User, FOUND, NOW)
            .expect("repaired");
        assert_eq!(done.plan.kind, Kind::Repair, "{id}");
        let report = hosts.look(host, &Scope::User).expect("a report");
        assert_eq!(report.launch, Some(hosts.wanted(host)), "{id}");
        assert_eq!(report.state.id(), "registered", "{id}");
    }
}

/// What another entry held stays in the copy of the file and nowhere else of ours, and comes back from
/// there however often ours was changed meanwhile.
#[test]
fn secrets_of_another_entry_stay_in_the_copy_of_the_file() {
    for id in ["cursor", "gemini", "codex", "opencode", "goose"] {
        let rig = Rig::new();
        let (first, host) = (rig.hosts(), host(id));
        let theirs = Launch {
            command: "npx".to_owned(),
            args: vec!["their-server".to_owned()],
            env: [("OPENSPACE_API_KEY".to_owned(), "sk-secret".to_owned())].into(),
        };
        let at = At {
            path: host.key,
            name: NAME,
        };
        let before = host
            .dialect
            .add(&others(host), at, &host.entry(&theirs, false))
            .expect("an entry");
        let file = rig.write(host, &before);
        let list = || read(&rig.path("data/hosts.json"));
        assert_eq!(forced(&first, host).plan.kind, Kind::Replace, "{id}");
        assert!(!list().contains("sk-secret"), "{id}: {}", list());
        let second = another_copy(&rig, &first);
        for _ in 0..4 {
            forced(&second, host);
            forced(&first, host);
        }
        if host.can_trust() {
            first
                .register(host, &Scope::User, TRUSTING, NOW)
                .expect("trusted");
        }
        assert!(!list().contains("sk-secret"), "{id}: {}", list());
        assert!(!read(&file).contains("sk-secret"), "{id}");
        first
            .unregister(host, &Scope::User, false, NOW)
            .expect("unregistered");
        assert_eq!(read(&file), before, "{id}");

        // Without the copy, ours goes all the same.
        let done = forced(&first, host);
        fs::remove_file(done.backup.expect("a copy")).expect("removed");
        first
            .unregister(host, &Scope::User, false, NOW)
            .expect("unregistered");
        let said = host.dialect.read(&read(&file)).expect("read");
        assert_eq!(find(&said, host.at(&said)), None, "{id}");
    }
}
