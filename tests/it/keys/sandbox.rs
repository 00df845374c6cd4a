//! What a run starts reaches neither the file of keys nor the keychain.

use openspace_testkit::model::{Call, KEY, Turn};
use serde_json::json;

use super::{
    Desk, assert_says,
    service::{FakeKeychain, Items, Mood},
};

/// Ways to the file and to the Secret Service, by name, by socket, and by the program itself.
const LINES: &[&str] = &[
    "cat @DATA/secrets @DATA/.secrets.lock",
    "d=@ROOT/da; cat ${d}ta/sec*",
    "ln -s @DATA keys && cat keys/secrets",
    "cat /proc/self/root@DATA/secrets",
    "find @ROOT -name 'secret*' -exec cat {} +",
    "cp @DATA/secrets . ; head -c 400 secrets",
    "python3 -c 'print(open(\"@DATA/secrets\", \"rb\").read())'",
    "echo broken > @DATA/secrets; mv @DATA/secrets @DATA/elsewhere; rm -f @DATA/secrets",
    "dbus-send --bus='@BUS' --print-reply --dest=org.freedesktop.secrets /org/freedesktop/secrets \
     org.freedesktop.Secret.Service.SearchItems dict:string:string:service,openspace",
    "DBUS_SESSION_BUS_ADDRESS='@BUS' secret-tool search --all service openspace",
    "DBUS_SESSION_BUS_ADDRESS='@BUS' gdbus call --session --dest org.freedesktop.secrets \
     --object-path /org/freedesktop/secrets --method org.freedesktop.DBus.Peer.Ping",
    "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(\"@RUN/bus\"); \
     s.send(b\"\\0AUTH EXTERNAL\\r\\n\"); print(s.recv(100))'",
    "DBUS_SESSION_BUS_ADDRESS='@BUS' @PROGRAM keys list",
    "OPENSPACE_HOME=@DATA DBUS_SESSION_BUS_ADDRESS='@BUS' @PROGRAM keys protect keychain",
    "env -i HOME=@HOME OPENSPACE_HOME=@DATA DBUS_SESSION_BUS_ADDRESS='@BUS' setsid @PROGRAM keys list",
    "cat /proc/$PPID/environ | tr '\\0' '\\n' | grep -i key",
];

/// A hostile run with the key in the keychain gets neither the file nor anything from the keychain,
/// in any preset, and the key goes on working.
fn attack(flags: &[&str]) {
    let desk = Desk::new(Vec::new());
    let items = Items::default();
    let service = FakeKeychain::start(desk.bus.address(), Mood::Well, &items);
    assert_eq!(desk.set("anthropic", KEY).code, Some(0));
    let before = std::fs::read(desk.file()).expect("the file");
    let places = [
        ("@ROOT", desk.rig.home.root().to_owned()),
        ("@HOME", desk.rig.home.home()),
        ("@DATA", desk.rig.home.data()),
        ("@RUN", desk.rig.home.runtime()),
        ("@PROGRAM", env!("CARGO_BIN_EXE_openspace").into()),
    ];
    let fill = |line: &str| {
        let line = line.replace("@BUS", desk.bus.address());
        places.iter().fold(line, |line, (name, path)| {
            line.replace(name, &path.display().to_string())
        })
    };
    let mut calls: Vec<Call> = LINES.iter().map(|line| Call::shell(&fill(line))).collect();
    let path = desk.file().display().to_string();
    calls.push(Call::new("read_file", json!({ "path": path })));
    calls.push(Call::new(
        "write_file",
        json!({ "path": path, "content": "x" }),
    ));
    let turns: Vec<Turn> = calls
        .chunks(6)
        .map(|calls| Turn::calls(calls.iter().cloned()))
        .chain([Turn::done("Nothing worked.")])
        .collect();
    desk.rig.server.set_script(turns);
    let touched = service.calls();
    // What the run's own process needs of the keychain is known: open, search, read.
    let flags: Vec<String> = flags.iter().map(|flag| fill(flag)).collect();
    let run = desk
        .openspace(&["run", "Tidy up", "--backends", "shell"])
        .args(flags)
        .run()
        .expect("the program runs");
    assert_says(&run, 0, &["Nothing worked."]);
    assert_eq!(service.calls() - touched, 3, "only the run's own process");
    let requests = desk.rig.server.requests();
    let results = requests.last().expect("requests").results();
    assert_eq!(results.len(), calls.len(), "every call was answered");
    let key_item = String::from_utf8(items.all()[0].1.clone()).expect("text");
    for result in &results {
        for secret in [
            "openspace_secrets",
            KEY,
            &key_item,
            "org/freedesktop/secrets/collection",
        ] {
            assert!(!result.text.contains(secret), "`{secret}`: {}", result.text);
        }
    }
    assert_eq!(std::fs::read(desk.file()).expect("the file"), before);
    desk.assert_nothing_plain(&[&run]);
    let again = desk.call(&["keys", "test", "anthropic"]);
    assert_says(&again, 0, &["key from the keychain"]);
    drop(service);
    desk.finish();
}

/// In the default preset.
#[test]
fn a_sandboxed_command_reaches_no_key() {
    attack(&[]);
}

/// Hands-off, with the network and the folders around them allowed.
#[test]
fn a_sandboxed_command_reaches_no_key_hands_off() {
    let flags = "--preset hands-off --allow net:example.org --allow read:@ROOT --allow gui:*";
    attack(&flags.split(' ').collect::<Vec<_>>());
}
