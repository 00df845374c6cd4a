mod folders;
mod ours;
mod places;
mod undo;
#[cfg(unix)]
mod unwanted;

use std::{fs, path::Path};

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::{Dialect, HOSTS, Launch, Machine, Platform};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;
const FOUND: Options = Options {
    force: false,
    trust: false,
    create: true,
};

/// A machine with a home of its own and a program that stays where it is.
struct Rig {
    folder: tempfile::TempDir,
    platform: Platform,
}

impl Rig {
    fn new() -> Self {
        Self::on(Platform::Linux)
    }

    fn on(platform: Platform) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("home")).expect("a home");
        let rig = Self { folder, platform };
        rig.program("first");
        rig
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self, name: &str) -> PathBuf {
        let program = self.path(name).join("openspace");
        fs::create_dir_all(self.path(name)).expect("a folder");
        fs::write(&program, name).expect("a program");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
        }
        program
    }

    fn hosts(&self) -> Hosts {
        self.hosts_where(&[])
    }

    /// The same with more variables.
    fn hosts_where(&self, variables: &[(&str, &str)]) -> Hosts {
        let path = [("PATH", "/nowhere")];
        let machine = Machine {
            platform: self.platform,
            home: self.path("home"),
            environment: path.iter().chain(variables).copied().collect(),
        };
        Hosts::new(machine, self.path("data"), &self.path("first/openspace"))
    }

    /// Makes the file of a host with this text.
    fn write(&self, host: &'static Host, text: &str) -> PathBuf {
        let file = self.hosts().file(host, &Scope::User).expect("a file");
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, text).expect("a file");
        file
    }
}

fn host(id: &str) -> &'static Host {
    crate::find(id).expect(id)
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).expect("a file")
}

/// A file with other servers, as each format has it.
fn others(host: &Host) -> String {
    let name = host.key.last().copied().unwrap_or_default();
    match host.dialect {
        Dialect::Toml => format!(
            "# mine\nmodel = \"x\"\n\n[{name}.other]\ncommand = \"y\" # why\nargs = []\nstartup_timeout_sec = 30\n"
        ),
        Dialect::Yaml => format!(
            "# mine\nMODEL: x\n{name}:\n  other:\n    cmd: y # why\n    args: []\n    envs: {{}}\n"
        ),
        _ => match host.key {
            [key] => format!(
                "{{\n\t\"theme\": \"dark\",\n\t\"{key}\": {{\n\t\t\"other\": {{\"command\": \"y\", \"args\": [], \"env\": {{}}}}\n\t}}\n}}\n"
            ),
            [outer, key] => format!(
                "{{\r\n  \"{outer}\": {{ \"{key}\": {{ \"other\": {{ \"command\": \"y\" }} }} }}\r\n}}"
            ),
            _ => unreachable!("no host has a deeper place"),
        },
    }
}

/// With every host, on every system: registering adds the entry, doing it again changes nothing,
/// and unregistering leads back to the same bytes, or to no file where there was none.
#[test]
fn every_host_is_registered_and_restored() {
    for platform in [Platform::Linux, Platform::MacOs, Platform::Windows] {
        for host in HOSTS {
            for before in [None, Some(String::new()), Some(others(host))] {
                let rig = Rig::on(platform);
                let hosts = rig.hosts();
                let file = match &before {
                    Some(text) => rig.write(host, text),
                    None => hosts.file(host, &Scope::User).expect("a file"),
                };
                let what = format!("{} {platform:?} {before:?}", host.id);
                let done = hosts
                    .register(host, &Scope::User, FOUND, NOW)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(done.plan.kind, Kind::Add, "{what}");
                assert_eq!(done.backup.is_some(), before.is_some(), "{what}");
                let written = read(&file);
                let report = hosts.look(host, &Scope::User).expect("a report");
                assert_eq!(report.state.id(), "registered", "{what}\n{written}");
                assert_eq!(report.launch, Some(hosts.wanted(host)), "{what}");

                let again = hosts
                    .register(host, &Scope::User, FOUND, NOW)
                    .expect("a second time");
                assert_eq!(again.plan.kind, Kind::Nothing, "{what}");
                assert_eq!(read(&file), written, "{what}");

                hosts
                    .unregister(host, &Scope::User, false, NOW)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                let after = fs::read_to_string(&file).ok();
                assert_eq!(after, before, "{what}");
                let again = hosts.unregister(host, &Scope::User, false, NOW);
                assert_eq!(
                    again.expect("nothing to do").plan.kind,
                    Kind::Nothing,
                    "{what}"
                );
            }
        }
    }
}

/// Where our list was lost, the entry is still known and cut out of the text.
#[test]
fn an_entry_is_removed_without_the_list() {
    for host in HOSTS {
        let rig = Rig::new();
        let before = others(host);
        let file = rig.write(host, &before);
        let hosts = rig.hosts();
        hosts
            .register(host, &Scope::User, FOUND, NOW)
            .expect("registered");
        fs::remove_file(rig.path("data/hosts.json")).expect("lost");
        hosts
            .unregister(host, &Scope::User, false, NOW)
            .unwrap_or_else(|error| panic!("{}: {error}", host.id));
        assert_eq!(read(&file), before, "{}", host.id);
    }
}

/// What others change around our entry stays when it is removed.
#[test]
fn changes_of_others_stay() {
    let rig = Rig::new();
    let opencode = host("opencode");
    let file = rig.write(opencode, "{\n  // mine\n  \"mcp\": {}\n}\n");
    let hosts = rig.hosts();
    hosts
        .register(opencode, &Scope::User, FOUND, NOW)
        .expect("registered");
    let changed = read(&file).replace(
        "{\n  // mine",
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // mine",
    );
    fs::write(&file, changed).expect("changed by the host");
    hosts
        .unregister(opencode, &Scope::User, false, NOW)
        .expect("unregistered");
    assert_eq!(
        read(&file),
        "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  // mine\n  \"mcp\": {}\n}\n"
    );

    // A host that writes the whole file anew.
    hosts
        .register(opencode, &Scope::User, FOUND, NOW)
        .expect("registered");
    let said = Dialect::Jsonc.read(&read(&file)).expect("JSONC");
    fs::write(&file, said.to_string()).expect("written anew");
    hosts
        .unregister(opencode, &Scope::User, false, NOW)
        .expect("unregistered");
    assert_eq!(
        read(&file),
        "{\"$schema\":\"https://opencode.ai/config.json\",\"mcp\":{}}"
    );
}

/// An entry of another is shown and left alone, replaced when told to, and comes back.
#[test]
fn another_entry_is_never_merged() {
    let rig = Rig::new();
    let cursor = host("cursor");
    let before = "{\n  \"mcpServers\": {\n    \"openspace\": {\"command\": \"openspace-mcp\", \"env\": {\"OPENSPACE_API_KEY\": \"sk-1\"}},\n    \"z\": {}\n  }\n}\n";
    let file = rig.write(cursor, before);
    let hosts = rig.hosts();
    match hosts.register(cursor, &Scope::User, FOUND, NOW) {
        Err(Error::Different { entry, .. }) => {
            assert!(
                entry.contains("openspace-mcp") && !entry.contains("sk-1"),
                "{entry}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        hosts.unregister(cursor, &Scope::User, false, NOW),
        Err(Error::Different { .. })
    ));
    assert_eq!(read(&file), before);
    let force = Options {
        force: true,
        ..FOUND
    };
    let done = hosts
        .register(cursor, &Scope::User, force, NOW)
        .expect("replaced");
    assert_eq!(done.plan.kind, Kind::Replace);
    assert!(!done.plan.diff().contains("sk-1"), "{}", done.plan.diff());
    assert!(!read(&file).contains("sk-1"));
    assert_eq!(read(&done.backup.expect("a copy")), before);
    hosts
        .unregister(cursor, &Scope::User, false, NOW)
        .expect("unregistered");
    assert_eq!(read(&file), before, "the other entry is back");
}

/// A program that moved is corrected in place; what a person added to the entry stays.
#[test]
fn a_moved_program_is_corrected() {
    for id in ["cursor", "codex", "opencode", "goose"] {
        let rig = Rig::new();
        let host = host(id);
        let before = others(host);
        let file = rig.write(host, &before);
        let first = rig.hosts();
        first
            .register(host, &Scope::User, FOUND, NOW)
            .expect("registered");
        let command = first.wanted(host).command;
        let registered = read(&file);
        fs::remove_file(&command).expect("the program goes");
        fs::remove_dir_all(rig.path("first")).expect("all of it");

        // The same list, another program, and a copy in another place.
        let second = rig.program("second");
        let second = Hosts {
            data: rig.path("data"),
            ledger: crate::ledger::Ledger::new(&rig.path("data")),
            ..Hosts::new(first.machine.clone(), rig.path("data2"), &second)
        };
        let state = second.look(host, &Scope::User).expect("a report").state;
        assert_eq!(state.id(), "moved", "{id}");
        let dry = second.checkup(true, NOW).expect("looked");
        assert!(
            matches!(dry.findings.as_slice(), [finding] if matches!(finding.cure, crate::Cure::Possible)),
            "{dry:?}"
        );
        assert_eq!(read(&file), registered, "{id}: nothing was changed");
        let cured = second.checkup(false, NOW).expect("looked");
        assert!(
            matches!(cured.findings.as_slice(), [finding] if matches!(finding.cure, crate::Cure::Done(_))),
            "{cured:?}"
        );
        assert_eq!(
            read(&file),
            registered.replace(&command, &second.wanted(host).command),
            "{id}"
        );
        assert!(Path::new(&second.wanted(host).command).is_file());
        let again = second.checkup(false, NOW).expect("looked");
        assert!(
            matches!(again.findings.as_slice(), [finding] if matches!(finding.cure, crate::Cure::Needless)),
            "{again:?}"
        );
        second
            .unregister(host, &Scope::User, false, NOW)
            .expect("unregistered");
        assert_eq!(read(&file), before, "{id}");
    }
}

/// Our own entry that somebody removed is noticed and not put back unasked.
#[test]
fn a_removed_entry_stays_removed() {
    let rig = Rig::new();
    let kiro = host("kiro");
    let file = rig.write(kiro, "{}");
    let hosts = rig.hosts();
    hosts
        .register(kiro, &Scope::User, FOUND, NOW)
        .expect("registered");
    fs::write(&file, "{\"mcpServers\": {}}").expect("removed");
    let checkup = hosts.checkup(false, NOW).expect("looked");
    assert!(matches!(checkup.findings.as_slice(), [finding] if finding.state.id() == "removed"));
    assert_eq!(read(&file), "{\"mcpServers\": {}}");
    hosts
        .unregister(kiro, &Scope::User, false, NOW)
        .expect("forgotten");
    assert!(
        hosts
            .checkup(false, NOW)
            .expect("looked")
            .findings
            .is_empty()
    );
}

/// Another program is faster: once it is tried again, and what it wrote stays.
#[test]
fn a_change_meanwhile_is_kept() {
    let rig = Rig::new();
    let kiro = host("kiro");
    let file = rig.write(kiro, "{\"mcpServers\": {}}");
    let hosts = rig.hosts();
    let stale = hosts
        .plan_registration(kiro, &Scope::User, FOUND, NOW)
        .expect("a plan");
    fs::write(&file, "{\"mcpServers\": {\"new\": {}}}").expect("changed");
    assert!(matches!(hosts.make(stale, NOW), Err(Error::Changed { .. })));
    assert_eq!(read(&file), "{\"mcpServers\": {\"new\": {}}}");
    let mut plans = 0;
    let counted = std::cell::RefCell::new(&mut plans);
    let done = hosts.change(kiro, &Scope::User, NOW, || {
        **counted.borrow_mut() += 1;
        let plan = hosts.plan_registration(kiro, &Scope::User, FOUND, NOW)?;
        if **counted.borrow() == 1 {
            fs::write(&file, "{\"mcpServers\": {\"newer\": {}}}").expect("changed");
        }
        Ok(plan)
    });
    assert!(done.is_ok(), "{done:?}");
    assert_eq!(plans, 2);
    assert!(read(&file).contains("\"newer\": {}") && read(&file).contains("openspace"));
}

/// A host that writes its file all the time, under its own lock, loses nothing to us, nor we to it.
#[test]
fn a_busy_host_loses_nothing() {
    const ROUNDS: u64 = 60;
    let rig = Rig::new();
    let claude = host("claude-code");
    let file = rig.write(claude, "{\"numStartups\": 0}");
    let lock = file.with_file_name(".claude.json.lock");
    let hosts = rig.hosts();
    let busy = std::thread::spawn({
        let file = file.clone();
        move || {
            for _ in 0..ROUNDS {
                while fs::create_dir(&lock).is_err() {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                let mut said: Value =
                    serde_json::from_str(&read(&file)).expect("never a part of it");
                said["numStartups"] = (said["numStartups"].as_u64().expect("a number") + 1).into();
                let staged = file.with_extension("tmp");
                fs::write(&staged, said.to_string()).expect("written");
                fs::rename(&staged, &file).expect("replaced");
                fs::remove_dir(&lock).expect("given back");
            }
        }
    });
    while !busy.is_finished() {
        hosts
            .register(claude, &Scope::User, FOUND, NOW)
            .expect("registered");
        let said: Value = serde_json::from_str(&read(&file)).expect("JSON");
        assert!(said["mcpServers"]["openspace"].is_object());
        hosts
            .unregister(claude, &Scope::User, false, NOW)
            .expect("unregistered");
    }
    busy.join().expect("no panic");
    let said: Value = serde_json::from_str(&read(&file)).expect("JSON");
    assert_eq!(said["numStartups"], ROUNDS, "no round was lost");
    assert!(said["mcpServers"].get("openspace").is_none());
}

/// Files of projects are written for whoever shares them, and copied elsewhere.
#[test]
fn a_project_has_its_own_file() {
    let rig = Rig::new();
    let claude = host("claude-code");
    let hosts = rig.hosts();
    let project = rig.path("project");
    fs::create_dir(&project).expect("a project");
    fs::write(
        project.join(".mcp.json"),
        "{\"mcpServers\":{\"a\":{\"command\":\"b\"}}}",
    )
    .expect("a file");
    let scope = Scope::Project(project.clone());
    let done = hosts
        .register(claude, &scope, Options::default(), NOW)
        .expect("registered");
    assert!(
        done.backup
            .expect("a copy")
            .starts_with(rig.path("data/backups"))
    );
    assert_eq!(
        read(&project.join(".mcp.json")).matches('\n').count(),
        0,
        "a file on one line stays on it"
    );
    assert_eq!(
        hosts
            .look(claude, &Scope::User)
            .expect("a report")
            .state
            .id(),
        "not_found"
    );
    let checkup = hosts.checkup(true, NOW).expect("looked");
    assert_eq!(
        checkup.findings.len(),
        1,
        "the project is looked at as well"
    );
    let goose = host("goose");
    assert!(matches!(
        hosts.register(goose, &scope, FOUND, NOW),
        Err(Error::NoProjectFile { .. })
    ));
}

/// A host that is not there gets no file unless one is asked for.
#[test]
fn a_host_that_is_not_there_gets_no_file() {
    let rig = Rig::new();
    let hosts = rig.hosts();
    let zed = host("zed");
    assert!(matches!(
        hosts.register(zed, &Scope::User, Options::default(), NOW),
        Err(Error::NotFound { .. })
    ));
    assert!(!rig.path("home/.config/zed").exists());
    let found: Vec<_> = hosts
        .all()
        .expect("looked")
        .iter()
        .map(|report| report.state.id())
        .collect();
    assert_eq!(found, vec!["not_found"; HOSTS.len()]);
}

/// The newer form of opencode's file is kept to where it is used.
#[test]
fn a_newer_file_keeps_its_form() {
    let rig = Rig::new();
    let opencode = host("opencode");
    let file = rig.write(
        opencode,
        "{\"mcp\": {\"servers\": {\"a\": {\"type\": \"local\", \"command\": [\"x\"]}}}}",
    );
    let hosts = rig.hosts();
    hosts
        .register(opencode, &Scope::User, FOUND, NOW)
        .expect("registered");
    let said = Dialect::Jsonc.read(&read(&file)).expect("JSONC");
    assert_eq!(said["mcp"]["servers"]["openspace"]["type"], "local");

    let file = rig.write(
        opencode,
        "{\"mcp\": {\"servers\": {\"type\": \"local\", \"command\": [\"x\"]}}}",
    );
    hosts
        .register(opencode, &Scope::User, FOUND, NOW)
        .expect("registered");
    let said = Dialect::Jsonc.read(&read(&file)).expect("JSONC");
    assert_eq!(
        said["mcp"]["openspace"]["type"], "local",
        "a server may be named so"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// However often it is registered, unregistered and changed around, no other server is lost.
    #[test]
    fn no_other_server_is_ever_lost(steps in prop::collection::vec(0..4_u8, 1..8)) {
        let rig = Rig::new();
        let vscode = host("vscode");
        let file = rig.write(vscode, "{\n  // servers\n  \"servers\": {\n    \"s\": { \"command\": \"x\" }, // keep\n  },\n}\n");
        let hosts = rig.hosts();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                0 | 1 => drop(hosts.register(vscode, &Scope::User, FOUND, NOW).expect("registered")),
                2 => drop(hosts.unregister(vscode, &Scope::User, false, NOW).expect("unregistered")),
                _ => {
                    let text = read(&file).replace("// keep\n", &format!("// keep\n    \"n{number}\": {{}},\n"));
                    fs::write(&file, text).expect("changed");
                }
            }
            let text = read(&file);
            prop_assert!(text.starts_with("{\n  // servers\n") && text.contains("\"s\": { \"command\": \"x\" }, // keep\n"), "{text}");
        }
        hosts.unregister(vscode, &Scope::User, false, NOW).expect("unregistered");
        prop_assert!(!read(&file).contains("openspace"));
    }
}
