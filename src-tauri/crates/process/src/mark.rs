//! A mark that every descendant of a command carries, whatever it does to its environment.
//!
//! Environment variables are lost when a program clears them, parents when it forks twice, groups
//! and sessions when it asks for its own. Resource limits are inherited through all of that, and
//! `RLIMIT_LOCKS` has had no effect since Linux 2.4 (setrlimit(2)). Its value therefore carries
//! the mark; inside the sandbox the system call that would change it is refused.

/// Name of the variable that tells a process which run it belongs to.
pub const RUN_VARIABLE: &str = "OPENSPACE_RUN_ID";
/// Name of the variable that tells which command of the run it came out of.
pub const COMMAND_VARIABLE: &str = "OPENSPACE_COMMAND_ID";

/// "OS" in ASCII, to tell our values from anybody else's. Below `2^15`, so that the whole value
/// stays below `2^63` and is never taken for "unlimited".
const MAGIC: u64 = 0x4F53;
const PART: u64 = (1 << 24) - 1;

/// Run and command, folded into 63 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mark {
    run: u32,
    command: u32,
}

impl Mark {
    /// The mark of one command of a run. Only the low 24 bits of `command` count.
    pub fn new(run: &str, command: u32) -> Self {
        Self {
            run: fold(run),
            command: command & PART as u32,
        }
    }

    /// A mark for a new command of a run.
    pub fn random(run: &str) -> Self {
        let command = getrandom::u32().unwrap_or_else(|_| std::process::id().rotate_left(9));
        Self::new(run, command)
    }

    /// The value of the limit.
    pub fn value(self) -> u64 {
        MAGIC << 48 | u64::from(self.run) << 24 | u64::from(self.command)
    }

    /// Reads a value back; none where it is no mark of ours.
    pub fn from_value(value: u64) -> Option<Self> {
        (value >> 48 == MAGIC).then_some(Self {
            run: (value >> 24 & PART) as u32,
            command: (value & PART) as u32,
        })
    }

    /// The value of [`COMMAND_VARIABLE`].
    pub fn command_id(self) -> String {
        format!("{:06x}", self.command)
    }

    /// Carried by a process of `run`. Two runs share a mark once in 16 million.
    pub fn is_of_run(self, run: &str) -> bool {
        self.run == fold(run)
    }
}

/// FNV-1a, folded to 24 bits: both sides of a crash must compute the same value, so the hash of
/// the standard library, which may change, is out of the question.
fn fold(text: &str) -> u32 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    ((hash ^ hash >> 24 ^ hash >> 48) & PART) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mark survives being written as a limit and is told from everything else.
    #[test]
    fn a_mark_reads_back() {
        let mark = Mark::new("abc1234567", 0xFFFF_FFFF);
        assert_eq!(
            Mark::from_value(mark.value()),
            Some(mark),
            "value reads back"
        );
        assert!(mark.is_of_run("abc1234567"), "its own run");
        assert!(!mark.is_of_run("abc1234568"), "another run");
        assert!(mark.value() < 1 << 63, "below the kernel's infinity");
        for value in [0, 1024, u64::MAX, 1 << 63] {
            assert_eq!(Mark::from_value(value), None, "{value} is no mark");
        }
    }
}
