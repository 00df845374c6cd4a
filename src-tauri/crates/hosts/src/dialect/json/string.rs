//! Texts in quotes.

/// Reads a text that begins with `quote`. Gives its value and its length with both quotes; the error
/// is where it is wrong, and how.
pub(crate) fn read(
    text: &str,
    quote: char,
    json5: bool,
) -> Result<(String, usize), (usize, &'static str)> {
    const ENDLESS: &str = "this text has no end";
    let mut value = String::new();
    let mut at = 1;
    loop {
        let Some(character) = text[at..].chars().next() else {
            return Err((0, ENDLESS));
        };
        match character {
            _ if character == quote => return Ok((value, at + 1)),
            '\\' => {
                let (escaped, length) = escape(&text[at..], json5).map_err(|why| (at, why))?;
                value.extend(escaped);
                at += length;
            }
            '\n' | '\r' => return Err((0, ENDLESS)),
            control if control < ' ' && !json5 => {
                return Err((at, "control characters are not allowed in texts"));
            }
            other => {
                value.push(other);
                at += other.len_utf8();
            }
        }
    }
}

/// One escape: what it stands for, if anything, and its length.
fn escape(text: &str, json5: bool) -> Result<(Option<char>, usize), &'static str> {
    const UNKNOWN: &str = "there is no such escape";
    let character = text[1..].chars().next().ok_or(UNKNOWN)?;
    let plain = match character {
        '"' | '\\' | '/' => character,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unicode(text),
        _ if !json5 => return Err(UNKNOWN),
        'v' => '\u{b}',
        '0' if !text[2..].starts_with(|next: char| next.is_ascii_digit()) => '\0',
        'x' => {
            let code = hex(text, 2, 2).ok_or("two hexadecimal digits are expected")?;
            return Ok((char::from_u32(code), 4));
        }
        '0'..='9' => return Err(UNKNOWN),
        // A line that goes on.
        '\r' if text[2..].starts_with('\n') => return Ok((None, 3)),
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => return Ok((None, 1 + character.len_utf8())),
        other => other,
    };
    Ok((Some(plain), 1 + character.len_utf8()))
}

/// `\u` and four digits, or two of them for one character. Half a pair, as in a text that was cut
/// through the middle, stands for the replacement character.
fn unicode(text: &str) -> Result<(Option<char>, usize), &'static str> {
    let high = hex(text, 2, 4).ok_or("four hexadecimal digits are expected")?;
    if let Some(character) = char::from_u32(high) {
        return Ok((Some(character), 6));
    }
    let low = text
        .get(6..8)
        .filter(|next| *next == "\\u")
        .and_then(|_| hex(text, 8, 4));
    if let Some(low) = low.filter(|low| (0xdc00..0xe000).contains(low))
        && high < 0xdc00
    {
        let code = 0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        return Ok((char::from_u32(code), 12));
    }
    Ok((Some(char::REPLACEMENT_CHARACTER), 6))
}

fn hex(text: &str, from: usize, digits: usize) -> Option<u32> {
    let digits = text.get(from..from + digits)?;
    let hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    hexadecimal
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}
