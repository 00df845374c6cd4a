//! Everything that is done with hosts begins here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use crate::{
    Error, HOSTS, Host, Launch, Launcher, Machine, Report, Scope, State, Stop,
    dialect::At,
    entry::{ARGUMENTS, FOLDERS, MARK, NAME},
    ledger::Ledger,
};

/// The hosts of a machine, and what is needed to write into their files.
#[derive(Debug, Clone)]
pub struct Hosts {
    pub(crate) machine: Machine,
    /// Our data folder.
    pub(crate) data: PathBuf,
    pub(crate) launcher: Launcher,
    pub(crate) ledger: Ledger,
    pub(crate) stop: Stop,
}

impl Hosts {
    /// The hosts of a machine. `data` is our data folder, `program` the program that can be started
    /// as a server.
    pub fn new(machine: Machine, data: impl Into<PathBuf>, program: &Path) -> Self {
        let data = data.into();
        Self {
            launcher: Launcher::of(&machine, program, &data),
            ledger: Ledger::new(&data),
            machine,
            data,
            stop: Stop::default(),
        }
    }

    /// The same, giving up what takes long when that is asked for.
    #[must_use]
    pub fn until(self, stop: Stop) -> Self {
        Self { stop, ..self }
    }

    /// The program that entries start.
    pub fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    /// How every host stands, in the order of the table.
    ///
    /// # Errors
    /// [`Error::Ledger`] when our own list cannot be read.
    pub fn all(&self) -> Result<Vec<Report>, Error> {
        let known = self.known()?.into_iter();
        known.map(|host| self.look(host, &Scope::User)).collect()
    }

    /// How the files of projects and profiles stand that were written into.
    pub fn others(&self) -> Result<Vec<Report>, Error> {
        self.other_files()?
            .into_iter()
            .map(|(host, file)| self.look(host, &Scope::File(file)))
            .collect()
    }

    /// What a new entry would start. Where our files lie is given because hosts pass next to no
    /// variable, and the host so that the server knows who started it.
    pub fn wanted(&self, host: &Host) -> Launch {
        let environment = &self.machine.environment;
        let mut env = self.machine.folders(|name| environment.text(name));
        if let Some(home) = env.get_mut(FOLDERS[0]) {
            *home = self.data.to_string_lossy().into_owned();
        }
        env.insert(MARK.to_owned(), host.id.to_owned());
        Launch {
            command: self.launcher.path.to_string_lossy().into_owned(),
            args: ARGUMENTS.map(str::to_owned).to_vec(),
            env,
        }
    }

    /// Where the files of a server lie that is started so, as far as that is said.
    pub(crate) fn folders(&self, launch: &Launch) -> BTreeMap<String, String> {
        self.machine
            .folders(|name| launch.env.get(name).map(String::as_str))
    }

    /// Our entry as text to be pasted into a file of the host.
    pub fn snippet(&self, host: &Host, trust: bool) -> String {
        let at = At {
            path: host.key,
            name: NAME,
        };
        host.dialect
            .snippet(at, &host.entry(&self.wanted(host), trust))
    }

    /// Our entry alone as JSON, whatever the format of the host's file.
    pub fn entry(&self, host: &Host) -> String {
        host.entry(&self.wanted(host), false).to_string()
    }

    /// The folder of the host's skills, there or not.
    pub fn skills(&self, host: &Host) -> Option<PathBuf> {
        let mut places = host.skills.iter();
        places.find_map(|place| place.on(&self.machine))
    }

    /// Files of projects and profiles that were written into, with their hosts.
    pub(crate) fn other_files(&self) -> Result<Vec<(&'static Host, PathBuf)>, Error> {
        let known = self.known()?;
        let records = self.ledger.read()?.into_iter();
        Ok(records
            .filter_map(|record| {
                let host = *known.iter().find(|host| host.id == record.host)?;
                let own = self.file(host, &Scope::User).ok()?;
                (own != record.file).then_some((host, record.file))
            })
            .collect())
    }
}

/// Clients of several hosts call themselves this, so that it tells nothing.
pub fn is_shared_name(client: &str) -> bool {
    let mut shared = crate::table::SHARED_NAMES.iter();
    client.trim().is_empty() || shared.any(|name| name.eq_ignore_ascii_case(client.trim()))
}

/// The host of that name in the table.
///
/// # Errors
/// [`Error::UnknownHost`] with the one that was probably meant.
pub fn find(id: &str) -> Result<&'static Host, Error> {
    let lower = id.to_lowercase();
    let found = HOSTS
        .iter()
        .find(|host| host.id == lower || host.name.to_lowercase() == lower);
    found.ok_or_else(|| Error::UnknownHost {
        id: id.to_owned(),
        nearest: HOSTS
            .iter()
            .map(|host| host.id)
            .find(|name| name.starts_with(&lower) || lower.starts_with(name)),
    })
}

impl State {
    /// The host knows us, whatever else is to be said about it.
    pub fn is_registered(&self) -> bool {
        matches!(self, Self::Registered { .. } | Self::Moved)
    }
}
