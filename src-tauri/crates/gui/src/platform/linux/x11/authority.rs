//! X authority files: the cookie that lets a client in.
//!
//! Format: `man Xau` (libXau): a row of entries, each a family and four counted strings (address,
//! display number, name of the scheme, data), all lengths big-endian 16 bit.

use std::io::Write;
use std::path::Path;

/// The one scheme in use everywhere.
pub(crate) const COOKIE: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// Family that matches any address.
const WILD: u16 = 0xffff;

/// Family of connections over a Unix socket.
const LOCAL: u16 = 256;

/// The cookie for local display `number` in the file, if it has one.
pub(crate) fn cookie(file: &Path, number: u16) -> std::io::Result<Option<Vec<u8>>> {
    let content = std::fs::read(file)?;
    let mut rest = content.as_slice();
    let number = number.to_string();
    let mut anywhere = None;
    while let Some(entry) = entry(&mut rest) {
        let right_number = entry.number.is_empty() || entry.number == number.as_bytes();
        if entry.scheme != COOKIE || !right_number {
            continue;
        }
        // A file may hold cookies of other machines for the same number; ours is local or wild.
        if entry.family == LOCAL || entry.family == WILD {
            return Ok(Some(entry.data.to_vec()));
        }
        anywhere.get_or_insert(entry.data);
    }
    Ok(anywhere.map(<[u8]>::to_vec))
}

/// Writes a file, readable by us only, with one cookie that is valid for any display number.
pub(crate) fn write(file: &Path, cookie: &[u8]) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut content = WILD.to_be_bytes().to_vec();
    for part in [&b""[..], b"", COOKIE, cookie] {
        content.extend_from_slice(&(part.len() as u16).to_be_bytes());
        content.extend_from_slice(part);
    }
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(file)?
        .write_all(&content)
}

struct Entry<'a> {
    family: u16,
    number: &'a [u8],
    scheme: &'a [u8],
    data: &'a [u8],
}

fn entry<'a>(rest: &mut &'a [u8]) -> Option<Entry<'a>> {
    let family = number(rest)?;
    let _address = counted(rest)?;
    Some(Entry {
        family,
        number: counted(rest)?,
        scheme: counted(rest)?,
        data: counted(rest)?,
    })
}

fn counted<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::from(number(rest)?);
    let (part, tail) = rest.split_at_checked(length)?;
    *rest = tail;
    Some(part)
}

fn number(rest: &mut &[u8]) -> Option<u16> {
    let (bytes, tail) = rest.split_first_chunk::<2>()?;
    *rest = tail;
    Some(u16::from_be_bytes(*bytes))
}
