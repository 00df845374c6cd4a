//! What the lean binary needs from the system it starts on.

use std::collections::BTreeSet;

use super::assert_nothing;

/// Libraries that every Linux with glibc has.
const ALLOWED: [&str; 3] = ["libc.so.6", "libm.so.6", "libgcc_s.so.1"];

/// `openspace` runs on any Linux of its architecture: it links the C library and nothing else.
#[test]
fn release_binary_links_only_the_c_library() {
    let binary = std::fs::read(env!("CARGO_BIN_EXE_openspace")).expect("the binary");
    let needed = needed(&binary).expect("an ELF file with a dynamic section");
    let found: Vec<_> = needed
        .iter()
        .filter(|name| !ALLOWED.contains(&name.as_str()) && !name.starts_with("ld-linux"))
        .cloned()
        .collect();
    assert!(
        needed.contains("libc.so.6"),
        "the list was read: {needed:?}"
    );
    assert_nothing("`openspace` links", &found);
}

/// The shared libraries that a 64-bit little-endian ELF file asks for: the `DT_NEEDED` entries of its
/// dynamic section (System V ABI, "Dynamic Linking").
fn needed(file: &[u8]) -> Option<BTreeSet<String>> {
    const LOAD: u32 = 1;
    const DYNAMIC: u32 = 2;
    const NEEDED: u64 = 1;
    const STRING_TABLE: u64 = 5;
    let long = |at: usize| Some(u64::from_le_bytes(file.get(at..at + 8)?.try_into().ok()?));
    let word = |at: usize| Some(u32::from_le_bytes(file.get(at..at + 4)?.try_into().ok()?));
    let half = |at: usize| Some(u16::from_le_bytes(file.get(at..at + 2)?.try_into().ok()?));
    if file.get(..6)? != b"\x7fELF\x02\x01" {
        return None;
    }
    let headers = long(0x20)? as usize;
    let (size, count) = (usize::from(half(0x36)?), usize::from(half(0x38)?));
    // Kind, offset in the file, address in memory, size in the file.
    let segments: Vec<_> = (0..count)
        .map(|index| headers + index * size)
        .map(|at| Some((word(at)?, long(at + 8)?, long(at + 16)?, long(at + 32)?)))
        .collect::<Option<_>>()?;
    let (_, start, _, length) = *segments.iter().find(|segment| segment.0 == DYNAMIC)?;
    let entries: Vec<_> = (start..start + length)
        .step_by(16)
        .map(|at| Some((long(at as usize)?, long(at as usize + 8)?)))
        .collect::<Option<_>>()?;
    let (_, strings) = *entries.iter().find(|entry| entry.0 == STRING_TABLE)?;
    let (_, offset, address, _) = *segments.iter().find(|segment| {
        segment.0 == LOAD && (segment.2..segment.2 + segment.3).contains(&strings)
    })?;
    let strings = (strings - address + offset) as usize;
    let text = |at: u64| {
        let bytes = file.get(strings + at as usize..)?;
        let end = bytes.iter().position(|byte| *byte == 0)?;
        String::from_utf8(bytes[..end].to_vec()).ok()
    };
    entries
        .iter()
        .filter(|entry| entry.0 == NEEDED)
        .map(|entry| text(entry.1))
        .collect()
}
