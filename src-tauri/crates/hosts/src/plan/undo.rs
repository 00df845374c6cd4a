//! Taking the last change to a file back.

use std::path::Path;

use super::{Contents, Error, Host, Hosts, Kind, Plan, Scope};
use crate::ledger::Change;

impl Hosts {
    /// When the last change to a host's file was made, in milliseconds since 1970; none when there
    /// was none or somebody else changed the file since.
    pub fn undoable(&self, host: &'static Host, scope: &Scope) -> Result<Option<i64>, Error> {
        let file = self.file(host, scope)?;
        let change = self.last(&Contents::read(&file)?)?;
        Ok(change.map(|change| change.at))
    }

    /// Works out how the file becomes what it was before the last change.
    ///
    /// # Errors
    /// [`Error::NothingToUndo`] when there was no change, or somebody else changed the file since;
    /// whatever keeps the file from being changed.
    pub fn plan_undo(&self, host: &'static Host, scope: &Scope) -> Result<Plan, Error> {
        let file = self.file(host, scope)?;
        let contents = Contents::read(&file)?;
        let Some(change) = self.last(&contents)? else {
            return Err(Error::NothingToUndo { path: file });
        };
        contents.refuse_protected()?;
        let (contents, after) = match &change.backup {
            Some(backup) => {
                let before = Contents::read(backup)?;
                (contents.marked_as(&before), Some(before.text))
            }
            None => (contents, None),
        };
        Ok(self.plan(host, scope, Kind::Undo, contents, after, change.record))
    }

    /// The last change to a file that is still what that made of it.
    fn last(&self, contents: &Contents) -> Result<Option<Change>, Error> {
        let change = self.ledger.last_change(&contents.path)?;
        Ok(change.filter(|change| {
            let there = change.backup.as_ref().is_none_or(|copy| copy.is_file());
            there && change.after == contents.hash()
        }))
    }

    /// Makes a file what it was before a change that is not wanted after all.
    ///
    /// # Errors
    /// [`Error::Changed`] when it is not what the change made of it any more: what another program
    /// wrote stays. Whatever keeps it from being written.
    pub(super) fn put_back(plan: &Plan, backup: Option<&Path>) -> Result<(), Error> {
        let now = Contents::read(&plan.file)?;
        let ours = plan.after.as_deref();
        if now.hash() != ours.map(|text| plan.contents.hash_with(text)) {
            return Err(now.changed());
        }
        // The copy has the mark in front that the file had, whatever the change made of that.
        let before = backup.and_then(|copy| Contents::read(copy).ok());
        let before = before.filter(Contents::exists);
        let before = before.as_ref().unwrap_or(&plan.contents);
        now.marked_as(before).replace(&before.text, !plan.shared)
    }
}
