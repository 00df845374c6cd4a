//! The clipboard, with other clients on both sides.

use std::time::Duration;

use openspace_testkit::wait::poll;
use openspace_testkit::{Options, TestScreen};
use std::process::{Command, Stdio};

use super::open;

fn xclip(screen: &TestScreen, arguments: &[&str]) -> Command {
    let mut command = Command::new("xclip");
    command.args(["-selection", "clipboard"]).args(arguments);
    command
        .env_clear()
        .envs(screen.environment_in(screen.home()))
        .stderr(Stdio::null());
    command
}

/// What we put there another program pastes, what another puts there we read, and an empty
/// clipboard is none.
#[test]
fn text_goes_both_ways() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let mut input = open(&screen).input;
    assert_eq!(input.clipboard().unwrap(), None);

    let text = "Grüße 北京 👍\nline";
    input.set_clipboard(text).unwrap();
    let pasted = xclip(&screen, &["-out"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&pasted.stdout), text);
    assert_eq!(
        input.clipboard().unwrap().as_deref(),
        Some(text),
        "our own is readable too"
    );

    put(&screen, "from elsewhere ✓");
    let read = poll(Duration::from_secs(5), || {
        input.clipboard().unwrap().filter(|read| read != text)
    });
    assert_eq!(read.as_deref(), Some("from elsewhere ✓"));
    input.set_clipboard("back").unwrap();
    assert_eq!(input.clipboard().unwrap().as_deref(), Some("back"));
}

/// What is secret says so to programs that keep a history, and what comes after it no longer does.
#[test]
fn a_secret_says_so() {
    const HINT: &str = "x-kde-passwordManagerHint";
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let mut input = open(&screen).input;
    let pasted = |target: &str| {
        let output = xclip(&screen, &["-out", "-target", target])
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let offered = || pasted("TARGETS").lines().any(|line| line == HINT);

    input.set_secret_clipboard("the token").unwrap();
    assert!(offered());
    assert_eq!(pasted(HINT), "secret");
    assert_eq!(pasted("UTF8_STRING"), "the token");

    input.set_clipboard("anything").unwrap();
    assert!(!offered());
    assert_eq!(pasted(HINT), "");
    assert_eq!(pasted("UTF8_STRING"), "anything");
}

/// A large text, which comes in pieces (INCR), is read whole.
#[test]
fn a_large_text_is_read_whole() {
    let screen = TestScreen::start(Options::sized(640, 480)).unwrap();
    let mut input = open(&screen).input;
    let large: String = (0..300_000u32)
        .map(|it| char::from(b'a' + (it % 26) as u8))
        .collect();
    put(&screen, &format!("{}{}ü", "x".repeat(5_000_000), large));
    let read = poll(Duration::from_secs(10), || input.clipboard().unwrap());
    let read = read.unwrap();
    assert_eq!(read.len(), 5_300_002);
    assert!(read.ends_with(&format!("{large}ü")));

    input.set_clipboard(&large).unwrap();
    let pasted = xclip(&screen, &["-out"]).output().unwrap();
    assert!(pasted.stdout == large.as_bytes());
}

fn put(screen: &TestScreen, text: &str) {
    use std::io::Write as _;
    let mut child = xclip(screen, &["-in", "-quiet"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    // It serves until somebody else owns the clipboard or the server ends, which ends the test.
    std::thread::spawn(move || child.wait());
}
