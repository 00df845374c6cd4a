//! Shortcuts of the Windows Start menu ([MS-SHLLINK]): the program one leads to.

/// Size of the header, which is also its first field.
const HEADER: usize = 0x4c;
/// `LinkFlags`: a list of identifiers follows the header.
const HAS_LIST: u32 = 1;
/// `LinkFlags`: a description of the target's place follows.
const HAS_PLACE: u32 = 2;
/// `LinkFlags`: the program is started with arguments.
const HAS_ARGUMENTS: u32 = 0x20;
/// `LinkInfoFlags`: the target lies on this machine.
const IS_LOCAL: u32 = 1;
/// Size of the header of the place when it also holds the path in UTF-16.
const WITH_UNICODE: u32 = 0x24;

/// The program a shortcut starts without any arguments. None for everything else, for what lies on
/// another machine, and for what is no shortcut.
pub(super) fn target(bytes: &[u8]) -> Option<String> {
    let flags = number(bytes, 0x14)?;
    if number(bytes, 0)? != u32::try_from(HEADER).ok()?
        || flags & HAS_PLACE == 0
        || flags & HAS_ARGUMENTS != 0
    {
        return None;
    }
    let mut at = HEADER;
    if flags & HAS_LIST != 0 {
        let size = bytes.get(at..at + 2)?;
        at += 2 + usize::from(u16::from_le_bytes(size.try_into().ok()?));
    }
    let place = bytes.get(at..)?;
    if number(place, 8)? & IS_LOCAL == 0 {
        return None;
    }
    if number(place, 4)? >= WITH_UNICODE {
        let start = usize::try_from(number(place, 0x1c)?).ok()?;
        let letters: Vec<u16> = place
            .get(start..)?
            .chunks_exact(2)
            .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
            .take_while(|letter| *letter != 0)
            .collect();
        return String::from_utf16(&letters).ok();
    }
    let start = usize::try_from(number(place, 0x10)?).ok()?;
    let path: Vec<u8> = place
        .get(start..)?
        .iter()
        .copied()
        .take_while(|letter| *letter != 0)
        .collect();
    // In the code page of the machine; only what is the same in all of them can be compared.
    path.is_ascii().then(|| String::from_utf8(path).ok())?
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shortcut laid out as the specification says.
    fn shortcut(flags: u32, path: &str, unicode: bool) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[0] = 0x4c;
        bytes[0x14..0x18].copy_from_slice(&flags.to_le_bytes());
        if flags & HAS_LIST != 0 {
            bytes.extend([3, 0, 1, 2, 3]);
        }
        let header: u32 = if unicode { 0x24 } else { 0x1c };
        let mut place = vec![0; header as usize];
        place[4..8].copy_from_slice(&header.to_le_bytes());
        place[8] = 1;
        place[0x10..0x14].copy_from_slice(&header.to_le_bytes());
        if unicode {
            place[0x1c..0x20].copy_from_slice(&header.to_le_bytes());
            place.extend(path.encode_utf16().flat_map(u16::to_le_bytes));
            place.extend([0, 0]);
        } else {
            place.extend(path.as_bytes());
            place.push(0);
        }
        bytes.extend(place);
        bytes
    }

    /// The target is read in both forms, and only of shortcuts that start it as it is.
    #[test]
    fn targets_are_read() {
        let path = r"C:\Program Files\Editor\editor.exe";
        for flags in [HAS_PLACE, HAS_PLACE | HAS_LIST] {
            for unicode in [false, true] {
                let bytes = shortcut(flags, path, unicode);
                assert_eq!(target(&bytes).as_deref(), Some(path));
                for end in 0..bytes.len().min(HEADER + 20) {
                    assert_eq!(target(&bytes[..end]), None, "cut at {end}");
                }
            }
        }
        assert_eq!(target(&shortcut(HAS_LIST, path, true)), None);
        assert_eq!(
            target(&shortcut(HAS_PLACE | HAS_ARGUMENTS, path, true)),
            None
        );
    }
}
