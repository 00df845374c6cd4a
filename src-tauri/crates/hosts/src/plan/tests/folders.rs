//! Where the files of a server lie that a host starts with next to no variables.

use super::*;
use crate::{Cure, Finding};

/// Hosts drop the variables that say where settings and database lie, so every entry names them
/// where they are set, and is removed as ever.
#[test]
fn folders_that_were_moved_are_in_the_entry() {
    for host in HOSTS {
        let rig = Rig::new();
        let folders = ["cfg", "share"].map(|name| rig.path(name).display().to_string());
        let set = [
            ("XDG_CONFIG_HOME", folders[0].as_str()),
            ("XDG_DATA_HOME", folders[1].as_str()),
        ];
        let hosts = rig.hosts_where(&set);
        let file = hosts.file(host, &Scope::User).expect("a file");
        hosts
            .register(host, &Scope::User, FOUND, NOW)
            .expect("registered");
        let report = hosts.look(host, &Scope::User).expect("a report");
        let launch = report.launch.expect("a program");
        for (name, value) in set {
            let given = launch.env.get(name).map(String::as_str);
            assert_eq!(given, Some(value), "{}: {name}", host.id);
        }
        assert_eq!(report.state.id(), "registered", "{}", host.id);
        hosts
            .unregister(host, &Scope::User, false, NOW)
            .expect("unregistered");
        assert!(!file.exists(), "{}", host.id);
    }
    let rig = Rig::new();
    let wanted = |variables: &[(&str, &str)]| {
        let wanted = rig.hosts_where(variables).wanted(host("codex"));
        wanted.env.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(wanted(&[]), ["OPENSPACE_HOST_ID"]);
    let usual = rig.path("home/.config");
    let usual = usual.to_str().expect("text");
    assert_eq!(wanted(&[("XDG_CONFIG_HOME", usual)]), ["OPENSPACE_HOST_ID"]);
    assert_eq!(
        wanted(&[("XDG_CONFIG_HOME", "/cfg"), ("OPENSPACE_HOME", "/own")]),
        ["OPENSPACE_HOME", "OPENSPACE_HOST_ID"]
    );
}

/// An entry with other folders than the person has now is told of and left alone, until they say so:
/// then it gets theirs, and nothing else of it changes.
#[test]
fn an_entry_with_other_folders_is_told_of() {
    for host in HOSTS {
        let rig = Rig::new();
        let before = rig.hosts_where(&[]);
        let file = rig.write(host, &others(host));
        // The host's own file may be another one with these variables.
        let scope = Scope::File(file.clone());
        before
            .register(host, &scope, FOUND, NOW)
            .expect("registered");
        let registered = read(&file);
        let folder = rig.path("cfg").display().to_string();
        let later = rig.hosts_where(&[("XDG_CONFIG_HOME", &folder)]);
        let findings = later.checkup(false, NOW).expect("looked").findings;
        assert!(
            matches!(
                findings.as_slice(),
                [Finding {
                    cure: Cure::Elsewhere,
                    ..
                }]
            ),
            "{findings:?}"
        );
        let unasked = later.register(host, &scope, FOUND, NOW).expect("looked");
        assert_eq!(unasked.plan.kind, Kind::Nothing, "{}", host.id);
        assert_eq!(read(&file), registered, "{}", host.id);

        let forced = Options {
            force: true,
            ..FOUND
        };
        for (hosts, has) in [(&later, true), (&before, false)] {
            let done = hosts
                .register(host, &scope, forced, NOW)
                .unwrap_or_else(|error| panic!("{}: {error}", host.id));
            assert_eq!(done.plan.kind, Kind::Adjust, "{}", host.id);
            assert_eq!(read(&file).contains(&folder), has, "{}", host.id);
            let findings = hosts.checkup(true, NOW).expect("looked").findings;
            assert!(
                matches!(
                    findings.as_slice(),
                    [Finding {
                        cure: Cure::Needless,
                        ..
                    }]
                ),
                "{findings:?}"
            );
        }
        before
            .unregister(host, &scope, false, NOW)
            .expect("unregistered");
        assert_eq!(read(&file), others(host), "{}", host.id);
    }
}
