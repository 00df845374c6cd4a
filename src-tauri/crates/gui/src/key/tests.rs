use super::*;

fn chord(text: &str) -> Result<(Vec<u32>, Vec<u32>), KeyError> {
    let numbers = |keys: Vec<Key>| keys.into_iter().map(|key| key.0).collect();
    parse_chord(text, KeyOptions::default())
        .map(|chord| (numbers(chord.modifiers), numbers(chord.keys)))
}

/// D-07: the names of xdotool, of the DOM and the usual aliases mean the same keys.
#[test]
fn d07_one_table_of_names() {
    let cases: &[(&str, &[u32], &[u32])] = &[
        ("Return", &[], &[0xff0d]),
        ("ENTER", &[], &[0xff0d]),
        ("esc", &[], &[0xff1b]),
        ("Escape", &[], &[0xff1b]),
        ("ctrl+shift+t", &[0xffe3, 0xffe1], &[0x74]),
        ("cmd+c", &[0xffeb], &[0x63]),
        ("super_L", &[0xffeb], &[]),
        ("Page_Down", &[], &[0xff56]),
        ("pgdn", &[], &[0xff56]),
        ("Next", &[], &[0xff56]),
        ("PageUp", &[], &[0xff55]),
        ("KP_Enter", &[], &[0xff8d]),
        ("plus", &[], &[0x2b]),
        ("+", &[], &[0x2b]),
        ("ctrl++", &[0xffe3], &[0x2b]),
        ("ctrl + +", &[0xffe3], &[0x2b]),
        ("alt+F4", &[0xffe9], &[0xffc1]),
        ("\"+\"", &[], &[0x2b]),
        ("ctrl+\"+\"", &[0xffe3], &[0x2b]),
        ("  ctrl + c ", &[0xffe3], &[0x63]),
        ("ArrowLeft", &[], &[0xff51]),
        ("F12", &[], &[0xffc9]),
        ("a", &[], &[0x61]),
        ("A", &[], &[0x41]),
        ("ü", &[], &[0xfc]),
        ("Ω", &[], &[0x0100_03a9]),
        ("北", &[], &[0x0100_5317]),
        (" ", &[], &[0x20]),
        ("space", &[], &[0x20]),
        ("KP_5", &[], &[0xffb5]),
        ("KeyA", &[], &[0x61]),
        ("Digit7", &[], &[0x37]),
        ("U20AC", &[], &[0x0100_20ac]),
        ("\"", &[], &[0x22]),
        ("-", &[], &[0x2d]),
        ("ctrl+-", &[0xffe3], &[0x2d]),
        ("CTRL+ALT+DELETE", &[0xffe3, 0xffe9], &[0xffff]),
        ("Control_R+x", &[0xffe4], &[0x78]),
    ];
    for (text, modifiers, keys) in cases {
        let expected = (modifiers.to_vec(), keys.to_vec());
        assert_eq!(chord(text), Ok(expected), "{text:?}");
    }
}

/// D-07: an unknown key is an error with the nearest names, and part of a chord never goes through.
#[test]
fn d07_unknown_keys_are_errors() {
    for (text, expected) in [
        ("Retrun", "Return"),
        ("ctrl+Escpae", "Escape"),
        ("pagedwn", "Page_Down"),
        ("hello", ""),
        ("F36", ""),
        ("ctrl+c; rm", ""),
    ] {
        let Err(KeyError::Unknown { nearest, .. }) = chord(text) else {
            panic!("{text} was taken for a key");
        };
        assert!(
            expected.is_empty() || nearest.contains(&expected),
            "{text}: {nearest:?}"
        );
    }
    for empty in ["", "   ", "ctrl+", "ctrl+ ", "ctrl+++", "a b +"] {
        assert!(chord(empty).is_err(), "{empty:?} was taken for a chord");
    }
}

/// D-07: `cmd` is control only for those who asked for it.
#[test]
fn d07_cmd_follows_the_option() {
    let mac = KeyOptions { cmd_is_ctrl: true };
    assert_eq!(parse_chord("cmd+c", mac).unwrap().modifiers, [CONTROL]);
    assert_eq!(parse_chord("super+c", mac).unwrap().modifiers, [SUPER]);
}

/// A click takes modifiers and nothing else.
#[test]
fn modifiers_of_a_click() {
    let read = |text| parse_modifiers(text, KeyOptions::default());
    assert_eq!(read("ctrl+shift"), Ok(vec![CONTROL, SHIFT]));
    assert_eq!(read(""), Ok(vec![]));
    assert!(matches!(read("ctrl+c"), Err(KeyError::NotModifier(_))));
}

/// A stop chord is recognised from either side of the keyboard and with more keys around it.
#[test]
fn a_chord_includes_another() {
    let stop = parse_chord("ctrl+alt+q", KeyOptions::default()).unwrap();
    let stop: Vec<Key> = stop.all().collect();
    let includes = |text| {
        parse_chord(text, KeyOptions::default())
            .unwrap()
            .includes(&stop)
    };
    assert!(includes("Control_R+Alt_R+Q"));
    assert!(includes("shift+ctrl+alt+q"));
    assert!(!includes("ctrl+q"));
    assert!(
        !parse_chord("a", KeyOptions::default())
            .unwrap()
            .includes(&[])
    );
}

/// Characters and keys name each other.
#[test]
fn characters_round_trip() {
    for character in ['a', 'Z', '~', 'é', 'Ω', '👍', '\n', '\t'] {
        assert_eq!(to_char(of_char(character)), Some(character));
    }
    assert_eq!(to_char(Key(0xffb5)), Some('5'));
    assert_eq!(to_char(Key(0xff1b)), None);
}

/// Every key that can be read has a name that is read as the same key.
#[test]
fn names_are_read_back() {
    for text in [
        "a", "+", "F7", "Return", "KP_5", "KP_Enter", "ctrl", "Ω", " ", "\"", "Super_R",
    ] {
        let key = parse_chord(text, KeyOptions::default())
            .unwrap()
            .all()
            .next()
            .unwrap();
        let again = parse_chord(&name(key), KeyOptions::default()).unwrap();
        assert_eq!(
            again.all().collect::<Vec<_>>(),
            [key],
            "{text} as {}",
            name(key)
        );
    }
}
