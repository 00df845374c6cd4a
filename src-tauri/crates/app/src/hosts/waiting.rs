//! What goes on with hosts and takes long: a person may give it up.

use std::sync::{Mutex, MutexGuard, PoisonError};

use openspace_hosts::Stop;

use super::HostScope;
use crate::{App, failure::Result};

/// Everything that goes on with hosts in this process.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<Going>);

#[derive(Debug, Default)]
struct Going {
    begun: u64,
    list: Vec<(u64, String, HostScope, Stop)>,
}

/// One thing that goes on; it ends when this is dropped.
pub(super) struct Held<'a> {
    waiting: &'a Waiting,
    number: u64,
    pub(super) stop: Stop,
}

impl Waiting {
    /// Something begins with a file of a host.
    pub(super) fn begin(&self, host: &str, scope: &HostScope) -> Held<'_> {
        let stop = Stop::default();
        let mut going = self.going();
        going.begun += 1;
        let number = going.begun;
        let entry = (number, host.to_owned(), scope.clone(), stop.clone());
        going.list.push(entry);
        Held {
            waiting: self,
            number,
            stop,
        }
    }

    fn going(&self) -> MutexGuard<'_, Going> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let number = self.number;
        let mut going = self.waiting.going();
        going.list.retain(|(other, ..)| *other != number);
    }
}

impl App {
    /// Gives up what goes on with a file of a host: what was started for it ends, and the file is as
    /// it was. Nothing that goes on is fine.
    ///
    /// # Errors
    /// [`crate::Code::Forbidden`] for a run.
    pub fn give_up_host(&self, host: &str, scope: &HostScope) -> Result<()> {
        self.refuse_runs("give up what goes on with hosts")?;
        for (_, id, at, stop) in &self.waiting_hosts.going().list {
            if id == host && at == scope {
                stop.now();
            }
        }
        Ok(())
    }
}
