//! Changes a person allowed beforehand, by allowing the command line that names them.

use std::path::{Path, PathBuf};

use openspace_grounding::{
    Permit, ShellCommand,
    policy::{self, CommandFacts, DiskPaths, Target, runs_later},
};

use super::scan::Role;
use crate::path;

/// What may change because a person saw the line and said yes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Approval {
    /// These and what is in them.
    changes: Vec<PathBuf>,
    /// These may go.
    deletions: Vec<PathBuf>,
    /// The line sets settings of git that run something.
    settings: bool,
}

impl Approval {
    /// What an approved line names. Nothing where nobody was asked: then the line was allowed for
    /// another reason, and the policy had seen no such file in it.
    pub(crate) fn of(command: &ShellCommand, permit: Permit, home: &Path) -> Self {
        if permit != Permit::AfterWait {
            return Self::default();
        }
        let place = policy::Place {
            folder: &command.folder,
            home,
            paths: &DiskPaths,
        };
        let facts: CommandFacts = policy::analyse(&command.line, place);
        let named = |targets: &mut dyn Iterator<Item = &Target>| -> Vec<PathBuf> {
            targets
                .filter(|target| !target.pattern)
                .filter_map(|target| path::follow(&target.absolute()).ok())
                .collect()
        };
        let mut changes = named(
            &mut facts
                .writes
                .iter()
                .chain(&facts.moves)
                .chain(&facts.mentions),
        );
        // A whole `.git` would be more than anybody meant who saw its name.
        changes.retain(|path| runs_later(path) && !path.ends_with(".git"));
        Self {
            changes,
            deletions: named(&mut facts.deletes.iter()),
            settings: facts
                .reach_out
                .iter()
                .any(|program| program == "git config"),
        }
    }

    pub(super) fn covers(&self, path: &Path, role: Role, is_gone: bool) -> bool {
        let within = |paths: &[PathBuf]| paths.iter().any(|named| path.starts_with(named));
        within(&self.changes)
            || (is_gone && within(&self.deletions))
            || (role == Role::Config && !is_gone && self.settings)
    }
}
