//! Text arrives as it was meant, whatever the keyboard.

use openspace_testkit::{
    GtkTarget, Options,
    model::{Script, SeenRequest, Turn},
};

use super::{ANY_PROGRAM, SOON, assert_released};
use crate::rig::Rig;

/// Letters that no keyboard has all of.
const TEXT: &str = "Héllo, 北京天气 Ω “q” 👍 @#{}[]~ ÄÖÜ";

fn keyboard(layouts: &str, group: u8) -> Options {
    Options {
        layouts: layouts.to_owned(),
        group,
        ..Options::sized(1280, 800)
    }
}

/// Types into what has the focus, and looks before it says so and whenever it is asked to check.
fn types(text: &str) -> Script {
    let text = text.to_owned();
    Script::decide(move |seen: &SeenRequest| match seen.turns() {
        1 => Turn::type_text(&text),
        turn if turn % 2 == 0 => Turn::screenshot(),
        _ => Turn::done("It is written."),
    })
}

fn is_typed_exactly(layouts: &str, group: u8, text: &str, settings: &[(&str, &str)]) {
    let rig = Rig::with_screen(keyboard(layouts, group), types(text));
    let target = GtkTarget::start(rig.screen()).expect("a form");
    for (key, value) in settings {
        let set = rig.openspace(&["config", "set", key, value]).run();
        assert_eq!(set.expect("runs").code, Some(0));
    }
    let output = rig.run("Write into the form", &ANY_PROGRAM);
    assert_eq!(
        target.wait_for_text("entry", text, SOON),
        text,
        "{layouts} {group}"
    );
    assert_eq!(output.code, Some(0), "{output:?}");
    assert_released(rig.screen());
    rig.finish();
}

/// A thousand characters of mixed case with symbols, none of which may get lost.
fn long_text() -> String {
    let pattern =
        "The Quick BROWN fox; JumpsOver 13 lazy_dogs! (a+b)*{c} = \"42\" <x/> & 'y' @#$%^ ~`|? ";
    pattern.chars().cycle().take(1000).collect::<String>()
}

/// Any letters under a US keyboard.
#[test]
fn d05_unicode_under_us() {
    is_typed_exactly("us", 0, TEXT, &[]);
}

/// Any letters under a German keyboard, where symbols lie behind `AltGr` and dead keys.
#[test]
fn d05_unicode_under_de() {
    is_typed_exactly("de", 0, TEXT, &[]);
}

/// Any letters under a French keyboard, where digits need Shift.
#[test]
fn d05_unicode_under_fr() {
    is_typed_exactly("fr", 0, TEXT, &[]);
}

/// Any letters while the second of two layouts is on.
#[test]
fn d05_unicode_under_the_second_group() {
    is_typed_exactly("us,ru", 1, TEXT, &[]);
}

/// A long text under a US keyboard.
#[test]
fn d06_thousand_characters_under_us() {
    is_typed_exactly("us", 0, &long_text(), &[]);
}

/// A long text under a German keyboard.
#[test]
fn d06_thousand_characters_under_de() {
    is_typed_exactly("de", 0, &long_text(), &[]);
}

/// A long text under a French keyboard.
#[test]
fn d06_thousand_characters_under_fr() {
    is_typed_exactly("fr", 0, &long_text(), &[]);
}

/// A long text while the second of two layouts is on.
#[test]
fn d06_thousand_characters_under_the_second_group() {
    is_typed_exactly("us,ru", 1, &long_text(), &[]);
}

/// Without any pause between the characters.
#[test]
fn d06_thousand_characters_without_a_pause() {
    is_typed_exactly("us", 0, &long_text(), &[("screen.type_delay_ms", "0")]);
}
