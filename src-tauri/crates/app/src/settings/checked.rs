//! Values that their type alone does not tell right from wrong. Checked while the settings are read,
//! so that a wrong one is told with its place and none is taken for a default.

use openspace_grounding::policy::{Preset, RuleScope};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    display::private_size as parse_size,
    log_levels,
    start::{BACKENDS, LATER_BACKENDS},
};

type Checked = Result<(), String>;

fn checked<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
    check: impl FnOnce(&T) -> Checked,
) -> Result<T, D::Error> {
    let value = T::deserialize(from)?;
    check(&value).map_err(D::Error::custom)?;
    Ok(value)
}

fn one_of(text: &str, known: &[&str]) -> Checked {
    if known.contains(&text) {
        return Ok(());
    }
    Err(format!("`{text}` is none of `{}`", known.join("`, `")))
}

pub(super) fn backends<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    checked(from, |names: &Vec<String>| {
        let unknown = |name: &&String| !LATER_BACKENDS.contains(&name.as_str());
        let mut names = names.iter().filter(unknown);
        names.try_for_each(|name| one_of(name, &BACKENDS))
    })
}

pub(super) fn preset<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    checked(from, |text: &String| {
        let parsed = text.parse::<Preset>();
        parsed.map(drop).map_err(|error| error.to_string())
    })
}

pub(super) fn rules<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    checked(from, |texts: &Vec<String>| {
        texts.iter().try_for_each(|text| {
            let parsed = text.parse::<RuleScope>();
            parsed.map(drop).map_err(|error| error.to_string())
        })
    })
}

pub(super) fn human_input<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    checked(from, |text: &String| {
        one_of(text, &["pause", "stop", "ignore"])
    })
}

/// A level, or levels for parts of the program: a setting that is kept works in every process of ours.
pub(super) fn log_level<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    checked(from, |text: &String| {
        log_levels(text)
            .map(drop)
            .ok_or_else(|| format!("`{text}` is no level; write error, warn, info, debug or trace"))
    })
}

pub(super) fn private_size<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    checked(from, |text: &String| {
        parse_size(text)
            .map(drop)
            .map_err(|error| error.to_string())
    })
}

/// Keys for a hotkey: a modifier other than Shift, so that typing goes on, and one key; or nothing.
pub(super) fn hotkey<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    checked(from, |text: &String| {
        if text.trim().is_empty() {
            return Ok(());
        }
        let chord =
            openspace_gui::key::parse_chord(text, openspace_gui::key::KeyOptions::default())
                .map_err(|error| error.to_string())?;
        // XK_Shift_L and XK_Shift_R of X11/keysymdef.h.
        let shift = |key: &openspace_gui::Key| matches!(key.0, 0xffe1 | 0xffe2);
        if chord.keys.len() != 1 || chord.modifiers.iter().all(shift) {
            return Err(format!(
                "`{text}` is no hotkey; write Ctrl, Alt or Super with one key, such as ctrl+alt+p"
            ));
        }
        Ok(())
    })
}

/// A limit that something can stay below.
pub(super) fn limit<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    checked(from, |number: &Option<f64>| match number {
        Some(number) if !(*number > 0.0 && number.is_finite()) => {
            Err("it must be a number above 0".to_owned())
        }
        _ => Ok(()),
    })
}

/// A port that can be found again: 0 would be another one at every start.
pub(super) fn port<'de, D: Deserializer<'de>>(from: D) -> Result<u16, D::Error> {
    checked(from, |port: &u16| match port {
        0 => Err("it must be a number from 1 to 65535".to_owned()),
        _ => Ok(()),
    })
}

/// Something that can be counted, nothing included.
pub(super) fn amount<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    checked(from, |number: &f64| {
        if *number >= 0.0 && number.is_finite() {
            return Ok(());
        }
        Err("it must be 0 or a number above".to_owned())
    })
}
