//! Text arrives exactly, under every layout, in programs of different toolkits.

use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

use openspace_gui::{Input, InputError, TypeOptions};
use openspace_testkit::screen::Rect;
use openspace_testkit::spawn::Spawned;
use openspace_testkit::wait::poll;
use openspace_testkit::{GtkTarget, Options, RawTarget, TestScreen, wait_until};

use openspace_testkit::target::{Happened, Window};

use super::{CONTROL, RETURN, SHIFT, keys_down, mapping, open, yes};
use openspace_gui::Key;

/// The text of case D-05.
const MIXED: &str = "Héllo, 北京天气 Ω “q” 👍 @#{}[]~ ÄÖÜ";

/// Layouts, and the group that is locked.
const LAYOUTS: [(&str, u8); 5] = [("us", 0), ("de", 0), ("fr", 0), ("us,ru", 0), ("us,ru", 1)];

const AT_ONCE: TypeOptions = TypeOptions {
    delay: Duration::ZERO,
};

/// A thousand characters of both cases and all symbols, in an order that changes Shift a lot.
fn thousand() -> String {
    let mut seed = 20_231u32;
    (0..1000)
        .map(|_| {
            seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12345);
            char::from(b'!' + (seed >> 16) as u8 % 94)
        })
        .collect()
}

fn start(layouts: &str, group: u8) -> TestScreen {
    let layouts = layouts.to_owned();
    TestScreen::start(Options {
        layouts,
        group,
        ..Options::sized(1280, 800)
    })
    .unwrap()
}

fn type_and_compare(layout: (&str, u8), text: &str, options: TypeOptions) {
    let screen = start(layout.0, layout.1);
    let target = GtkTarget::start(&screen).unwrap();
    let mut input = open(&screen).input;
    input.type_text(text, options, &yes).unwrap();
    let arrived = target.wait_for_text("entry", text, Duration::from_secs(10));
    assert_eq!(arrived, text, "under {layout:?}");
    assert_eq!(keys_down(&screen), Vec::<u8>::new(), "under {layout:?}");
}

/// D-05: mixed scripts and an emoji reach a GTK entry byte for byte under every layout.
#[test]
fn d_05_any_character_reaches_a_gtk_entry() {
    for layout in LAYOUTS {
        type_and_compare(layout, MIXED, AT_ONCE);
    }
}

/// D-06: a thousand mixed characters without any delay reach a GTK entry exactly, within 2 s.
#[test]
fn d_06_fast_text_is_exact_in_a_gtk_entry() {
    let text = thousand();
    for layout in LAYOUTS {
        type_and_compare(layout, &text, AT_ONCE);
    }
}

/// D-05 and D-06 in a terminal, which translates keys through Xlib.
#[test]
fn text_is_exact_in_xterm() {
    for (layouts, group) in LAYOUTS {
        let screen = start(layouts, group);
        let (_terminal, file) = terminal(&screen);
        let mut input = open(&screen).input;
        let wanted = format!("{MIXED}\n{}\n", thousand());
        input.type_text(&wanted, AT_ONCE, &yes).unwrap();
        let read = || std::fs::read_to_string(&file).unwrap_or_default();
        wait_until(Duration::from_secs(10), || read() == wanted);
        assert_eq!(read(), wanted, "under {layouts} {group}");
        assert_eq!(keys_down(&screen), Vec::<u8>::new());
    }
}

fn terminal(screen: &TestScreen) -> (Spawned, PathBuf) {
    let file = screen.home().root().join("typed.txt");
    let command = format!("echo ready > {0}.ready; exec cat > {0}", file.display());
    let terminal = screen
        .run("xterm", &["-u8", "-e", "sh", "-c", &command])
        .unwrap();
    let ready = file.with_extension("txt.ready");
    assert!(wait_until(Duration::from_secs(20), || ready.exists()));
    let platform = open(screen);
    let focused = || {
        platform
            .screen
            .focused()
            .unwrap()
            .is_some_and(|it| it.class == "xterm")
    };
    assert!(wait_until(Duration::from_secs(10), focused));
    (terminal, file)
}

/// More different characters than the keyboard has spare keys still arrive, in rounds.
#[test]
fn more_characters_than_spare_keys_arrive() {
    let text: String = (0x4e00..0x4e00 + 120).filter_map(char::from_u32).collect();
    type_and_compare(("us", 0), &text, AT_ONCE);

    let screen = start("de", 0);
    let (_terminal, file) = terminal(&screen);
    let wanted = format!("{}\n", text.chars().take(50).collect::<String>());
    open(&screen)
        .input
        .type_text(&wanted, AT_ONCE, &yes)
        .unwrap();
    let read = || std::fs::read_to_string(&file).unwrap_or_default();
    wait_until(Duration::from_secs(10), || read() == wanted);
    assert_eq!(read(), wanted);
}

/// Caps Lock, Num Lock, a Shift left behind and a Shift of our own change no character, and the
/// locks are as they were afterwards.
#[test]
fn locks_and_held_modifiers_change_nothing() {
    let screen = start("de", 0);
    let target = GtkTarget::start(&screen).unwrap();
    let mut other = open(&screen).input;
    for lock in [Key(0xffe5), Key(0xff7f)] {
        other.key(lock, true, &yes).unwrap();
        other.key(lock, false, &yes).unwrap();
    }
    other.key(SHIFT, true, &yes).unwrap();
    let locked = locked_modifiers(&screen);
    assert_eq!(locked, 0x12, "Caps Lock and Num Lock are on");

    let mut input = open(&screen).input;
    input.type_text("aZ1!ß{é", AT_ONCE, &yes).unwrap();
    assert_eq!(
        target.wait_for_text("entry", "aZ1!ß{é", Duration::from_secs(5)),
        "aZ1!ß{é"
    );
    assert_eq!(locked_modifiers(&screen), locked);

    input.key(SHIFT, true, &yes).unwrap();
    let shift = input.held().keycodes;
    input.type_text("b", AT_ONCE, &yes).unwrap();
    assert_eq!(
        target.wait_for_text("entry", "aZ1!ß{éb", Duration::from_secs(5)),
        "aZ1!ß{éb"
    );
    assert_eq!(input.held().keycodes, shift, "what was held is held again");
    input.release_all().unwrap();
    assert_eq!(keys_down(&screen), Vec::<u8>::new());
}

fn locked_modifiers(screen: &TestScreen) -> u8 {
    use x11rb::protocol::xkb::ConnectionExt as _;
    let connection = screen.connect().unwrap();
    connection.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let state = connection.xkb_get_state(0x100).unwrap().reply().unwrap();
    u16::from(state.locked_mods) as u8
}

/// Line ends and tabs are keys; other control characters are refused before anything is typed.
#[test]
fn control_characters_are_keys_or_refused() {
    let screen = start("fr", 0);
    let target = RawTarget::start(&screen, Window::new(Rect::new(0, 0, 300, 200))).unwrap();
    let mut input = open(&screen).input;
    input.type_text("a\r\n\tb", AT_ONCE, &yes).unwrap();
    assert!(wait_until(Duration::from_secs(5), || target.keys().len() == 4));
    assert_eq!(target.keys(), ["a", "Return", "Tab", "b"]);
    let refused = input.type_text("abc\u{7}", AT_ONCE, &yes);
    assert_eq!(refused, Err(InputError::Untypable('\u{7}')));
    assert_eq!(target.keys().len(), 4);
}

/// D-11: when the answer turns to no in the middle of a text, no further event is injected and
/// nothing stays pressed.
#[test]
fn d_11_typing_stops_within_one_event() {
    let screen = start("us", 0);
    let target = RawTarget::start(&screen, Window::new(Rect::new(0, 0, 300, 200))).unwrap();
    let mut input = open(&screen).input;
    let asked = Cell::new(0);
    let may_act = || {
        asked.set(asked.get() + 1);
        asked.get() <= 200
    };
    let stopped = input.type_text(&"aB".repeat(2500), AT_ONCE, &may_act);
    assert_eq!(stopped, Err(InputError::Halted));
    assert_eq!(asked.get(), 201, "it does not ask again");
    assert_eq!(keys_down(&screen), Vec::<u8>::new());
    assert!(input.held().keycodes.is_empty());
    let downs = || {
        target
            .events()
            .iter()
            .filter(|it| matches!(it.what, Happened::KeyDown { .. }))
            .count()
    };
    assert!(wait_until(Duration::from_secs(5), || downs() > 50));
    assert!(downs() <= 200, "{}", downs());
}

/// What was lent to other characters means nothing again after a release, and what is held says
/// which keys these are.
#[test]
fn lent_keys_are_given_back() {
    let screen = start("us", 0);
    let target = GtkTarget::start(&screen).unwrap();
    let before = mapping(&screen);
    let mut input = open(&screen).input;
    input.type_text("北京 é", AT_ONCE, &yes).unwrap();
    assert_eq!(input.held().remapped.len(), 3);
    assert_ne!(mapping(&screen), before);
    input.release_all().unwrap();
    assert_eq!(mapping(&screen), before);
    assert!(input.held().is_empty());
    // Giving back right after typing must not change what was typed.
    assert_eq!(
        target.wait_for_text("entry", "北京 é", Duration::from_secs(5)),
        "北京 é"
    );
}

/// A layout that changes between two texts is noticed.
#[test]
fn a_changed_layout_is_noticed() {
    let screen = start("us", 0);
    let target = GtkTarget::start(&screen).unwrap();
    let mut input = open(&screen).input;
    input.type_text("yz京", AT_ONCE, &yes).unwrap();
    target.wait_for_text("entry", "yz京", Duration::from_secs(5));
    screen.set_layouts("de", 0).unwrap();
    input.type_text("yz京ü", AT_ONCE, &yes).unwrap();
    assert_eq!(
        target.wait_for_text("entry", "yz京yz京ü", Duration::from_secs(5)),
        "yz京yz京ü"
    );
}

/// A chord works although its letter is in another group than the active one.
#[test]
fn chords_reach_letters_of_other_groups() {
    let screen = start("us,ru", 1);
    let target = GtkTarget::start(&screen).unwrap();
    let mut input = open(&screen).input;
    input.type_text("one two", AT_ONCE, &yes).unwrap();
    target.wait_for_text("entry", "one two", Duration::from_secs(5));
    press(&mut *input, &[CONTROL, Key('a'.into())]);
    input.type_text("новый", AT_ONCE, &yes).unwrap();
    assert_eq!(
        target.wait_for_text("entry", "новый", Duration::from_secs(5)),
        "новый"
    );
    press(&mut *input, &[RETURN]);
    assert!(
        target
            .wait_for(Duration::from_secs(5), |it| it.event == "activate")
            .is_some()
    );
    assert_eq!(keys_down(&screen), Vec::<u8>::new());
}

fn press(input: &mut dyn Input, chord: &[Key]) {
    for key in chord {
        input.key(*key, true, &yes).unwrap();
    }
    for key in chord.iter().rev() {
        input.key(*key, false, &yes).unwrap();
    }
}

/// A symbol on the second level is pressed with its Shift, which is released with it.
#[test]
fn a_shifted_symbol_brings_its_shift() {
    let screen = start("us", 0);
    let target = RawTarget::start(&screen, Window::new(Rect::new(0, 0, 300, 200))).unwrap();
    let mut input = open(&screen).input;
    press(&mut *input, &[CONTROL, Key('+'.into())]);
    let plus = poll(Duration::from_secs(5), || {
        target
            .events()
            .into_iter()
            .find(|it| matches!(&it.what, Happened::KeyDown { key, .. } if key == "+"))
    });
    assert_eq!(plus.unwrap().state & 5, 5, "Control and Shift are down");
    assert_eq!(keys_down(&screen), Vec::<u8>::new());
}
