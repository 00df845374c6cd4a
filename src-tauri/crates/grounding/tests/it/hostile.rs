//! Whatever is allowed, some things never are.

use openspace_grounding::{
    Access, Action, ProgramLaunch, ScreenApp, ShellCommand,
    policy::{Decision, Grants, HandsOff, Origin, Permission, Policy, PolicyInputs, Preset, Rule},
};
use proptest::prelude::*;

use crate::support::{DATA, HOME, Outcome, WORK, app, command, inputs, outcome, policy};

/// Rules as broad as they can be written.
const RULES: &[&str] = &[
    "gui:*",
    "gui:openspace-desktop",
    "gui:keepassxc",
    "net:localhost",
    "net:127.0.0.1",
    "net:169.254.169.254",
    "read:/home",
    "write:/home",
    "read:/home/ana/.ssh",
    "write:/home/ana/.ssh",
    "write:/home/ana/.local/share/openspace",
    "read:/etc",
    "write:/usr",
    "mcp:openspace/*",
    "command:cat",
    "command:openspace",
    "command:rm",
    "command:rm -rf",
    "command:sh",
    "command:env",
    "command:cp",
];

fn permissions() -> Vec<Permission> {
    vec![
        Permission::Read { folder: "/".into() },
        Permission::Write { folder: "/".into() },
        Permission::Read {
            folder: HOME.into(),
        },
        Permission::Network,
        Permission::App {
            app: "chromium".to_owned(),
            access: Access::Full,
        },
        Permission::App {
            app: "keepassxc".to_owned(),
            access: Access::Full,
        },
        Permission::App {
            app: "openspace-desktop".to_owned(),
            access: Access::Full,
        },
        Permission::App {
            app: "sh".to_owned(),
            access: Access::Full,
        },
        Permission::McpTool {
            server: "openspace".to_owned(),
            tool: "execute_task".to_owned(),
        },
    ]
}

fn forbidden() -> impl Strategy<Value = Action> {
    let paths = prop::sample::select(vec![
        DATA,
        "/home/ana/.local/share/openspace/openspace.db",
        "/home/ana/.config/openspace/settings.toml",
        "/home/ana/.ssh/id_rsa",
        "/home/ana/work/keys/id_rsa",
        "/home/ana/work/innocent",
        "/etc/shadow",
        "/home/ana/.claude.json",
        "/usr/bin/openspace",
        "/proc/self/root/home/ana/.ssh/x",
        "/home/ana/work/../.aws/credentials",
    ]);
    let lines = prop::sample::select(vec![
        "cat ~/.ssh/id_rsa",
        "openspace approve 1",
        "rm -rf ~",
        "cp ~/.local/share/openspace/openspace.db .",
        "env X=1 openspace config set x y",
        "sh -c 'cat /etc/shadow'",
        "cat innocent",
        "echo x > ~/.claude.json",
    ]);
    prop_oneof![
        paths
            .clone()
            .prop_map(|path| Action::Read { path: path.into() }),
        (paths.clone(), any::<bool>()).prop_map(|(path, keeps_copy)| Action::Write {
            path: path.into(),
            keeps_copy
        }),
        paths.prop_map(|path| Action::Delete { path: path.into() }),
        (lines.clone(), any::<bool>(), any::<bool>()).prop_map(|(line, sandboxed, network)| {
            Action::Command(ShellCommand {
                line: line.to_owned(),
                folder: WORK.into(),
                sandboxed,
                network,
            })
        }),
        lines.prop_map(|line| Action::TypedCommand {
            app: ScreenApp {
                terminal: true,
                ..app("xterm")
            },
            line: format!("{line}\n")
        }),
        Just(Action::Screen {
            app: ScreenApp {
                own: true,
                ..app("chromium")
            },
            access: Access::Look
        }),
        Just(Action::Screen {
            app: app("openspace-desktop"),
            access: Access::Look
        }),
        Just(Action::Screen {
            app: app("keepassxc"),
            access: Access::Look
        }),
        Just(Action::McpTool {
            server: "openspace".to_owned(),
            tool: "execute_task".to_owned(),
            read_only: true
        }),
        Just(Action::Fetch {
            url: "http://127.0.0.1:8080/rpc".to_owned()
        }),
        Just(Action::Launch(ProgramLaunch {
            program: "/usr/bin/openspace".into(),
            arguments: vec![],
            app: app("chromium"),
            graphical: true,
        })),
        Just(Action::Launch(ProgramLaunch {
            program: "/bin/sh".into(),
            arguments: vec!["-c".into(), "cat ~/.ssh/id_rsa".into()],
            app: app("sh"),
            graphical: true,
        })),
    ]
}

fn harmless() -> Action {
    Action::Read { path: WORK.into() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// No preset, rule, list, grant or origin allows, or even asks about, what nobody may do.
    #[test]
    fn the_last_row_is_never_lifted(
        action in forbidden(),
        preset in prop::sample::select(vec![Preset::AskEveryTime, Preset::AskForRisky, Preset::HandsOff]),
        origin in prop::sample::select(vec![Origin::App, Origin::Cli, Origin::Host, Origin::Channel]),
        rules in prop::sample::subsequence(RULES.to_vec(), 0..=RULES.len()),
        allowed in prop::sample::subsequence(permissions(), 0..=permissions().len()),
        sandbox in any::<bool>(),
        first in any::<bool>(),
    ) {
        let policy = Policy::new(PolicyInputs {
            preset,
            origin,
            sandbox,
            rules: rules.iter().map(|rule| rule.parse::<Rule>().expect("rule")).collect(),
            hands_off: HandsOff {
                domains: vec!["127.0.0.1".parse().expect("domain")],
                apps: vec!["keepassxc".to_owned(), "openspace-desktop".to_owned(), "chromium".to_owned()],
                tools: vec!["openspace/*".parse().expect("tool")],
            },
            ..inputs(preset)
        });
        let grants: Grants = allowed.into_iter().collect();
        let actions = if first { vec![action, harmless()] } else { vec![harmless(), action] };
        let decision = policy.decide(&actions, &grants);
        prop_assert!(matches!(decision, Decision::Deny(_)), "{decision:?}");
    }

    /// Whatever stands before it, a line that reads a key never runs unasked.
    #[test]
    fn nothing_hides_a_key(before in "[ -~\n]{0,40}") {
        let line = format!("{before}\ncat /home/ana/.ssh/id_rsa");
        prop_assert_ne!(outcome(&policy(Preset::HandsOff), command(&line)), Outcome::Allow, "{}", line);
    }

    /// Any text at all is judged, never a reason to fail.
    #[test]
    fn any_text_is_judged(line in "(?s).{0,200}") {
        let _outcome = outcome(&policy(Preset::AskForRisky), command(&line));
    }
}

/// What is nested, long or odd beyond reason is asked about, and answered at once.
#[test]
fn extremes_are_asked_about() {
    let policy = policy(Preset::HandsOff);
    for line in [
        "(".repeat(5_000),
        "$(".repeat(5_000),
        "{ ".repeat(5_000),
        "if true; then ".repeat(3_000),
        "x".repeat(100_000),
        "while x=1; do ".repeat(30) + "rm old.txt" + &"; done".repeat(30),
        "sh -c \"".repeat(50),
        "echo ~-99999999999999999999999999".to_owned() + "; rm old.txt",
        "rm {1..99999999999999999999999999}".to_owned(),
        "rm {1..999999999}".to_owned(),
    ] {
        let shown: String = line.chars().take(40).collect();
        assert_eq!(outcome(&policy, command(&line)), Outcome::Ask, "{shown}");
    }
}
