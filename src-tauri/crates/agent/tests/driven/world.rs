//! A run in a store of its own.

use std::{
    collections::VecDeque,
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use openspace_agent::{Attendance, Brake, Control, Limits, Outcome, Parts, Pictures, State, drive};
use openspace_grounding::{
    Action, Backend, CallContext, Effect, Folders, Grants, GuardLink, Output, Permit, Policy,
    PolicyInputs, Rule, ShellCommand, StoreKeep, Tool, ToolError, ToolRegistry, ToolSpec,
};
use openspace_llm::{
    ChatModel, Content, Delta, Message, Profile, Reply, Request, Role, StopReason, ToolCall, Usage,
};
use openspace_store::{
    Answer, Approval, CommandKind, Decision, Fence, Instance, InstanceKind, NewInstance, NewRun,
    Store, Windows,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// What may go wrong takes far longer than what may not.
pub(crate) const SOON: Duration = Duration::from_secs(30);

/// Says what a test wrote and remembers what it was told last.
pub(crate) struct Scripted {
    profile: Profile,
    turns: Mutex<VecDeque<Content>>,
    pub(crate) heard: Mutex<Vec<Message>>,
}

#[async_trait]
impl ChatModel for Scripted {
    fn profile(&self) -> &Profile {
        &self.profile
    }

    async fn check(&self, _: &CancellationToken) -> openspace_llm::Result<()> {
        Ok(())
    }

    async fn reply(
        &self,
        request: &Request,
        _: &CancellationToken,
        _: &(dyn Fn(Delta) + Send + Sync),
    ) -> openspace_llm::Result<Reply> {
        self.heard
            .lock()
            .expect("lock")
            .clone_from(&request.messages);
        let turn = self.turns.lock().expect("lock").pop_front();
        let said = turn.unwrap_or_else(|| Content::Text("That is settled.".into()));
        let stop = match &said {
            Content::ToolCall(_) => StopReason::ToolUse,
            _ => StopReason::EndTurn,
        };
        Ok(Reply {
            message: Message {
                role: Role::Assistant,
                content: vec![said],
            },
            stop,
            usage: Usage::default(),
            model: self.profile.name.clone(),
        })
    }
}

/// Runs command lines by remembering them.
struct Shell {
    spec: ToolSpec,
    editable: bool,
    ran: Arc<Mutex<Vec<(Value, Permit)>>>,
}

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn actions(
        &self,
        arguments: &Value,
        context: &CallContext,
    ) -> Result<Vec<Action>, ToolError> {
        Ok(vec![Action::Command(ShellCommand {
            line: arguments["command"].as_str().unwrap_or_default().to_owned(),
            folder: context.folders.workspace.clone(),
            sandboxed: true,
            network: false,
        })])
    }

    fn with_command(&self, arguments: &Value, line: &str) -> Option<Value> {
        let mut arguments = arguments.clone();
        arguments["command"] = line.into();
        self.editable.then_some(arguments)
    }

    async fn call(
        &self,
        arguments: Value,
        permit: Permit,
        _: &CallContext,
    ) -> Result<Output, ToolError> {
        self.ran.lock().expect("lock").push((arguments, permit));
        Ok(Output::text("(no output)"))
    }
}

struct Free;

impl Control for Free {
    fn try_acquire(&self) -> io::Result<bool> {
        Ok(true)
    }

    fn release(&self) {}
}

struct Unguarded;

impl GuardLink for Unguarded {
    fn group_started(&self, _: u32) {}
    fn group_ended(&self, _: u32) {}
    fn held(&self, _: &Value) {}
}

/// A run that asks to delete a file, in a store of its own.
pub(crate) struct World {
    base: TempDir,
    pub(crate) store: Store,
    pub(crate) fence: Fence,
    pub(crate) model: Arc<Scripted>,
    pub(crate) backends: Vec<Arc<dyn Backend>>,
    pub(crate) ran: Arc<Mutex<Vec<(Value, Permit)>>>,
    _instance: Instance,
}

impl World {
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().expect("a folder");
        for folder in ["data", "home", "work", "scratch"] {
            std::fs::create_dir(base.path().join(folder)).expect("a folder");
        }
        let store = Store::open(&base.path().join("data")).expect("a store");
        let instance = NewInstance {
            kind: InstanceKind::Runner,
            pid: std::process::id(),
            claims_runs: true,
            version: "0".into(),
            display: None,
            windows: Windows {
                ids: Vec::new(),
                pids: Vec::new(),
            },
        };
        let instance = Instance::register(&store, &instance).expect("an instance");
        let new = NewRun {
            session: None,
            text: "Tidy up".into(),
            origin: "cli".into(),
            parent: None,
            idempotency_key: None,
            limits: json!({}),
            settings: json!({}),
        };
        let fence = store
            .call_blocking(|db| {
                let run = db.runs().enqueue(&new)?.run;
                db.runs().claim(&run, instance.id())
            })
            .expect("stored")
            .expect("claimed");
        let call = Content::ToolCall(ToolCall {
            id: "call_1".into(),
            name: "run_command".into(),
            input: json!({ "command": "rm old.txt", "timeout_seconds": 9 }),
            malformed: None,
        });
        let model = Scripted {
            profile: Profile::lookup("openai/test"),
            turns: Mutex::new(VecDeque::from([call])),
            heard: Mutex::default(),
        };
        Self {
            base,
            store,
            fence,
            model: Arc::new(model),
            backends: Vec::new(),
            ran: Arc::default(),
            _instance: instance,
        }
    }

    /// The model has nothing to do and says so at once.
    pub(crate) fn idle() -> Self {
        let world = Self::new();
        world.model.turns.lock().expect("lock").clear();
        world
    }

    /// The person says something to the run.
    pub(crate) fn say(store: &Store, fence: &Fence, text: &str) -> openspace_store::Result<i64> {
        let payload = json!({ "text": text });
        store.call_blocking(|db| {
            let commands = db.commands();
            commands.give(fence.run(), CommandKind::Message, &payload, "app")
        })
    }

    /// Carries the run out while `person` answers its questions.
    pub(crate) async fn run(&self, editable: bool, person: impl AsyncFnOnce(Approval)) -> Outcome {
        let answering = async { person(self.question().await).await };
        let both = async { tokio::join!(self.drive(editable), answering) };
        let (outcome, ()) = tokio::time::timeout(SOON, both).await.expect("in time");
        outcome
    }

    /// Carries the run out.
    pub(crate) async fn drive(&self, editable: bool) -> Outcome {
        let path = |name: &str| self.base.path().join(name);
        let folders = Arc::new(Folders {
            workspace: path("work"),
            allowed: Vec::new(),
            protected: vec![path("data")],
            scratch: path("scratch"),
        });
        let mut inputs = PolicyInputs::new(Arc::clone(&folders), path("home"));
        inputs.sandbox = true;
        inputs.rules = vec![Rule::deny(
            "command:git push".parse::<Rule>().expect("a rule").scope,
        )];
        let spec = ToolSpec {
            name: "run_command".into(),
            description: String::new(),
            schema: json!({ "type": "object" }),
            effect: Effect::Destructive,
            exclusive: false,
            open_world: false,
            backend: "shell",
            hosted: None,
        };
        let mut tools = ToolRegistry::default();
        let shell = Shell {
            spec,
            editable,
            ran: Arc::clone(&self.ran),
        };
        tools.register(Arc::new(shell)).expect("a tool");
        let (store, fence) = (self.store.clone(), self.fence.clone());
        let (_nobody, external) = mpsc::unbounded_channel();
        let parts = Parts {
            store: self.store.clone(),
            fence: self.fence.clone(),
            model: Arc::clone(&self.model) as Arc<dyn ChatModel>,
            system: String::new(),
            tools: Arc::new(tools),
            backends: self.backends.clone(),
            policy: Policy::new(inputs),
            grants: Grants::default(),
            attendance: Attendance::Waits,
            brake: Brake::default(),
            control: Arc::new(Free),
            folders,
            keep: Arc::new(move |step, _| {
                let guard = Arc::new(Unguarded);
                Arc::new(StoreKeep::new(store.clone(), fence.clone(), step, guard))
            }),
            pictures: Pictures::default(),
            screen: None,
            external,
            nonce: 1,
            max_reply_tokens: 100,
        };
        let state = State::new(vec![Message::user("Tidy up")], Limits::default(), None);
        let driven = tokio::time::timeout(SOON, drive(parts, state)).await;
        driven.expect("in time").expect("the run ends")
    }

    async fn question(&self) -> Approval {
        loop {
            let open = self.store.read(|db| db.approvals().pending()).await;
            if let Some(question) = open.expect("readable").pop() {
                return question;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub(crate) async fn allow(
        &self,
        question: Approval,
        edited: &str,
    ) -> openspace_store::Result<bool> {
        let answer = Answer {
            decision: Decision::AllowOnce,
            edited: Some(edited.to_owned()),
            note: None,
        };
        self.store
            .call(move |db| db.approvals().answer(&question.id, &answer, "app"))
            .await
    }

    /// What the model was told about its call.
    pub(crate) fn told(&self) -> (String, bool) {
        let heard = self.model.heard.lock().expect("lock");
        let result = heard
            .iter()
            .flat_map(|message| &message.content)
            .find_map(|content| match content {
                Content::ToolResult(result) => Some(result),
                _ => None,
            })
            .expect("a result");
        let texts = result.content.iter().map(|content| match content {
            Content::Text(text) => text.as_str(),
            other => panic!("{other:?}"),
        });
        (texts.collect::<Vec<_>>().join("\n"), result.is_error)
    }

    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        let all = self
            .store
            .read_blocking(|db| db.events().of("run", self.fence.run().as_str(), 0, 1_000));
        all.expect("readable")
            .into_iter()
            .filter(|event| event.kind == kind)
            .map(|event| event.payload)
            .collect()
    }
}
