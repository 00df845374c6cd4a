//! The back end of one run.

use std::{
    collections::{BTreeMap, HashMap},
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use openspace_grounding::{Action, Backend, CallContext, Folders, Permit, Tool, ToolError};
use openspace_process::{Environment, Sandbox, Support};

use crate::{
    desktop::WindowOwners, later::Watch, path, processes::Processes, tools, tools::background::Job,
};

/// Calls whose actions are remembered between being judged and being made.
const JUDGED: usize = 256;

/// What the back end needs to know about the person's machine.
#[derive(Clone)]
pub struct Options {
    /// The person's home folder, what `~` means.
    pub home: PathBuf,
    /// The shell commands are given to with `-c`.
    pub shell: PathBuf,
    /// The environment of the surface that asked for the run. Children get what the allow-list of
    /// [`Environment::allowed`] leaves of it; opened programs get its display, too.
    pub environment: BTreeMap<OsString, OsString>,
    /// Folders beyond the system's that sandboxed commands may read and execute: tool chains in
    /// the home folder, for instance.
    pub readable: Vec<PathBuf>,
    /// Whether commands can be put in a sandbox here.
    pub sandbox: Support,
    /// Who shows a window on the screen of the run, where that can be told.
    pub windows: Option<WindowOwners>,
}

impl Options {
    /// What is known without asking anybody: `/bin/bash` where it exists, else `/bin/sh`, and
    /// what this kernel supports.
    pub fn new(home: impl Into<PathBuf>, environment: BTreeMap<OsString, OsString>) -> Self {
        let bash = PathBuf::from("/bin/bash");
        Self {
            home: home.into(),
            shell: if bash.exists() {
                bash
            } else {
                PathBuf::from("/bin/sh")
            },
            environment,
            readable: Vec::new(),
            sandbox: Support::detect(),
            windows: None,
        }
    }
}

/// What the tools of one run share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) processes: Processes,
    pub(crate) watch: Watch,
    pub(crate) jobs: tokio::sync::Mutex<BTreeMap<String, Job>>,
    next_job: AtomicU32,
    judged: Mutex<HashMap<String, Vec<Action>>>,
}

impl Shared {
    /// The file `text` means.
    pub(crate) fn resolve(&self, text: &str, folders: &Folders) -> Result<PathBuf, ToolError> {
        path::resolve(text, folders, &self.options.home)
    }

    /// Remembers what the policy is about to judge.
    pub(crate) fn remember(&self, context: &CallContext, actions: &[Action]) {
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        if judged.len() >= JUDGED {
            judged.clear();
        }
        judged.insert(context.call.clone(), actions.to_vec());
    }

    /// Asks for `actions`, unless exactly these were judged for this call: between then and now a
    /// link may have been turned elsewhere.
    /// Answers how they were allowed then.
    pub(crate) async fn confirm(
        &self,
        context: &CallContext,
        actions: &[Action],
    ) -> Result<Option<Permit>, ToolError> {
        let judged = self
            .judged
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&context.call);
        if judged.as_deref() == Some(actions) {
            return Ok(None);
        }
        Ok(Some(context.gate.permit(actions).await?))
    }

    pub(crate) fn next_job(&self) -> String {
        format!("job{}", self.next_job.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Variables of a command.
    pub(crate) fn environment(&self, folders: &Folders, sandboxed: bool) -> Environment {
        let mut environment = Environment::allowed(self.options.environment.clone());
        let scratch = &folders.scratch;
        let home_is_hidden = sandboxed && !path::is_allowed(&self.options.home, folders);
        let mut set = |name: &str, value: &Path| {
            // Only our own names are refused, and there is none among these.
            let _ = environment.set(name, value);
        };
        // Nobody answers prompts and nobody pages.
        for (name, value) in [
            ("TERM", "dumb"),
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("NO_COLOR", "1"),
            ("PYTHONUNBUFFERED", "1"),
        ] {
            set(name, Path::new(value));
        }
        if sandboxed {
            set("TMPDIR", scratch);
        }
        if home_is_hidden {
            // Caches would go to the home folder, and git stops when it finds settings there that
            // it cannot read.
            set("XDG_CACHE_HOME", &scratch.join("cache"));
            set("npm_config_cache", &scratch.join("npm"));
            set("GIT_CONFIG_GLOBAL", Path::new("/dev/null"));
        }
        if environment.get("LANG").is_none() && environment.get("LC_ALL").is_none() {
            let _ = environment.set("LANG", "C.UTF-8");
        }
        environment
    }

    /// What a sandboxed command may touch.
    pub(crate) fn sandbox(&self, folders: &Folders, network: bool) -> Sandbox {
        let given = std::iter::once(&folders.workspace).chain(&folders.allowed);
        let mut read_write: Vec<PathBuf> = given
            .filter(|folder| !path::is_protected(folder, folders))
            .cloned()
            .collect();
        // The run's own, also where it lies inside our data folder.
        read_write.push(folders.scratch.clone());
        Sandbox {
            read_write,
            read_only: self.options.readable.clone(),
            hidden: folders.protected.clone(),
            network,
        }
    }
}

/// The run was stopped or may not act at the moment.
pub(crate) fn check_may_act(context: &CallContext) -> Result<(), ToolError> {
    if context.cancel.is_cancelled() {
        return Err(ToolError::Cancelled);
    }
    if context.gate.may_act() {
        Ok(())
    } else {
        Err(ToolError::Stale(
            "the run was stopped or paused before this could start; nothing was done".to_owned(),
        ))
    }
}

/// Commands, files, search and programs for one run.
pub struct Shell {
    shared: Arc<Shared>,
    tools: Vec<Arc<dyn Tool>>,
}

impl Shell {
    /// A back end for one run. Nothing is started.
    pub fn new(options: Options) -> Self {
        let shared = Arc::new(Shared {
            watch: Watch::new(options.home.clone()),
            options,
            processes: Processes::default(),
            jobs: tokio::sync::Mutex::default(),
            next_job: AtomicU32::new(0),
            judged: Mutex::default(),
        });
        let tools = tools::all(&shared);
        Self { shared, tools }
    }

    /// Lets programs that were opened live on after [`Backend::close`]: the run is done, and the
    /// person wants to see what was opened.
    pub async fn release_programs(&self) {
        self.shared.processes.release_programs().await;
    }
}

#[async_trait]
impl Backend for Shell {
    fn name(&self) -> &'static str {
        "shell"
    }

    async fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    async fn leave(&self) {
        self.release_programs().await;
        self.close().await;
    }

    async fn close(&self) {
        self.shared.processes.close().await;
        self.shared.watch.close().await;
        self.shared.jobs.lock().await.clear();
    }
}
