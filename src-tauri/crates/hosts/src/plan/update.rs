//! Changes within an entry that is ours: only what differs from a new one. What a person added to it
//! stays.

use jiff::Timestamp;
use serde_json::Value;

use super::{At, Contents, Host, Record, Splice};
use crate::{
    Launch,
    dialect::{Fault, find},
    entry::{FOLDERS, is_own},
};

/// What is brought up to date.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wish {
    /// The program and its arguments.
    pub(super) program: bool,
    /// The variables that say where our files lie.
    pub(super) folders: bool,
    /// That the host lets our tools run without asking.
    pub(super) trust: bool,
}

/// The text with our entry as it should be.
pub(super) fn updated(
    host: &Host,
    text: &str,
    at: At<'static>,
    entry: &Value,
    wanted: &Launch,
    wish: Wish,
) -> Result<String, Fault> {
    let path: Vec<_> = at.path.iter().copied().chain([at.name]).collect();
    let whole = host.entry(wanted, wish.trust);
    let mut change = Change {
        host,
        path: &path,
        text: text.to_owned(),
    };
    let launch = host.launch(entry).filter(|_| wish.program);
    if let Some(launch) = launch {
        if launch.args != wanted.args {
            for key in host.command_keys() {
                change.member(entry, key, whole.get(key))?;
            }
        } else if launch.command != wanted.command {
            let steps = at.steps(&host.command_steps());
            change.text = host.dialect.set(&change.text, &steps, &wanted.command)?;
        }
    }
    if wish.folders {
        let env = host.shape.env;
        for name in FOLDERS {
            change.variable(env, name, wanted.env.get(name))?;
        }
    }
    if let Some((key, _)) = host.trust.filter(|_| wish.trust) {
        change.member(entry, key, whole.get(key))?;
    }
    Ok(change.text)
}

struct Change<'a> {
    host: &'a Host,
    /// The way to our entry.
    path: &'a [&'a str],
    text: String,
}

impl<'a> Change<'a> {
    /// Gives a member of the entry another value, or none.
    fn member(&mut self, entry: &Value, key: &'a str, value: Option<&Value>) -> Result<(), Fault> {
        let path = self.path;
        self.put(At { path, name: key }, entry.get(key), value)
    }

    fn variable(
        &mut self,
        env: &'a str,
        name: &'a str,
        value: Option<&String>,
    ) -> Result<(), Fault> {
        let said = self.host.dialect.read(&self.text)?;
        let mut path = self.path.iter();
        let entry = path.try_fold(&said, |value, key| value.get(key));
        let variables = entry.and_then(|entry| entry.get(env));
        let value = value.map(|value| Value::from(value.as_str()));
        if variables.is_none_or(Value::is_null) {
            let Some(value) = value else { return Ok(()) };
            let map = Value::Object([(name.to_owned(), value)].into_iter().collect());
            let path = self.path;
            return self.put(At { path, name: env }, variables, Some(&map));
        }
        let path: Vec<_> = self.path.iter().copied().chain([env]).collect();
        let old = variables.and_then(|map| map.get(name));
        self.put(At { path: &path, name }, old, value.as_ref())
    }

    fn put(&mut self, at: At<'_>, old: Option<&Value>, new: Option<&Value>) -> Result<(), Fault> {
        if old == new {
            return Ok(());
        }
        let dialect = self.host.dialect;
        if let (Some(Value::String(_)), Some(Value::String(new))) = (old, new) {
            self.text = dialect.set(&self.text, &at.steps(&[]), new)?;
            return Ok(());
        }
        if old.is_some() {
            self.text = dialect.remove(&self.text, at, 0)?;
        }
        if let Some(new) = new {
            self.text = dialect.put(&self.text, at, new)?;
        }
        Ok(())
    }
}

/// What is to be known of an entry that was brought up to date: what it takes to remove it is still
/// what the registration did.
pub(super) fn carried(
    record: Option<&Record>,
    host: &Host,
    contents: &Contents,
    after: &str,
    now: Timestamp,
) -> Record {
    let (created, new_file) = record.map_or((0, false), |record| (record.created, record.new_file));
    let kept = record.and_then(|record| record.kept.as_ref());
    let kept = kept.map(|kept| kept.backup.clone());
    // Without a splice the entry is cut out of the text. What a person wrote into it is not kept here.
    let splice =
        record.and_then(|record| corrected(host, &record.whole_splice()?, &contents.text, after));
    let record = Record {
        host: host.id.to_owned(),
        file: contents.path.clone(),
        launch: started(host, after),
        splice: splice.unwrap_or_default(),
        kept: None,
        created,
        new_file,
        at: now.as_millisecond(),
    };
    match kept {
        Some(copy) => record.leaving_in(&copy),
        None => record,
    }
}

/// What our entry starts, without the variables that a person added.
fn started(host: &Host, text: &str) -> Launch {
    let said = host.dialect.read(text).unwrap_or_default();
    let entry = find(&said, host.at(&said));
    let mut launch = entry
        .and_then(|entry| host.launch(entry))
        .unwrap_or_default();
    launch.env.retain(|name, _| is_own(name));
    launch
}

/// The splice that wrote an entry, as it would have been with the change in it.
fn corrected(host: &Host, splice: &Splice, before: &str, after: &str) -> Option<Splice> {
    let at = host.at(&host.dialect.read(before).ok()?);
    let undone = [splice.undo(before), splice.undo_elsewhere(before)];
    let mut undone = undone.into_iter().flatten();
    let undone = undone.find(|undone| host.dialect.check_removed(before, undone, at))?;
    Some(Splice::between(&undone, after))
}
