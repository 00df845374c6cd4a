//! What works on this machine, and how to mend the rest.

use openspace_config::{Environment, env_vars};
use openspace_process::{Support, sandbox};
use serde::Serialize;

use crate::{App, Failure};

/// The checks there are, in the order they are shown.
pub const CHECKS: &[&str] = &[
    "settings",
    "data",
    "space",
    "model",
    "keys",
    "screen",
    "private_display",
    "sandbox",
    "sleep",
    "variables",
];

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// It works.
    Ok,
    /// It works, with something to know.
    Warning,
    /// It does not work, and should.
    Problem,
    /// It is not there, which is fine.
    Off,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable name.
    pub id: &'static str,
    /// How it came out.
    pub health: Health,
    /// What was found.
    pub found: String,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
}

impl Check {
    pub(crate) fn new(id: &'static str, health: Health, found: impl Into<String>) -> Self {
        Self {
            id,
            health,
            found: found.into(),
            fix: None,
        }
    }

    pub(crate) fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = Some(fix.into());
        self
    }

    pub(crate) fn failed(id: &'static str, health: Health, failure: &Failure) -> Self {
        Self {
            fix: failure.hint.clone(),
            ..Self::new(id, health, failure.to_string())
        }
    }
}

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
            "sandbox" => vec![check_sandbox()],
            "sleep" => vec![check_sleep()],
            "variables" => check_variables(&self.environment),
            _ => return None,
        })
    }

    fn check_settings(&self) -> Check {
        let path = &self.paths.config;
        if path.exists() {
            Check::new("settings", Health::Ok, path.display().to_string())
        } else {
            Check::new(
                "settings",
                Health::Ok,
                format!("{} (not there yet: all defaults)", path.display()),
            )
        }
    }

    fn check_data(&self) -> Check {
        match self.store.read_blocking(|db| db.instances().alive()) {
            Ok(alive) => Check::new(
                "data",
                Health::Ok,
                format!(
                    "{} ({} of our processes alive)",
                    self.paths.data.display(),
                    alive.len()
                ),
            ),
            Err(error) => Check::failed("data", Health::Problem, &error.into()),
        }
    }

    fn check_space(&self) -> Check {
        const LITTLE: u64 = 1_000_000_000;
        match free_bytes(&self.paths.data) {
            None => Check::new("space", Health::Off, "free space cannot be told here"),
            Some(free) => {
                let found = format!("{:.1} GB free", free as f64 / 1e9);
                if free < LITTLE {
                    Check::new("space", Health::Warning, found)
                        .fix("free some space: pictures of runs take about 0.2 MB each")
                } else {
                    Check::new("space", Health::Ok, found)
                }
            }
        }
    }

    async fn check_model(&self, ask: bool) -> Check {
        let Some(name) = self.values().model.name.clone() else {
            return Check::new("model", Health::Problem, "no model is named")
                .fix("set OPENSPACE_MODEL, or: openspace config set model.name anthropic/claude-sonnet-4-6");
        };
        let spec = self.bare_spec(name.clone());
        match self.connect(&spec, None).await {
            Err(failure) => Check::failed("model", Health::Problem, &failure),
            Ok((model, source)) => {
                let from = match source {
                    crate::KeySource::Nowhere => "no key".to_owned(),
                    source => format!("key from {source}"),
                };
                if !ask {
                    return Check::new(
                        "model",
                        Health::Ok,
                        format!("{name} ({from}; not asked, see --model)"),
                    );
                }
                let cancel = tokio_util::sync::CancellationToken::new();
                match model.check(&cancel).await {
                    Ok(()) => Check::new("model", Health::Ok, format!("{name} answers ({from})")),
                    Err(error) => Check::failed("model", Health::Problem, &error.into()),
                }
            }
        }
    }

    fn check_screen(&self) -> Vec<Check> {
        let spec = self.bare_spec(String::new());
        let open = match self.open_display(&spec, None) {
            Ok(open) => open,
            Err(failure) => return vec![Check::failed("screen", Health::Warning, &failure)],
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
                Check::new(
                    "screen",
                    Health::Ok,
                    format!("{}: {}", open.platform.display_name, names.join(", ")),
                )
            }
            Err(error) => Check::new("screen", Health::Problem, error.to_string()),
        });
        if let Some(monitor) = monitors
            .ok()
            .and_then(|monitors| monitors.into_iter().next())
        {
            checks.push(match open.platform.screen.capture(&monitor) {
                Ok(capture) => Check::new(
                    "capture",
                    Health::Ok,
                    format!("{}x{}", capture.width, capture.height),
                ),
                Err(error) => Check::new("capture", Health::Problem, error.to_string()),
            });
        }
        checks.push(match &open.platform.tree {
            Some(_) => Check::new("accessibility", Health::Ok, "programs tell what they show"),
            None => Check::new(
                "accessibility",
                Health::Off,
                "no accessibility service answers; pictures alone are used",
            ),
        });
        checks
    }
}

fn check_private() -> Check {
    if !cfg!(target_os = "linux") {
        return Check::new(
            "private_display",
            Health::Off,
            "a display of its own exists on Linux only",
        );
    }
    let found = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path)
            .map(|folder| folder.join("Xvfb"))
            .find(|path| path.is_file())
    });
    match found {
        Some(path) => Check::new("private_display", Health::Ok, path.display().to_string()),
        None => Check::new("private_display", Health::Off, "Xvfb is not installed")
            .fix("for `--display private`: apt-get install xvfb openbox"),
    }
}

fn check_sandbox() -> Check {
    let report = sandbox::self_test(&std::env::temp_dir());
    match report {
        Err(error) => Check::new("sandbox", Health::Problem, error.to_string()),
        Ok(report) => {
            match &report.support {
                Support::None { reason } => Check::new(
                    "sandbox",
                    Health::Warning,
                    format!("none ({reason}): commands are asked for one by one"),
                ),
                Support::Enforced { version, gaps } => {
                    let broken: Vec<_> = report
                        .probes
                        .iter()
                        .filter(|probe| !probe.held)
                        .map(|probe| format!("{:?}", probe.attempt))
                        .collect();
                    if !broken.is_empty() {
                        return Check::new("sandbox", Health::Problem, format!("these attempts were not held back: {}", broken.join(", ")))
                        .fix("run commands with `policy.preset = \"ask-always\"` until this is mended");
                    }
                    let held = format!(
                        "Landlock {version} and seccomp, {} attempts to break out held back",
                        report.probes.len()
                    );
                    if gaps.is_empty() {
                        Check::new("sandbox", Health::Ok, held)
                    } else {
                        Check::new(
                            "sandbox",
                            Health::Warning,
                            format!("{held}; not covered by this kernel: {gaps:?}"),
                        )
                    }
                }
            }
        }
    }
}

fn check_sleep() -> Check {
    match crate::inhibit::Inhibition::take() {
        Some(_) => Check::new(
            "sleep",
            Health::Ok,
            "the machine stays awake while a run has the screen",
        ),
        None => Check::new(
            "sleep",
            Health::Off,
            "no logind answers: the machine may go to sleep during a run",
        ),
    }
}

fn check_variables(environment: &Environment) -> Vec<Check> {
    env_vars::review(environment)
        .into_iter()
        .map(|notice| Check::new("variables", Health::Warning, notice.to_string()))
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
