//! What each operating system has to do. Every platform module offers the same functions:
//! `spawn`, `become_subreaper`, `give_back_start`, `terminate`, `end`, `end_run`, `members`, `reap`, `support`,
//! `self_test`, `parents`, `carried_run`, `mark_of`, `peer`.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::*;
#[cfg(target_os = "linux")]
pub use linux::{become_subreaper, give_back_start};

#[cfg(all(unix, not(target_os = "linux")))]
mod macos;
#[cfg(all(unix, not(target_os = "linux")))]
pub(crate) use macos::*;
#[cfg(all(unix, not(target_os = "linux")))]
pub use macos::{become_subreaper, give_back_start};

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub(crate) use windows::*;
#[cfg(windows)]
pub use windows::{become_subreaper, give_back_start};
