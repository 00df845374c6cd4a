//! Programs on the screen: looking, acting, starting them.

use super::command::Hold;
use super::{Concern, Verdict, concern, denied, is_system};
use crate::{
    Access, Denied, ProgramLaunch, ScreenApp,
    policy::{
        Destination, Grants, Permission, Policy, Preset, Reason, Risk, RuleEffect, RuleScope,
        Subject,
        apps::{FILE_PROGRAMS, SYSTEM_SETTINGS, TERMINALS, plain_name},
        command, destination,
    },
};

/// Options that make a harmless program run other code, open itself to others or drop its guards.
const CODE_OPTIONS: &[&str] = &[
    "cmd-prefix",
    "launcher",
    "subprocess-path",
    "load-extension",
    "remote-debugging",
    "remote-allow-origins",
    "no-sandbox",
    "disable-web-security",
    "load-component-extension",
    "install-extension",
    "extensions-dir",
    "user-agent-override",
    "accept=",
    "macro:",
    "--eval",
    "--exec",
    "--command",
    "js-flags",
    "ppapi-plugin",
    "register-pepper",
    "proxy-server",
    "proxy-pac",
    "host-resolver-rules",
    "--script",
    "profile-directory",
    "marionette",
    "allow-file-access",
    "-backgroundtask",
    "-juggler",
    "start-debugger-server",
];

impl Policy {
    pub(super) fn screen(&self, app: &ScreenApp, access: Access, grants: &Grants) -> Verdict {
        self.app_forbidden(app, access)?;
        let name = plain_name(&app.name);
        if name.is_empty() || name == "unknown" {
            return Ok(vec![app_concern(app, "unknown", access, None)]);
        }
        let listed = self.inputs.preset == Preset::HandsOff
            && self
                .inputs
                .hands_off
                .apps
                .iter()
                .any(|listed| plain_name(listed) == name);
        if listed
            || self.ruled(RuleEffect::Allow, |scope| {
                scope.covers_app(&name, access, RuleEffect::Allow)
            })
            || (!self.always() && grants.app(&name, access))
        {
            return Ok(Vec::new());
        }
        if name == "desktop" && access == Access::Look && self.uses_any_app(grants) {
            return Ok(Vec::new());
        }
        let permission = Permission::App {
            app: name.clone(),
            access,
        };
        Ok(vec![app_concern(app, &name, access, Some(permission))])
    }

    /// The list, a rule or an answer names this program; a rule for all programs does not.
    fn is_named(&self, name: &str, grants: &Grants) -> bool {
        let listed = self.inputs.preset == Preset::HandsOff
            && self
                .inputs
                .hands_off
                .apps
                .iter()
                .any(|listed| plain_name(listed) == name);
        let ruled = self.ruled(RuleEffect::Allow, |scope| {
            matches!(scope, RuleScope::Gui { app: Some(_), .. })
                && scope.covers_app(name, Access::Full, RuleEffect::Allow)
        });
        listed || ruled || (!self.always() && grants.app(name, Access::Full))
    }

    /// Whoever may use a program may look at the bare screen it is going to appear on.
    fn uses_any_app(&self, grants: &Grants) -> bool {
        let by_rule = self.ruled(RuleEffect::Allow, |scope| {
            matches!(scope, RuleScope::Gui { .. })
        });
        !self.always() && (by_rule || grants.any_app())
    }

    /// Our own windows, password stores, and what a rule forbids.
    pub(super) fn app_forbidden(&self, app: &ScreenApp, access: Access) -> Result<(), Denied> {
        let name = plain_name(&app.name);
        if app.own || is_own(&name) {
            return denied(
                "windows of OpenSpace, which are grey in pictures, and those waiting for an answer to \
                 it are off limits; work in another window, or ask the person to move or minimise \
                 this one",
            );
        }
        if self
            .inputs
            .blocked_apps
            .iter()
            .any(|blocked| plain_name(blocked) == name)
        {
            return denied(format!(
                "`{name}` keeps passwords or is blocked in the settings"
            ));
        }
        if self.ruled(RuleEffect::Deny, |scope| {
            scope.covers_app(&name, access, RuleEffect::Deny)
        }) {
            return denied(format!(
                "a rule of the person forbids using `{name}` like this"
            ));
        }
        Ok(())
    }

    /// Starting a program: full use of it, plus what its arguments make it read, open or run.
    pub(super) fn launch(&self, launch: &ProgramLaunch, grants: &Grants) -> Verdict {
        let name = plain_name(&launch.program.to_string_lossy());
        if is_own(&name) {
            return denied("OpenSpace cannot start itself from a run");
        }
        self.guard(&launch.program, false)?;
        // What is started decides, whatever it is said to be.
        for named in [&name, &plain_name(&launch.app.name)] {
            self.app_forbidden(
                &ScreenApp {
                    name: named.clone(),
                    ..launch.app.clone()
                },
                Access::Full,
            )?;
        }
        let mut words = vec![launch.program.to_string_lossy().into_owned()];
        words.extend(launch.arguments.iter().cloned());
        let facts = command::analyse_words(&words, self.place(&self.inputs.folders.workspace));
        self.refuse(&facts)?;

        let app = ScreenApp {
            name: name.clone(),
            ..launch.app.clone()
        };
        let mut concerns = self.screen(&app, Access::Full, grants)?;
        if plain_name(&launch.app.name) != name {
            concerns.extend(self.screen(&launch.app, Access::Full, grants)?);
        }
        // Whoever allowed the use of any program meant those with windows, not every executable.
        let names = [name.clone(), plain_name(&launch.app.name)];
        let meant = launch.graphical
            || !concerns.is_empty()
            || names.iter().all(|name| self.is_named(name, grants));
        let program = self.resolved(&launch.program);
        // A program from a place that runs can write to is whatever they made it.
        let placed = is_system(&program) && !self.is_allowed(&program);
        let terminal = TERMINALS.contains(&name.as_str()) && !launch.arguments.is_empty();
        // A command that was opened like a program is judged as one: `touch`, `curl` and `xdotool` have
        // no window to be looked at, and would do outside the sandbox what `run_command` asks about.
        let acts = !facts.writes.is_empty()
            || !facts.moves.is_empty()
            || !facts.network.is_empty()
            || !facts.environment.is_empty()
            || facts.reach_out.iter().any(|program| program != "xdg-open");
        let runs_code = acts
            || !facts.unknown.is_empty()
            || !facts.interpreters.is_empty()
            || !facts.inline_code.is_empty()
            || !facts.deletes.is_empty()
            || !facts.privilege.is_empty()
            || facts.programs.len() > 1
            || launch
                .arguments
                .iter()
                .any(|argument| is_code_option(argument));
        if !placed || !meant || terminal || runs_code {
            let hold = if self.inputs.sandbox {
                Hold::Outside
            } else {
                Hold::Missing
            };
            let more = self.facts(&facts, hold, false, grants)?;
            let asked = more.iter().any(|concern| concern.permission.is_none());
            concerns.extend(more);
            if !asked {
                concerns.push(concern(
                    Subject::OutsideSandbox {
                        programs: vec![name],
                    },
                    Risk::High,
                    Reason::NoSandbox,
                    false,
                    None,
                ));
            }
        }
        for argument in &launch.arguments {
            concerns.extend(self.argument(argument, grants)?);
        }
        Ok(concerns)
    }

    fn argument(&self, argument: &str, grants: &Grants) -> Verdict {
        // `--option=value` is judged by its value; without one there is nothing to open.
        let value = match argument.strip_prefix('-') {
            Some(option) => match option.split_once('=') {
                Some((_, value)) => value,
                None => return Ok(Vec::new()),
            },
            None => argument,
        };
        match destination(value) {
            Some(Destination::Public(host)) => self.fetch_public(host),
            Some(Destination::Blank) => Ok(Vec::new()),
            Some(Destination::File(path)) => self.read(&path, grants),
            Some(Destination::Loopback(host)) => {
                self.host_forbidden(&host)?;
                if self.ruled(RuleEffect::Allow, |scope| scope.covers_host(&host)) {
                    return Ok(Vec::new());
                }
                denied(format!(
                    "`{host}` is this machine; the person can allow it with the rule `net:{host}`"
                ))
            }
            Some(Destination::Private(host) | Destination::Metadata(host)) => denied(format!(
                "`{host}` is on the local network; only public addresses are opened"
            )),
            Some(Destination::Other(_)) => Ok(vec![concern(
                Subject::Open {
                    address: value.to_owned(),
                },
                Risk::Medium,
                Reason::NotUnderstood,
                false,
                None,
            )]),
            None if value.contains("://") => {
                denied(format!("`{value}` is not an address that can be read"))
            }
            None => {
                let path = self.inputs.folders.workspace.join(value);
                let names_file =
                    value.starts_with(['/', '~', '.']) || self.inputs.paths.exists(&path);
                if names_file {
                    self.read(&path, grants)
                } else {
                    Ok(Vec::new())
                }
            }
        }
    }
}

fn app_concern(
    app: &ScreenApp,
    name: &str,
    access: Access,
    permission: Option<Permission>,
) -> Concern {
    let is = |list: &[&str]| list.contains(&name);
    let (risk, reason) = if name == "unknown" {
        (Risk::Medium, Reason::UnknownProgram)
    } else if access == Access::Look {
        (Risk::Low, Reason::OwnPrograms)
    } else if app.terminal || is(TERMINALS) {
        (Risk::High, Reason::Terminal)
    } else if is(SYSTEM_SETTINGS) {
        (Risk::High, Reason::SystemSettings)
    } else if is(FILE_PROGRAMS) {
        (Risk::Medium, Reason::FileProgram)
    } else {
        (Risk::Medium, Reason::OwnPrograms)
    };
    concern(
        Subject::App {
            app: name.to_owned(),
            access,
        },
        risk,
        reason,
        access == Access::Look,
        permission,
    )
}

fn is_own(name: &str) -> bool {
    matches!(name, "openspace" | "openspace-desktop")
}

fn is_code_option(argument: &str) -> bool {
    argument.starts_with('-') && CODE_OPTIONS.iter().any(|option| argument.contains(option))
        || argument.starts_with("macro:")
        || argument.starts_with("vnd.")
}
