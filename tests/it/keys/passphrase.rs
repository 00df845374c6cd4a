//! Keys without a keychain: under a passphrase, or in plain text where somebody insists.

use std::fs;

use openspace_testkit::{
    cli::{Output, Running},
    model::{KEY, Turn},
};

use super::{Desk, assert_nothing_plain, assert_says, of_provider, said};
use crate::rig::LIMIT;

const PASSPHRASE: &str = "correct horse battery";
const RUN: [&str; 4] = ["run", "Nothing", "--backends", "shell"];

/// The program in a terminal; each answer is typed when its question is there.
fn talk(desk: &Desk, arguments: &[&str], answers: &[(&str, &str)]) -> Output {
    let mut running = desk
        .openspace(arguments)
        .terminal()
        .start()
        .expect("it starts");
    let mut seen = 0;
    for (question, answer) in answers {
        seen = wait_for_more(&mut running, question, seen);
        running.send(&format!("{answer}\r")).expect("typed");
    }
    running.wait(LIMIT).expect("it ends")
}

/// Waits for a question that was asked after `from`, and where the output ends then.
fn wait_for_more(running: &mut Running, question: &str, from: usize) -> usize {
    let found = openspace_testkit::wait_until(LIMIT, || {
        running
            .stdout()
            .get(from..)
            .is_some_and(|text| text.contains(question))
    });
    assert!(found, "`{question}` is not asked: {:?}", running.stdout());
    running.stdout().len()
}

/// A desk without a Secret Service whose keys are under the passphrase.
fn protected(turns: Vec<Turn>) -> Desk {
    let desk = Desk::new(turns);
    let answers = [("New passphrase", PASSPHRASE), ("again", PASSPHRASE)];
    let output = talk(&desk, &["keys", "protect", "passphrase"], &answers);
    assert_says(&output, 0, &["passphrase opens them"]);
    let set = talk(
        &desk,
        &["keys", "set", "anthropic"],
        &[("Key of anthropic", KEY), ("Passphrase", PASSPHRASE)],
    );
    assert_says(&set, 0, &["••••mnop", "under the passphrase"]);
    assert_nothing_plain(desk.rig.home.root(), &[KEY, PASSPHRASE]);
    for output in [output, set] {
        assert!(!said(&output).contains(PASSPHRASE) && !said(&output).contains(KEY));
    }
    desk
}

/// Without a keychain a passphrase protects the keys: it is asked for in a terminal, and a run that
/// nobody can be asked for says what to do.
#[test]
fn d24_a_passphrase_in_place_of_a_keychain() {
    let desk = protected(vec![Turn::done("Done.")]);
    let run = talk(&desk, &RUN, &[("Passphrase", PASSPHRASE)]);
    assert_says(&run, 0, &["Done.", "key from the file under a passphrase"]);
    let unattended = desk.call(&RUN);
    assert_says(&unattended, 2, &["passphrase", "ANTHROPIC_API_KEY"]);
    let listed = desk.call(&["keys", "list", "--json"]);
    let line = of_provider(&listed, "anthropic");
    assert_eq!(line["kept"], "passphrase");
    assert!(line["ending"].is_null());
    assert_eq!(listed.code, Some(1), "{listed:?}");
    let listed = talk(&desk, &["keys", "list"], &[("Passphrase", PASSPHRASE)]);
    assert_says(&listed, 0, &["••••mnop under the passphrase"]);
    desk.assert_nothing_plain(&[&run, &unattended, &listed]);
    desk.finish();
}

/// A wrong passphrase is asked again, three times at most, and changes nothing.
#[test]
fn d24_a_wrong_passphrase_opens_nothing() {
    let desk = protected(vec![Turn::done("Done.")]);
    let before = fs::read(desk.file()).expect("the file");
    let wrong = [("Passphrase", "wrong"); 3];
    let refused = talk(&desk, &["keys", "remove", "anthropic"], &wrong);
    assert_says(&refused, 2, &["passphrase is wrong"]);
    assert_eq!(fs::read(desk.file()).expect("the file"), before);
    let answers = [("Passphrase", "wrong"), ("Passphrase", PASSPHRASE)];
    let run = talk(&desk, &RUN, &answers);
    assert_says(&run, 0, &["Done."]);
    let short = [
        ("Passphrase", PASSPHRASE),
        ("New", "short"),
        ("again", "short"),
    ];
    let refused = talk(&desk, &["keys", "protect", "passphrase"], &short);
    assert_says(&refused, 2, &["too short"]);
    let differing = [
        ("Passphrase", PASSPHRASE),
        ("New", "one thing"),
        ("again", "another"),
    ];
    let refused = talk(&desk, &["keys", "protect", "passphrase"], &differing);
    assert_says(&refused, 2, &["not the same"]);
    assert_eq!(fs::read(desk.file()).expect("the file"), before);
    desk.finish();
}

/// When there is a keychain later, the keys move into its care.
#[test]
fn d24_from_a_passphrase_to_the_keychain() {
    let desk = protected(vec![Turn::done("Done.")]);
    let keyring = desk.bus.gnome_keyring(&desk.rig.home);
    let moved = talk(
        &desk,
        &["keys", "protect", "keychain"],
        &[("Passphrase", PASSPHRASE)],
    );
    assert_says(&moved, 0, &["in the keychain"]);
    let run = desk.call(&RUN);
    assert_says(&run, 0, &["Done.", "key from the keychain"]);
    desk.assert_nothing_plain(&[&moved, &run]);
    drop(keyring);
    desk.finish();
}

/// Plain text is written only where a variable says so, is told everywhere, and ends when the keys are
/// protected.
#[test]
fn d24_plain_text_only_where_a_variable_says_so() {
    let desk = Desk::new(vec![Turn::done("Done."), Turn::done("Done.")]);
    let plain = |arguments: &[&str]| {
        desk.openspace(arguments)
            .env("OPENSPACE_SECRETS_PLAINTEXT", "1")
            .stdin(KEY)
            .run()
            .expect("runs")
    };
    let set = plain(&["keys", "set", "anthropic", "--stdin"]);
    assert_says(&set, 0, &["in plain text", "whoever reads that file"]);
    let doctor = plain(&["doctor"]);
    assert_says(
        &doctor,
        0,
        &["1 kept in plain text", "openspace keys protect"],
    );
    let run = plain(&RUN);
    assert_says(&run, 0, &["Done.", "key from a file in plain text"]);
    let without = desk.call(&RUN);
    assert_says(&without, 2, &["OPENSPACE_SECRETS_PLAINTEXT"]);
    let keyring = desk.bus.gnome_keyring(&desk.rig.home);
    let moved = desk.call(&["keys", "protect", "keychain"]);
    assert_says(&moved, 0, &["in the keychain"]);
    desk.assert_nothing_plain(&[&set, &doctor, &run, &without, &moved]);
    let run = desk.call(&RUN);
    assert_says(&run, 0, &["Done."]);
    drop(keyring);
    desk.finish();
}
