//! Finding entries that do not work any more, and putting them right.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::{Error, Host, Hosts, Options, Scope, State};

/// What was found with a host that knows us, or should.
#[derive(Debug)]
pub struct Finding {
    /// The host.
    pub host: &'static Host,
    /// Its file.
    pub file: PathBuf,
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
        let mut targets: Vec<_> = crate::HOSTS
            .iter()
            .map(|host| (host, Scope::User))
            .collect();
        let others = self.other_files()?.into_iter();
        targets.extend(others.map(|(host, file)| (host, Scope::File(file))));
        let mut reports = Vec::new();
        for (host, scope) in targets {
            reports.push((self.look(host, &scope)?, scope));
        }
        let copy = self.launcher.path.to_string_lossy().into_owned();
        let uses_copy = reports.iter().any(|(report, _)| {
            report
                .launch
                .as_ref()
                .is_some_and(|launch| launch.command == copy)
        });
        let stale = self.launcher.is_copy() && uses_copy && !self.launcher.is_current();
        if stale && !dry_run {
            self.launcher.make()?;
        }
        let mut findings = Vec::new();
        for (report, scope) in reports {
            let cure = match &report.state {
                State::NotFound | State::NotRegistered => continue,
                State::Registered { .. } => Cure::Needless,
                State::Moved if dry_run => Cure::Possible,
                State::Moved => self.cure(report.host, &scope, now),
                State::Unusable(_) if report.sign.is_none() => continue,
                State::Removed | State::Different { .. } | State::Unusable(_) => Cure::None,
            };
            findings.push(Finding {
                host: report.host,
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

    fn cure(&self, host: &'static Host, scope: &Scope, now: Timestamp) -> Cure {
        match self.register(host, scope, Options::default(), now) {
            Ok(_) => Cure::Done(self.launcher.path.clone()),
            Err(error) => Cure::Failed(error),
        }
    }
}
