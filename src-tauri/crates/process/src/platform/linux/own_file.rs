//! What the system keeps in memory of the program's own file.

use std::fs;

/// Gives back what only the start needed of the program's file: relocations, the parser of the command
/// line, and what the system maps around each place that is touched (up to 128 KiB). What is used
/// again comes back from the file's pages in the system's cache.
pub fn give_back_start() {
    let (Ok(program), Ok(maps)) = (
        fs::read_link("/proc/self/exe"),
        fs::read_to_string("/proc/self/maps"),
    ) else {
        return;
    };
    for (start, length) in maps.lines().filter_map(|line| constant(line, &program)) {
        // SAFETY: a private mapping that was never written to, of a file that nobody can write to while
        // it is executed: what is read from it next is what was there before.
        let result = unsafe {
            libc::madvise(
                std::ptr::without_provenance_mut(start),
                length,
                libc::MADV_DONTNEED,
            )
        };
        if result != 0 {
            let error = std::io::Error::last_os_error();
            tracing::debug!(%error, "pages of the start stay mapped");
        }
    }
}

/// Where a line of `/proc/self/maps` (proc_pid_maps(5)) maps code or constants of the program: what may
/// be executed, and the beginning of the file. Not what was written to while it was linked, which is
/// shown as readable, too.
fn constant(line: &str, program: &std::path::Path) -> Option<(usize, usize)> {
    let mut fields = line.splitn(6, ' ');
    let (start, end) = fields.next()?.split_once('-')?;
    let permissions = fields.next()?;
    let offset = fields.next()?;
    let path = fields.nth(2)?.trim_start();
    let begins = offset.bytes().all(|digit| digit == b'0');
    if std::path::Path::new(path) != program
        || !(permissions == "r-xp" || permissions == "r--p" && begins)
    {
        return None;
    }
    let start = usize::from_str_radix(start, 16).ok()?;
    let end = usize::from_str_radix(end, 16).ok()?;
    Some((start, end.checked_sub(start)?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_code_and_the_beginning_are_given_back() {
        let program = Path::new("/usr/bin/open space");
        let of = |line: &str| constant(line, program);
        let line = "555555554000-555555c7e000 r--p 00000000 fe:00 1311 /usr/bin/open space";
        assert_eq!(of(line), Some((0x5555_5555_4000, 0x72_a000)));
        let line =
            "555555c7f000-555556ba5000 r-xp 00729000 fe:00 1311          /usr/bin/open space";
        assert_eq!(of(line), Some((0x5555_55c7_f000, 0xf2_6000)));
        let linked = "555556ba5000-555556c40000 r--p 0164f000 fe:00 1311 /usr/bin/open space";
        assert_eq!(of(linked), None);
        let data = "555556c40000-555556c49000 rw-p 016e9000 fe:00 1311 /usr/bin/open space";
        assert_eq!(of(data), None);
        let other = "7ffff7a00000-7ffff7b00000 r-xp 00026000 fe:00 77 /usr/lib/libc.so.6";
        assert_eq!(of(other), None);
        assert_eq!(of("7ffff7b00000-7ffff7b21000 rw-p 00000000 00:00 0"), None);
    }

    /// Less of the program is mapped than before, and it goes on.
    #[test]
    fn less_is_mapped_afterwards() {
        let mapped = || -> u64 {
            let statistics = fs::read_to_string("/proc/self/status").expect("Linux tells");
            let line = statistics.lines().find(|line| line.starts_with("RssFile:"));
            let number = line.and_then(|line| line.split_whitespace().nth(1));
            number.and_then(|it| it.parse().ok()).expect("kB")
        };
        let before = mapped();
        give_back_start();
        let after = mapped();
        assert!(after < before, "{before} kB, then {after} kB");
        assert_eq!(format!("{before:08}").len(), 8);
    }
}
