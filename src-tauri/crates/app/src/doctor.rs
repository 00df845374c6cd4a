//! What works on this machine, and how to mend the rest.

mod check;
pub(crate) mod graphics;
mod hosts;

use openspace_config::{
    Environment,
    env_vars::{self, Notice},
};
use openspace_process::{Support, sandbox};

pub use check::{Check, Health};

use crate::{
    App, Code,
    rpc::{
        Sentence,
        desktop::{HotkeyName, HotkeyState},
    },
};

/// The checks there are, in the order they are shown.
pub const CHECKS: &[&str] = &[
    "settings",
    "data",
    "space",
    "model",
    "keys",
    "screen",
    "private_display",
    "hotkeys",
    "input",
    "mcp",
    "hosts",
    "graphics",
    "sandbox",
    "sleep",
    "variables",
];

impl App {
    /// Tries everything a run may need. `ask_model` also sends a request to the configured model.
    pub async fn doctor(&self, ask_model: bool) -> Vec<Check> {
        let mut checks = Vec::new();
        for name in CHECKS {
            checks.extend(self.diagnose(name, ask_model).await.unwrap_or_default());
        }
        checks
    }

    /// Performs one of [`CHECKS`], which may find several things; none for a name that is none.
    pub async fn diagnose(&self, name: &str, ask_model: bool) -> Option<Vec<Check>> {
        Some(match name {
            "settings" => vec![self.check_settings()],
            "data" => vec![self.check_data()],
            "space" => vec![self.check_space()],
            "model" => vec![self.check_model(ask_model).await],
            "keys" => vec![self.check_keys()],
            "screen" => self.check_screen(),
            "private_display" => vec![check_private()],
            "hotkeys" => vec![self.check_hotkeys().await],
            "hosts" => self.check_registered(),
            "mcp" => vec![self.check_mcp().await],
            // A click takes the mouse, so it is tried only when a person asks for it.
            "input" => vec![Check::new("input", Health::Off, say("check.input.untried"))],
            "graphics" => vec![self.check_graphics()],
            "sandbox" => vec![check_sandbox()],
            "sleep" => vec![check_sleep()],
            "variables" => check_variables(&self.environment),
            _ => return None,
        })
    }

    fn check_settings(&self) -> Check {
        let path = &self.paths.config;
        let key = if path.exists() {
            "check.settings.file"
        } else {
            "check.settings.none"
        };
        let found = say(key).with("path", path.display().to_string());
        Check::new("settings", Health::Ok, found)
    }

    fn check_data(&self) -> Check {
        match self.store.read_blocking(|db| db.instances().alive()) {
            Ok(alive) => Check::new(
                "data",
                Health::Ok,
                say("check.data.path").with("path", self.paths.data.display().to_string()),
            )
            .and(say("check.data.alive").with("count", alive.len().to_string())),
            Err(error) => Check::failed(
                "data",
                Health::Problem,
                say("check.data.failed"),
                &error.into(),
            ),
        }
    }

    fn check_space(&self) -> Check {
        const LITTLE: u64 = 1_000_000_000;
        let Some(free) = free_bytes(&self.paths.data) else {
            return Check::new("space", Health::Off, say("check.space.unknown"));
        };
        let found = say("check.space.free").with("size", format!("{:.1}", free as f64 / 1e9));
        if free < LITTLE {
            Check::new("space", Health::Warning, found).fix(say("check.space.fix"))
        } else {
            Check::new("space", Health::Ok, found)
        }
    }

    async fn check_model(&self, ask: bool) -> Check {
        let Some(name) = self.model_name() else {
            return Check::new("model", Health::Problem, say("check.model.none"))
                .fix(say("check.model.none.fix"));
        };
        let of_model = |key: &str| say(key).with("model", &name);
        let failed = |failure: &crate::Failure| {
            let key = match failure.code {
                Code::Credentials => "check.model.credentials",
                Code::Configuration | Code::InvalidRequest => "check.model.settings",
                _ => "check.model.failed",
            };
            Check::failed("model", Health::Problem, of_model(key), failure)
        };
        let spec = self.bare_spec(name.clone());
        let (model, source) = match self.connect(&spec, None).await {
            Err(failure) => return failed(&failure),
            Ok(connected) => connected,
        };
        let from = say(format!("key.from.{}", source.id()))
            .with("variable", source.variable().unwrap_or_default());
        if !ask {
            return Check::new("model", Health::Ok, of_model("check.model.ready"))
                .and(from)
                .and(say("check.model.not_asked"));
        }
        let cancel = tokio_util::sync::CancellationToken::new();
        match model.check(&cancel).await {
            Ok(()) => Check::new("model", Health::Ok, of_model("check.model.answers")).and(from),
            Err(error) => failed(&error.into()),
        }
    }

    fn check_screen(&self) -> Vec<Check> {
        let spec = self.bare_spec(String::new());
        let open = match self.open_display(&spec, None) {
            Ok(open) => open,
            Err(failure) => return vec![no_screen(&failure)],
        };
        let mut checks = Vec::new();
        let monitors = open.platform.screen.monitors();
        checks.push(match &monitors {
            Ok(monitors) => {
                let names: Vec<_> = monitors
                    .iter()
                    .map(|monitor| {
                        format!(
                            "{} {}x{}",
                            monitor.name, monitor.area.width, monitor.area.height
                        )
                    })
                    .collect();
                let found = say("check.screen.monitors")
                    .with("display", &open.platform.display_name)
                    .with("monitors", names.join(", "));
                Check::new("screen", Health::Ok, found)
            }
            Err(error) => Check::new("screen", Health::Problem, say("check.screen.failed"))
                .detail(error.to_string()),
        });
        if let Some(monitor) = monitors
            .ok()
            .and_then(|monitors| monitors.into_iter().next())
        {
            checks.push(match open.platform.screen.capture(&monitor) {
                Ok(capture) => Check::new(
                    "capture",
                    Health::Ok,
                    say("check.capture.ok")
                        .with("size", format!("{}x{}", capture.width, capture.height)),
                ),
                Err(error) => Check::new("capture", Health::Problem, say("check.capture.failed"))
                    .detail(error.to_string()),
            });
        }
        checks.push(match &open.platform.tree {
            Some(_) => Check::new("accessibility", Health::Ok, say("check.accessibility.ok")),
            None => Check::new("accessibility", Health::Off, say("check.accessibility.off")),
        });
        checks
    }

    /// The key that stops everything: whether it is there, and whether a press was ever heard.
    async fn check_hotkeys(&self) -> Check {
        let hotkeys = match self.hotkeys_now().await {
            Ok(hotkeys) => hotkeys,
            Err(failure) => {
                let failed = say("check.hotkeys.failed");
                return Check::failed("hotkeys", Health::Problem, failed, &failure);
            }
        };
        let Some(stop) = hotkeys.into_iter().find(|it| it.name == HotkeyName::Stop) else {
            return Check::new("hotkeys", Health::Off, say("check.hotkeys.off"));
        };
        let of_keys = |key: &str| say(key).with("keys", &stop.keys);
        let check = |health, key: &str| Check::new("hotkeys", health, of_keys(key));
        match stop.state {
            HotkeyState::Active if stop.heard_at.is_some() => {
                check(Health::Ok, "check.hotkeys.heard")
            }
            HotkeyState::Active => check(Health::Warning, "check.hotkeys.unproven")
                .fix(say("check.hotkeys.unproven.fix")),
            HotkeyState::Refused => {
                let check = check(Health::Problem, "check.hotkeys.refused")
                    .fix(say("check.hotkeys.refused.fix"));
                match stop.reason {
                    Some(reason) => check.detail(reason),
                    None => check,
                }
            }
            HotkeyState::Off => check(Health::Off, "check.hotkeys.off"),
            HotkeyState::Unsupported => check(Health::Off, "check.hotkeys.unsupported")
                .fix(say("check.hotkeys.unsupported.fix")),
            HotkeyState::AppClosed => check(Health::Off, "check.hotkeys.app_closed"),
        }
    }
}

/// Why there is no screen to use. What the system allows meanwhile counts for a process that starts
/// after it (macOS).
fn no_screen(failure: &crate::Failure) -> Check {
    let is_refused = |reason: &String| reason == crate::display::NOT_PERMITTED;
    if failure.params.get("reason").is_some_and(is_refused) {
        return Check::new("screen", Health::Warning, say("check.screen.restart"))
            .fix(say("check.screen.restart.fix"))
            .detail(failure.message.as_str())
            .needs_restart();
    }
    Check::failed("screen", Health::Warning, say("check.screen.none"), failure)
}

fn say(key: impl Into<String>) -> Sentence {
    Sentence::new(key)
}

fn check_private() -> Check {
    const ID: &str = "private_display";
    if !cfg!(target_os = "linux") {
        return Check::new(ID, Health::Off, say("check.private_display.elsewhere"));
    }
    let found = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path)
            .map(|folder| folder.join("Xvfb"))
            .find(|path| path.is_file())
    });
    match found {
        Some(path) => Check::new(
            ID,
            Health::Ok,
            say("check.private_display.ok").with("path", path.display().to_string()),
        ),
        None => Check::new(ID, Health::Off, say("check.private_display.missing"))
            .fix(say("check.private_display.missing.fix")),
    }
}

fn check_sandbox() -> Check {
    const ID: &str = "sandbox";
    let report = match sandbox::self_test(&std::env::temp_dir()) {
        Err(error) => {
            return Check::new(ID, Health::Problem, say("check.sandbox.failed"))
                .detail(error.to_string());
        }
        Ok(report) => report,
    };
    let (version, gaps) = match &report.support {
        Support::None { reason } => {
            return Check::new(ID, Health::Warning, say("check.sandbox.none"))
                .detail(reason.as_str());
        }
        Support::Enforced { version, gaps } => (version, gaps),
    };
    let broken: Vec<_> = report
        .probes
        .iter()
        .filter(|probe| !probe.held)
        .map(|probe| format!("{:?}", probe.attempt))
        .collect();
    if !broken.is_empty() {
        let found = say("check.sandbox.broken").with("attempts", broken.join(", "));
        return Check::new(ID, Health::Problem, found).fix(say("check.sandbox.broken.fix"));
    }
    let held = say("check.sandbox.holds")
        .with("version", version.to_string())
        .with("count", report.probes.len().to_string());
    if gaps.is_empty() {
        Check::new(ID, Health::Ok, held)
    } else {
        let gaps: Vec<_> = gaps.iter().map(|gap| format!("{gap:?}")).collect();
        Check::new(ID, Health::Warning, held)
            .and(say("check.sandbox.gaps").with("gaps", gaps.join(", ")))
    }
}

fn check_sleep() -> Check {
    match crate::inhibit::Inhibition::take() {
        Some(_) => Check::new("sleep", Health::Ok, say("check.sleep.ok")),
        None => Check::new("sleep", Health::Off, say("check.sleep.off")),
    }
}

fn check_variables(environment: &Environment) -> Vec<Check> {
    env_vars::review(environment)
        .into_iter()
        .map(|notice| {
            let of = |key: &str, name: &str| {
                Check::new("variables", Health::Warning, say(key).with("name", name))
            };
            match notice {
                Notice::Replaced { name, instead } => {
                    of("check.variables.replaced", name).detail(instead)
                }
                Notice::NotYet { name, part } => of("check.variables.not_yet", name).detail(part),
                Notice::Unknown {
                    name,
                    nearest: Some(nearest),
                } => of("check.variables.unknown", &name)
                    .fix(say("check.variables.nearest").with("name", nearest)),
                Notice::Unknown {
                    name,
                    nearest: None,
                } => of("check.variables.unknown", &name),
            }
        })
        .collect()
}

/// Bytes this user may still write on the volume of a folder.
#[cfg(unix)]
fn free_bytes(folder: &std::path::Path) -> Option<u64> {
    let status = rustix::fs::statvfs(folder).ok()?;
    Some(status.f_bavail * status.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_folder: &std::path::Path) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use openspace_gui::ScreenError;

    use super::no_screen;
    use crate::{Catalogue, Language};

    /// A screen that the system does not allow yet needs a restart once it does; one that is not there
    /// does not.
    #[test]
    fn a_permission_takes_effect_after_a_restart() {
        let check = |error: ScreenError| no_screen(&crate::display::no_screen(&error));
        let refused = check(ScreenError::NotPermitted("allow it in Privacy".into()));
        assert!(refused.needs_restart);
        assert_eq!(refused.found[0].key, "check.screen.restart");
        assert!(
            refused
                .detail
                .is_some_and(|detail| detail.contains("Privacy"))
        );
        let missing = check(ScreenError::NoDisplay("no monitor".into()));
        assert!(!missing.needs_restart);
        assert_eq!(missing.found[0].key, "check.screen.none");
    }

    /// Every sentence that a check may say is in every language.
    #[test]
    fn every_finding_has_its_words() {
        let sources = [
            include_str!("agents.rs"),
            include_str!("doctor.rs"),
            include_str!("click_test.rs"),
            include_str!("doctor/check.rs"),
            include_str!("doctor/hosts.rs"),
            include_str!("doctor/graphics.rs"),
            include_str!("keys.rs"),
            include_str!("rpc/diagnostics.rs"),
        ];
        let mut keys: Vec<_> = sources
            .iter()
            .flat_map(|source| source.split('"').skip(1).step_by(2))
            .filter(|text| text.starts_with("check."))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        assert!(keys.len() > 40, "the keys were found: {keys:?}");
        for language in [Language::English, Language::SimplifiedChinese] {
            let catalogue = Catalogue::load(language).expect("built in");
            let missing: Vec<_> = keys.iter().filter(|key| !catalogue.has(key)).collect();
            assert!(missing.is_empty(), "{language:?}: {missing:?}");
        }
    }
}
