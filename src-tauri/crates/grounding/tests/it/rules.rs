//! Standing rules: text, effect, limits.

use openspace_grounding::{
    Access, Action, Preset,
    policy::{InvalidRule, Origin, Policy, PolicyInputs, Rule, is_public},
};

use crate::support::{Outcome, command, inputs, outcome, ruled, screen};
use Outcome::{Allow, Ask, Deny};

/// Every form of a rule prints as it was written.
#[test]
fn rules_survive_their_text() {
    for text in [
        "gui:chromium",
        "gui:chromium:click",
        "gui:chromium:look",
        "gui:org.gnome.nautilus:full",
        "gui:*",
        "gui:*:look",
        "net:example.org",
        "net:*.example.org",
        "net:127.0.0.1",
        "net:::1",
        "write:/home/ana/a b",
        "read:/home/ana",
        "mcp:files/read",
        "mcp:files/*",
        "command:git commit -m",
        "deny gui:chromium",
        "deny command:rm",
    ] {
        let rule: Rule = text
            .parse()
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(rule.to_string(), text, "text form");
        let json = serde_json::to_string(&rule).expect("to JSON");
        assert_eq!(
            serde_json::from_str::<Rule>(&json).expect("from JSON"),
            rule,
            "JSON form"
        );
    }
}

/// What is no rule is refused with a text that says what to write.
#[test]
fn bad_rules_are_explained() {
    for text in [
        "",
        "chromium",
        "gui:",
        "gui:Chromium",
        "gui:a/b",
        "gui:chromium:type",
        "gui:unknown",
        "net:",
        "net:https://example.org",
        "net:*.org",
        "net:a..b",
        "net:*",
        "write:docs",
        "write:/a/../b",
        "write:/",
        "read:/",
        "mcp:files",
        "mcp:*/x",
        "mcp:/x",
        "command:",
        "command:rm; ls",
        "command:$x",
        "command:sh -c 'x'",
        "screen:x",
        "deny",
        "gui :x",
    ] {
        let error = text.parse::<Rule>().expect_err(text);
        assert!(error.to_string().contains('`'), "{error}");
    }
    assert_eq!(
        "write:docs".parse::<Rule>(),
        Err(InvalidRule::Folder("docs".to_owned()))
    );
}

/// The narrower of two rules about the same thing says so.
#[test]
fn narrower_rules_are_known() {
    for (narrow, broad) in [
        ("gui:chromium:look", "gui:chromium:click"),
        ("gui:chromium:click", "gui:chromium"),
        ("gui:chromium", "gui:*"),
        ("net:a.example.org", "net:*.example.org"),
        ("net:example.org", "net:*.example.org"),
        ("read:/home/ana/x", "read:/home/ana"),
        ("read:/home/ana", "write:/home/ana"),
        ("mcp:a/b", "mcp:a/*"),
        ("command:git commit", "command:git"),
    ] {
        let narrowness = |text: &str| text.parse::<Rule>().expect(text).narrowness();
        assert!(
            narrowness(narrow) > narrowness(broad),
            "{narrow} is narrower than {broad}"
        );
    }
}

/// Rules allow what they name, in every preset, and nothing else.
#[test]
fn rules_allow_what_they_name() {
    for preset in [Preset::AskEveryTime, Preset::AskForRisky, Preset::HandsOff] {
        for (rule, action, right) in [
            ("gui:chromium", screen("chromium", Access::Full), Allow),
            (
                "gui:chromium:click",
                screen("chromium", Access::Click),
                Allow,
            ),
            ("gui:chromium:click", screen("chromium", Access::Full), Ask),
            ("gui:*", screen("mousepad", Access::Full), Allow),
            ("gui:*", screen("unknown", Access::Look), Ask),
            ("gui:*", screen("keepassxc", Access::Look), Deny),
            (
                "read:/home/ana/docs",
                Action::Read {
                    path: "/home/ana/docs/x".into(),
                },
                Allow,
            ),
            (
                "read:/home/ana/docs",
                Action::Write {
                    path: "/home/ana/docs/x".into(),
                    keeps_copy: true,
                },
                Ask,
            ),
            (
                "read:/home/ana/docs",
                Action::Read {
                    path: "/home/ana/docs2/x".into(),
                },
                Ask,
            ),
            (
                "write:/home/ana/docs",
                Action::Write {
                    path: "/home/ana/docs/x".into(),
                    keeps_copy: true,
                },
                Allow,
            ),
            (
                "write:/home/ana/docs",
                Action::Delete {
                    path: "/home/ana/docs/x".into(),
                },
                Ask,
            ),
            (
                "mcp:files/move",
                Action::McpTool {
                    server: "files".into(),
                    tool: "move".into(),
                    read_only: false,
                },
                Allow,
            ),
            (
                "mcp:files/*",
                Action::McpTool {
                    server: "files2".into(),
                    tool: "move".into(),
                    read_only: false,
                },
                Ask,
            ),
            (
                "net:example.org",
                Action::Fetch {
                    url: "https://example.org".into(),
                },
                Allow,
            ),
            (
                "net:localhost",
                Action::Fetch {
                    url: "http://localhost".into(),
                },
                Deny,
            ),
            ("command:make", command("make test"), Allow),
            ("command:rm old.txt", command("rm old.txt"), Allow),
            ("command:rm", command("rm *.txt"), Ask),
            ("command:rm", command("rm $x"), Ask),
            ("command:rm", command("rm /home/ana/letter.txt"), Ask),
            ("command:rm", command("PATH=. rm old.txt"), Ask),
            ("command:rm", command("rm old.txt; shred notes.md"), Ask),
            ("command:sudo", command("sudo ls"), Ask),
            ("command:curl", command("curl https://example.org"), Ask),
            ("deny command:rm", command("/bin/rm old.txt"), Deny),
            ("deny command:git push", command("env git push"), Deny),
            (
                "deny net:*.example.org",
                command("curl https://a.example.org"),
                Deny,
            ),
            (
                "deny net:*.example.org",
                Action::Fetch {
                    url: "https://example.org".into(),
                },
                Deny,
            ),
            (
                "deny read:/home/ana/work/src",
                command("cat src/main.rs"),
                Deny,
            ),
            (
                "deny write:/home/ana/work/src",
                command("echo x > src/new.rs"),
                Deny,
            ),
            (
                "deny gui:chromium:click",
                screen("chromium", Access::Full),
                Deny,
            ),
            (
                "deny gui:chromium:click",
                screen("chromium", Access::Look),
                Ask,
            ),
        ] {
            assert_eq!(
                outcome(&ruled(preset, &[rule]), action.clone()),
                right,
                "{preset}, {rule}: {action:?}"
            );
        }
    }
    let both = ruled(Preset::AskForRisky, &["gui:chromium", "deny gui:*"]);
    assert_eq!(
        outcome(&both, screen("chromium", Access::Look)),
        Deny,
        "a prohibition wins"
    );
}

/// A host can only make things stricter.
#[test]
fn a_host_sets_no_preset() {
    let host = |preset, asked, rules: Vec<Rule>| {
        Policy::new(
            PolicyInputs {
                origin: Origin::Host,
                ..inputs(preset)
            }
            .with_request(Some(asked), rules),
        )
    };
    let policy = host(
        Preset::AskForRisky,
        Preset::HandsOff,
        vec!["gui:*".parse().expect("rule")],
    );
    assert_eq!(policy.inputs().preset, Preset::AskForRisky, "not looser");
    assert_eq!(
        outcome(&policy, screen("chromium", Access::Look)),
        Ask,
        "no permission of its own"
    );
    let policy = host(
        Preset::AskForRisky,
        Preset::AskEveryTime,
        vec!["deny gui:*".parse().expect("rule")],
    );
    assert_eq!(
        policy.inputs().preset,
        Preset::AskEveryTime,
        "stricter is fine"
    );
    assert_eq!(
        outcome(&policy, screen("chromium", Access::Look)),
        Deny,
        "so is a prohibition"
    );
}

/// Presets have the names of the settings.
#[test]
fn presets_survive_their_text() {
    for text in ["ask-always", "ask-risky", "hands-off"] {
        let preset: Preset = text.parse().expect("preset");
        assert_eq!(preset.to_string(), text);
        assert_eq!(
            serde_json::to_string(&preset).expect("JSON"),
            format!("\"{text}\"")
        );
    }
    assert!("off".parse::<Preset>().is_err());
}

/// Addresses that a name may resolve to are told apart exactly at the edges of the blocks.
#[test]
fn public_addresses_are_told_apart() {
    for (address, right) in [
        ("1.1.1.1", true),
        ("9.255.255.255", true),
        ("10.0.0.0", false),
        ("11.0.0.0", true),
        ("100.63.255.255", true),
        ("100.64.0.0", false),
        ("100.127.255.255", false),
        ("100.128.0.0", true),
        ("126.255.255.255", true),
        ("127.0.0.1", false),
        ("169.253.255.255", true),
        ("169.254.0.1", false),
        ("172.15.255.255", true),
        ("172.16.0.0", false),
        ("172.31.255.255", false),
        ("172.32.0.0", true),
        ("192.168.0.0", false),
        ("192.169.0.0", true),
        ("223.255.255.255", true),
        ("224.0.0.1", false),
        ("255.255.255.255", false),
        ("0.0.0.0", false),
        ("2606:4700::1111", true),
        ("::1", false),
        ("::", false),
        ("::ffff:10.0.0.1", false),
        ("::ffff:1.1.1.1", true),
        ("fe80::1", false),
        ("fc00::1", false),
        ("fd00:ec2::254", false),
        ("ff02::1", false),
        ("2001:db8::1", false),
        ("64:ff9b::a00:1", false),
        ("2002:a00:1::", false),
        ("2001::1", false),
    ] {
        assert_eq!(
            is_public(address.parse().expect("address")),
            right,
            "{address}"
        );
    }
}
