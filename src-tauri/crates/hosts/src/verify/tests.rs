use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use super::*;
use crate::{Machine, Options, Platform};

const PATIENCE: Duration = Duration::from_secs(5);

/// A server in a few lines of shell, which writes its environment down.
const SERVER: &str = r#"#!/bin/sh
env > "$0.env"
echo "starting" >&2
while read -r line; do
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"openspace","version":"9"},"instructions":"use me"}}' ;;
    *'"tools/list"'*)
      echo 'a banner'
      echo '{"jsonrpc":"2.0","id":"s1","method":"ping"}'
      read -r pong; echo "$pong" > "$0.pong"
      echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"execute_task"},{"name":"task_status"}]}}' ;;
    *'"tools/call"'*) printf '%s\n' '{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"error\":\n\"no such task\"}"}],"isError":true}}' ;;
  esac
done
"#;

/// Hosts on a machine of their own, with a program that is this script.
fn hosts(folder: &Path, script: &str) -> Hosts {
    let home = folder.join("home");
    let program = folder.join("openspace");
    fs::create_dir_all(home.join(".codex")).expect("a home");
    fs::write(&program, script).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a mode");
    let machine = Machine {
        platform: Platform::Linux,
        environment: [
            ("PATH", "/usr/bin:/bin"),
            ("HOME", home.to_str().expect("text")),
            ("DISPLAY", ":7"),
            ("SOME_TOKEN", "secret"),
            ("OPENSPACE_HOME", "/somewhere"),
        ]
        .into_iter()
        .collect(),
        home,
    };
    Hosts::new(machine, folder.join("data"), &program)
}

fn registered(hosts: &Hosts, id: &str) -> &'static Host {
    let host = crate::find(id).expect("a host");
    let options = Options {
        create: true,
        ..Options::default()
    };
    let now = jiff::Timestamp::UNIX_EPOCH;
    hosts
        .register(host, &Scope::User, options, now)
        .expect("registered");
    host
}

/// The server is started as the host starts it, spoken with, and told about.
#[test]
fn a_server_is_tried_as_its_host_would() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = hosts(folder.path(), SERVER);
    let codex = registered(&hosts, "codex");
    let seen = hosts
        .verify(codex, &Scope::User, PATIENCE)
        .expect("it works");
    assert_eq!(seen.server, "openspace 9");
    assert_eq!(seen.protocol, "2025-11-25");
    assert!(seen.instructions && seen.ended);
    assert_eq!(seen.tools, ["execute_task", "task_status"]);
    assert_eq!(
        seen.call,
        Call {
            tool: "task_status".to_owned(),
            is_error: true,
            text: "{\"error\": \"no such task\"}".to_owned(),
        }
    );
    assert_eq!(seen.noise, ["a banner"]);
    assert_eq!(
        seen.variables,
        ["HOME", "OPENSPACE_HOME", "OPENSPACE_HOST_ID", "PATH"]
    );
    let copy = folder.path().join("data/bin/openspace");
    let given = fs::read_to_string(copy.with_extension("env")).expect("its environment");
    assert!(given.contains(&format!(
        "OPENSPACE_HOME={}",
        folder.path().join("data").display()
    )));
    assert!(
        !given.contains("DISPLAY") && !given.contains("secret"),
        "{given}"
    );
    let pong = fs::read_to_string(copy.with_extension("pong")).expect("its ping was answered");
    assert!(pong.contains("\"result\":{}"), "{pong}");

    let gemini = registered(&hosts, "gemini");
    let seen = hosts
        .verify(gemini, &Scope::User, PATIENCE)
        .expect("it works");
    assert_eq!(
        seen.variables,
        [
            "DISPLAY",
            "HOME",
            "OPENSPACE_HOME",
            "OPENSPACE_HOST_ID",
            "PATH"
        ]
    );
}

/// A server that does not do what it should is told apart by what it does, with its own words.
#[test]
fn trouble_is_told_with_the_servers_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let trouble = |script: &str, patience| {
        let hosts = hosts(folder.path(), script);
        let host = registered(&hosts, "cursor");
        hosts
            .verify(host, &Scope::User, patience)
            .expect_err("trouble")
    };
    match trouble("#!/bin/sh\necho 'no data folder' >&2; exit 3\n", PATIENCE) {
        Trouble::Ended { step, code, stderr } => {
            assert_eq!(
                (step, code, stderr.as_str()),
                (Step::Initialize, Some(3), "no data folder")
            );
        }
        other => panic!("{other:?}"),
    }
    let begun = Instant::now();
    match trouble(
        "#!/bin/sh\necho waiting >&2; sleep 60 & wait\n",
        Duration::from_millis(300),
    ) {
        Trouble::Silent { stderr, .. } => assert_eq!(stderr, "waiting"),
        other => panic!("{other:?}"),
    }
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "its child does not keep us"
    );
    let refusing = "#!/bin/sh\nread -r line\necho '{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-1,\"message\":\"too old\"}}'\n";
    match trouble(refusing, PATIENCE) {
        Trouble::Wrong { message, .. } => assert!(message.contains("too old"), "{message}"),
        other => panic!("{other:?}"),
    }
    let hosts = hosts(folder.path(), "#!/bin/no-such-shell\n");
    let host = registered(&hosts, "cursor");
    assert!(matches!(
        hosts.verify(host, &Scope::User, PATIENCE),
        Err(Trouble::CannotStart { .. })
    ));
    let kiro = crate::find("kiro").expect("a host");
    assert!(matches!(
        hosts.verify(kiro, &Scope::User, PATIENCE),
        Err(Trouble::NotRegistered)
    ));
}

/// Writes a program that leaves a mark when it is started.
fn trap(path: &Path) -> std::path::PathBuf {
    let mark = path.with_extension("started");
    fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    fs::write(path, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).expect("a program");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a mode");
    mark
}

/// What a repository says is not started, whatever its entry is called and however much the rest of
/// it is like ours.
#[test]
fn what_a_repository_says_is_not_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = hosts(folder.path(), SERVER);
    let claude = crate::find("claude-code").expect("a host");
    let clone = folder.path().join("clone");
    let mark = trap(&clone.join("openspace"));
    let scope = Scope::Project(clone.clone());
    let ours = hosts.wanted(claude);
    let mut loads = ours.clone();
    loads
        .env
        .insert("LD_PRELOAD".into(), "/tmp/clone/evil.so".into());
    let mut misled = ours.clone();
    misled
        .env
        .insert("XDG_CONFIG_HOME".into(), "/tmp/clone/config".into());
    let theirs = Launch {
        command: clone.join("openspace").display().to_string(),
        ..ours.clone()
    };
    let started = folder.path().join("data/bin/openspace.env");
    for launch in [theirs, loads.clone(), misled] {
        let entry = claude.entry(&launch, false);
        let text = json!({ "mcpServers": { "openspace": entry } }).to_string();
        fs::write(clone.join(".mcp.json"), text).expect("a file");
        let trouble = hosts.verify(claude, &scope, PATIENCE).expect_err("refused");
        assert!(
            matches!(
                trouble,
                Trouble::NotOurs { .. } | Trouble::File(Error::Different { .. })
            ),
            "{trouble:?}"
        );
        assert!(!mark.exists() && !started.exists(), "{launch:?}");
    }

    // As we would write it, it is ours; and so it is once we wrote it, until somebody adds to it.
    fs::remove_file(clone.join(".mcp.json")).expect("gone");
    hosts
        .register(
            claude,
            &scope,
            Options::default(),
            jiff::Timestamp::UNIX_EPOCH,
        )
        .expect("registered");
    hosts
        .verify(claude, &scope, PATIENCE)
        .expect("ours is started");
    fs::remove_file(&started).expect("it was");
    let text = json!({ "mcpServers": { "openspace": claude.entry(&loads, false) } });
    fs::write(clone.join(".mcp.json"), text.to_string()).expect("pulled");
    let trouble = hosts.verify(claude, &scope, PATIENCE).expect_err("refused");
    assert!(matches!(trouble, Trouble::NotOurs { .. }), "{trouble:?}");
    assert!(!started.exists());
}

/// In the person's own file, what they added to our entry is theirs to say; an entry that nobody of us
/// wrote is started only as we would write it.
#[test]
fn in_the_own_file_additions_count_where_we_wrote_the_entry() {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = hosts(folder.path(), SERVER);
    let cursor = registered(&hosts, "cursor");
    let file = hosts.file(cursor, &Scope::User).expect("a file");
    let mut more = hosts.wanted(cursor);
    more.env.insert("HTTP_PROXY".into(), "http://p".into());
    let text = json!({ "mcpServers": { "openspace": cursor.entry(&more, false) } });
    fs::write(&file, text.to_string()).expect("added");
    let seen = hosts.verify(cursor, &Scope::User, PATIENCE);
    assert!(
        seen.expect("it works")
            .variables
            .contains(&"HTTP_PROXY".to_owned())
    );
    fs::remove_file(folder.path().join("data/hosts.json")).expect("the list is lost");
    let trouble = hosts.verify(cursor, &Scope::User, PATIENCE);
    assert!(matches!(trouble, Err(Trouble::NotOurs { .. })));

    let mark = trap(&folder.path().join("build/openspace"));
    fs::write(folder.path().join("build/CACHEDIR.TAG"), "").expect("a mark");
    let theirs = Launch {
        command: folder.path().join("build/openspace").display().to_string(),
        ..hosts.wanted(cursor)
    };
    let text = json!({ "mcpServers": { "openspace": cursor.entry(&theirs, false) } });
    fs::write(&file, text.to_string()).expect("written");
    let state = hosts.look(cursor, &Scope::User).expect("a report").state;
    assert_eq!(state.id(), "moved", "hosts doctor corrects it");
    let trouble = hosts.verify(cursor, &Scope::User, PATIENCE);
    assert!(matches!(trouble, Err(Trouble::NotOurs { .. })));
    assert!(!mark.exists());
}
