//! The table of the design, cell by cell: `ask every time` · `ask for risky steps` · `hands-off`.

use openspace_grounding::{
    Action, ProgramLaunch, ScreenApp, ShellCommand,
    policy::{Grant, Grants, HandsOff, Permission, Policy, PolicyInputs, Preset},
};

use crate::support::{
    Outcome, WORK, app, command, inputs, outcome, outcome_with, policy, question,
};

use Outcome::{Allow, Ask, Deny};

pub(crate) const PRESETS: [Preset; 3] =
    [Preset::AskEveryTime, Preset::AskForRisky, Preset::HandsOff];

pub(crate) fn row(action: &Action, right: [Outcome; 3]) {
    for (preset, right) in PRESETS.into_iter().zip(right) {
        assert_eq!(
            outcome(&policy(preset), action.clone()),
            right,
            "{preset}: {action:?}"
        );
    }
}

pub(crate) fn read(path: &str) -> Action {
    Action::Read { path: path.into() }
}

pub(crate) fn write(path: &str) -> Action {
    Action::Write {
        path: path.into(),
        keeps_copy: true,
    }
}

pub(crate) fn fetch(url: &str) -> Action {
    Action::Fetch {
        url: url.to_owned(),
    }
}

pub(crate) fn tool(read_only: bool) -> Action {
    Action::McpTool {
        server: "files".to_owned(),
        tool: "move".to_owned(),
        read_only,
    }
}

pub(crate) fn typed(line: &str) -> Action {
    Action::TypedCommand {
        app: ScreenApp {
            terminal: true,
            ..app("xterm")
        },
        line: line.to_owned(),
    }
}

pub(crate) fn launch(program: &str, arguments: &[&str]) -> Action {
    Action::Launch(ProgramLaunch {
        program: program.into(),
        arguments: arguments
            .iter()
            .map(|&argument| argument.to_owned())
            .collect(),
        app: app(program.rsplit('/').next().unwrap_or_default()),
        graphical: true,
    })
}

pub(crate) fn hands_off() -> Policy {
    Policy::new(PolicyInputs {
        hands_off: HandsOff {
            domains: vec!["*.example.org".parse().expect("domain")],
            apps: vec!["chromium".to_owned()],
            tools: vec!["files/move".parse().expect("tool")],
        },
        ..inputs(Preset::HandsOff)
    })
}

pub(crate) fn granted(permission: Permission) -> Grants {
    [permission].into_iter().collect()
}

/// Files of git that make something run are asked about wherever git looks for them.
#[test]
fn writing_what_git_runs() {
    let write = |path: &str| Action::Write {
        path: path.into(),
        keeps_copy: true,
    };
    for path in [
        "/home/ana/work/.git",
        "/home/ana/work/.git/hooks/pre-commit",
        "/home/ana/work/.git/config",
        "/home/ana/work/.git/config.worktree",
        "/home/ana/work/.git/commondir",
        "/home/ana/work/.git/modules/a/b/hooks/pre-commit",
        "/home/ana/work/.git/modules/a/config",
        "/home/ana/work/.git/worktrees/a/config.worktree",
        "/home/ana/work/sub/.git/hooks/pre-commit",
        "/home/ana/work/bare/hooks/pre-commit",
        "/home/ana/work/bare/config",
        "/home/ana/work/begun/HEAD",
    ] {
        row(&write(path), [Ask, Ask, Ask]);
    }
    for path in [
        "/home/ana/work/.git/description",
        "/home/ana/work/src/hooks/index.ts",
        "/home/ana/work/config",
        "/home/ana/work/HEAD",
    ] {
        row(&write(path), [Ask, Allow, Allow]);
    }
}

/// Reading in the allowed folders is never asked about.
#[test]
fn reading_in_allowed_folders() {
    row(&read(WORK), [Allow, Allow, Allow]);
    row(&read("/home/ana/work/notes.md"), [Allow, Allow, Allow]);
    row(&read("/home/ana/shared/x"), [Allow, Allow, Allow]);
    row(&read("/tmp/openspace-run/x"), [Allow, Allow, Allow]);
}

/// Reading elsewhere asks; in the default preset once per folder.
#[test]
fn reading_elsewhere() {
    row(&read("/home/ana/letter.txt"), [Ask, Ask, Ask]);
    row(&read("/home/ana/work/../letter.txt"), [Ask, Ask, Ask]);
    row(&read("/home/ana/work/up/x"), [Ask, Ask, Ask]);
    let grants = granted(Permission::Read {
        folder: "/home/ana/docs".into(),
    });
    assert_eq!(
        outcome_with(
            &policy(Preset::AskForRisky),
            read("/home/ana/docs/b"),
            &grants
        ),
        Allow,
        "the same folder"
    );
    assert_eq!(
        outcome_with(
            &policy(Preset::AskForRisky),
            read("/home/ana/letter.txt"),
            &grants
        ),
        Ask,
        "another folder"
    );
    assert_eq!(
        outcome_with(
            &policy(Preset::AskForRisky),
            write("/home/ana/docs/b"),
            &grants
        ),
        Ask,
        "reading is not writing"
    );
    assert_eq!(
        outcome_with(
            &policy(Preset::AskEveryTime),
            read("/home/ana/docs/b"),
            &grants
        ),
        Ask,
        "every time is every time"
    );
}

/// Writing with a copy kept is free in the allowed folders, except when asked every time.
#[test]
fn writing() {
    row(&write("/home/ana/work/notes.md"), [Ask, Allow, Allow]);
    row(&write("/home/ana/docs/notes.md"), [Ask, Ask, Ask]);
}

/// What cannot be brought back is asked about in every preset, whatever was allowed before.
#[test]
fn deleting_and_overwriting() {
    row(
        &Action::Delete {
            path: "/home/ana/work/notes.md".into(),
        },
        [Ask, Ask, Ask],
    );
    row(
        &Action::Delete {
            path: "/home/ana/docs/notes.md".into(),
        },
        [Ask, Ask, Ask],
    );
    row(
        &Action::Write {
            path: "/home/ana/work/notes.md".into(),
            keeps_copy: false,
        },
        [Ask, Ask, Ask],
    );
    row(
        &Action::Delete {
            path: "/tmp/openspace-run/x".into(),
        },
        [Ask, Allow, Allow],
    );
    row(
        &Action::Delete {
            path: "/tmp/openspace-run".into(),
        },
        [Ask, Ask, Ask],
    );
    let grants = granted(Permission::Write {
        folder: WORK.into(),
    });
    let delete = Action::Delete {
        path: "/home/ana/work/notes.md".into(),
    };
    assert_eq!(
        outcome_with(&policy(Preset::HandsOff), delete.clone(), &grants),
        Ask,
        "writing is not deleting"
    );
    let question = question(&policy(Preset::AskForRisky), &[delete]);
    assert_eq!(question.offers, [Grant::Once], "only this once");
    assert!(!question.reversible, "cannot be undone");
}

/// A plain command in the sandbox is free, except when asked every time.
#[test]
fn commands_in_the_sandbox() {
    row(&command("make test"), [Ask, Allow, Allow]);
    row(&command("ls"), [Ask, Allow, Allow]);
}

/// Network from commands: asked, once per run by default, and by list in hands-off.
#[test]
fn network_from_commands() {
    let network = Action::Command(ShellCommand {
        line: "make fetch".to_owned(),
        folder: WORK.into(),
        sandboxed: true,
        network: true,
    });
    row(&network, [Ask, Ask, Ask]);
    row(&command("curl https://api.example.org/x"), [Ask, Ask, Ask]);
    let grants = granted(Permission::Network);
    assert_eq!(
        outcome_with(&policy(Preset::AskForRisky), network.clone(), &grants),
        Allow,
        "once per run"
    );
    assert_eq!(
        outcome_with(&policy(Preset::AskEveryTime), network.clone(), &grants),
        Ask,
        "every time"
    );
    assert_eq!(
        outcome(&hands_off(), command("curl https://api.example.org/x")),
        Allow,
        "a listed domain"
    );
    assert_eq!(
        outcome(&hands_off(), command("curl https://example.com/x")),
        Ask,
        "another domain"
    );
    assert_eq!(
        outcome(&hands_off(), command("curl -L https://api.example.org/x")),
        Ask,
        "may lead anywhere"
    );
    assert_eq!(
        outcome(
            &hands_off(),
            command("curl https://api.example.org/x https://evil.com")
        ),
        Ask,
        "one of two"
    );
    assert_eq!(
        outcome(
            &hands_off(),
            command("curl https://api.example.org/x; python3 send.py")
        ),
        Ask,
        "a program that could reach anything"
    );
    assert_eq!(outcome(&hands_off(), network), Ask, "nobody says where to");
}

/// Leaving the sandbox is asked about every time.
#[test]
fn leaving_the_sandbox() {
    let outside = Action::Command(ShellCommand {
        line: "ls".to_owned(),
        folder: WORK.into(),
        sandboxed: false,
        network: false,
    });
    row(&outside, [Ask, Ask, Ask]);
    let question = question(&policy(Preset::HandsOff), &[outside]);
    assert_eq!(question.offers, [Grant::Once], "every time");
}

/// Where there is no sandbox, interpreters and unknown programs are asked about.
#[test]
fn without_a_sandbox() {
    for (line, right) in [
        ("python3 x.py", [Ask, Ask, Ask]),
        ("bash x.sh", [Ask, Ask, Ask]),
        ("make", [Ask, Ask, Ask]),
        ("./ls", [Ask, Ask, Ask]),
        ("PATH=. ls", [Ask, Ask, Ask]),
        ("rm old.txt", [Ask, Ask, Ask]),
        ("ls | sort", [Ask, Allow, Allow]),
        ("cat /home/ana/letter.txt", [Ask, Ask, Ask]),
    ] {
        for (preset, right) in PRESETS.into_iter().zip(right) {
            let policy = Policy::new(PolicyInputs {
                sandbox: false,
                ..inputs(preset)
            });
            assert_eq!(outcome(&policy, command(line)), right, "{preset}: {line}");
        }
    }
}

/// MCP tools that only read are free, others asked about once, listed in hands-off.
#[test]
fn mcp_tools() {
    row(&tool(true), [Ask, Allow, Allow]);
    row(&tool(false), [Ask, Ask, Ask]);
    let grants = granted(Permission::McpTool {
        server: "files".to_owned(),
        tool: "move".to_owned(),
    });
    assert_eq!(
        outcome_with(&policy(Preset::AskForRisky), tool(false), &grants),
        Allow,
        "once per tool and run"
    );
    assert_eq!(
        outcome_with(&policy(Preset::AskEveryTime), tool(false), &grants),
        Ask,
        "every time"
    );
    assert_eq!(outcome(&hands_off(), tool(false)), Allow, "listed");
    let own = Action::McpTool {
        server: "OpenSpace".to_owned(),
        tool: "execute_task".to_owned(),
        read_only: true,
    };
    row(&own, [Deny, Deny, Deny]);
}

/// Public addresses are free, except when asked every time; private ones refused always.
#[test]
fn fetching() {
    row(&fetch("https://example.org/x"), [Ask, Allow, Allow]);
    for address in [
        "http://localhost:8080/",
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://017700000001/",
        "http://127.1/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/",
        "http://metadata.google.internal/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[fe80::1]/",
        "http://[fc00::1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://224.0.0.1/",
        "http://0.0.0.0/",
        "http://printer.local/",
        "http://printer/",
        "http://x.localhost/",
        "http://localhost./",
        "http://LOCALHOST/",
        "http://①②⑦.0.0.1/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "data:text/html,x",
        "not an address",
        "http://",
        "http://user:pw@127.0.0.1/",
        "http://198.18.0.1/",
        "http://192.0.2.1/",
        "http://255.255.255.255/",
    ] {
        row(&fetch(address), [Deny, Deny, Deny]);
    }
}
