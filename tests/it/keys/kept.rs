//! What is kept is found again: by other processes, at once, and by nobody who does not need it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use openspace_testkit::{
    cli::Program,
    model::{KEY, Turn},
};

use super::{
    Desk, assert_says, of_provider,
    service::{FakeKeychain, Items, Mood},
};

/// The ending of [`KEY`] as it is told.
const ENDING: &str = "••••mnop";

/// A key that one process keeps in GNOME Keyring is used by another, and nothing of it is left in
/// plain text anywhere.
#[test]
fn d24_a_kept_key_is_used_by_another_process() {
    let desk = Desk::new(vec![Turn::done("Done.")]);
    let keyring = desk.bus.gnome_keyring(&desk.rig.home);
    let trace = "[log]\nlevel = \"trace\"\n";
    fs::write(desk.rig.home.data().join("settings.toml"), trace).expect("settings");

    let set = desk.set("anthropic", KEY);
    assert_says(&set, 0, &["anthropic", ENDING, "in the keychain"]);
    let mode = fs::metadata(desk.file()).expect("the file").permissions();
    assert_eq!(mode.mode() & 0o777, 0o600);
    let listed = desk.listed("anthropic");
    assert_eq!(
        (listed["kept"].as_str(), listed["ending"].as_str()),
        (Some("keychain"), Some(ENDING))
    );

    let run = desk.call(&["run", "Nothing", "--backends", "shell"]);
    assert_says(&run, 0, &["Done.", "key from the keychain"]);
    let doctor = desk.call(&["doctor"]);
    assert_says(
        &doctor,
        0,
        &["key from the keychain", "1 kept in the keychain"],
    );
    let tested = desk.call(&["keys", "test", "anthropic"]);
    assert_says(&tested, 0, &["answers", "key from the keychain"]);
    desk.assert_nothing_plain(&[&set, &run, &doctor, &tested]);

    let removed = desk.call(&["keys", "remove", "anthropic"]);
    assert_says(&removed, 0, &["removed"]);
    let again = desk.call(&["keys", "remove", "anthropic"]);
    assert_says(&again, 0, &["No key of anthropic"]);
    assert!(desk.listed("anthropic")["kept"].is_null());
    let run = desk.call(&["run", "Nothing", "--backends", "shell"]);
    assert_eq!(run.code, Some(2), "there is no key any more: {run:?}");
    assert_says(&run, 2, &["openspace keys set anthropic"]);
    drop(keyring);
    desk.finish();
}

/// However often a process needs keys, it reads the keychain once; the program started anew reads it
/// once as well.
#[test]
fn d24_the_keychain_is_read_once_per_process() {
    let desk = Desk::new(vec![Turn::done("Done.")]);
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_eq!(desk.set("anthropic", KEY).code, Some(0));
    assert_eq!(service.reads(), 1, "what was kept is compared");
    assert_eq!(desk.call(&["keys", "list"]).code, Some(0));
    assert_eq!(service.reads(), 2);
    let run = desk.call(&["run", "Nothing", "--backends", "shell"]);
    assert_says(&run, 0, &["Done."]);
    assert_eq!(service.reads(), 3);

    let app = desk.app();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let lists = futures_util::future::join_all((0..4).map(|_| app.keys(true))).await;
        for keys in lists {
            assert_eq!(keys.expect("keys").problem, None);
        }
        let key = openspace_app::Secret::new("sk-another-key-0123".to_owned());
        app.set_key("openai", key, openspace_app::Keep::File)
            .await
            .expect("kept");
        app.test_key("anthropic", None).await.expect("it works");
        app.remove_key("openai").await.expect("removed");
    });
    assert_eq!(service.reads(), 4, "once for all of that");
    drop((app, service));
    desk.finish();
}

/// Whoever has the key from a variable, or needs none, opens nothing.
#[test]
fn d24_who_needs_no_kept_key_opens_nothing() {
    let desk = Desk::new(vec![Turn::done("Done.")]);
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_eq!(desk.set("openai", KEY).code, Some(0));
    let before = service.calls();
    let run = desk
        .openspace(&["run", "Nothing", "--backends", "shell"])
        .env("ANTHROPIC_API_KEY", KEY)
        .run()
        .expect("runs");
    assert_says(&run, 0, &["key from the variable ANTHROPIC_API_KEY"]);
    // No key is kept for this provider, so there is nothing to look for.
    let run = desk.call(&["run", "Nothing", "--backends", "shell"]);
    assert_eq!(run.code, Some(2), "{run:?}");
    for arguments in [
        &["runs", "list"][..],
        &["doctor"],
        &["config", "get"],
        &["approve"],
        &["completions", "bash"],
    ] {
        desk.call(arguments);
    }
    assert_eq!(service.calls(), before, "the keychain was not touched");
    drop(service);
    desk.finish();
}

/// 20 kB of keys fit, and the keychain gets no more of it than its one small item.
#[test]
fn d24_twenty_kilobytes_fit() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    let providers = ["anthropic", "openai", "gemini", "groq"];
    for provider in providers {
        let key = format!("{provider}-{}", "k".repeat(5_000));
        assert_says(&desk.set(provider, &key), 0, &["••••kkkk"]);
    }
    let listed = desk.call(&["keys", "list", "--json"]);
    for provider in providers {
        assert_eq!(of_provider(&listed, provider)["ending"], "••••kkkk");
    }
    let all = items.all();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].1.len(), 64, "64 hexadecimal digits");
    drop(service);
    desk.finish();
}

/// Processes that keep keys at the same time, the first ones in a new folder, lose none and agree on
/// one key in the keychain.
#[test]
fn d24_processes_at_the_same_time_lose_nothing() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    let providers = ["anthropic", "openai", "gemini", "groq", "deepseek", "zhipu"];
    let mut running: Vec<_> = providers
        .iter()
        .map(|provider| {
            desk.openspace(&["keys", "set", provider, "--stdin"])
                .stdin(format!("key-of-{provider}-0123"))
                .start()
                .expect("it starts")
        })
        .collect();
    for process in &mut running {
        let output = process.wait(crate::rig::LIMIT).expect("it ends");
        assert_eq!(output.code, Some(0), "{output:?}");
    }
    let listed = desk.call(&["keys", "list", "--json"]);
    for provider in providers {
        assert_eq!(of_provider(&listed, provider)["ending"], "••••0123");
    }
    assert_eq!(items.all().len(), 1);
    drop(service);
    desk.finish();
}

/// Two data folders share a keychain and not a key.
#[test]
fn d24_data_folders_do_not_share_a_key() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    let other = desk.rig.home.root().join("other-data");
    let there = |program: Program| {
        program
            .env("OPENSPACE_HOME", other.display().to_string())
            .stdin("key-of-the-other-9999")
            .run()
            .expect("runs")
    };
    assert_eq!(desk.set("anthropic", "key-of-the-first-1111").code, Some(0));
    let set = there(desk.openspace(&["keys", "set", "anthropic", "--stdin"]));
    assert_eq!(set.code, Some(0), "{set:?}");
    assert_eq!(desk.listed("anthropic")["ending"], "••••1111");
    let listed = there(desk.openspace(&["keys", "list", "--json"]));
    assert_eq!(of_provider(&listed, "anthropic")["ending"], "••••9999");
    let all = items.all();
    assert_eq!(all.len(), 2);
    assert_ne!(all[0].1, all[1].1);
    drop(service);
    desk.finish();
}

/// Hosts start us almost without an environment: the bus of the login session is found by its socket.
#[test]
fn d24_the_bus_is_found_where_no_variable_names_it() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    // A display that is nobody's keeps other sessions of this machine out of it.
    let bare = |arguments: &[&str]| {
        desk.openspace(arguments)
            .env("DBUS_SESSION_BUS_ADDRESS", "")
            .env("DISPLAY", ":59999")
    };
    let set = bare(&["keys", "set", "anthropic", "--stdin"])
        .stdin(KEY)
        .run()
        .expect("runs");
    assert_says(&set, 0, &["in the keychain"]);
    assert_eq!(items.all().len(), 1);
    drop(service);
    desk.finish();
}

/// A key is typed without being seen, mistakes are corrected, and Ctrl-C keeps nothing.
#[test]
fn a_key_is_typed_without_being_seen() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    let type_it = |keys: &str| {
        let mut running = desk
            .openspace(&["keys", "set", "anthropic"])
            .terminal()
            .start()
            .expect("it starts");
        running
            .wait_for("not shown", crate::rig::LIMIT)
            .expect("it asks");
        running.send(keys).expect("typed");
        running.wait(crate::rig::LIMIT).expect("it ends")
    };
    let given_up = type_it("sk-half\u{3}");
    assert_says(&given_up, 2, &["nothing was typed"]);
    assert!(!desk.file().exists());
    let set = type_it(&format!("{KEY}x\u{7f}\r"));
    assert_says(&set, 0, &[ENDING, "in the keychain"]);
    desk.assert_nothing_plain(&[&set, &given_up]);
    drop(service);
    desk.finish();
}

/// What is no key, no provider, or has nowhere to come from is refused, and nothing is written.
#[test]
fn what_is_no_key_is_not_kept() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_says(&desk.set("anthropic", ""), 2, &["empty"]);
    assert_says(&desk.set("anthropic", "two words"), 2, &["characters"]);
    assert_says(&desk.set("anthropik", KEY), 2, &["anthropik", "anthropic"]);
    let asked = desk.call(&["keys", "set", "anthropic"]);
    assert_says(&asked, 2, &["--stdin"]);
    let test = desk.call(&["keys", "test", "groq"]);
    assert_says(&test, 2, &["--model groq/NAME"]);
    // A key among the arguments is seen by everybody, so there is no place for it.
    let argument = desk.call(&["keys", "set", "anthropic", "sk-given"]);
    assert_eq!(argument.code, Some(2), "{argument:?}");
    assert!(!desk.file().exists());
    assert_eq!(service.calls(), 0);
    drop(service);
    desk.finish();
}

/// Whatever a run starts may not look at keys, set, protect or remove them.
#[test]
fn a_run_may_not_touch_keys() {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_eq!(desk.set("anthropic", KEY).code, Some(0));
    let before = (fs::read(desk.file()).expect("the file"), service.calls());
    for arguments in [
        &["keys", "list"][..],
        &["keys", "set", "anthropic", "--stdin"],
        &["keys", "test", "anthropic"],
        &["keys", "remove", "anthropic"],
        &["keys", "protect", "keychain"],
    ] {
        let output = desk
            .openspace(arguments)
            .env("OPENSPACE_RUN_ID", "somerun")
            .stdin("sk-planted-0123456789")
            .run()
            .expect("runs");
        assert_says(&output, 1, &["a run may not", "somerun"]);
    }
    let after = (fs::read(desk.file()).expect("the file"), service.calls());
    assert_eq!(after, before);
    drop(service);
    desk.finish();
}
