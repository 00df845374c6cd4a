//! Numbers.

use serde_json::{Number, Value};

/// The value of a number as it is written; none when it is not one. What JSON cannot hold, such as
/// `Infinity`, stays as it is written, marked so that no text is the same.
pub(crate) fn read(word: &str, json5: bool) -> Option<Value> {
    if is_strict(word) {
        return Some(
            word.parse::<Number>()
                .map_or_else(|_| odd(word), Value::Number),
        );
    }
    (json5 && is_json5(word)).then(|| odd(word))
}

fn odd(word: &str) -> Value {
    Value::String(format!("\0{word}"))
}

fn is_strict(word: &str) -> bool {
    let word = word.strip_prefix('-').unwrap_or(word);
    let (whole, rest) = digits(word);
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    let rest = match rest.strip_prefix('.') {
        Some(rest) => match digits(rest) {
            ("", _) => return false,
            (_, rest) => rest,
        },
        None => rest,
    };
    !whole.is_empty() && !leading_zero && is_exponent(rest)
}

fn is_json5(word: &str) -> bool {
    let word = word.strip_prefix(['-', '+']).unwrap_or(word);
    if matches!(word, "Infinity" | "NaN") {
        return true;
    }
    if let Some(hex) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return !hex.is_empty() && hex.bytes().all(|digit| digit.is_ascii_hexdigit());
    }
    let (whole, rest) = digits(word);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    has_digits && !leading_zero && is_exponent(rest)
}

fn is_exponent(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['e', 'E']) else {
        return text.is_empty();
    };
    let (digits, rest) = digits(rest.strip_prefix(['-', '+']).unwrap_or(rest));
    !digits.is_empty() && rest.is_empty()
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|other: char| !other.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}
