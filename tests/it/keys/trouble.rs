//! The keychain is missing, locked, slow or dies: told at once, with a way on, and nothing is lost.

use std::fs;

use openspace_testkit::{
    cli::Output,
    model::{KEY, Turn},
};
use serde_json::Value;

use super::{
    Desk, assert_says,
    service::{FakeKeychain, Items, Mood},
};

/// The three choices of who has no keychain.
const CHOICES: [&str; 3] = [
    "openspace keys protect passphrase",
    "for this session only",
    "ANTHROPIC_API_KEY",
];

fn assert_choices(output: &Output, what: &str) {
    assert_says(output, 2, &[&[what], &CHOICES[..]].concat());
}

/// The folder of data holds nothing but what every command leaves there.
fn assert_nothing_written(desk: &Desk) {
    assert!(!desk.file().exists(), "no file of keys was made");
    let left: Vec<_> = fs::read_dir(desk.rig.home.data())
        .expect("a folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with(".tmp") || name.starts_with("secrets"))
        .collect();
    assert_eq!(left, [""; 0], "nothing half written");
    desk.assert_nothing_plain(&[]);
}

/// Keeping a key fails in this mood with these words and leaves nothing behind; afterwards, with the
/// keychain well again, it succeeds.
fn set_fails(mood: Mood, what: &str) {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), mood, &items);
    let set = desk.set("anthropic", KEY);
    assert_says(&set, 2, &[what, "ANTHROPIC_API_KEY"]);
    assert!(!super::said(&set).contains(KEY));
    assert_nothing_written(&desk);
    drop(service);
    let _service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_says(&desk.set("anthropic", KEY), 0, &["in the keychain"]);
    assert_eq!(desk.listed("anthropic")["ending"], "••••mnop");
    desk.finish();
}

/// A run fails in this mood with these words before anything is sent; afterwards, with the keychain
/// well again, it succeeds with the key that is still there.
fn run_fails(mood: Mood, what: &str) {
    let desk = Desk::new(vec![Turn::done("Done.")]);
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_eq!(desk.set("anthropic", KEY).code, Some(0));
    drop(service);
    let before = fs::read(desk.file()).expect("the file");

    let service = FakeKeychain::start(desk.bus.address(), mood, &items);
    let run = desk.call(&["run", "Nothing", "--backends", "shell"]);
    assert_says(&run, 2, &[what, "ANTHROPIC_API_KEY"]);
    assert_eq!(desk.rig.server.requests().len(), 0, "nothing was sent");
    let runs = desk.call(&["runs", "list", "--json"]);
    let listed: Value = serde_json::from_str(runs.stdout.trim()).expect("one run");
    assert_eq!(listed["run"]["status"], "failed", "{listed}");
    let list = desk.call(&["keys", "list", "--json"]);
    let line = super::of_provider(&list, "anthropic");
    assert_eq!(line["kept"], "keychain", "it is known to be there");
    assert!(line["ending"].is_null());
    // One that died is not there any more.
    let died = matches!(mood, Mood::DiesAt(_));
    assert_says(&list, 1, &[if died { "no Secret Service" } else { what }]);
    assert_eq!(fs::read(desk.file()).expect("the file"), before);
    drop(service);

    let _service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    let run = desk.call(&["run", "Nothing", "--backends", "shell"]);
    assert_says(&run, 0, &["Done.", "key from the keychain"]);
    desk.assert_nothing_plain(&[&run]);
    desk.finish();
}

/// Without a bus the three choices are named, and nothing is written.
#[test]
fn d24_no_bus() {
    let desk = Desk::new(Vec::new());
    for address in ["disabled:", "unix:path=/nonexistent/bus", "nonsense"] {
        let set = desk
            .openspace(&["keys", "set", "anthropic", "--stdin"])
            .env("DBUS_SESSION_BUS_ADDRESS", address)
            .stdin(KEY)
            .run()
            .expect("runs");
        assert_choices(&set, "no bus");
    }
    // Neither a variable nor a socket: a display that is nobody's keeps other sessions out of it.
    let set = desk
        .openspace(&["keys", "set", "anthropic", "--stdin"])
        .env("DBUS_SESSION_BUS_ADDRESS", "")
        .env(
            "XDG_RUNTIME_DIR",
            desk.rig.home.root().display().to_string(),
        )
        .env("DISPLAY", ":59999")
        .stdin(KEY)
        .run()
        .expect("runs");
    assert_choices(&set, "no bus");
    assert_nothing_written(&desk);
    desk.finish();
}

/// A bus on which nobody keeps secrets is told as that.
#[test]
fn d24_no_secret_service() {
    let desk = Desk::new(Vec::new());
    let set = desk.set("anthropic", KEY);
    assert_choices(&set, "no Secret Service");
    assert_nothing_written(&desk);
    let protect = desk.call(&["keys", "protect", "keychain"]);
    assert_says(&protect, 2, &["no Secret Service"]);
    assert_nothing_written(&desk);
    desk.finish();
}

/// A locked keychain whose prompt is closed keeps nothing.
#[test]
fn d24_locked_and_the_prompt_is_closed() {
    set_fails(Mood::PromptClosed, "locked");
}

/// A prompt that nobody answers is not waited for.
#[test]
fn d24_locked_and_nobody_answers() {
    set_fails(Mood::PromptIgnored, "asks for its password");
}

/// A key that was given up is not kept later: it would take the place of the one that the file is
/// encrypted with. Whoever tries again meanwhile joins the prompt that is shown.
#[test]
fn d24_what_was_given_up_does_not_happen_later() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::PromptIgnored, &items);
    let app = desk.app();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let set = |provider: &str, key: &str| {
        let key = openspace_app::Secret::new(key.to_owned());
        runtime.block_on(app.set_key(provider, key, openspace_app::Keep::File))
    };
    for provider in ["anthropic", "openai"] {
        let failure = set(provider, "key-of-nobody-0123").expect_err("nobody unlocks it");
        assert_eq!(failure.params["reason"], "keychain_locked", "{failure:?}");
    }
    assert_eq!(service.prompts(), 1, "the second one joins the first");

    service.unlock();
    // Longer than whoever waits for the answer to the prompt needs to hear it.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(items.all().len(), 0, "nobody waits for it any more");
    set("anthropic", "key-of-anthropic-0123").expect("it is unlocked");
    set("openai", "key-of-openai-4567").expect("it is unlocked");
    assert_eq!((service.prompts(), items.all().len()), (1, 1));
    for (provider, ending) in [("anthropic", "••••0123"), ("openai", "••••4567")] {
        assert_eq!(desk.listed(provider)["ending"], ending, "another process");
    }
    drop((app, service));
    desk.finish();
}

/// Nothing is encrypted with a key that the keychain does not give back.
#[test]
fn d24_a_key_that_is_not_given_back_encrypts_nothing() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::GivesAnother, &items);
    let set = desk.set("anthropic", KEY);
    assert_says(&set, 2, &["does not give back", "ANTHROPIC_API_KEY"]);
    assert_nothing_written(&desk);
    drop(service);
    desk.finish();
}

/// A keychain that hangs is given up.
#[test]
fn d24_it_hangs() {
    set_fails(Mood::Hangs, "did not answer within 3 s");
}

/// The same when it hangs over the last call.
#[test]
fn d24_it_hangs_while_keeping() {
    set_fails(Mood::HangsAt("CreateItem"), "did not answer within 3 s");
}

/// A keychain that dies over a call keeps nothing.
#[test]
fn d24_it_dies_while_keeping() {
    set_fails(Mood::DiesAt("CreateItem"), "ended before it answered");
}

/// A run whose key is in a keychain that dies says so.
#[test]
fn d24_a_run_and_a_keychain_that_dies() {
    run_fails(Mood::DiesAt("GetSecret"), "ended before it answered");
}

/// A run whose key is in a keychain that hangs says so.
#[test]
fn d24_a_run_and_a_keychain_that_hangs() {
    run_fails(Mood::HangsAt("GetSecret"), "did not answer within 3 s");
}

/// A run whose key is in a keychain that stays locked says so.
#[test]
fn d24_a_run_and_a_locked_keychain() {
    run_fails(Mood::PromptClosed, "locked");
}

/// GNOME Keyring that is killed is missed, not waited for, and its key is there when it is back.
#[test]
fn d24_gnome_keyring_is_killed() {
    let desk = Desk::new(vec![Turn::done("Done.")]);
    let keyring = desk.bus.gnome_keyring(&desk.rig.home);
    assert_eq!(desk.set("anthropic", KEY).code, Some(0));
    keyring.signal(rustix::process::Signal::KILL);
    drop(keyring);
    let run = desk.call(&["run", "Nothing", "--backends", "shell"]);
    assert_choices(&run, "no Secret Service");
    let keyring = desk.bus.gnome_keyring(&desk.rig.home);
    let run = desk.call(&["run", "Nothing", "--backends", "shell"]);
    assert_says(&run, 0, &["Done."]);
    desk.assert_nothing_plain(&[&run]);
    drop(keyring);
    desk.finish();
}

/// A keychain that was reset cannot open the file, and nothing writes over it.
#[test]
fn d24_a_reset_keychain_is_told() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_eq!(desk.set("anthropic", KEY).code, Some(0));
    let before = fs::read(desk.file()).expect("the file");
    items.clear();
    for output in [
        desk.set("openai", "key-of-openai-0123"),
        desk.call(&["keys", "remove", "anthropic"]),
        desk.call(&["keys", "protect", "keychain"]),
        desk.call(&["run", "Nothing", "--backends", "shell"]),
    ] {
        assert_says(&output, 2, &["not in this keychain", "move it away"]);
    }
    assert_eq!(fs::read(desk.file()).expect("the file"), before);
    assert_eq!(items.all().len(), 0, "no other key was made for it");
    drop(service);
    desk.finish();
}

/// A damaged file is told and left as it is.
#[test]
fn d24_a_damaged_file_is_told() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_eq!(desk.set("anthropic", KEY).code, Some(0));
    let mut damaged = fs::read(desk.file()).expect("the file");
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    for content in [damaged.as_slice(), b"", b"not ours\n"] {
        fs::write(desk.file(), content).expect("write");
        for output in [
            desk.set("openai", "key-of-openai-0123"),
            desk.call(&["run", "Nothing", "--backends", "shell"]),
        ] {
            assert_says(&output, 1, &["damaged", "left as it is"]);
        }
        assert_eq!(fs::read(desk.file()).expect("the file"), content);
    }
    let doctor = desk.call(&["doctor"]);
    assert_says(&doctor, 1, &["is damaged"]);
    drop(service);
    desk.finish();
}
