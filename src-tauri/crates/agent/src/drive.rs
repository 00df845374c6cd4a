//! Performing what the step function asks for.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::join_all;
use openspace_grounding::{
    Backend, Folders, ToolRegistry,
    policy::{Grants, Policy},
};
use openspace_llm::{ChatModel, Message, Request, Role, ToolDefinition};
use openspace_store::{CommandKind, CommandWatch, Fence, RunStatus, Store};
use serde_json::json;
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Attendance, Brake, Control, Effect, Event, Outcome, Pause, Pictures, State,
    calls::{Calls, KeepForCall, tell},
    flags::Flags,
    gate::Shared,
    model_call::ModelCalls,
    step,
    transcript::to_stored,
};

/// How often commands are looked for; the look itself costs microseconds.
const COMMAND_POLL: Duration = Duration::from_millis(5);
/// How often time limits and the state of the screen are looked at.
const TICK: Duration = Duration::from_millis(250);
/// How long cancelled work may take to end before the run ends without it.
const QUIET_WAIT: Duration = Duration::from_secs(3);
/// How long a run that is stopped waits for the store.
const HURRY: Duration = Duration::from_millis(300);
/// How long back ends may take to end what is theirs: a tree of processes has up to 5 s.
const CLOSE_WAIT: Duration = Duration::from_secs(6);

/// Whether there is anything to see, asked from time to time while a run goes.
pub type ScreenWatch = Arc<dyn Fn() -> Option<Pause> + Send + Sync>;

/// Everything a run needs.
pub struct Parts {
    /// Where it is kept.
    pub store: Store,
    /// Proof that this process executes it.
    pub fence: Fence,
    /// Who decides what to do.
    pub model: Arc<dyn ChatModel>,
    /// Standing instructions, see [`crate::system`].
    pub system: String,
    /// What can be done.
    pub tools: Arc<ToolRegistry>,
    /// The back ends behind the tools.
    pub backends: Vec<Arc<dyn Backend>>,
    /// What may be done.
    pub policy: Policy,
    /// What was allowed for this run beforehand.
    pub grants: Grants,
    /// Whether somebody is there to answer.
    pub attendance: Attendance,
    /// What stops it from within this process.
    pub brake: Brake,
    /// Who has the screen.
    pub control: Arc<dyn Control>,
    /// Where files may be.
    pub folders: Arc<Folders>,
    /// Where calls keep what outlives them.
    pub keep: KeepForCall,
    /// Pictures of the conversation that are kept already.
    pub pictures: Pictures,
    /// Locked or switched off screens; none where there is no screen.
    pub screen: Option<ScreenWatch>,
    /// What else happens: physical input of the person.
    pub external: UnboundedReceiver<Event>,
    /// Marks untrusted text; random, so that no text can imitate it.
    pub nonce: u64,
    /// Most tokens of one reply.
    pub max_reply_tokens: u32,
}

/// Performs a run from `state` to its end and says how it ended, which the caller stores: by then
/// the run is at rest, also where the store does not work.
///
/// # Errors
/// The store failed, or the run belongs to somebody else by now. Input is released and work is
/// cancelled before this returns.
pub async fn drive(parts: Parts, state: State) -> Result<Outcome, openspace_store::Error> {
    let (events, received) = mpsc::unbounded_channel();
    let brake = parts.brake;
    let flags = Arc::clone(&brake.flags);
    let cancel = brake.work();
    let _ends_with_us = cancel.clone().drop_guard();
    let said = Said::default();
    listen(
        &parts.store,
        &parts.fence,
        brake.clone(),
        cancel.clone(),
        events.clone(),
        Arc::clone(&said),
    )?;
    let _lets_go = let_go_when_pulled(brake.clone(), parts.backends.clone());

    let shared = Arc::new(Shared {
        store: parts.store.clone(),
        fence: parts.fence.clone(),
        flags: Arc::clone(&flags),
        cancel: cancel.clone(),
        events: events.clone(),
        policy: parts.policy,
        grants: Mutex::new(parts.grants),
        attendance: parts.attendance,
        control: Arc::clone(&parts.control),
    });
    let pictures = Arc::new(Mutex::new(parts.pictures));
    let driver = Driver {
        calls: Arc::new(Calls {
            shared,
            tools: parts.tools,
            folders: parts.folders,
            keep: parts.keep,
            pictures: Arc::clone(&pictures),
            nonce: parts.nonce,
        }),
        models: Arc::new(ModelCalls {
            store: parts.store.clone(),
            fence: parts.fence.clone(),
            model: parts.model,
            cancel: cancel.clone(),
            events: events.clone(),
        }),
        store: parts.store,
        fence: parts.fence,
        system: parts.system,
        backends: parts.backends,
        control: parts.control,
        pictures,
        brake,
        flags,
        cancel,
        events,
        max_reply_tokens: parts.max_reply_tokens,
        work: JoinSet::new(),
        said,
        unheard: Vec::new(),
    };
    driver
        .run(state, received, parts.external, parts.screen)
        .await
}

struct Driver {
    store: Store,
    fence: Fence,
    system: String,
    backends: Vec<Arc<dyn Backend>>,
    control: Arc<dyn Control>,
    calls: Arc<Calls>,
    models: Arc<ModelCalls>,
    pictures: Arc<Mutex<Pictures>>,
    brake: Brake,
    flags: Arc<Flags>,
    cancel: CancellationToken,
    events: UnboundedSender<Event>,
    max_reply_tokens: u32,
    work: JoinSet<()>,
    said: Said,
    /// Commands whose words are not in the conversation yet.
    unheard: Vec<i64>,
}

/// Ids of the commands behind [`Event::Message`], in the order of these events.
type Said = Arc<Mutex<VecDeque<i64>>>;

impl Driver {
    async fn run(
        mut self,
        mut state: State,
        mut received: UnboundedReceiver<Event>,
        mut external: UnboundedReceiver<Event>,
        screen: Option<ScreenWatch>,
    ) -> Result<Outcome, openspace_store::Error> {
        let began = Instant::now();
        let mut ticks = tokio::time::interval(TICK);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
        let brake = self.brake.clone();
        let mut stopped = brake.is_pulled();
        let mut first = Some(if stopped { Event::Stop } else { Event::Started });
        let result = loop {
            let event = tokio::select! {
                biased;
                Some(event) = std::future::ready(first.take()) => event,
                () = brake.pulled(), if !stopped => Event::Stop,
                Some(event) = received.recv() => event,
                Some(event) = external.recv() => event,
                _ = ticks.tick() => Event::Tick,
            };
            stopped |= matches!(event, Event::Stop);
            if let (Event::Tick, Some(screen)) = (&event, &screen) {
                self.look_at(Arc::clone(screen), &state);
            }
            while self.work.try_join_next().is_some() {}
            let now = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
            if matches!(event, Event::Message(_)) {
                let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
                self.unheard.extend(said.pop_front());
            }
            self.forget_withdrawn(&mut state).await;
            let effects;
            let steps = state.used().steps;
            (state, effects) = step(state, now, event);
            if state.used().steps != steps {
                let used = serde_json::to_value(state.used()).unwrap_or_default();
                let told = async {
                    tell(&self.store, &self.fence, "run.used", used).await;
                    Ok(())
                };
                // What cannot be told is logged.
                let _told = self.stored(told).await;
            }
            match self.perform(&mut state, effects).await {
                Ok(None) => {}
                Ok(Some(outcome)) => break Ok(outcome),
                Err(error) => {
                    // The run is lost or cannot be kept: nothing more may happen.
                    self.quieten().await;
                    self.close(None).await;
                    break Err(error);
                }
            }
        };
        self.control.release();
        result
    }

    /// Words that were taken back before they came into the conversation are not said.
    async fn forget_withdrawn(&mut self, state: &mut State) {
        if self.unheard.is_empty() {
            return;
        }
        let ids = self.unheard.clone();
        let withdrawn = self.store.read(move |db| db.commands().withdrawn(&ids));
        let withdrawn = match withdrawn.await {
            Ok(withdrawn) => withdrawn,
            Err(error) => {
                tracing::warn!(%error, "looking for words that were taken back");
                return;
            }
        };
        for command in withdrawn {
            self.unheard.retain(|id| *id != command.id);
            let text = command.payload.get("text").and_then(|text| text.as_str());
            if let Some(at) = state
                .said
                .iter()
                .rposition(|said| Some(said.as_str()) == text)
            {
                state.said.remove(at);
            }
        }
    }

    async fn perform(
        &mut self,
        state: &mut State,
        effects: Vec<Effect>,
    ) -> Result<Option<Outcome>, openspace_store::Error> {
        for effect in effects {
            match effect {
                Effect::CallModel => self.call_model(state).await,
                Effect::RunCalls { step, calls } => {
                    let fence = self.fence.clone();
                    let names: Vec<_> = calls.iter().map(|call| call.name.as_str()).collect();
                    let label = names.join(", ");
                    let set = self
                        .store
                        .call(move |db| db.runs().set_step(&fence, step, &label));
                    self.stored(set).await?;
                    let running = Arc::clone(&self.calls);
                    self.work
                        .spawn(async move { running.run(step, calls).await });
                }
                Effect::Remember(message) => {
                    // What the person said is heard once it is in the conversation, and not before:
                    // until then it is kept for whoever continues the run.
                    let heard = if message.role == Role::User && state.said.is_empty() {
                        std::mem::take(&mut self.unheard)
                    } else {
                        Vec::new()
                    };
                    self.stored(self.remember(&message, heard)).await?;
                }
                Effect::Status(status, reason) => {
                    let fence = self.fence.clone();
                    let reason = reason.as_ref().map(reason_text);
                    let set = move |db: &openspace_store::Db<'_>| {
                        db.runs().set_status(&fence, status, reason.as_deref())
                    };
                    self.stored(self.store.call(set)).await?;
                }
                Effect::HaltInput => {
                    self.flags.halt(true);
                    let halts = self.backends.iter().map(|backend| backend.halt());
                    within(QUIET_WAIT, "halting", join_all(halts)).await;
                }
                Effect::AllowInput => self.flags.halt(false),
                Effect::CancelAll => {
                    // With its answer there is nothing under way, so it can still go on.
                    let event = if state.has_answered() && !self.stored(self.answer()).await? {
                        Event::Unheard
                    } else {
                        self.quieten().await;
                        Event::Quiet
                    };
                    let _open = self.events.send(event);
                }
                Effect::Finish(outcome) => {
                    self.close(Some(outcome.status)).await;
                    return Ok(Some(*outcome));
                }
            }
        }
        Ok(None)
    }

    /// The tools as they are now: the size of the pictures is part of a hosted tool, and changes with
    /// the monitor that is looked at.
    async fn definitions(&self) -> Vec<ToolDefinition> {
        let mut tools = Vec::new();
        for backend in &self.backends {
            for tool in backend.tools().await {
                let spec = tool.spec();
                tools.push(ToolDefinition {
                    name: spec.name.clone(),
                    description: spec.description.clone(),
                    schema: spec.schema.clone(),
                    hosted: spec.hosted.clone(),
                });
            }
        }
        tools.extend(crate::turn_ending_tools());
        tools
    }

    async fn call_model(&mut self, state: &mut State) {
        let profile = self.models.model.profile();
        openspace_llm::history::prune_images(&mut state.messages, KEEP_IMAGES, EVERY_IMAGES);
        openspace_llm::history::fit_request(&mut state.messages, profile);
        let request = Request {
            system: self.system.clone(),
            tools: self.definitions().await,
            messages: state.messages.clone(),
            max_tokens: self.max_reply_tokens,
        };
        let models = Arc::clone(&self.models);
        let step = state.used().steps + 1;
        self.work
            .spawn(async move { models.call(step, request).await });
    }

    async fn remember(
        &self,
        message: &Message,
        heard: Vec<i64>,
    ) -> Result<(), openspace_store::Error> {
        let content = {
            let pictures = self.pictures.lock().unwrap_or_else(PoisonError::into_inner);
            to_stored(message, &pictures)
        };
        let role = match message.role {
            Role::User => "user",
            Role::Assistant => "assistant",
        };
        let fence = self.fence.clone();
        self.store
            .call(move |db| {
                db.messages().append_fenced(&fence, role, &content)?;
                for command in heard {
                    db.commands().acknowledge(&fence, command)?;
                }
                Ok(())
            })
            .await
    }

    /// Drops everything that is under way and waits until it has ended, within bounds.
    async fn quieten(&mut self) {
        self.flags.end();
        self.cancel.cancel();
        let ended = tokio::time::timeout(QUIET_WAIT, async {
            while self.work.join_next().await.is_some() {}
        });
        if ended.await.is_err() {
            tracing::warn!("cancelled work did not end in time and is dropped");
            self.work.shutdown().await;
        }
    }

    async fn close(&self, status: Option<RunStatus>) {
        let leaves = matches!(status, Some(RunStatus::Done | RunStatus::NeedsYou));
        let closes = self.backends.iter().map(|backend| async move {
            if leaves {
                backend.leave().await;
            } else {
                backend.close().await;
            }
        });
        within(CLOSE_WAIT, "closing", join_all(closes)).await;
    }

    /// Says that the run has its final answer; false while there are words that it has not heard.
    async fn answer(&self) -> Result<bool, openspace_store::Error> {
        let fence = self.fence.clone();
        self.store.call(move |db| db.runs().answer(&fence)).await
    }

    /// Waits for a write; once the brake is pulled, not for long: the run comes to rest first, whatever
    /// the store does, and the write goes on by itself.
    async fn stored<T: Default>(
        &self,
        write: impl Future<Output = Result<T, openspace_store::Error>>,
    ) -> Result<T, openspace_store::Error> {
        let hurry = async {
            self.brake.pulled().await;
            tokio::time::sleep(HURRY).await;
        };
        tokio::select! {
            biased;
            stored = write => stored,
            () = hurry => {
                tracing::warn!("a run that is stopped does not wait for the store");
                Ok(T::default())
            }
        }
    }

    /// Asks for the state of the screen on a thread that may block, and pauses or resumes the run.
    fn look_at(&mut self, screen: ScreenWatch, state: &State) {
        let paused = state.is_paused();
        let events = self.events.clone();
        self.work.spawn(async move {
            let Ok(seen) = tokio::task::spawn_blocking(move || screen()).await else {
                return;
            };
            // The person may have paused or resumed it themselves since the look began.
            let event = match seen {
                Some(pause) if !paused => Event::Pause(pause),
                None if paused => Event::ScreenBack,
                Some(_) | None => return,
            };
            let _gone = events.send(event);
        });
    }
}

/// Lets back ends go of everything the moment the brake is pulled: the driver may be waiting for the
/// store just then. Until the value is dropped.
fn let_go_when_pulled(brake: Brake, backends: Vec<Arc<dyn Backend>>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        brake.pulled().await;
        join_all(backends.iter().map(|backend| backend.close())).await;
    });
    tasks
}

/// Waits for back ends, within bounds: one that hangs must not keep the run from ending.
async fn within(limit: Duration, what: &str, work: impl Future) {
    if tokio::time::timeout(limit, work).await.is_err() {
        tracing::warn!(what, "a back end did not answer in time");
    }
}

/// A reason as it is stored: JSON, to be rendered by whoever shows it.
fn reason_text(reason: &crate::Reason) -> String {
    serde_json::to_string(reason).unwrap_or_default()
}

/// Newest pictures that stay when older ones are dropped.
const KEEP_IMAGES: usize = 3;
/// Pictures that gather before older ones are dropped, all at once, so that the cached beginning of
/// the conversation stays the same in between.
const EVERY_IMAGES: usize = 40;

/// Hears commands on a thread of its own, so that a stop never waits for anything else.
fn listen(
    store: &Store,
    fence: &Fence,
    brake: Brake,
    cancel: CancellationToken,
    events: UnboundedSender<Event>,
    said: Said,
) -> Result<(), openspace_store::Error> {
    let mut watch = CommandWatch::new(store, fence)?;
    let flags = Arc::clone(&brake.flags);
    flags.is_ours(Instant::now());
    let (store, fence) = (store.clone(), fence.clone());
    let thread = std::thread::Builder::new().name("commands".to_owned());
    let hear = move || {
        let mut troubled = false;
        while !flags.has_ended() && !cancel.is_cancelled() {
            let began = Instant::now();
            let commands = match watch.poll() {
                Ok(commands) => {
                    flags.is_ours(began);
                    troubled = false;
                    commands
                }
                Err(openspace_store::Error::LostRun { .. }) => {
                    flags.end();
                    cancel.cancel();
                    let _gone = events.send(Event::Stop);
                    return;
                }
                Err(error) => {
                    if !std::mem::replace(&mut troubled, true) {
                        tracing::warn!(%error, "looking for commands");
                    }
                    std::thread::sleep(TICK);
                    continue;
                }
            };
            for command in commands {
                match command.kind {
                    // First the hands off, then everything else.
                    CommandKind::Stop => brake.pull(),
                    CommandKind::Pause | CommandKind::TakeOver => flags.halt(true),
                    CommandKind::Resume
                    | CommandKind::HandBack
                    | CommandKind::Message
                    | CommandKind::Answer => {}
                }
                let text = || {
                    command
                        .payload
                        .get("text")
                        .and_then(|text| text.as_str())
                        .map(str::to_owned)
                };
                let event = match command.kind {
                    // Also where the brake was pulled: it counts once.
                    CommandKind::Stop => Event::Stop,
                    CommandKind::Pause => Event::Pause(Pause::Asked),
                    CommandKind::TakeOver => Event::Pause(Pause::TakeOver),
                    CommandKind::Resume | CommandKind::HandBack => Event::Resume { note: text() },
                    CommandKind::Message | CommandKind::Answer => {
                        Event::Message(text().unwrap_or_default())
                    }
                };
                if matches!(event, Event::Message(_)) {
                    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                    said.push_back(command.id);
                    let _gone = events.send(event);
                    continue;
                }
                let _gone = events.send(event);
                let acknowledged =
                    store.call_blocking(|db| db.commands().acknowledge(&fence, command.id));
                if let Err(error) = acknowledged {
                    tracing::warn!(%error, "acknowledging a command");
                }
            }
            std::thread::sleep(COMMAND_POLL);
        }
    };
    thread
        .spawn(hear)
        .map(drop)
        .map_err(|source| openspace_store::Error::File {
            what: "start the thread that hears commands for",
            path: "openspace.db".into(),
            source,
        })
}

/// Says what a run is about to do, for surfaces that show it.
pub async fn announce(store: &Store, fence: &Fence, model: &str, recorded: bool) {
    tell(
        store,
        fence,
        "run.model",
        json!({ "model": model, "recorded": recorded }),
    )
    .await;
}
