//! The table of key names. Values are those of `X11/keysymdef.h` and `X11/XF86keysym.h`.
//!
//! Names are compared in lower case without `_`, `-` and spaces, so `Page_Down`, `PageDown` and
//! `page down` are one entry.

use crate::Key;

/// `Shift_L`
pub(crate) const SHIFT: Key = Key(0xffe1);
/// `Control_L`
pub(crate) const CONTROL: Key = Key(0xffe3);
/// `Meta_L`
pub(crate) const META: Key = Key(0xffe7);
/// `Alt_L`
pub(crate) const ALT: Key = Key(0xffe9);
/// `Super_L`
pub(crate) const SUPER: Key = Key(0xffeb);

/// The name shown in suggestions, the others, the value.
const NAMES: &[(&str, &[&str], u32)] = &[
    // Modifiers
    ("shift", &["shiftl", "shiftleft", "leftshift"], SHIFT.0),
    ("Shift_R", &["shiftright", "rightshift"], 0xffe2),
    (
        "ctrl",
        &[
            "control",
            "controll",
            "controlleft",
            "ctrll",
            "leftctrl",
            "leftcontrol",
        ],
        CONTROL.0,
    ),
    (
        "Control_R",
        &["controlright", "ctrlr", "rightctrl", "rightcontrol"],
        0xffe4,
    ),
    (
        "alt",
        &["altl", "altleft", "leftalt", "option", "opt", "optionl"],
        ALT.0,
    ),
    ("Alt_R", &["altright", "rightalt", "optionr"], 0xffea),
    ("super", &SUPER_NAMES_LOWER, SUPER.0),
    (
        "Super_R",
        &[
            "winr",
            "winright",
            "metaright",
            "cmdr",
            "commandr",
            "osright",
        ],
        0xffec,
    ),
    ("Meta_L", &[], META.0),
    ("Meta_R", &[], 0xffe8),
    ("Hyper_L", &["hyper"], 0xffed),
    ("Hyper_R", &[], 0xffee),
    (
        "AltGr",
        &["altgraph", "isolevel3shift", "modeswitch"],
        0xfe03,
    ),
    ("Caps_Lock", &["caps"], 0xffe5),
    ("Num_Lock", &["num"], 0xff7f),
    ("Scroll_Lock", &["scroll"], 0xff14),
    // Editing and moving
    (
        "Return",
        &["enter", "ret", "linefeed", "newline", "cr"],
        0xff0d,
    ),
    ("Escape", &["esc"], 0xff1b),
    ("Tab", &[], 0xff09),
    ("ISO_Left_Tab", &["backtab", "lefttab"], 0xfe20),
    ("BackSpace", &["bksp", "back"], 0xff08),
    ("Delete", &["del", "forwarddelete"], 0xffff),
    ("Insert", &["ins"], 0xff63),
    ("Home", &[], 0xff50),
    ("End", &[], 0xff57),
    ("Page_Up", &["pgup", "prior", "pageup"], 0xff55),
    ("Page_Down", &["pgdn", "pgdown", "next", "pagedn"], 0xff56),
    ("Left", &["arrowleft", "leftarrow"], 0xff51),
    ("Up", &["arrowup", "uparrow"], 0xff52),
    ("Right", &["arrowright", "rightarrow"], 0xff53),
    ("Down", &["arrowdown", "downarrow"], 0xff54),
    ("space", &["spacebar", "spc"], 0x20),
    (
        "Print",
        &[
            "printscreen",
            "prtsc",
            "prtscn",
            "prtscr",
            "sysrq",
            "snapshot",
        ],
        0xff61,
    ),
    ("Pause", &["break"], 0xff13),
    ("Menu", &["contextmenu", "apps", "application"], 0xff67),
    ("Clear", &[], 0xff0b),
    ("Select", &[], 0xff60),
    ("Execute", &[], 0xff62),
    ("Undo", &[], 0xff65),
    ("Redo", &[], 0xff66),
    ("Find", &[], 0xff68),
    ("Cancel", &[], 0xff69),
    ("Help", &[], 0xff6a),
    // Characters that have names
    ("plus", &["add"], 0x2b),
    ("minus", &["hyphen", "subtract", "dash"], 0x2d),
    ("equal", &["equals"], 0x3d),
    ("comma", &[], 0x2c),
    ("period", &["dot", "fullstop"], 0x2e),
    ("slash", &["forwardslash"], 0x2f),
    ("backslash", &[], 0x5c),
    ("semicolon", &[], 0x3b),
    ("colon", &[], 0x3a),
    ("apostrophe", &["quoteright", "singlequote", "quote"], 0x27),
    ("quotedbl", &["doublequote"], 0x22),
    ("grave", &["backquote", "backtick", "quoteleft"], 0x60),
    ("asciitilde", &["tilde"], 0x7e),
    ("asciicircum", &["caret", "circumflex"], 0x5e),
    ("bracketleft", &["leftbracket"], 0x5b),
    ("bracketright", &["rightbracket"], 0x5d),
    ("braceleft", &["leftbrace"], 0x7b),
    ("braceright", &["rightbrace"], 0x7d),
    ("parenleft", &["leftparen"], 0x28),
    ("parenright", &["rightparen"], 0x29),
    ("less", &["lessthan"], 0x3c),
    ("greater", &["greaterthan"], 0x3e),
    ("exclam", &["exclamation"], 0x21),
    ("at", &[], 0x40),
    ("numbersign", &["hash", "pound"], 0x23),
    ("dollar", &[], 0x24),
    ("percent", &[], 0x25),
    ("ampersand", &[], 0x26),
    ("asterisk", &["star", "multiply"], 0x2a),
    ("underscore", &[], 0x5f),
    ("bar", &["pipe", "verticalbar"], 0x7c),
    ("question", &["questionmark"], 0x3f),
    ("section", &[], 0xa7),
    ("degree", &[], 0xb0),
    ("mu", &[], 0xb5),
    ("ssharp", &[], 0xdf),
    ("adiaeresis", &[], 0xe4),
    ("odiaeresis", &[], 0xf6),
    ("udiaeresis", &[], 0xfc),
    ("EuroSign", &["euro"], 0x0100_20ac),
    // Number block
    ("KP_Enter", &["numpadenter", "numenter"], 0xff8d),
    ("KP_Add", &["numpadadd"], 0xffab),
    ("KP_Subtract", &["numpadsubtract"], 0xffad),
    ("KP_Multiply", &["numpadmultiply"], 0xffaa),
    ("KP_Divide", &["numpaddivide"], 0xffaf),
    ("KP_Decimal", &["numpaddecimal"], 0xffae),
    ("KP_Separator", &["numpadcomma"], 0xffac),
    ("KP_Equal", &["numpadequal"], 0xffbd),
    ("KP_Home", &[], 0xff95),
    ("KP_Left", &[], 0xff96),
    ("KP_Up", &[], 0xff97),
    ("KP_Right", &[], 0xff98),
    ("KP_Down", &[], 0xff99),
    ("KP_Page_Up", &["kpprior"], 0xff9a),
    ("KP_Page_Down", &["kpnext"], 0xff9b),
    ("KP_End", &[], 0xff9c),
    ("KP_Begin", &[], 0xff9d),
    ("KP_Insert", &[], 0xff9e),
    ("KP_Delete", &[], 0xff9f),
    // Media
    (
        "XF86AudioRaiseVolume",
        &["audiovolumeup", "volumeup"],
        0x1008_ff13,
    ),
    (
        "XF86AudioLowerVolume",
        &["audiovolumedown", "volumedown"],
        0x1008_ff11,
    ),
    (
        "XF86AudioMute",
        &["audiovolumemute", "volumemute", "mute"],
        0x1008_ff12,
    ),
    (
        "XF86AudioPlay",
        &["mediaplaypause", "playpause"],
        0x1008_ff14,
    ),
    ("XF86AudioStop", &["mediastop"], 0x1008_ff15),
    (
        "XF86AudioNext",
        &["mediatracknext", "nexttrack"],
        0x1008_ff17,
    ),
    (
        "XF86AudioPrev",
        &["mediatrackprevious", "prevtrack"],
        0x1008_ff16,
    ),
    ("XF86Back", &["browserback"], 0x1008_ff26),
    ("XF86Forward", &["browserforward"], 0x1008_ff27),
    ("XF86Refresh", &["browserrefresh"], 0x1008_ff29),
    ("XF86Search", &["browsersearch"], 0x1008_ff1b),
    ("XF86HomePage", &["browserhome"], 0x1008_ff18),
    ("XF86MonBrightnessUp", &["brightnessup"], 0x1008_ff02),
    ("XF86MonBrightnessDown", &["brightnessdown"], 0x1008_ff03),
];

/// What people call the key between control and alt.
const SUPER_NAMES_LOWER: [&str; 15] = [
    "superl",
    "win",
    "windows",
    "winl",
    "winleft",
    "windowskey",
    "meta",
    "metaleft",
    "cmd",
    "command",
    "cmdl",
    "commandl",
    "os",
    "osleft",
    "superleft",
];

fn folded(name: &str) -> String {
    name.chars()
        .filter(|character| !matches!(character, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

/// Names of the key on a Macintosh keyboard that does what control does elsewhere.
pub(super) fn is_command(name: &str) -> bool {
    matches!(
        folded(name).as_str(),
        "cmd" | "command" | "cmdl" | "commandl" | "cmdr" | "commandr"
    )
}

/// The key of a name of two or more characters.
pub(super) fn find(name: &str) -> Option<Key> {
    let name = folded(name);
    if let Some(key) = numbered(&name) {
        return Some(key);
    }
    NAMES
        .iter()
        .find(|(first, others, _)| folded(first) == name || others.contains(&name.as_str()))
        .map(|(_, _, value)| Key(*value))
}

/// The first name of a key.
pub(super) fn name(key: Key) -> Option<&'static str> {
    NAMES
        .iter()
        .find(|(_, _, value)| *value == key.0)
        .map(|(name, _, _)| *name)
}

/// `f1`..`f35`, `kp0`..`kp9`, `numpad0`.., `digit0`.., `keya`.. and `u20ac`.
fn numbered(name: &str) -> Option<Key> {
    let digit = |text: &str| text.parse::<u32>().ok().filter(|_| text.len() == 1);
    if let Some(number) = name
        .strip_prefix('f')
        .and_then(|text| text.parse::<u32>().ok())
        && (1..=35).contains(&number)
    {
        return Some(Key(0xffbd + number));
    }
    if let Some(number) = name
        .strip_prefix("kp")
        .or_else(|| name.strip_prefix("numpad"))
        .and_then(digit)
    {
        return Some(Key(0xffb0 + number));
    }
    if let Some(number) = name.strip_prefix("digit").and_then(digit) {
        return Some(Key(0x30 + number));
    }
    if let Some(letter) = name.strip_prefix("key").and_then(|text| {
        let mut letters = text.chars();
        letters
            .next()
            .filter(|letter| letter.is_ascii_lowercase() && letters.next().is_none())
    }) {
        return Some(Key(letter as u32));
    }
    let code = name.strip_prefix("u+").or_else(|| name.strip_prefix('u'))?;
    let is_code = (4..=6).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_hexdigit());
    let character = is_code
        .then(|| u32::from_str_radix(code, 16).ok())
        .flatten()
        .and_then(char::from_u32)
        .filter(|character| !character.is_control())?;
    Some(super::of_char(character))
}

/// Up to three names that look like this one, best first.
pub(super) fn nearest(name: &str) -> Vec<&'static str> {
    let name: String = folded(name).chars().take(40).collect();
    let allowed = (name.chars().count() / 3).clamp(1, 3);
    let mut found: Vec<(usize, &'static str)> = NAMES
        .iter()
        .filter_map(|(first, others, _)| {
            let own = distance(&name, &folded(first));
            let best = others
                .iter()
                .map(|other| distance(&name, other))
                .fold(own, usize::min);
            (best <= allowed).then_some((best, *first))
        })
        .collect();
    found.sort_by_key(|(distance, _)| *distance);
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Letters to insert, delete or replace between two words (Levenshtein).
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}
