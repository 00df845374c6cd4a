//! Commands: in the sandbox, outside it, and typed into a terminal.

use std::path::Path;

use super::{Concern, Verdict, concern, deletion, denied, is_system};
use crate::{
    Access, Denied, ScreenApp, ShellCommand,
    policy::{
        CommandFacts, Destination, Grants, Permission, Place, Policy, Preset, Reason, Risk,
        RuleEffect, Subject, Target, address,
        command::{self, Unknown},
        protected::Met,
    },
};

/// How a command would be held.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// In the sandbox.
    Sandbox,
    /// Outside it, although there is one.
    Outside,
    /// There is none on this machine.
    Missing,
}

impl Policy {
    pub(super) fn command(&self, command: &ShellCommand, grants: &Grants) -> Verdict {
        let place = self.place(&command.folder);
        let facts = command::analyse(&command.line, place);
        let hold = match (command.sandboxed, self.inputs.sandbox) {
            (true, true) => Hold::Sandbox,
            (false, true) => Hold::Outside,
            (_, false) => Hold::Missing,
        };
        let mut concerns = self.folder_concern(&command.folder, grants)?;
        concerns.extend(self.facts(&facts, hold, command.network, grants)?);
        Ok(concerns)
    }

    /// Text for a terminal: as good as running it, without a sandbox.
    pub(super) fn typed(&self, app: &ScreenApp, line: &str, grants: &Grants) -> Verdict {
        self.app_forbidden(app, Access::Full)?;
        if line
            .chars()
            .all(|letter| matches!(letter, '\u{3}' | '\u{7}' | '\u{c}' | '\u{15}'))
        {
            // Interrupt, bell, redraw, erase the line: nothing is run by these.
            return self.screen(app, Access::Full, grants);
        }
        let line = as_lines(line);
        // Nobody knows which folder the terminal is in: at home, where terminals start and what is
        // relative is worth most, or in the workspace.
        for folder in [&self.inputs.folders.workspace, &self.inputs.home] {
            self.refuse(&command::analyse(&line, self.place(folder)))?;
        }
        let facts = command::analyse(&line, self.place(&self.inputs.home));
        let mut concerns = vec![concern(
            Subject::TypedCommand {
                app: app.name.clone(),
            },
            Risk::High,
            Reason::Terminal,
            false,
            None,
        )];
        concerns.extend(doubts(&facts));
        concerns.extend(self.deletions(&facts, &[]));
        Ok(concerns)
    }

    pub(super) fn place<'a>(&'a self, folder: &'a Path) -> Place<'a> {
        Place {
            folder,
            home: &self.inputs.home,
            paths: self.inputs.paths.as_ref(),
        }
    }

    fn folder_concern(&self, folder: &Path, grants: &Grants) -> Verdict {
        let resolved = self.resolved(folder);
        if is_system(&resolved) {
            self.guard(folder, false)?;
            return Ok(Vec::new());
        }
        self.read(folder, grants)
    }

    pub(super) fn facts(
        &self,
        facts: &CommandFacts,
        hold: Hold,
        network: bool,
        grants: &Grants,
    ) -> Verdict {
        self.refuse(facts)?;
        let mut concerns = Vec::new();
        let programs = || first(&facts.programs);
        for (programs, reason) in [
            (&facts.privilege, Reason::Privilege),
            (&facts.reach_out, Reason::ReachesOut),
        ] {
            if !programs.is_empty() {
                concerns.push(concern(
                    Subject::OutsideSandbox {
                        programs: first(programs),
                    },
                    Risk::High,
                    reason,
                    false,
                    None,
                ));
            }
        }
        let leaves = match hold {
            Hold::Sandbox => false,
            Hold::Outside => true,
            Hold::Missing => !is_plain(facts),
        };
        if leaves {
            concerns.push(concern(
                Subject::OutsideSandbox {
                    programs: programs(),
                },
                Risk::Medium,
                Reason::NoSandbox,
                false,
                None,
            ));
        }
        concerns.extend(doubts(facts));
        let ruled = hold == Hold::Sandbox && self.is_ruled(facts);
        let spared: Vec<_> = if ruled {
            facts
                .deletes
                .iter()
                .filter(|target| {
                    !target.pattern && self.is_allowed(&self.resolved(&target.absolute()))
                })
                .collect()
        } else {
            Vec::new()
        };
        concerns.extend(self.deletions(facts, &spared));
        concerns.extend(self.files(facts, grants)?);
        concerns.extend(self.network(facts, network, grants));
        if self.always() && concerns.is_empty() && !ruled {
            concerns.push(concern(
                Subject::Command {
                    programs: programs(),
                },
                Risk::Low,
                Reason::AskAlways,
                false,
                None,
            ));
        }
        Ok(concerns)
    }

    /// What no answer can allow, and what rules of the person forbid.
    pub(super) fn refuse(&self, facts: &CommandFacts) -> Result<(), Denied> {
        if let Some(program) = facts.own.first() {
            return denied(format!(
                "`{program}` is OpenSpace itself, which a run cannot use"
            ));
        }
        for target in facts
            .mentions
            .iter()
            .chain(&facts.reads)
            .chain(&facts.writes)
        {
            self.guard_target(target, false)?;
        }
        for target in facts.deletes.iter().chain(&facts.moves) {
            self.guard_target(target, true)?;
        }
        for command in &facts.commands {
            if self.ruled(RuleEffect::Deny, |scope| {
                scope.covers_command(command, RuleEffect::Deny)
            }) {
                return denied(format!(
                    "a rule of the person forbids `{}`",
                    command.join(" ")
                ));
            }
        }
        for host in facts.network.iter().flat_map(|used| &used.hosts) {
            self.host_forbidden(host)?;
            if let Destination::Metadata(host) = address::host(host) {
                return denied(format!("`{host}` hands out credentials of this machine"));
            }
        }
        for target in &facts.reads {
            let path = self.resolved(&target.certain());
            if self.ruled(RuleEffect::Deny, |scope| {
                scope.covers_read(&path, RuleEffect::Deny)
            }) {
                return denied(format!(
                    "a rule of the person forbids reading `{}`",
                    path.display()
                ));
            }
        }
        for target in facts
            .writes
            .iter()
            .chain(&facts.deletes)
            .chain(&facts.moves)
        {
            self.write_forbidden(&self.resolved(&target.certain()))?;
        }
        Ok(())
    }

    fn guard_target(&self, target: &Target, with_parents: bool) -> Result<(), Denied> {
        let paths = self.inputs.paths.as_ref();
        let met = if target.pattern {
            self.protected
                .meets_pattern(&target.path, &target.folder, paths)
        } else {
            self.protected.meets(&target.path, &target.folder, paths)
        };
        let shown = target.path.display();
        match met {
            Some(Met::Inside) => denied(format!(
                "`{shown}` holds credentials, settings of an agent or files of OpenSpace, which are off limits"
            )),
            Some(Met::Above) if with_parents => denied(format!(
                "`{shown}` contains credentials, settings of an agent or files of OpenSpace, which must not be moved or deleted; name what is to go more exactly"
            )),
            Some(Met::Above) | None => Ok(()),
        }
    }

    fn deletions(&self, facts: &CommandFacts, spared: &[&Target]) -> Option<Concern> {
        let targets: Vec<_> = facts
            .deletes
            .iter()
            .filter(|target| !spared.contains(target))
            .filter(|target| self.always() || !self.is_scratch(&self.resolved(&target.certain())))
            .map(|target| target.path.display().to_string())
            .collect();
        (!targets.is_empty()).then(|| deletion(targets))
    }

    /// Files outside the allowed folders.
    fn files(&self, facts: &CommandFacts, grants: &Grants) -> Verdict {
        let mut concerns = Vec::new();
        for target in facts.writes.iter().chain(&facts.moves) {
            let path = self.resolved(&target.certain());
            // In the allowed folders a command writes freely; that it is asked about at all is the
            // row of the command itself.
            if !self.is_allowed(&path) || self.runs_later(&path) {
                concerns.extend(self.write(&path, grants)?);
            }
        }
        for target in &facts.reads {
            let path = self.resolved(&target.certain());
            if !is_system(&path) {
                concerns.extend(self.read(&path, grants)?);
            }
        }
        Ok(concerns)
    }

    fn network(&self, facts: &CommandFacts, wanted: bool, grants: &Grants) -> Option<Concern> {
        if !wanted && facts.network.is_empty() {
            return None;
        }
        let hosts: Vec<_> = facts
            .network
            .iter()
            .flat_map(|used| used.hosts.iter().cloned())
            .collect();
        let listed = |host: &String| {
            let in_list = self.inputs.preset == Preset::HandsOff
                && self
                    .inputs
                    .hands_off
                    .domains
                    .iter()
                    .any(|domain| domain.matches(host));
            in_list || self.ruled(RuleEffect::Allow, |scope| scope.covers_host(host))
        };
        // The sandbox only knows network or none, so hosts count only where nothing else could be reached.
        let known = facts.is_certain()
            && facts.environment.is_empty()
            && !facts.network.is_empty()
            && facts.network.iter().all(|used| used.complete)
            && facts.programs.iter().all(|program| {
                facts.network.iter().any(|used| used.program == *program)
                    || command::is_read_only(program)
            });
        if (known && hosts.iter().all(listed)) || (!self.always() && grants.network()) {
            return None;
        }
        Some(concern(
            Subject::Network { hosts },
            Risk::Medium,
            Reason::Network,
            false,
            Some(Permission::Network),
        ))
    }

    /// Every single command of a line that could be read whole is allowed by a `command:` rule.
    fn is_ruled(&self, facts: &CommandFacts) -> bool {
        facts.is_certain()
            && facts.environment.is_empty()
            && !facts.commands.is_empty()
            && facts.commands.iter().all(|command| {
                self.ruled(RuleEffect::Allow, |scope| {
                    scope.covers_command(command, RuleEffect::Allow)
                })
            })
    }
}

/// Without a sandbox only programs with known effects go unasked: their effects are judged.
fn is_plain(facts: &CommandFacts) -> bool {
    facts.is_certain()
        && facts.interpreters.is_empty()
        && facts.inline_code.is_empty()
        && facts.environment.is_empty()
        && !facts.background
        && facts.commands.iter().all(|command| {
            command
                .first()
                .is_some_and(|program| command::is_read_only(program))
        })
}

fn doubts(facts: &CommandFacts) -> Option<Concern> {
    let disguised = facts.unknown.contains(&Unknown::Disguised);
    (!facts.unknown.is_empty()).then(|| {
        concern(
            Subject::Command {
                programs: first(&facts.programs),
            },
            if disguised { Risk::High } else { Risk::Medium },
            if disguised {
                Reason::Disguised
            } else {
                Reason::NotUnderstood
            },
            false,
            None,
        )
    })
}

fn first(programs: &[String]) -> Vec<String> {
    let mut unique: Vec<String> = Vec::new();
    for program in programs {
        if !unique.contains(program) && unique.len() < super::SHOWN {
            unique.push(program.clone());
        }
    }
    unique
}

/// What a terminal would be given to run: corrections applied, other control letters taken as ends
/// of lines, so that nothing hides behind them.
fn as_lines(line: &str) -> String {
    let mut text = String::new();
    for letter in line.chars() {
        match letter {
            '\u{8}' | '\u{7f}' => {
                text.pop();
            }
            '\t' => text.push('\t'),
            letter if letter.is_control() => text.push('\n'),
            letter => text.push(letter),
        }
    }
    text
}
