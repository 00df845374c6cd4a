//! Executing a claimed run in this process.

use std::{panic::AssertUnwindSafe, path::PathBuf, sync::Arc, time::Duration};

use futures_util::FutureExt as _;
use openspace_agent::{
    Control, Event, Limits, Outcome, Parts, Pause, Pictures, State, Surroundings, announce, drive,
    system,
};
use openspace_grounding::{
    Backend, Folders, StoreKeep, ToolRegistry,
    policy::{Grants, InvalidPreset, InvalidRule, Origin, Policy, PolicyInputs, Rule, RuleEffect},
};
use openspace_gui::{GuiBackend, ScreenState};
use openspace_llm::ChatModel;
use openspace_process::Support;
use openspace_shell::Shell;
use openspace_store::{CommandKind, CommandWatch, Fence, RuleDecision, Run, RunStatus};
use tokio::sync::mpsc;

use crate::{
    App, Code, Display, Failure, GuardSeat, RunSpec,
    control::DisplayLock,
    control_frame::Announced,
    conversation::{self, Resumed},
    demo::{self, Demo},
    display::{OpenDisplay, describe, gui_options},
    ending,
    failure::Result,
    guard::{Begun, GuardPipe, RunGuard},
    lock::LockHint,
    model::{KeySource, refused_key},
    own_runs::{Seat, heed, stop_file},
    protected::{allowed_folders, protected_paths},
};

/// How long the check of key, address and model may take.
const CHECK_LIMIT: Duration = Duration::from_secs(30);
/// How often commands are looked for meanwhile.
const COMMAND_POLL: Duration = Duration::from_millis(20);

/// What a run needs before its first step.
struct Prepared {
    run: Run,
    spec: RunSpec,
    limits: Limits,
    model: Arc<dyn ChatModel>,
    recorded: bool,
    folders: Arc<Folders>,
    opened: Option<OpenDisplay>,
    screen_note: String,
    /// Until it is dropped, the guard watches.
    _begun: Arc<Begun>,
    /// A folder of its own, which goes with it.
    _scratch: tempfile::TempDir,
}

impl App {
    /// Executes a run that this process claimed, to its end, and says how it ended. Whatever goes
    /// wrong before the first step ends the run as failed, with the reason stored.
    pub async fn execute(self: &Arc<Self>, fence: Fence, guards: &GuardSeat) -> Result<Outcome> {
        let seat = self.own_runs.add(fence);
        let _heeding = heed(&self.paths.runtime, &seat);
        let done = self.perform(&seat, guards).await;
        seat.rests();
        let outcome = done.as_ref().map_or_else(ending::failed, Outcome::clone);
        if let Err(error) = self.store_end(&seat.fence, &outcome).await {
            // The store is the very trouble, and this process ends: others see that it is gone.
            tracing::warn!(%error, "storing how a run ended");
        }
        done
    }

    /// The same for a process that lives on: whatever happens, the run has an end that others see.
    pub(crate) async fn execute_for_good(self: &Arc<Self>, fence: Fence, guards: &GuardSeat) {
        let seat = self.own_runs.add(fence);
        let _heeding = heed(&self.paths.runtime, &seat);
        let run = seat.fence.run();
        let done = AssertUnwindSafe(self.perform(&seat, guards)).catch_unwind();
        let outcome = match done.await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(failure)) => {
                tracing::warn!(%failure, %run, "a run failed before it began, or was lost");
                ending::failed(&failure)
            }
            Err(_panic) => ending::failed(&Failure::new(
                Code::Internal,
                "the program failed in this run",
            )),
        };
        seat.rests();
        self.store_end_at_last(&seat.fence, &outcome).await;
    }

    async fn perform(self: &Arc<Self>, seat: &Seat, guards: &GuardSeat) -> Result<Outcome> {
        self.follow_settings();
        let (fence, brake) = (&seat.fence, &seat.brake);
        let stopped = || Ok(ending::ended(RunStatus::Stopped, None));
        let preparing = async {
            let guard = guards.get(self).await?;
            seat.guarded_by(&guard);
            let prepared = self.prepare(fence, &guard).await?;
            Ok((prepared, guard))
        };
        let prepared = tokio::select! {
            biased;
            () = brake.pulled() => None,
            lost = self.hear_stop(seat) => Some(Err(lost)),
            prepared = preparing => Some(prepared),
        };
        let done = match prepared {
            Some(Ok((prepared, guard))) => self.drive_with(seat, prepared, &guard).await,
            Some(Err(failure)) => Err(failure),
            None => stopped(),
        };
        match done {
            Err(failure) if brake.is_pulled() && failure.code == Code::Store => {
                tracing::warn!(%failure, "the store failed while a run was being stopped");
                stopped()
            }
            done => done,
        }
    }

    async fn prepare(self: &Arc<Self>, fence: &Fence, guard: &GuardPipe) -> Result<Prepared> {
        let id = fence.run().clone();
        let run = self.store.read(move |db| db.runs().get(&id)).await?;
        let mut spec = RunSpec::of(&run)?;
        let limits: Limits = serde_json::from_value(run.limits.clone()).unwrap_or_default();
        let recorded = spec.model == demo::MODEL;
        let checked = if recorded {
            // Its eyes are on the display, which is opened below; there is nothing to check.
            None
        } else {
            let (model, source) = self.connect(&spec, None).await?;
            self.check(model.as_ref(), &source).await?;
            self.tell_key(fence, &source).await;
            Some(model)
        };

        let scratch = tempfile::Builder::new()
            .prefix("openspace-")
            .tempdir()
            .map_err(|error| {
                Failure::new(Code::Internal, format!("no temporary folder: {error}"))
            })?;
        let private = scratch
            .path()
            .canonicalize()
            .unwrap_or_else(|_| scratch.path().to_owned());
        self.allow_workspace(fence, &run, &mut spec, &private)
            .await?;
        self.lay_out(&mut spec.attachments, &private)?;
        let folders = Arc::new(self.folders(&spec, private));
        let begun = guard.begin(fence.run(), &stop_file(&self.paths.runtime, fence));
        let mut screen_note = String::from("there is none for this run");
        let opened = if spec.backends.iter().any(|backend| backend == "gui") {
            match self.open_display_apart(&spec, fence.run(), &begun).await {
                Ok(open) => Some(open),
                // The other back ends work without a screen; the model and the record say why. A
                // monitor that does not exist is a mistake to be told, not to be worked around.
                Err(failure)
                    if spec.backends.len() > 1
                        && !recorded
                        && failure.code != Code::InvalidRequest =>
                {
                    screen_note = format!("not available: {failure}");
                    self.note(fence, "run.no_screen", &failure).await;
                    None
                }
                Err(failure) => return Err(failure),
            }
        } else {
            None
        };
        let model = if let Some(model) = checked {
            model
        } else {
            // The display is not borrowed while something is awaited: it cannot be shared.
            let recording = match &opened {
                Some(open) => Demo::at(&spec.workspace).recording(&open.platform)?,
                None => {
                    return Err(Failure::new(
                        Code::InvalidRequest,
                        "the demo needs the back end `gui`",
                    ));
                }
            };
            self.connect(&spec, Some(recording)).await?.0
        };
        Ok(Prepared {
            run,
            spec,
            limits,
            model,
            recorded,
            folders,
            opened,
            screen_note,
            _begun: begun,
            _scratch: scratch,
        })
    }

    async fn drive_with(
        &self,
        seat: &Seat,
        prepared: Prepared,
        guard: &GuardPipe,
    ) -> Result<Outcome> {
        let fence = &seat.fence;
        let Prepared {
            run,
            spec,
            limits,
            model,
            recorded,
            folders,
            opened,
            mut screen_note,
            _begun,
            _scratch,
        } = prepared;
        let (run, spec) = (&run, &spec);
        let (external, heard) = mpsc::unbounded_channel();
        let mut backends: Vec<Arc<dyn Backend>> = Vec::new();
        let link = Arc::new(RunGuard {
            pipe: guard.clone(),
            run: run.id.clone(),
            authority: opened.as_ref().and_then(|open| open.authority.clone()),
        });
        let mut variables = Vec::new();
        let mut control: Arc<dyn Control> = Arc::new(NoControl);
        let mut screen = None;
        let mut windows = None;
        let mut _display = None;
        let mut _human = None;
        let mut pictures = Pictures::default();
        let Resumed {
            messages,
            used,
            evidence,
            goes_on,
        } = conversation::load(self, fence, run, spec, &mut pictures).await?;
        if let Some(mut open) = opened {
            guard.display(&run.id, &open.pids);
            variables = std::mem::take(&mut open.variables);
            let name = open.platform.display_name.clone();
            let lock = DisplayLock::new(&self.paths.runtime, &name, run.id.clone());
            let announced = Arc::new(Announced::new(lock, self.store.clone(), name));
            _human = self.watch_human(&open, external.clone(), Arc::clone(&announced));
            control = announced;
            let (platform, rest) = open.into_parts();
            screen_note = describe(&platform, spec, model.profile());
            let seen = Arc::clone(&platform.screen);
            windows = Some(window_owners(Arc::clone(&seen)));
            // Only the person's own screen is locked with their session.
            let hint = (spec.display == Display::Session).then(|| LockHint::watch(None));
            screen = Some(Arc::new(move || match seen.state() {
                _ if hint.as_ref().is_some_and(LockHint::is_locked) => Some(Pause::ScreenLocked),
                Ok(ScreenState::Locked) => Some(Pause::ScreenLocked),
                Ok(ScreenState::Off) => Some(Pause::ScreenOff),
                Ok(ScreenState::Usable) | Err(_) => None,
            }) as openspace_agent::ScreenWatch);
            let mut options = gui_options(self, spec, platform, model.profile());
            options.look_first = goes_on;
            backends.push(Arc::new(GuiBackend::new(options)));
            _display = Some(rest);
        }
        if spec.backends.iter().any(|backend| backend == "shell") {
            let mut options = self.shell_options(variables);
            options.windows = windows;
            backends.push(Arc::new(Shell::new(options)));
        }
        let mut tools = ToolRegistry::default();
        for backend in &backends {
            for tool in backend.tools().await {
                tools
                    .register(tool)
                    .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
            }
        }
        let policy = self.policy(run, spec, &folders)?;
        let state = State::resume(messages, limits, model.profile().price, used, evidence);
        announce(&self.store, fence, &model.profile().name, recorded).await;

        let surroundings = Surroundings {
            system: operating_system(),
            workspace: spec.workspace.display().to_string(),
            today: jiff::Zoned::now().strftime("%Y-%m-%d").to_string(),
            screen: screen_note,
            notes: Vec::new(),
        };
        let (store, of_run, step_link) = (self.store.clone(), fence.clone(), link);
        let parts = Parts {
            store: self.store.clone(),
            fence: fence.clone(),
            model,
            system: system(&surroundings),
            tools: Arc::new(tools),
            backends,
            policy,
            grants: Grants::default(),
            attendance: spec.attendance.into(),
            brake: seat.brake.clone(),
            control,
            folders,
            keep: Arc::new(move |step, _call| {
                let link = Arc::clone(&step_link) as Arc<dyn openspace_grounding::GuardLink>;
                Arc::new(StoreKeep::new(store.clone(), of_run.clone(), step, link))
            }),
            pictures,
            screen,
            external: heard,
            nonce: nonce()?,
            max_reply_tokens: self.values().model.max_reply_tokens,
        };
        let outcome = drive(parts, state).await?;
        seat.rests();
        // At once: what else is to be put away takes its time. Who fails here tries again below.
        match self.finish(fence, &outcome).await {
            Err(error @ openspace_store::Error::LostRun { .. }) => return Err(error.into()),
            Err(error) => tracing::warn!(%error, "storing how a run ended"),
            Ok(()) => {}
        }
        Ok(outcome)
    }

    /// Hears a stop until the run is driven, which takes long where a model does not answer or a
    /// display does not come. Ends when the run belongs to somebody else, with what to say then.
    async fn hear_stop(&self, seat: &Seat) -> Failure {
        let mut watch = None;
        loop {
            let heard = match &mut watch {
                Some(watch) => CommandWatch::poll(watch),
                None => CommandWatch::new(&self.store, &seat.fence).map(|opened| {
                    watch = Some(opened);
                    Vec::new()
                }),
            };
            match heard {
                Ok(commands) => {
                    let stops = commands.into_iter().find(|it| it.kind == CommandKind::Stop);
                    if let Some(stop) = stops {
                        seat.brake.pull();
                        self.acknowledge(&seat.fence, stop.id);
                    }
                }
                Err(error @ openspace_store::Error::LostRun { .. }) => return error.into(),
                Err(error) => {
                    tracing::warn!(%error, "looking for commands");
                    watch = None;
                }
            }
            tokio::time::sleep(COMMAND_POLL).await;
        }
    }

    /// Says that a command was heard, while what it asks for goes on.
    fn acknowledge(&self, fence: &Fence, command: i64) {
        let (store, fence) = (self.store.clone(), fence.clone());
        tokio::spawn(async move {
            let acknowledged = store.call(move |db| db.commands().acknowledge(&fence, command));
            if let Err(error) = acknowledged.await {
                tracing::warn!(%error, "acknowledging a command");
            }
        });
    }

    async fn check(&self, model: &dyn ChatModel, source: &KeySource) -> Result<()> {
        let cancel = tokio_util::sync::CancellationToken::new();
        match tokio::time::timeout(CHECK_LIMIT, model.check(&cancel)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error @ openspace_llm::Error::Authentication { .. })) => {
                Err(Failure::from(error).hint(refused_key(&model.profile().name, source)))
            }
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(Failure::new(
                Code::Model,
                format!(
                    "`{}` did not answer within {} s",
                    model.profile().name,
                    CHECK_LIMIT.as_secs()
                ),
            )
            .retryable()),
        }
    }

    async fn note(&self, fence: &Fence, kind: &'static str, failure: &Failure) {
        let fence = fence.clone();
        let payload = serde_json::to_value(failure).unwrap_or_default();
        let event = openspace_store::NewEvent::of_run(fence.run(), kind, payload);
        if let Err(error) = self
            .store
            .call(move |db| db.events().append_fenced(&fence, event))
            .await
        {
            tracing::warn!(%error, "noting why there is no screen");
        }
    }

    /// Where the files of a run may be.
    pub(crate) fn folders(&self, spec: &RunSpec, scratch: PathBuf) -> Folders {
        let values = self.values();
        Folders {
            workspace: spec.workspace.clone(),
            allowed: allowed_folders(&values.policy.folders, &spec.attachments),
            protected: protected_paths(&self.paths, &values.policy.protected),
            scratch,
        }
    }

    /// What a run may do.
    pub(crate) fn policy(
        &self,
        run: &Run,
        spec: &RunSpec,
        folders: &Arc<Folders>,
    ) -> Result<Policy> {
        let values = self.values();
        let values = &values.policy;
        let mut inputs = PolicyInputs::new(Arc::clone(folders), self.paths.home.clone());
        inputs.preset = values.preset.parse().map_err(|error: InvalidPreset| {
            Failure::new(
                Code::Configuration,
                format!("the setting `policy.preset`: {error}"),
            )
        })?;
        inputs.origin = origin(&run.origin);
        inputs.sandbox = Support::detect().is_enforced();
        for (texts, effect) in [
            (&values.allow, RuleEffect::Allow),
            (&values.deny, RuleEffect::Deny),
        ] {
            for text in texts {
                let scope = text.parse().map_err(|error: InvalidRule| {
                    Failure::new(
                        Code::Configuration,
                        format!("a rule in the settings under `policy`: {error}"),
                    )
                })?;
                inputs.rules.push(Rule { effect, scope });
            }
        }
        for row in self.store.read_blocking(|db| db.rules().list())? {
            let scope = row.pattern.parse().map_err(|error: InvalidRule| {
                Failure::new(
                    Code::Store,
                    format!("rule {} cannot be read: {error}", row.id),
                )
            })?;
            let effect = match row.decision {
                RuleDecision::Allow => RuleEffect::Allow,
                RuleDecision::Deny => RuleEffect::Deny,
            };
            inputs.rules.push(Rule { effect, scope });
        }
        let preset = spec.preset.parse().map_err(|error: InvalidPreset| {
            Failure::new(Code::InvalidRequest, error.to_string())
        })?;
        let asked = spec.allow.iter().map(|text| text.parse::<Rule>());
        let asked = asked
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(|error| Failure::new(Code::InvalidRequest, error.to_string()))?;
        Ok(Policy::new(inputs.with_request(Some(preset), asked)))
    }

    fn shell_options(&self, variables: Vec<(String, String)>) -> openspace_shell::Options {
        // Programs that are opened must find the run's display, not that of whoever asked for the run.
        let mut environment = self.environment.clone();
        for name in [
            "DISPLAY",
            "WAYLAND_DISPLAY",
            "XAUTHORITY",
            "DBUS_SESSION_BUS_ADDRESS",
        ] {
            environment.remove(name);
        }
        for (name, value) in variables {
            environment.insert(name, value);
        }
        let environment = environment
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        openspace_shell::Options::new(&self.paths.home, environment.collect())
    }

    /// Tells the run when the person moves the mouse or presses a key themselves while it has control.
    #[cfg(target_os = "linux")]
    fn watch_human(
        &self,
        open: &OpenDisplay,
        external: mpsc::UnboundedSender<Event>,
        control: Arc<Announced<DisplayLock>>,
    ) -> Option<openspace_gui::platform::HumanWatch> {
        let stops = match self.values().screen.human_input.as_str() {
            "ignore" => return None,
            "stop" => true,
            _ => false,
        };
        if !open.pids.is_empty() {
            // Nobody sits at a display of its own.
            return None;
        }
        let heard = move |_input| {
            // Until then the mouse is the person's alone.
            if control.has_begun() {
                let _gone = external.send(Event::Hand { stops });
            }
        };
        let watch = openspace_gui::platform::HumanWatch::start(
            &open.platform.display_name,
            open.authority.as_deref(),
            heard,
        );
        match watch {
            Ok(watch) => Some(watch),
            Err(error) => {
                tracing::warn!(%error, "physical input cannot be told apart here");
                None
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn watch_human(
        &self,
        _open: &OpenDisplay,
        _external: mpsc::UnboundedSender<Event>,
        _control: Arc<Announced<DisplayLock>>,
    ) -> Option<()> {
        None
    }
}

/// A run without a screen never controls one.
struct NoControl;

impl Control for NoControl {
    fn try_acquire(&self) -> std::io::Result<bool> {
        Ok(true)
    }

    fn release(&self) {}
}

/// Where a task came from, as surfaces name themselves.
pub(crate) fn origin(name: &str) -> Origin {
    match name.split(':').next().unwrap_or_default() {
        "app" => Origin::App,
        "cli" | "demo" => Origin::Cli,
        "channel" => Origin::Channel,
        // Whatever we do not know gets the least.
        _ => Origin::Host,
    }
}

fn nonce() -> Result<u64> {
    getrandom::u64()
        .map_err(|error| Failure::new(Code::Internal, format!("no randomness: {error}")))
}

/// The system as a person names it.
fn operating_system() -> String {
    let pretty = std::fs::read_to_string("/etc/os-release")
        .ok()
        .and_then(|text| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
            Some(line.trim_matches('"').to_owned())
        });
    pretty.unwrap_or_else(|| std::env::consts::OS.to_owned())
}

/// Who shows a window on the run's screen: those programs are known to be graphical.
fn window_owners(screen: Arc<dyn openspace_gui::Screen>) -> openspace_shell::desktop::WindowOwners {
    Arc::new(move || match screen.windows() {
        Ok(windows) => windows.iter().filter_map(|window| window.pid).collect(),
        Err(error) => {
            tracing::warn!(%error, "asking for the windows of the screen");
            Vec::new()
        }
    })
}
