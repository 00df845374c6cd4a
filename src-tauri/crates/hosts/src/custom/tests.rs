use std::fs;

use jiff::Timestamp;

use super::*;
use crate::{Machine, Options, Platform};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn hosts(folder: &Path) -> Hosts {
    let program = folder.join("bin/openspace");
    fs::create_dir_all(folder.join("bin")).expect("a folder");
    fs::create_dir_all(folder.join("home")).expect("a home");
    fs::write(&program, "x").expect("a program");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let machine = Machine {
        platform: Platform::here(),
        home: folder.join("home"),
        environment: [("PATH", "/nowhere")].into_iter().collect(),
    };
    Hosts::new(machine, folder.join("data"), &program)
}

fn agent(file: PathBuf, dialect: Dialect, key: &str) -> NewCustom {
    NewCustom {
        name: "My Agent".to_owned(),
        file,
        dialect,
        key: key.to_owned(),
    }
}

/// In every format: our entry goes in where the person said and out again without a trace, and the
/// agent is a host of every later process until it is forgotten.
#[test]
fn an_agent_that_was_named_is_a_host() {
    for (dialect, before, line) in [
        (
            Dialect::Json,
            "{\n  \"a\": {\"b\": {}}\n}\n",
            "\"openspace\": {",
        ),
        (
            Dialect::Jsonc,
            "{\n  // mine\n  \"a\": {\"b\": {},},\n}\n",
            "\"openspace\": {",
        ),
        (Dialect::Json5, "{\n  a: {b: {}},\n}\n", "openspace"),
        (
            Dialect::Toml,
            "# mine\n[a.b.other]\ncommand = \"y\"\n",
            "[a.b.openspace]",
        ),
        (
            Dialect::Yaml,
            "# mine\na:\n  b:\n    other:\n      command: y\n",
            "openspace:",
        ),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("agent.conf");
        fs::write(&file, before).expect("a file");
        let named = hosts(folder.path())
            .name(&agent(file.clone(), dialect, "a.b"))
            .unwrap_or_else(|error| panic!("{dialect:?}: {error}"));
        assert_eq!(
            (named.id, named.name, named.custom),
            ("custom-my-agent", "My Agent", true)
        );
        assert_eq!(
            fs::read_to_string(&file).expect("a file"),
            before,
            "{dialect:?}"
        );

        let hosts = hosts(folder.path());
        let host = hosts.find("my agent").expect("known from then on");
        assert!(std::ptr::eq(host, named), "it is made once");
        assert_eq!(hosts.all().expect("all").len(), crate::HOSTS.len() + 1);
        let options = Options::default();
        hosts
            .register(host, &Scope::User, options, NOW)
            .expect("registered");
        let text = fs::read_to_string(&file).expect("a file");
        assert!(
            text.contains(line) && text.contains("custom-my-agent"),
            "{text}"
        );
        let report = hosts.look(host, &Scope::User).expect("a report");
        assert_eq!(report.state.id(), "registered", "{text}");
        let refused = hosts.forget(host).expect_err("its entry is there");
        assert!(
            matches!(refused, Error::StillRegistered { .. }),
            "{refused}"
        );

        hosts
            .unregister(host, &Scope::User, false, NOW)
            .expect("unregistered");
        assert_eq!(
            fs::read_to_string(&file).expect("a file"),
            before,
            "{dialect:?}"
        );
        hosts.forget(host).expect("forgotten");
        assert!(matches!(
            hosts.find("custom-my-agent"),
            Err(Error::UnknownHost { .. })
        ));
        assert_eq!(hosts.all().expect("all").len(), crate::HOSTS.len());
    }
}

/// A key with a dot in it is one key: where the file has it, as it is, and else in quotes.
#[test]
fn a_key_may_have_a_dot_in_it() {
    for (dialect, theirs, line) in [
        (
            Dialect::Json,
            "{\n  \"amp.mcp\": {\"other\": {}}\n}\n",
            "\"amp.mcp\": {",
        ),
        (
            Dialect::Json5,
            "{\n  'amp.mcp': {other: {}},\n}\n",
            "amp.mcp",
        ),
        (
            Dialect::Toml,
            "[\"amp.mcp\".other]\ncommand = \"y\"\n",
            "[\"amp.mcp\".openspace]",
        ),
        (
            Dialect::Yaml,
            "amp.mcp:\n  other:\n    command: y\n",
            "amp.mcp:",
        ),
    ] {
        for (before, key) in [(theirs, "amp.mcp"), ("", "\"amp.mcp\"")] {
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("agent.conf");
            fs::write(&file, before).expect("a file");
            let hosts = hosts(folder.path());
            let host = hosts.name(&agent(file.clone(), dialect, key));
            let host = host.unwrap_or_else(|error| panic!("{dialect:?} {key}: {error}"));
            assert_eq!(host.key, ["amp.mcp"], "{dialect:?} {key}");
            hosts
                .register(host, &Scope::User, Options::default(), NOW)
                .expect("registered");
            let text = fs::read_to_string(&file).expect("a file");
            assert!(text.contains(line), "{dialect:?} {key}: {text}");
        }
    }
}

/// While its file cannot be read, or our entry in it became another, it is not forgotten if we wrote
/// into it. What we did not write keeps nobody from forgetting it.
#[test]
fn an_agent_with_our_entry_is_not_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = hosts(folder.path());
    let file = folder.path().join("agent.json");
    let name = || {
        let agent = agent(file.clone(), Dialect::Json, "servers");
        hosts.name(&agent).expect("named")
    };
    let holds = |host| {
        let report = hosts.look(host, &Scope::User).expect("a report");
        report.holds_ours()
    };
    let host = name();
    hosts
        .register(host, &Scope::User, Options::default(), NOW)
        .expect("registered");
    let ours = fs::read_to_string(&file).expect("a file");
    let theirs = "{\"servers\": {\"openspace\": {\"command\": \"npx\"}}}";

    fs::write(&file, format!("{ours},")).expect("a file");
    let refused = hosts.forget(host).expect_err("it cannot be read");
    assert!(matches!(refused, Error::Unparsable { .. }), "{refused}");
    assert!(holds(host));
    fs::write(&file, theirs).expect("a file");
    let refused = hosts.forget(host).expect_err("it was ours");
    assert!(
        matches!(refused, Error::StillRegistered { .. }),
        "{refused}"
    );
    assert!(holds(host));

    fs::write(&file, ours).expect("a file");
    hosts
        .unregister(host, &Scope::User, false, NOW)
        .expect("the list still knew it");
    hosts.forget(host).expect("nothing is there");
    for text in ["{ oops", theirs] {
        let _not_there = fs::remove_file(&file);
        let host = name();
        fs::write(&file, text).expect("a file");
        assert!(!holds(host));
        hosts.forget(host).expect("nothing is ours");
    }
}

/// What makes no sense is refused with what is wrong about it, and nothing is kept of it.
#[test]
fn nonsense_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = hosts(folder.path());
    let file = folder.path().join("agent.json");
    let good = || agent(file.clone(), Dialect::Json, "servers");
    let part = |new: NewCustom| match hosts.name(&new) {
        Err(Error::Unnameable { part }) => part,
        other => panic!("{other:?}"),
    };
    for name in ["", "  ", "Codex", "a\u{1b}b", &"x".repeat(61)] {
        let new = NewCustom {
            name: name.to_owned(),
            ..good()
        };
        assert_eq!(part(new), Part::Name, "{name:?}");
    }
    let new = NewCustom {
        file: "agent.json".into(),
        ..good()
    };
    assert_eq!(part(new), Part::File);
    for key in ["", " ", "a.", "a..b", "a.b.c.d.e", "\"a", "a\u{1b}"] {
        let new = agent(file.clone(), Dialect::Json, key);
        assert_eq!(part(new), Part::Key, "{key:?}");
    }
    let codex = hosts.find("codex").expect("a host");
    let theirs = hosts.file(codex, &Scope::User).expect("a file");
    let taken = hosts.name(&NewCustom {
        file: theirs,
        ..good()
    });
    assert!(
        matches!(taken, Err(Error::Taken { host: "Codex", .. })),
        "{taken:?}"
    );
    for (text, wrong) in [("{ oops", "syntax"), ("{\"servers\": 5}", "shape")] {
        fs::write(&file, text).expect("a file");
        match hosts.name(&good()) {
            Err(Error::Unparsable { line: 1, .. }) if wrong == "syntax" => {}
            Err(Error::WrongShape { line: 1, .. }) if wrong == "shape" => {}
            other => panic!("{wrong}: {other:?}"),
        }
        assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    }
    assert_eq!(hosts.known().expect("all").len(), crate::HOSTS.len());
    let refused = hosts.forget(codex).expect_err("nobody named it");
    assert!(
        matches!(refused, Error::NotCustom { host: "Codex" }),
        "{refused}"
    );
}

/// However a file is written, it is known for the one that another host has, whether it is there or
/// not; and it is kept as where it is.
#[test]
fn a_file_is_known_however_it_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = hosts(folder.path());
    let home = folder.path().join("home");
    let named = |name: &str, file: PathBuf| {
        hosts.name(&NewCustom {
            name: name.to_owned(),
            ..agent(file, Dialect::Json, "servers")
        })
    };
    let taken = |file: PathBuf, of: &str| match named("Other", file.clone()) {
        Err(Error::Taken { host, .. }) => assert_eq!(host, of, "{}", file.display()),
        other => panic!("{}: {other:?}", file.display()),
    };
    let file = PathBuf::from("none/../agent.json");
    let host = named("My Agent", folder.path().join(&file)).expect("named");
    let kept = hosts.file(host, &Scope::User).expect("a file");
    let place = folder.path().canonicalize().expect("a folder");
    assert_eq!(kept, real(&place).join("agent.json"));

    taken(home.join("../none/./../agent.json"), "My Agent");
    taken(home.join(".codex/none/../config.toml"), "Codex");
    let file = home.join("..");
    let refused = named("Other", file).expect_err("a folder");
    assert!(
        matches!(refused, Error::Unnameable { part: Part::File }),
        "{refused}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink(&home, folder.path().join("linked")).expect("a link");
        let linked = folder.path().join("linked");
        taken(linked.join(".codex/config.toml"), "Codex");
        taken(linked.join("../agent.json"), "My Agent");
        fs::create_dir(home.join(".codex")).expect("a folder");
        fs::write(home.join(".codex/config.toml"), "").expect("a file");
        symlink(home.join(".codex/config.toml"), home.join("x")).expect("a link");
        taken(home.join("x"), "Codex");
        fs::write(home.join("y"), "").expect("a file");
        symlink(home.join("y"), home.join("z")).expect("a link");
        let host = named("Other", linked.join("z")).expect("named");
        let kept = hosts.file(host, &Scope::User).expect("a file");
        assert_eq!(kept, place.join("home/z"), "its own link stays");
    }
}

/// A host that the table gets later has the name of no agent that a person named before.
#[test]
fn the_table_leaves_names_to_agents() {
    for host in crate::HOSTS {
        assert!(!host.id.starts_with(PREFIX), "{}", host.id);
    }
}

/// Two agents whose names make the same word, or none, are told apart in commands.
#[test]
fn names_in_commands_are_unique() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = hosts(folder.path());
    let id = |name: &str, file: &str| {
        let new = NewCustom {
            name: name.to_owned(),
            ..agent(folder.path().join(file), Dialect::Yaml, "mcp")
        };
        hosts.name(&new).expect("named").id
    };
    assert_eq!(id("My  Agent!", "a"), "custom-my-agent");
    assert_eq!(id("my-agent?", "b"), "custom-my-agent-2");
    assert_eq!(id("我的代理", "c"), "custom-agent");
    assert_eq!(id("另一个", "d"), "custom-agent-2");
    assert_eq!(id("code x", "e"), "custom-code-x");
}
