//! Agent programs on this machine: finding them, writing our entry into their files, trying it.
//!
//! [`HOSTS`] says of each host where its file lies, in which format, and what an entry looks like.
//! [`Hosts`] looks how each stands ([`Report`]), works out changes ([`Plan`]) and makes them
//! ([`Done`]): every byte that is not ours stays as it is, and unregistering leads back to the bytes
//! from before. [`Hosts::checkup`] finds entries whose program has gone, [`Hosts::verify`] starts one
//! as its host would and speaks with it. [`Hosts::name`] makes a host of an agent that a person
//! names. [`skills`] puts two skills into the host's folder that tell
//! its agent when and how to use us. Nothing secret is ever written.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod check;
pub mod credentials;
mod custom;
mod dialect;
mod diff;
mod doctor;
mod entry;
mod error;
mod file;
mod host;
mod hosts;
mod launcher;
mod ledger;
mod machine;
mod mask;
mod plan;
pub mod skills;
mod state;
mod stop;
mod table;
mod verify;

pub use custom::{NewCustom, Part};
pub use dialect::Dialect;
pub use doctor::{Checkup, Cure, Finding};
pub use entry::{Launch, MARK, NAME};
pub use error::Error;
pub use file::real::real;
pub use host::{Host, Passes};
pub use hosts::{Hosts, find, is_shared_name};
pub use launcher::Launcher;
pub use machine::{Machine, Place, Platform};
pub use plan::{Done, Kind, Options, Plan};
pub use state::{Report, Scope, State};
pub use stop::Stop;
pub use table::HOSTS;
pub use verify::{Call, Seen, Step, Trouble, VERIFIER};
