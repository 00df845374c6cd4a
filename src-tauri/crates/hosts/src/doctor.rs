//! Finding entries that do not work any more, and putting them right.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::{Error, Host, Hosts, Options, Report, Scope, State};

/// What was found with a host that knows us, or should.
#[derive(Debug)]
pub struct Finding {
    /// The host.
    pub host: &'static Host,
    /// Its file.
    pub file: PathBuf,
    /// It is the person's own.
    pub own: bool,
    /// We wrote an entry into it.
    pub ours: bool,
    /// How it stood.
    pub state: State,
    /// What was done about it.
    pub cure: Cure,
}

/// What was done about a finding.
#[derive(Debug)]
pub enum Cure {
    /// Nothing has to be done.
    Needless,
    /// It would be put right.
    Possible,
    /// It was put right; the entry starts this now.
    Done(PathBuf),
    /// Only a person can decide about it.
    None,
    /// It works in other folders, which only a person can decide about.
    Elsewhere,
    /// It was tried.
    Failed(Error),
}

/// What was found altogether.
#[derive(Debug)]
pub struct Checkup {
    /// The copy of our program that entries start was missing or out of date.
    pub stale_copy: Option<PathBuf>,
    /// Every host that knows us, or should.
    pub findings: Vec<Finding>,
}

impl Hosts {
    /// Looks at every entry of ours, and puts right what can be put right without a question unless
    /// `dry_run`.
    ///
    /// # Errors
    /// [`Error::Ledger`] when our own list cannot be read, [`Error::NoLauncher`] when the program
    /// cannot be copied.
    pub fn checkup(&self, dry_run: bool, now: Timestamp) -> Result<Checkup, Error> {
        let known = self.known()?.into_iter();
        let mut targets: Vec<_> = known.map(|host| (host, Scope::User)).collect();
        let others = self.other_files()?.into_iter();
        targets.extend(others.map(|(host, file)| (host, Scope::File(file))));
        let mut reports = Vec::new();
        for (host, scope) in targets {
            reports.push((self.look(host, &scope)?, scope));
        }
        let stale = self.is_stale(reports.iter().map(|(report, _)| report));
        if stale && !dry_run {
            self.renew_copy()?;
        }
        let mut findings = Vec::new();
        for (report, scope) in reports {
            let cure = match &report.state {
                State::NotFound | State::NotRegistered => continue,
                State::Registered {
                    elsewhere: true, ..
                } => Cure::Elsewhere,
                State::Registered { .. } => Cure::Needless,
                State::Moved if dry_run => Cure::Possible,
                State::Moved => self.cure(report.host, &scope, now),
                State::Unusable(_) if report.sign.is_none() => continue,
                State::Removed | State::Different { .. } | State::Unusable(_) => Cure::None,
            };
            findings.push(Finding {
                host: report.host,
                own: scope == Scope::User,
                ours: self.ledger.find(&report.file)?.is_some(),
                file: report.file,
                state: report.state,
                cure,
            });
        }
        Ok(Checkup {
            stale_copy: stale.then(|| self.launcher.path.clone()),
            findings,
        })
    }

    /// The copy of our program that entries start, when it is missing or out of date.
    pub fn stale_copy(&self) -> Result<Option<PathBuf>, Error> {
        let reports: Vec<_> = self.all()?.into_iter().chain(self.others()?).collect();
        let stale = self.is_stale(reports.iter());
        Ok(stale.then(|| self.launcher.path.clone()))
    }

    /// Copies our program anew to where entries start it.
    ///
    /// # Errors
    /// [`Error::NoLauncher`] when it cannot be copied.
    pub fn renew_copy(&self) -> Result<(), Error> {
        self.launcher.make().map(drop)
    }

    fn is_stale<'a>(&self, mut reports: impl Iterator<Item = &'a Report>) -> bool {
        let copy = self.launcher.path.to_string_lossy();
        let uses_copy = reports.any(|report| {
            let launch = report.launch.as_ref();
            launch.is_some_and(|launch| launch.command == copy)
        });
        self.launcher.is_copy() && uses_copy && !self.launcher.is_current()
    }

    fn cure(&self, host: &'static Host, scope: &Scope, now: Timestamp) -> Cure {
        match self.register(host, scope, Options::default(), now) {
            Ok(_) => Cure::Done(self.launcher.path.clone()),
            Err(error) => Cure::Failed(error),
        }
    }
}
