//! The rows of the table about programs on the screen, and the row nobody may lift.

use std::sync::Arc;

use openspace_grounding::{
    Access, Action, ProgramLaunch, ScreenApp, ShellCommand,
    policy::{Grants, Permission, Policy, Preset, Subject},
};

use crate::support::{
    DATA, Outcome, WORK, app, outcome, outcome_with, policy, question, ruled, screen,
};

use Outcome::{Allow, Ask, Deny};

use crate::table::*;

/// Programs on the screen are asked about per program and level.
#[test]
fn the_screen() {
    for access in [Access::Look, Access::Click, Access::Full] {
        row(&screen("chromium", access), [Ask, Ask, Ask]);
    }
    let grants = granted(Permission::App {
        app: "chromium".to_owned(),
        access: Access::Click,
    });
    let default = policy(Preset::AskForRisky);
    assert_eq!(
        outcome_with(&default, screen("chromium", Access::Look), &grants),
        Allow,
        "click covers look"
    );
    assert_eq!(
        outcome_with(&default, screen("chromium", Access::Click), &grants),
        Allow,
        "the level itself"
    );
    assert_eq!(
        outcome_with(&default, screen("chromium", Access::Full), &grants),
        Ask,
        "more than was allowed"
    );
    assert_eq!(
        outcome_with(&default, screen("mousepad", Access::Look), &grants),
        Ask,
        "another program"
    );
    assert_eq!(
        outcome_with(
            &policy(Preset::AskEveryTime),
            screen("chromium", Access::Look),
            &grants
        ),
        Ask,
        "every time"
    );
    assert_eq!(
        outcome(&hands_off(), screen("chromium", Access::Full)),
        Allow,
        "listed"
    );
    assert_eq!(
        outcome(&hands_off(), screen("mousepad", Access::Full)),
        Ask,
        "not listed"
    );
    row(&screen("unknown", Access::Look), [Ask, Ask, Ask]);
    row(&screen("keepassxc", Access::Look), [Deny, Deny, Deny]);
    let own = Action::Screen {
        app: ScreenApp {
            own: true,
            ..app("chromium")
        },
        access: Access::Look,
    };
    row(&own, [Deny, Deny, Deny]);
}

/// Text for a terminal is judged as a command without a sandbox.
#[test]
fn typed_commands() {
    row(&typed("ls\n"), [Ask, Ask, Ask]);
    row(&typed("ls"), [Ask, Ask, Ask]);
    row(&typed("\n"), [Ask, Ask, Ask]);
    row(&typed("cat ~/.ssh/id_rsa\r"), [Deny, Deny, Deny]);
    row(&typed("cat .ssh/id_rsa\r"), [Deny, Deny, Deny]);
    row(&typed("openspacx\u{7f}e approve 1\n"), [Deny, Deny, Deny]);
    let grants = granted(Permission::App {
        app: "xterm".to_owned(),
        access: Access::Full,
    });
    let default = policy(Preset::AskForRisky);
    assert_eq!(
        outcome_with(&default, typed("\u{3}"), &grants),
        Allow,
        "interrupting is using the terminal"
    );
    assert_eq!(
        outcome_with(&default, typed("ls\n"), &grants),
        Ask,
        "running is asked about every time"
    );
    assert_eq!(
        outcome_with(&default, typed("\u{3}ls\n"), &grants),
        Ask,
        "interrupting and running"
    );
}

/// A rule for all programs lets those be opened that have windows; a rule that names one, that one.
#[test]
fn launching_under_a_rule_for_all() {
    let unknown = |program: &str| match launch(program, &[]) {
        Action::Launch(launch) => Action::Launch(ProgramLaunch {
            graphical: false,
            ..launch
        }),
        other => other,
    };
    for preset in [Preset::AskEveryTime, Preset::AskForRisky, Preset::HandsOff] {
        let all = ruled(preset, &["gui:*"]);
        assert_eq!(outcome(&all, launch("/usr/bin/chromium", &[])), Allow);
        assert_eq!(outcome(&all, unknown("/usr/bin/something")), Ask);
        let asked = question(&all, &[unknown("/usr/bin/something")]);
        assert!(
            asked
                .parts
                .iter()
                .all(|part| matches!(part.subject, Subject::OutsideSandbox { .. })),
            "as a command that leaves the sandbox: {asked:?}"
        );
        assert_eq!(
            outcome(&all, launch("/usr/bin/python3", &["-c", "x"])),
            Ask,
            "code is judged as code"
        );
        let named = ruled(preset, &["gui:something"]);
        assert_eq!(outcome(&named, unknown("/usr/bin/something")), Allow);
        assert_eq!(outcome(&named, unknown("/usr/bin/other")), Ask);
        let both = ruled(preset, &["gui:*", "gui:something"]);
        assert_eq!(outcome(&both, unknown("/usr/bin/something")), Allow);
        assert_eq!(outcome(&both, unknown("/usr/bin/other")), Ask);
    }
    let grants = granted(Permission::App {
        app: "something".to_owned(),
        access: Access::Full,
    });
    let all = ruled(Preset::AskForRisky, &["gui:*"]);
    assert_eq!(
        outcome_with(&all, unknown("/usr/bin/something"), &grants),
        Allow,
        "a person answered for it"
    );
    let listed = outcome(&hands_off(), unknown("/usr/bin/chromium"));
    assert_eq!(listed, Allow, "the list names it");
    // Without any rule the question is about the program, and can be answered for the run.
    let asked = question(
        &policy(Preset::AskForRisky),
        &[unknown("/usr/bin/something")],
    );
    assert_eq!(asked.parts.len(), 1, "{asked:?}");
    assert_eq!(asked.offers.len(), 2, "{asked:?}");
}

/// Starting a program is using it fully, plus what its arguments do.
#[test]
fn launching() {
    let grants: Grants = ["chromium", "xterm", "sh", "env", "tool"]
        .map(|app| Permission::App {
            app: app.to_owned(),
            access: Access::Full,
        })
        .into_iter()
        .collect();
    let default = policy(Preset::AskForRisky);
    row(&launch("/usr/bin/chromium", &[]), [Ask, Ask, Ask]);
    for (program, arguments, right) in [
        ("/usr/bin/chromium", &[][..], Allow),
        ("/usr/bin/chromium", &["https://example.org"], Allow),
        ("/usr/bin/chromium", &["notes.md"], Allow),
        ("/usr/bin/chromium", &["about:blank"], Allow),
        (
            "/usr/bin/chromium",
            &["file:///home/ana/work/notes.md"],
            Allow,
        ),
        ("/usr/bin/chromium", &["/home/ana/letter.txt"], Ask),
        ("/usr/bin/chromium", &["chrome://settings"], Ask),
        ("/usr/bin/chromium", &["--renderer-cmd-prefix=sh"], Ask),
        ("/usr/bin/chromium", &["http://localhost:3000"], Deny),
        ("/usr/bin/chromium", &["http://192.168.0.1"], Deny),
        ("/usr/bin/chromium", &["--app=http://127.0.0.1"], Deny),
        ("/usr/bin/chromium", &["file:///home/ana/.ssh/id_rsa"], Deny),
        (
            "/usr/bin/chromium",
            &["--user-data-dir=/home/ana/.ssh"],
            Deny,
        ),
        ("/usr/bin/xterm", &[], Allow),
        ("/usr/bin/xterm", &["-e", "ls"], Ask),
        ("/bin/sh", &["-c", "ls"], Ask),
        ("/bin/sh", &["-c", "openspace approve 1"], Deny),
        ("/usr/bin/env", &["chromium"], Ask),
        ("/home/ana/work/tool", &[], Ask),
        ("/usr/bin/openspace", &[], Deny),
        ("/usr/bin/keepassxc", &[], Deny),
    ] {
        assert_eq!(
            outcome_with(&default, launch(program, arguments), &grants),
            right,
            "{program} {arguments:?}"
        );
    }
    let ruled = crate::support::ruled(Preset::AskForRisky, &["net:localhost"]);
    let local = launch("/usr/bin/chromium", &["http://localhost:3000"]);
    assert_eq!(
        outcome_with(&ruled, local, &grants),
        Allow,
        "this machine by rule"
    );
}

/// The last row is refused in every preset, in and outside the sandbox.
#[test]
fn what_nobody_may_do() {
    for path in [
        DATA,
        "/home/ana/.local/share/openspace/openspace.db",
        "/home/ana/.config/openspace/settings.toml",
        "/usr/bin/openspace",
        "/home/ana/.ssh",
        "/home/ana/.ssh/id_rsa",
        "/home/ana/.SSH/id_rsa",
        "/home/ana/work/keys/id_rsa",
        "/home/ana/work/innocent",
        "/home/ben/.aws/credentials",
        "/root/.ssh/authorized_keys",
        "/etc/shadow",
        "/home/ana/.claude.json",
        "/home/ana/.codex/config.toml",
        "/home/ana/work/.mcp.json",
        "/home/ana/.config/chromium/Default/Login Data",
        "/home/ana/.config/chromium/Default/Cookies-journal",
        "/home/ana/.mozilla/firefox/a.default/key4.db",
        "/home/ana/work/../.ssh/id_rsa",
        "/proc/self/root/etc/shadow",
        "/home/ana/backup/id_ed25519",
    ] {
        row(&read(path), [Deny, Deny, Deny]);
        row(&write(path), [Deny, Deny, Deny]);
        row(&Action::Delete { path: path.into() }, [Deny, Deny, Deny]);
    }
    row(
        &Action::Delete {
            path: "/home/ana".into(),
        },
        [Deny, Deny, Deny],
    );
    for sandboxed in [true, false] {
        for line in ["cat ~/.ssh/id_rsa", "openspace approve 1"] {
            let action = Action::Command(ShellCommand {
                line: line.to_owned(),
                folder: WORK.into(),
                sandboxed,
                network: false,
            });
            row(&action, [Deny, Deny, Deny]);
        }
    }
}

/// The strictest action of a call decides, and the question shows all of them.
#[test]
fn the_strictest_action_wins() {
    let default = policy(Preset::AskForRisky);
    let actions: Vec<_> = (0..14)
        .map(|number| Action::Delete {
            path: format!("{WORK}/tmp_{number}.png").into(),
        })
        .chain([read("/home/ana/work/notes.md")])
        .collect();
    let question = question(&default, &actions);
    assert_eq!(question.actions, actions, "nothing is left out");
    assert_eq!(question.parts.len(), 1, "fourteen deletions are one part");
    let json = serde_json::to_string(&question).expect("to JSON");
    assert_eq!(
        serde_json::from_str::<openspace_grounding::Question>(&json).expect("from JSON"),
        question
    );
    let decision = default.decide(
        &[
            read("/home/ana/work/notes.md"),
            read("/home/ana/.ssh/id_rsa"),
        ],
        &Grants::default(),
    );
    assert!(
        matches!(decision, openspace_grounding::Decision::Deny(_)),
        "one refused action refuses the call"
    );
    assert_eq!(
        default.decide(&[], &Grants::default()),
        openspace_grounding::Decision::Allow,
        "nothing to judge"
    );
    let _shared: Arc<Policy> = Arc::new(default);
}
