//! How a host stands: there or not, with our entry or another, with a program that still exists.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{
    Error, Host, Hosts, Launch,
    dialect::{At, find},
    entry::{MARK, NAME},
    file::Contents,
    ledger::Record,
    machine::is_program,
    skills::SkillReport,
};

/// Which of a host's files is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The person's own, for all projects.
    User,
    /// That of the project in this folder.
    Project(PathBuf),
    /// This very file, such as that of a profile, or in a data folder that was moved.
    File(PathBuf),
}

/// How a host stands.
#[derive(Debug)]
pub struct Report {
    /// The host.
    pub host: &'static Host,
    /// Its file, there or not.
    pub file: PathBuf,
    /// What gave it away; none when it was not found.
    pub sign: Option<PathBuf>,
    /// What the entry of our name starts.
    pub launch: Option<Launch>,
    /// How it stands.
    pub state: State,
    /// We wrote an entry into its file and did not take it out since.
    pub recorded: bool,
    /// Our skills in its folder; none where it has no such folder, or another file than the person's
    /// own was asked about.
    pub skills: Vec<SkillReport>,
}

/// How a host stands towards us.
#[derive(Debug)]
pub enum State {
    /// It is not on this machine.
    NotFound,
    /// It is there and does not know us.
    NotRegistered,
    /// It knows us.
    Registered {
        /// It was told not to start us.
        off: bool,
        /// The entry starts another copy of this program than a new entry would.
        other: bool,
        /// What it starts has its files in other folders than a new entry would give it: other
        /// settings, or another database.
        elsewhere: bool,
    },
    /// It knows us by a program that is not there any more, or will not be for long.
    Moved,
    /// We wrote an entry, and somebody removed it.
    Removed,
    /// An entry of our name that is not ours.
    Different {
        /// The entry as JSON, without secrets.
        entry: String,
    },
    /// Its file cannot be read.
    Unusable(Error),
}

impl Report {
    /// Our entry is in its file, or what we wrote may be: nobody would know of it if the host were
    /// forgotten.
    pub fn holds_ours(&self) -> bool {
        let doubtful = matches!(self.state, State::Different { .. } | State::Unusable(_));
        self.state.is_registered() || self.recorded && doubtful
    }
}

impl State {
    /// Its name in catalogues and JSON.
    pub fn id(&self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::NotRegistered => "not_registered",
            Self::Registered { off: true, .. } => "off",
            Self::Registered { off: false, .. } => "registered",
            Self::Moved => "moved",
            Self::Removed => "removed",
            Self::Different { .. } => "different",
            Self::Unusable(_) => "unusable",
        }
    }
}

impl Host {
    /// Where our entry stands in a file that says this.
    pub(crate) fn at(&self, said: &Value) -> At<'static> {
        let newer = self.other_key.filter(|path| {
            let map = path.iter().try_fold(said, |value, key| value.get(key));
            let members = map.and_then(Value::as_object);
            // A server of that name is no map of servers.
            members.is_some_and(|map| {
                map.values().all(Value::is_object) && !map.contains_key("command")
            })
        });
        At {
            path: newer.unwrap_or(self.key),
            name: NAME,
        }
    }
}

impl Hosts {
    /// The file of a host.
    ///
    /// # Errors
    /// [`Error::NoProjectFile`] when the host has none for projects.
    pub fn file(&self, host: &'static Host, scope: &Scope) -> Result<PathBuf, Error> {
        match scope {
            Scope::User => Ok(self.user_file(host)),
            Scope::File(file) => Ok(file.clone()),
            Scope::Project(folder) => match host.project {
                Some(file) => Ok(folder.join(file)),
                None => Err(Error::NoProjectFile { host: host.name }),
            },
        }
    }

    /// The person's own file: the one with our entry in it, else the first that is there, else the
    /// first whose folder is. Where a variable says where, only there.
    fn user_file(&self, host: &Host) -> PathBuf {
        let files = host.places(&self.machine);
        let has_entry = |file: &&PathBuf| {
            Contents::read(file).is_ok_and(|contents| {
                let said = host.dialect.read(&contents.text);
                said.is_ok_and(|said| find(&said, host.at(&said)).is_some())
            })
        };
        let there = || {
            files
                .iter()
                .filter(|file| file.exists() || file.is_symlink())
        };
        there()
            .find(has_entry)
            .or_else(|| there().next())
            .or_else(|| {
                let in_folder = |file: &&PathBuf| file.parent().is_some_and(Path::is_dir);
                files.iter().find(in_folder)
            })
            .or(files.first())
            .cloned()
            .unwrap_or_else(|| self.machine.home.join(host.id))
    }

    /// What shows that a host is on this machine.
    pub(crate) fn sign(&self, host: &Host) -> Option<PathBuf> {
        let mut programs = host.signs.programs.iter();
        programs
            .find_map(|name| self.machine.find_program(name))
            .or_else(|| {
                let places = host
                    .signs
                    .folders
                    .iter()
                    .chain(host.moved)
                    .chain(host.files);
                places
                    .filter_map(|place| place.on(&self.machine))
                    .find(|path| path.exists())
            })
    }

    /// How a host stands.
    pub fn look(&self, host: &'static Host, scope: &Scope) -> Result<Report, Error> {
        let file = self.file(host, scope)?;
        let sign = self.sign(host);
        let mut report = Report {
            host,
            sign,
            launch: None,
            state: State::NotRegistered,
            recorded: self.ledger.find(&file)?.is_some(),
            skills: match scope {
                Scope::User => self.look_skills(host)?,
                Scope::Project(_) | Scope::File(_) => Vec::new(),
            },
            file,
        };
        match self.standing(host, &report.file, scope) {
            Ok((entry, state)) => {
                report.launch = entry.and_then(|entry| host.launch(&entry));
                report.state = match state {
                    State::NotRegistered if report.sign.is_none() && *scope == Scope::User => {
                        State::NotFound
                    }
                    state => state,
                };
            }
            Err(error) => report.state = State::Unusable(error),
        }
        Ok(report)
    }

    fn standing(
        &self,
        host: &Host,
        file: &Path,
        scope: &Scope,
    ) -> Result<(Option<Value>, State), Error> {
        let contents = Contents::read(file)?;
        let said = host
            .dialect
            .read(&contents.text)
            .map_err(|fault| Error::of(fault, file.to_owned(), &contents.text))?;
        let record = self.ledger.find(file)?;
        let entry = find(&said, host.at(&said)).cloned();
        let state = self.judge(host, scope, entry.as_ref(), record.as_ref());
        Ok((entry, state))
    }

    /// What an entry of our name is, or that there is none. Files other than the person's own come
    /// from anywhere, such as a repository: what we did not write there is ours only as far as we
    /// would write it.
    pub(crate) fn judge(
        &self,
        host: &Host,
        scope: &Scope,
        entry: Option<&Value>,
        record: Option<&Record>,
    ) -> State {
        let Some(entry) = entry else {
            return match record {
                Some(_) => State::Removed,
                None => State::NotRegistered,
            };
        };
        let different = || State::Different {
            entry: crate::mask::entry(entry).to_string(),
        };
        let Some(launch) = host.launch(entry) else {
            return different();
        };
        let recorded = record.is_some_and(|record| launch.starts_as(&record.launch));
        let trusted = recorded || *scope == Scope::User;
        if !trusted && !self.has_only_ours(host, &launch, record) {
            return different();
        }
        let wanted = self.wanted(host);
        let off = Host::is_off(entry);
        let there = self.lasts(Path::new(&launch.command));
        let elsewhere = self.folders(&launch) != self.folders(&wanted);
        let registered = |other| State::Registered {
            off,
            other,
            elsewhere,
        };
        if launch.starts_as(&wanted) {
            return if there || self.launcher.is_copy() && self.launcher.is_current() {
                registered(false)
            } else {
                State::Moved
            };
        }
        if recorded && there {
            registered(true)
        } else if recorded || launch.looks_ours() && !elsewhere && !there {
            State::Moved
        } else {
            different()
        }
    }

    /// An entry may be started by us: we wrote it or would write it, and outside the person's own
    /// file nobody added a variable to it, which may well have another program loaded.
    pub(crate) fn may_start(
        &self,
        host: &Host,
        scope: &Scope,
        launch: &Launch,
        record: Option<&Record>,
    ) -> bool {
        let recorded = record.is_some_and(|record| launch.starts_as(&record.launch));
        if recorded && *scope == Scope::User {
            return true;
        }
        (recorded || launch.starts_as(&self.wanted(host)))
            && self.has_only_ours(host, launch, record)
    }

    /// All variables of an entry are such as we wrote, or would write.
    fn has_only_ours(&self, host: &Host, launch: &Launch, record: Option<&Record>) -> bool {
        let wanted = self.wanted(host).env;
        let known = |name: &String, value: &String| {
            let written = record.map(|record| &record.launch.env);
            let mut ours = [Some(&wanted), written].into_iter().flatten();
            name == MARK || ours.any(|env| env.get(name) == Some(value))
        };
        launch.env.iter().all(|(name, value)| known(name, value))
    }

    /// A program is there, and will be.
    fn lasts(&self, program: &Path) -> bool {
        is_program(program)
            && (program == crate::launcher::copy_path(&self.machine, &self.data)
                || crate::launcher::lasts(&self.machine, program))
    }
}
