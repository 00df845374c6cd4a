//! Changes to a host's file: worked out, shown, made.

mod undo;
mod update;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{
    Error, Host, Hosts, Scope, State,
    check::{Verdict, ask},
    dialect::{At, Splice, find},
    diff,
    entry::NAME,
    file::{
        Contents,
        backup::Backups,
        lock::{FolderLock, pause},
    },
    host::Lock,
    ledger::{Change, Record},
    mask,
};
use update::Wish;

/// How often a change is worked out anew when another program was faster.
const ATTEMPTS: usize = 2;

/// What is wanted of a registration beyond the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Put our entry in the place of another of the same name.
    pub force: bool,
    /// Let the host run our tools without asking, where it can be told to. We ask anyway.
    pub trust: bool,
    /// Make the file of a host that was not found.
    pub create: bool,
}

/// What a change does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It adds our entry.
    Add,
    /// It puts our entry in the place of another.
    Replace,
    /// It corrects the program in our entry.
    Repair,
    /// It changes what differs in our entry, and nothing else of it.
    Adjust,
    /// It removes our entry.
    Remove,
    /// It brings back the file from before the last change.
    Undo,
    /// Nothing has to be done.
    Nothing,
}

impl Kind {
    /// Its name in catalogues and JSON.
    pub fn id(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Repair => "repair",
            Self::Adjust => "adjust",
            Self::Remove => "remove",
            Self::Undo => "undo",
            Self::Nothing => "nothing",
        }
    }
}

/// A change that was worked out and not made.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Whose file it is.
    pub host: &'static Host,
    /// The file.
    pub file: PathBuf,
    /// What is done.
    pub kind: Kind,
    contents: Contents,
    /// What the file says afterwards; none when it is removed.
    after: Option<String>,
    backups: Backups,
    shared: bool,
    record: Option<Record>,
}

impl Plan {
    /// The change line by line, in the unified format, without the secrets that others keep in the
    /// same file.
    pub fn diff(&self) -> String {
        let name = self.file.display().to_string();
        let after = self.after.as_deref().unwrap_or_default();
        let diff = diff::unified(&name, &self.contents.text, after);
        let lines = diff.lines().map(|line| mask::line(line) + "\n");
        lines.collect()
    }

    /// Where a copy of the file would go that was made at this time; none for a new file.
    pub fn backup(&self, now: Timestamp) -> Option<PathBuf> {
        (self.contents.exists() && self.kind != Kind::Nothing).then(|| self.backups.path(now))
    }

    /// The file does not exist yet.
    pub fn is_new_file(&self) -> bool {
        !self.contents.exists()
    }

    /// The file goes away, since it holds nothing but our entry.
    pub fn removes_file(&self) -> bool {
        self.after.is_none()
    }

    /// How many other servers the file has.
    pub fn other_servers(&self) -> usize {
        let Ok(said) = self.host.dialect.read(&self.contents.text) else {
            return 0;
        };
        let mut path = self.host.at(&said).path.iter();
        let map = path.try_fold(&said, |value, key| value.get(key));
        let servers = map.and_then(Value::as_object);
        servers.map_or(0, |servers| {
            servers.keys().filter(|name| *name != NAME).count()
        })
    }

    /// What tells this change from every other: what the file says now, and what it would say.
    /// Whoever was shown the change can so make exactly that one, and no other.
    pub fn fingerprint(&self) -> String {
        let after = self.after.as_deref();
        let after = after.map(|text| self.contents.hash_with(text));
        let mut hasher = blake3::Hasher::new();
        for part in [
            self.kind.id().as_bytes(),
            self.file.as_os_str().as_encoded_bytes(),
            self.contents.hash().unwrap_or_default().as_bytes(),
            after.unwrap_or_default().as_bytes(),
        ] {
            hasher.update(&part.len().to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize().to_hex().to_string()
    }
}

/// A change that was made.
#[derive(Debug)]
pub struct Done {
    /// What it was.
    pub plan: Plan,
    /// The copy of the file as it was before.
    pub backup: Option<PathBuf>,
}

impl Hosts {
    /// Works out what registering does.
    ///
    /// # Errors
    /// Whatever keeps the file from being changed; [`Error::Different`] when another entry has our
    /// name.
    pub fn plan_registration(
        &self,
        host: &'static Host,
        scope: &Scope,
        options: Options,
        now: Timestamp,
    ) -> Result<Plan, Error> {
        let file = self.file(host, scope)?;
        let contents = Contents::read(&file)?;
        if *scope == Scope::User && !options.create && self.sign(host).is_none() {
            return Err(Error::NotFound {
                host: host.name,
                path: file,
            });
        }
        let fault = |fault| Error::of(fault, file.clone(), &contents.text);
        let text = contents.text.as_str();
        let said = host.dialect.read(text).map_err(fault)?;
        let at = host.at(&said);
        let record = self.ledger.find(&file)?;
        let found = find(&said, at);
        let wanted = self.wanted(host);
        let entry = host.entry(&wanted, options.trust);
        let trust = lacks_trust(host, found, options);
        let update = |wish| {
            let entry = found.unwrap_or(&Value::Null);
            update::updated(host, text, at, entry, &wanted, wish).map_err(fault)
        };
        let (kind, after) = match self.judge(host, scope, found, record.as_ref()) {
            State::NotFound | State::NotRegistered | State::Removed => (
                Kind::Add,
                host.dialect.add(text, at, &entry).map_err(fault)?,
            ),
            State::Moved => {
                let wish = Wish {
                    program: true,
                    folders: false,
                    trust,
                };
                (Kind::Repair, update(wish)?)
            }
            State::Registered {
                other, elsewhere, ..
            } if trust || options.force && (other || elsewhere) => {
                let wish = Wish {
                    program: options.force,
                    folders: options.force,
                    trust,
                };
                (Kind::Adjust, update(wish)?)
            }
            State::Registered { .. } => (Kind::Nothing, text.to_owned()),
            State::Different { .. } if options.force => (
                Kind::Replace,
                replaced(host, text, at, &entry).map_err(fault)?,
            ),
            State::Different { entry } => return Err(Error::Different { path: file, entry }),
            State::Unusable(error) => return Err(error),
        };
        if kind != Kind::Nothing {
            contents.refuse_protected()?;
        }
        let record = match kind {
            Kind::Nothing => None,
            Kind::Repair | Kind::Adjust => Some(update::carried(
                record.as_ref(),
                host,
                &contents,
                &after,
                now,
            )),
            Kind::Add | Kind::Replace | Kind::Remove | Kind::Undo => {
                let missing = at.path.len() - depth(&said, at.path);
                Some(Record {
                    host: host.id.to_owned(),
                    file: file.clone(),
                    launch: wanted,
                    splice: Splice::between(text, &after),
                    kept: None,
                    created: missing,
                    new_file: !contents.exists(),
                    at: now.as_millisecond(),
                })
            }
        };
        Ok(self.plan(host, scope, kind, contents, Some(after), record))
    }

    /// Works out what unregistering does.
    ///
    /// # Errors
    /// Whatever keeps the file from being changed; [`Error::Different`] when the entry is not ours
    /// and `force` is not set.
    pub fn plan_removal(
        &self,
        host: &'static Host,
        scope: &Scope,
        force: bool,
    ) -> Result<Plan, Error> {
        let file = self.file(host, scope)?;
        let contents = Contents::read(&file)?;
        let fault = |fault| Error::of(fault, file.clone(), &contents.text);
        let text = contents.text.as_str();
        let said = host.dialect.read(text).map_err(fault)?;
        let at = host.at(&said);
        let record = self.ledger.find(&file)?;
        let found = find(&said, at);
        let state = self.judge(host, scope, found, record.as_ref());
        if found.is_none() {
            let after = Some(contents.text.clone());
            return Ok(self.plan(host, scope, Kind::Nothing, contents, after, None));
        }
        if let State::Different { entry } = state
            && !force
        {
            return Err(Error::Different { path: file, entry });
        }
        contents.refuse_protected()?;
        let taken_back = record.as_ref().and_then(|record| {
            let splice = record.whole_splice()?;
            [splice.undo(text), splice.undo_elsewhere(text)]
                .into_iter()
                .flatten()
                .find(|after| {
                    let said = host.dialect.read(after).unwrap_or_default();
                    let left = self.judge(host, scope, find(&said, at), Some(record));
                    // What it leads to is no entry, or one that was never ours.
                    host.dialect.check_removed(text, after, at) && !left.is_registered()
                })
        });
        let created = record.as_ref().map_or(0, |record| record.created);
        let after = match taken_back {
            Some(after) => after,
            None => host.dialect.remove(text, at, created).map_err(fault)?,
        };
        let nothing_left = matches!(after.trim(), "" | "{}");
        let came_with_it = record.is_some_and(|record| record.new_file);
        let after = (!(nothing_left && came_with_it)).then_some(after);
        Ok(self.plan(host, scope, Kind::Remove, contents, after, None))
    }

    fn plan(
        &self,
        host: &'static Host,
        scope: &Scope,
        kind: Kind,
        contents: Contents,
        after: Option<String>,
        record: Option<Record>,
    ) -> Plan {
        let shared = matches!(scope, Scope::Project(_));
        let backups = if shared {
            Backups::within(&self.data.join("backups"), &contents.path)
        } else {
            Backups::beside(&contents.path)
        };
        Plan {
            host,
            file: contents.path.clone(),
            kind,
            contents,
            after,
            backups,
            shared,
            record,
        }
    }

    /// Makes a change, if the file is still what it was when the change was worked out.
    ///
    /// # Errors
    /// [`Error::Changed`] when it is not, and whatever keeps it from being written. The file is as
    /// it was then, but after [`Error::NotPutBack`].
    pub fn make(&self, plan: Plan, now: Timestamp) -> Result<Done, Error> {
        let _lock = lock(plan.host, &plan.file, plan.shared)?;
        self.make_locked(plan, now)
    }

    fn make_locked(&self, plan: Plan, now: Timestamp) -> Result<Done, Error> {
        if plan.kind == Kind::Nothing {
            if self.ledger.find(&plan.file)?.is_some() && plan.record.is_none() {
                self.forget_if_gone(&plan)?;
            }
            return Ok(Done { plan, backup: None });
        }
        // What was written must be known later, so this must work before anything is written.
        let known = self.ledger.find(&plan.file)?;
        if plan.record.is_some() {
            self.launcher.make()?;
        }
        let accepted = |host: &Host| {
            host.check.map_or(Verdict::Silent, |command| {
                ask(&self.machine, command, &self.stop)
            })
        };
        let before = if plan.kind == Kind::Remove || plan.is_new_file() {
            Verdict::Silent
        } else {
            accepted(plan.host)
        };
        let stopped = || Error::Stopped {
            host: plan.host.name,
            path: plan.file.clone(),
        };
        if before == Verdict::Stopped {
            return Err(stopped());
        }
        let backup = if plan.contents.exists() {
            let needed = known.as_ref().and_then(|record| record.kept.as_ref());
            let needed = needed.map(|kept| kept.backup.as_path());
            let kept = plan.backups.keep(&plan.contents, now, needed);
            Some(kept.map_err(|source| Error::Unwritable {
                path: plan.file.clone(),
                source,
            })?)
        } else {
            None
        };
        match &plan.after {
            Some(after) => plan.contents.replace(after, !plan.shared)?,
            None => plan.contents.remove()?,
        }
        if before == Verdict::Accepted {
            let unwanted = match accepted(plan.host) {
                Verdict::Refused(message) => Some(Error::Refused {
                    host: plan.host.name,
                    message,
                }),
                Verdict::Stopped => Some(stopped()),
                Verdict::Accepted | Verdict::Silent => None,
            };
            if let Some(error) = unwanted {
                match Self::put_back(&plan, backup.as_deref()) {
                    Ok(()) => {
                        if let (Error::Stopped { .. }, Some(copy)) = (&error, &backup) {
                            // The file is what it is a copy of.
                            let _stays = std::fs::remove_file(copy);
                        }
                        return Err(error);
                    }
                    Err(source) => {
                        // What was written may still be there, so it is known and the copy stays.
                        self.keep(&plan, backup.as_deref(), known, now)?;
                        return Err(Error::NotPutBack {
                            host: plan.host.name,
                            id: plan.host.id,
                            path: plan.file,
                            source: Box::new(source),
                        });
                    }
                }
            }
        }
        self.keep(&plan, backup.as_deref(), known, now)?;
        Ok(Done { plan, backup })
    }

    /// Keeps what was written, so that it is known later and can be taken back.
    fn keep(
        &self,
        plan: &Plan,
        backup: Option<&Path>,
        known: Option<Record>,
        now: Timestamp,
    ) -> Result<(), Error> {
        let after = plan.after.as_deref();
        let change = (plan.kind != Kind::Undo).then(|| Change {
            file: plan.file.clone(),
            backup: backup.map(Path::to_owned),
            after: after.map(|text| plan.contents.hash_with(text)),
            record: known,
            at: now.as_millisecond(),
        });
        let record = plan.record.clone();
        let record = record.map(|record| match (backup, plan.kind) {
            (Some(copy), Kind::Replace) => record.leaving_in(copy),
            _ => record,
        });
        self.ledger.put(&plan.file, record, change)
    }

    /// Forgets an entry that somebody else removed.
    fn forget_if_gone(&self, plan: &Plan) -> Result<(), Error> {
        let said = plan.host.dialect.read(&plan.contents.text);
        let gone = said.is_ok_and(|said| find(&said, plan.host.at(&said)).is_none());
        if gone {
            let change = self.ledger.last_change(&plan.file)?;
            self.ledger.put(&plan.file, None, change)?;
        }
        Ok(())
    }

    /// Registers with a host: works the change out and makes it, once more when another program was
    /// faster.
    pub fn register(
        &self,
        host: &'static Host,
        scope: &Scope,
        options: Options,
        now: Timestamp,
    ) -> Result<Done, Error> {
        self.change(host, scope, now, || {
            self.plan_registration(host, scope, options, now)
        })
    }

    /// Takes our entry out of a host's file: every byte is as it was before, as far as nobody
    /// changed what is around it.
    pub fn unregister(
        &self,
        host: &'static Host,
        scope: &Scope,
        force: bool,
        now: Timestamp,
    ) -> Result<Done, Error> {
        self.change(host, scope, now, || self.plan_removal(host, scope, force))
    }

    fn change(
        &self,
        host: &'static Host,
        scope: &Scope,
        now: Timestamp,
        plan: impl Fn() -> Result<Plan, Error>,
    ) -> Result<Done, Error> {
        let file = self.file(host, scope)?;
        let mut attempt = 1;
        loop {
            // Taken before the file is read: what is read is still there when it is replaced.
            let lock = lock(host, &file, matches!(scope, Scope::Project(_)))?;
            let result = self.make_locked(plan()?, now);
            drop(lock);
            match result {
                Err(Error::Changed { .. }) if attempt < ATTEMPTS => {
                    attempt += 1;
                    std::thread::sleep(pause());
                }
                result => return result,
            }
        }
    }
}

/// The entry does not let our tools run without asking, and is to.
fn lacks_trust(host: &Host, entry: Option<&Value>, options: Options) -> bool {
    let Some((key, _)) = host.trust.filter(|_| options.trust) else {
        return false;
    };
    entry.is_some_and(|entry| entry.get(key).is_none())
}

/// Keeps a host from writing its file meanwhile. Where there is no folder yet, nobody writes.
fn lock(host: &'static Host, file: &Path, shared: bool) -> Result<Option<FolderLock>, Error> {
    let target = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let writes = host.lock == Lock::Folder && !shared;
    if !writes || !target.parent().is_some_and(Path::is_dir) {
        return Ok(None);
    }
    let taken = FolderLock::take(&target).map_err(|source| Error::Unwritable {
        path: file.to_owned(),
        source,
    })?;
    let locked = || Error::Locked {
        host: host.name,
        path: file.to_owned(),
    };
    taken.ok_or_else(locked).map(Some)
}

/// Our entry in the place of the one that is there.
fn replaced(
    host: &Host,
    text: &str,
    at: At<'_>,
    entry: &Value,
) -> Result<String, crate::dialect::Fault> {
    let without = host.dialect.remove(text, at, 0)?;
    host.dialect.add(&without, at, entry)
}

/// How many of the maps around an entry are there.
fn depth(said: &Value, path: &[&str]) -> usize {
    let mut value = Some(said);
    path.iter()
        .take_while(|key| {
            value = value.and_then(|value| value.get(key));
            value.is_some()
        })
        .count()
}

#[cfg(test)]
mod tests;
