//! What every surface opens first.

use std::{net::SocketAddr, ops::Deref, path::PathBuf, sync::Arc};

use openspace_config::{
    DesktopSession, Environment, Layers, Paths, Settings as Layered, Vault, env_vars,
};
use openspace_process::ancestry::{self, Descent};
use openspace_store::{Instance, InstanceKind, NewInstance, Store, Windows};
use tokio::sync::watch;

use crate::{
    Catalogue, Code, Failure, Language, SCHEMA, Settings, failure::Result, own_runs::OwnRuns,
    redact::Redaction,
};

/// How a process uses the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surface {
    /// What it is.
    pub kind: InstanceKind,
    /// It executes queued runs by itself.
    pub claims_runs: bool,
    /// It asks questions on a terminal, which must then be off limits for runs.
    pub asks_on_terminal: bool,
    /// How to start a helper process of ours (runner, guard): program and leading arguments.
    pub program: PathBuf,
    /// Version of what shows its windows, where it has some.
    pub web_view: Option<String>,
}

/// A setting given on the command line: its name, the flag as typed, the value.
pub type Flag = (&'static str, &'static str, String);

/// The opened program: folders, settings, store, and this process's entry among its peers.
pub struct App {
    /// Variables as they were at the start.
    pub environment: Environment,
    /// Folders.
    pub paths: Paths,
    settings: watch::Sender<Arc<Layered<Settings>>>,
    /// What was given on the command line, which wins over the file however often that changes.
    flags: Vec<Flag>,
    /// The store.
    pub store: Store,
    /// This process among its peers.
    pub instance: Instance,
    /// The person's desktop.
    pub desktop: DesktopSession,
    /// Sentences for people.
    pub catalogue: Catalogue,
    pub(crate) surface: Surface,
    /// What this process executes.
    pub(crate) own_runs: OwnRuns,
    /// Held by whoever starts a runner.
    pub(crate) starting_runner: tokio::sync::Mutex<()>,
    /// Keys of model providers.
    pub(crate) vault: Arc<Vault>,
    /// What goes on with hosts.
    pub(crate) waiting_hosts: crate::hosts::Waiting,
}

/// The settings of one moment; a later change does not reach into it.
pub struct Current(Arc<Layered<Settings>>);

impl Deref for Current {
    type Target = Settings;

    fn deref(&self) -> &Settings {
        &self.0.values
    }
}

/// Folders and settings without the store: for commands that must work when the store does not.
pub struct Configuration {
    /// Folders.
    pub paths: Paths,
    /// Settings with their origins.
    pub settings: Layered<Settings>,
}

impl Configuration {
    /// Reads folders and settings.
    pub fn read(environment: &Environment, flags: &[Flag]) -> Result<Self> {
        let paths = Paths::find(environment)
            .map_err(|error| Failure::new(Code::Configuration, error.to_string()))?;
        let mut layers = Layers::new(SCHEMA)
            .file(&paths.config)
            .environment(environment, env_vars::settings());
        for (key, flag, value) in flags {
            layers = layers.flag(key, flag, value);
        }
        let settings = layers.load::<Settings>().map_err(|errors| {
            Failure::new(Code::Configuration, errors.to_string())
                .hint("correct it, or remove it to go back to the default")
        })?;
        Ok(Self { paths, settings })
    }

    /// The same for what must work however wrong the settings are: then they are the defaults, and
    /// the second value says why.
    pub fn read_or_default(environment: &Environment) -> Result<(Self, Option<Failure>)> {
        let wrong = match Self::read(environment, &[]) {
            Ok(configuration) => return Ok((configuration, None)),
            Err(failure) => failure,
        };
        let paths = paths(environment)?;
        let settings = Layers::new(SCHEMA)
            .load::<Settings>()
            .map_err(|errors| Failure::new(Code::Internal, errors.to_string()))?;
        Ok((Self { paths, settings }, Some(wrong)))
    }
}

impl App {
    /// Opens everything.
    pub fn open(environment: Environment, surface: Surface, flags: &[Flag]) -> Result<Arc<Self>> {
        let configuration = Configuration::read(&environment, flags)?;
        Self::open_given(environment, surface, configuration, flags, true)
    }

    /// The same with settings that were read before, for whoever stops runs: it works while the store
    /// cannot be written.
    pub fn open_to_stop(
        environment: Environment,
        surface: Surface,
        configuration: Configuration,
    ) -> Result<Arc<Self>> {
        Self::open_given(environment, surface, configuration, &[], false)
    }

    fn open_given(
        environment: Environment,
        surface: Surface,
        configuration: Configuration,
        flags: &[Flag],
        is_listed: bool,
    ) -> Result<Arc<Self>> {
        let Configuration { paths, settings } = configuration;
        let language = language(&environment, &settings.values)?;
        let catalogue = Catalogue::load(language)
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        paths
            .create()
            .map_err(|error| Failure::new(Code::Store, error.to_string()))?;
        let store = Store::open(&paths.data)?;
        let desktop = DesktopSession::find(&environment);
        let instance = if is_listed {
            let new = NewInstance {
                kind: surface.kind,
                pid: std::process::id(),
                claims_runs: surface.claims_runs,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                display: desktop.display().map(str::to_owned),
                windows: own_windows(&environment, surface.asks_on_terminal),
            };
            Instance::register(&store, &new)?
        } else {
            Instance::unlisted(&store)
        };
        let vault = Arc::new(Vault::new(&paths, &desktop, &environment));
        Ok(Arc::new(Self {
            environment,
            paths,
            settings: watch::Sender::new(Arc::new(settings)),
            flags: flags.to_vec(),
            store,
            instance,
            desktop,
            catalogue,
            surface,
            own_runs: OwnRuns::default(),
            starting_runner: tokio::sync::Mutex::default(),
            vault,
            waiting_hosts: crate::hosts::Waiting::default(),
        }))
    }

    /// The settings as they are now, with their origins.
    pub fn settings(&self) -> Arc<Layered<Settings>> {
        Arc::clone(&self.settings.borrow())
    }

    /// The settings as they are from now on: told whenever they were read again.
    pub fn settings_followed(&self) -> watch::Receiver<Arc<Layered<Settings>>> {
        self.settings.subscribe()
    }

    /// The settings' values as they are now.
    pub fn values(&self) -> Current {
        Current(self.settings())
    }

    /// Reads the settings again. Wrong ones change nothing: what applied before goes on applying.
    pub fn reload_settings(&self) -> Result<()> {
        let read = Configuration::read(&self.environment, &self.flags)?;
        self.settings.send_replace(Arc::new(read.settings));
        Ok(())
    }

    /// Reads the settings again for what begins now. A process lives for days, and what a person
    /// changed elsewhere meanwhile counts. A file that is wrong for the moment keeps nobody from
    /// working: what applied before goes on applying.
    pub(crate) fn follow_settings(&self) {
        if let Err(failure) = self.reload_settings() {
            tracing::warn!(%failure, "the settings from before apply");
        }
    }

    /// The language of the settings, else of the system.
    pub fn language(&self) -> Result<Language> {
        language(&self.environment, &self.values())
    }

    /// The person's display, to be opened.
    pub(crate) fn session_platform(&self) -> openspace_gui::platform::Options {
        openspace_gui::platform::Options {
            display: self.desktop.display().map(str::to_owned),
            authority: self.desktop.xauthority().map(std::path::Path::to_owned),
            wayland: self.desktop.wayland_display().is_some(),
            session_bus: self.desktop.bus().map(str::to_owned),
        }
    }

    /// What blacks out secrets in everything that leaves the machine.
    pub(crate) fn redaction(&self) -> Result<Redaction> {
        Redaction::new(&self.environment)
    }

    /// Refuses whoever was started by a run: nobody approves himself.
    ///
    /// # Errors
    /// [`Code::Forbidden`] with the run's id.
    pub fn refuse_runs(&self, what: &str) -> Result<()> {
        refuse_runs(&self.runners()?, what)
    }

    /// Refuses a run's process at the other end of a loopback connection, a browser that a run
    /// opened included. Where the system does not tell who that is, the token has to do.
    ///
    /// # Errors
    /// [`Code::Forbidden`] with the run's id. Blocks.
    pub fn refuse_peer(&self, client: SocketAddr, server: SocketAddr) -> Result<()> {
        let Some(pid) = ancestry::peer(client, server) else {
            return Ok(());
        };
        let mut runners = self.runners()?;
        if self.surface.claims_runs {
            // What this process itself started is no less a run's: a command outside the sandbox can
            // shed every mark, and orphans of it become our children as what was opened for the person
            // does.
            runners.push(std::process::id());
        }
        match ancestry::descent_of(pid, &runners) {
            None => Ok(()),
            Some(Descent::Runner { pid }) if pid == std::process::id() => Err(of_this_process()),
            Some(descent) => Err(of_a_run(&descent, "use the windows' calls")),
        }
    }

    fn runners(&self) -> Result<Vec<u32>> {
        runners(&self.store)
    }
}

/// The other processes that execute runs.
pub(crate) fn runners(store: &Store) -> Result<Vec<u32>> {
    Ok(store
        .read_blocking(|db| db.instances().alive())?
        .into_iter()
        .filter(|row| row.claims_runs && row.pid != std::process::id())
        .map(|row| row.pid)
        .collect())
}

/// As [`App::refuse_runs`], for commands that open no store.
pub fn refuse_runs(runners: &[u32], what: &str) -> Result<()> {
    match ancestry::descent(runners) {
        None => Ok(()),
        Some(descent) => Err(of_a_run(&descent, what)),
    }
}

fn of_a_run(descent: &Descent, what: &str) -> Failure {
    let run = descent.run().unwrap_or("unknown").to_owned();
    Failure::new(
        Code::Forbidden,
        format!("a run may not {what} (this was started by run {run})"),
    )
    .hint("only a person may, in a terminal or window of their own")
    .param("run", run)
}

/// It may be what was opened for the person, who has to know the way out.
fn of_this_process() -> Failure {
    Failure::new(
        Code::Forbidden,
        "what OpenSpace started may not connect to it: it cannot be told from what a run started",
    )
    .hint(
        "if OpenSpace opened this program for you, such as an editor, close it and start it yourself, \
         from the system's menu or a terminal",
    )
}

fn language(environment: &Environment, settings: &Settings) -> Result<Language> {
    match settings.language.as_deref() {
        Some("en") => Ok(Language::English),
        Some("zh-Hans") => Ok(Language::SimplifiedChinese),
        Some(other) => Err(Failure::new(
            Code::Configuration,
            format!("the setting `language` is `{other}`; it can be `en` or `zh-Hans`"),
        )),
        None => {
            let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
                .iter()
                .find_map(|name| environment.text(name));
            Ok(Language::of_locale(locale.unwrap_or_default()))
        }
    }
}

/// What a run must not touch because of this process: its own windows, and the terminal program
/// that shows its questions, which is an ancestor of it or named by `WINDOWID`.
fn own_windows(environment: &Environment, asks_on_terminal: bool) -> Windows {
    let mut windows = Windows {
        ids: Vec::new(),
        pids: vec![std::process::id()],
    };
    if asks_on_terminal {
        windows.pids.extend(
            ancestry::parents(std::process::id())
                .into_iter()
                .filter(|pid| *pid > 1),
        );
        windows.ids.extend(
            environment
                .text("WINDOWID")
                .and_then(|id| id.parse::<u64>().ok()),
        );
    }
    windows
}

/// The folders of this user, without reading any setting.
pub fn paths(environment: &Environment) -> Result<Paths> {
    Paths::find(environment).map_err(|error| Failure::new(Code::Configuration, error.to_string()))
}
