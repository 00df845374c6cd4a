//! Agents that are not in the table: a person names one, with its file and how that is written.

mod key;

use std::{
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Dialect, Error, Host, Hosts, Report, Scope, State,
    dialect::{At, Fault, find},
    entry::NAME,
    file::{Contents, real::real},
    host::Signs,
    machine::Place,
    table::USUAL,
};

/// Longest name, and longest part of the place in the file.
const LONGEST: usize = 60;
/// The map of servers lies no deeper than this.
const DEEPEST: usize = 4;
/// What their names in commands begin with. No host of the table has such a name, so a later one
/// never takes the place of an agent that was named before.
pub(crate) const PREFIX: &str = "custom-";
/// What an agent is called in commands whose name has no letter for that.
const NAMELESS: &str = "agent";

/// What a person says of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewCustom {
    /// Its name.
    pub name: String,
    /// Its file, there or not.
    pub file: PathBuf,
    /// How the file is written.
    pub dialect: Dialect,
    /// The map of servers within it: its key, or the keys on the way to it with dots between them.
    /// One with a dot in it stands in quotes where the file does not have it yet.
    pub key: String,
}

/// An agent that a person named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Custom {
    pub(crate) id: String,
    name: String,
    pub(crate) file: PathBuf,
    dialect: Dialect,
    key: Vec<String>,
}

/// What is wrong with what a person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The name is empty, too long, or taken.
    Name,
    /// The file is not named by an absolute path.
    File,
    /// The place in the file is empty, too deep, or has an empty part.
    Key,
}

impl Custom {
    /// As a host like those of the table, which it is like in staying until the program ends: it is
    /// made once, however often it is asked for.
    pub(crate) fn host(&self) -> &'static Host {
        static MADE: Mutex<Vec<(Custom, &'static Host)>> = Mutex::new(Vec::new());
        let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, host)) = made.iter().find(|(custom, _)| custom == self) {
            return host;
        }
        let place = |path: &Path| Place::absolute(kept(&path.to_string_lossy()));
        let folder = self.file.parent().unwrap_or(&self.file);
        let key: Vec<_> = self.key.iter().map(|part| kept(part)).collect();
        let host: &'static Host = Box::leak(Box::new(Host {
            id: kept(&self.id),
            name: kept(&self.name),
            custom: true,
            signs: Signs {
                programs: &[],
                folders: Box::leak(Box::new([place(folder)])),
            },
            files: Box::leak(Box::new([place(&self.file)])),
            dialect: self.dialect,
            key: key.leak(),
            ..USUAL
        }));
        made.push((self.clone(), host));
        host
    }
}

fn kept(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl Hosts {
    /// Every host: those of the table, then those that the person named.
    ///
    /// # Errors
    /// [`Error::Ledger`] when our own list cannot be read.
    pub fn known(&self) -> Result<Vec<&'static Host>, Error> {
        let customs = self.ledger.customs()?;
        let customs = customs.iter().map(Custom::host);
        Ok(crate::HOSTS.iter().chain(customs).collect())
    }

    /// The host of that name.
    ///
    /// # Errors
    /// [`Error::UnknownHost`] with the one that was probably meant.
    pub fn find(&self, id: &str) -> Result<&'static Host, Error> {
        let unknown = match crate::find(id) {
            Ok(host) => return Ok(host),
            Err(error) => error,
        };
        let lower = id.to_lowercase();
        let customs = self.ledger.customs()?;
        let named = |host: &&Host| host.id == lower || host.name.to_lowercase() == lower;
        let found = customs.iter().map(Custom::host).find(named);
        found.ok_or(unknown)
    }

    /// Keeps an agent that a person named, as a host from now on. Nothing is written into its file.
    ///
    /// # Errors
    /// [`Error::Unnameable`] for what makes no sense, [`Error::Taken`] for the file of another host,
    /// and whatever keeps a file that is there from being read in this format.
    pub fn name(&self, new: &NewCustom) -> Result<&'static Host, Error> {
        let name = new.name.trim().to_owned();
        let known = self.known()?;
        let letters = name.chars().count();
        let lower = name.to_lowercase();
        if letters == 0
            || letters > LONGEST
            || name.chars().any(char::is_control)
            || known.iter().any(|host| host.name.to_lowercase() == lower)
        {
            return Err(Error::Unnameable { part: Part::Name });
        }
        let file = placed(&new.file).ok_or(Error::Unnameable { part: Part::File })?;
        let place = real(&file);
        for host in &known {
            if real(&self.file(host, &Scope::User)?) == place {
                return Err(Error::Taken {
                    host: host.name,
                    path: file,
                });
            }
        }
        let contents = Contents::read(&file)?;
        let fault = |fault| Error::of(fault, file.clone(), &contents.text);
        let said = new.dialect.read(&contents.text).map_err(fault)?;
        let key = key::keys(new.key.trim(), &said).filter(|key| fits(key));
        let custom = Custom {
            id: free_id(&name, &known),
            name,
            file: file.clone(),
            dialect: new.dialect,
            key: key.ok_or(Error::Unnameable { part: Part::Key })?,
        };
        let host = custom.host();
        self.refuse_unfit(host, &contents, &said).map_err(fault)?;
        self.ledger.add_custom(custom)?;
        Ok(host)
    }

    /// Whether our entry could be put where the person says: a wrong format is noticed now.
    fn refuse_unfit(&self, host: &Host, contents: &Contents, said: &Value) -> Result<(), Fault> {
        let at = At {
            path: host.key,
            name: NAME,
        };
        if find(said, at).is_none() {
            let entry = host.entry(&self.wanted(host), false);
            host.dialect.add(&contents.text, at, &entry)?;
        }
        Ok(())
    }

    /// Forgets an agent that a person named.
    ///
    /// # Errors
    /// [`Error::NotCustom`] for one that nobody named, [`Error::StillRegistered`] while our entry is
    /// in its file, or what became of it: then nobody would know of it. Whatever keeps a file from
    /// being read that we wrote it into.
    pub fn forget(&self, host: &'static Host) -> Result<(), Error> {
        if !host.custom {
            return Err(Error::NotCustom { host: host.name });
        }
        let own = self.look(host, &Scope::User)?;
        let file = own.file.clone();
        let others = self.others()?.into_iter();
        let mut all = others.filter(|it| it.host.id == host.id).chain([own]);
        if let Some(report) = all.find(Report::holds_ours) {
            return Err(match report.state {
                State::Unusable(error) => error,
                _ => Error::StillRegistered {
                    host: host.name,
                    id: host.id,
                    path: report.file,
                },
            });
        }
        self.ledger.forget_custom(host.id, &file)
    }
}

/// A map of servers can lie there.
fn fits(key: &[String]) -> bool {
    let bad = |part: &String| {
        part.trim().is_empty() || part.chars().count() > LONGEST || part.contains(char::is_control)
    };
    key.len() <= DEEPEST && !key.iter().any(bad)
}

/// A file as it is kept: in the folder where it really is. A link in its own place stays one, since
/// whoever made it may let it lead elsewhere later.
fn placed(file: &Path) -> Option<PathBuf> {
    if !file.is_absolute() {
        return None;
    }
    let placed = real(file.parent()?).join(file.file_name()?);
    placed.to_str().is_some().then_some(placed)
}

/// A name for commands that no other host has.
fn free_id(name: &str, known: &[&Host]) -> String {
    let mut word = String::new();
    for letter in name.chars() {
        if letter.is_ascii_alphanumeric() {
            word.push(letter.to_ascii_lowercase());
        } else if !word.is_empty() && !word.ends_with('-') {
            word.push('-');
        }
    }
    let word = word.trim_end_matches('-');
    let word = if word.is_empty() { NAMELESS } else { word };
    let id = format!("{PREFIX}{word}");
    let free = |id: &String| known.iter().all(|host| host.id != id);
    std::iter::once(id.clone())
        // One of these is free, however many hosts there are.
        .chain((2..=known.len() + 2).map(|number| format!("{PREFIX}{word}-{number}")))
        .find(free)
        .unwrap_or(id)
}

#[cfg(test)]
mod tests;
