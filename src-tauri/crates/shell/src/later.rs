//! Files that something else runs later, kept as they are while commands run in the sandbox.
//!
//! The sandbox allows or refuses whole folders: a workspace that may be written holds `.git/hooks`
//! and `.envrc` too, and what is written there runs outside, when the person commits or changes
//! into the folder. So such files are looked at before a command (`scan`), compared while it runs
//! and after it ended (`compare`), and what changed is put back (`put_back`); nothing is lost, what
//! a command had written there is kept among the files of the run. `watch` decides when, `approval`
//! which changes a person had allowed, `git_config` which settings of git run something.

mod approval;
mod compare;
mod git_config;
mod git_keys;
mod put_back;
mod scan;
mod watch;

pub(crate) use approval::Approval;
pub(crate) use watch::Watch;
