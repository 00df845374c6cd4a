//! A run with a workspace, a home with a secret, and doubles for what lies around the back end.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use openspace_grounding::{
    Action, ArtefactId, Backend, Block, CallContext, ChangeId, Denied, Folders, FrameId, Gate,
    Keep, NewChange, NewFrame, Output, Permit, RunId, Tool, ToolError,
};
use openspace_shell::{Options, Shell};
use serde_json::Value;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// Allows everything, unless told otherwise, and remembers what it was asked.
#[derive(Default)]
pub(crate) struct Doorman {
    pub(crate) asked: Mutex<Vec<Vec<Action>>>,
    pub(crate) denies: AtomicBool,
    pub(crate) halted: AtomicBool,
}

#[async_trait]
impl Gate for Doorman {
    async fn permit(&self, actions: &[Action]) -> Result<Permit, Denied> {
        self.asked.lock().expect("lock").push(actions.to_vec());
        if self.denies.load(Ordering::Relaxed) {
            return Err(Denied {
                reason: "by the test".into(),
            });
        }
        Ok(Permit::Immediate)
    }

    fn may_act(&self) -> bool {
        !self.halted.load(Ordering::Relaxed)
    }

    async fn acquire_control(&self) -> Result<(), ToolError> {
        Ok(())
    }
}

/// Keeps everything in memory.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) artefacts: Mutex<HashMap<ArtefactId, Bytes>>,
    pub(crate) changes: Mutex<Vec<NewChange>>,
    pub(crate) groups: Mutex<Vec<u32>>,
}

#[async_trait]
impl Keep for Memory {
    async fn frame(&self, _frame: NewFrame) -> Result<FrameId, ToolError> {
        Ok(FrameId::random())
    }

    async fn artefact(&self, _: &str, _: &str, data: Bytes) -> Result<ArtefactId, ToolError> {
        let id = ArtefactId::random();
        self.artefacts
            .lock()
            .expect("lock")
            .insert(id.clone(), data);
        Ok(id)
    }

    async fn read_artefact(
        &self,
        id: &ArtefactId,
        offset: u64,
        length: u64,
    ) -> Result<Bytes, ToolError> {
        let artefacts = self.artefacts.lock().expect("lock");
        let data = artefacts
            .get(id)
            .ok_or_else(|| ToolError::NotFound("artefact".into()))?;
        let start = usize::try_from(offset).expect("fits").min(data.len());
        let end = (start + usize::try_from(length).expect("fits")).min(data.len());
        Ok(data.slice(start..end))
    }

    async fn change(&self, change: NewChange) -> Result<ChangeId, ToolError> {
        self.changes.lock().expect("lock").push(change);
        Ok(ChangeId::random())
    }

    async fn group_started(&self, pid: u32) -> Result<(), ToolError> {
        self.groups.lock().expect("lock").push(pid);
        Ok(())
    }

    async fn group_ended(&self, pid: u32) {
        self.groups
            .lock()
            .expect("lock")
            .retain(|group| *group != pid);
    }

    fn held(&self, _state: &Value) {}
}

pub(crate) struct World {
    pub(crate) base: TempDir,
    pub(crate) shell: Shell,
    pub(crate) context: CallContext,
    pub(crate) gate: Arc<Doorman>,
    pub(crate) keep: Arc<Memory>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(BTreeMap::new())
    }

    /// With variables beside `PATH`.
    pub(crate) fn with(variables: BTreeMap<&str, &str>) -> Self {
        let base = tempfile::tempdir().expect("folder");
        let root = base.path().canonicalize().expect("resolve");
        for folder in ["work", "scratch", "home/.ssh"] {
            std::fs::create_dir_all(root.join(folder)).expect("create");
        }
        std::fs::write(root.join("home/.ssh/id"), "SECRET").expect("write");
        let mut environment = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
        environment.extend(
            variables
                .into_iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        let gate = Arc::new(Doorman::default());
        let keep = Arc::new(Memory::default());
        let context = CallContext {
            run: RunId::random(),
            step: 1,
            call: "call-1".into(),
            cancel: CancellationToken::new(),
            gate: Arc::clone(&gate) as Arc<dyn Gate>,
            keep: Arc::clone(&keep) as Arc<dyn Keep>,
            folders: Arc::new(Folders {
                workspace: root.join("work"),
                allowed: Vec::new(),
                protected: vec![root.join("home/.ssh")],
                scratch: root.join("scratch"),
            }),
        };
        Self {
            shell: Shell::new(Options::new(root.join("home"), environment)),
            base,
            context,
            gate,
            keep,
        }
    }

    /// The same folders with other variables.
    pub(crate) fn again(self, variables: BTreeMap<&str, &str>) -> Self {
        let variables = variables
            .into_iter()
            .map(|(name, value)| (name.into(), value.into()));
        let options = Options::new(self.path("home"), variables.collect());
        Self {
            shell: Shell::new(options),
            ..self
        }
    }

    /// With a screen on which these processes show windows.
    pub(crate) fn show_windows_of(&mut self, processes: Vec<u32>) {
        let variables = BTreeMap::from([("PATH".into(), "/usr/bin:/bin".into())]);
        let mut options = Options::new(self.path("home"), variables);
        options.windows = Some(Arc::new(move || processes.clone()));
        self.shell = Shell::new(options);
    }

    pub(crate) fn path(&self, part: &str) -> PathBuf {
        self.base.path().canonicalize().expect("resolve").join(part)
    }

    pub(crate) fn write(&self, part: &str, content: impl AsRef<[u8]>) {
        let path = self.path(part);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("create");
        std::fs::write(path, content).expect("write");
    }

    pub(crate) fn read(&self, part: &str) -> String {
        std::fs::read_to_string(self.path(part)).expect("read")
    }

    pub(crate) async fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let tools = self.shell.tools().await;
        tools
            .into_iter()
            .find(|tool| tool.spec().name == name)
            .expect("a tool of that name")
    }

    /// What the call would do.
    pub(crate) async fn actions(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<Vec<Action>, ToolError> {
        self.tool(tool)
            .await
            .actions(&arguments, &self.context)
            .await
    }

    /// Judged and made, as the agent does it.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Result<Output, ToolError> {
        let tool = self.tool(tool).await;
        tool.actions(&arguments, &self.context).await?;
        let call = tool.call(arguments, Permit::Immediate, &self.context);
        tokio::time::timeout(Duration::from_secs(60), call)
            .await
            .expect("answers in time")
    }

    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        match self.call(tool, arguments).await {
            Ok(output) => text(&output),
            Err(error) => error.to_string(),
        }
    }
}

pub(crate) fn text(output: &Output) -> String {
    output
        .blocks
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            Block::Image { .. } | Block::Json(_) | Block::Resource { .. } => None,
        })
        .collect()
}

/// Polls until `condition` holds, for at most ten seconds.
pub(crate) async fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    for _ in 0..1000 {
        if condition() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{what} did not happen");
}

pub(crate) fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").starts_with(" Z"))
}

/// Process ids in a file, one a line.
pub(crate) fn pids(file: &Path) -> Vec<u32> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect()
}
