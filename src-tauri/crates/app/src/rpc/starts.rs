//! Starting runs, and telling them what to do.

use std::path::PathBuf;

use openspace_store::{CommandKind, Enqueued};

use super::{Call, Nothing, choice, payload, run_detail::LimitsView, runs::RunRequestById};
use crate::{Code, Display, Failure, RunRequest, SpecAttendance, Words, failure::Result};

/// Longest task or message, bytes: more than anybody writes, less than what would choke a model.
const LONGEST: usize = 200_000;

payload! {
    /// What a run is to do. What is left out follows from the settings.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct RunStartRequest {
        /// In the person's words.
        pub task: String,
        /// The conversation to go on in.
        #[serde(default)]
        pub session: Option<String>,
        /// `provider/model`
        #[serde(default)]
        pub model: Option<String>,
        /// Back ends offered.
        #[serde(default)]
        pub backends: Option<Vec<String>>,
        /// Folder to work in.
        #[serde(default)]
        pub workspace: Option<String>,
        /// How far it may go.
        #[serde(default)]
        pub limits: Option<LimitsView>,
        /// How much is asked.
        #[serde(default)]
        pub preset: Option<String>,
        /// Rules granted for this run.
        #[serde(default)]
        pub allow: Vec<String>,
        /// `private`, or the name of a display; the person's own without it.
        #[serde(default)]
        pub display: Option<String>,
        /// Which monitor.
        #[serde(default)]
        pub monitor: Option<String>,
        /// Files given along.
        #[serde(default)]
        pub attachments: Vec<String>,
        /// The same request again is the same run.
        #[serde(default)]
        pub idempotency_key: Option<String>,
    }

    /// A queued run.
    pub struct RunStarted {
        /// Its id.
        pub run: String,
        /// Its task.
        pub task: String,
        /// Its conversation.
        pub session: String,
    }

    /// Goes on with a run.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct RunContinueRequest {
        /// Its id.
        pub run: String,
        /// What to tell it, such as the answer to its question.
        #[serde(default)]
        pub message: Option<String>,
        /// Another limit of steps.
        #[serde(default)]
        pub max_steps: Option<u32>,
    }

    /// Tells a run something.
    #[cfg_attr(test, ts(optional_fields))]
    pub struct RunCommandRequest {
        /// Its id.
        pub run: String,
        /// What.
        pub command: RunCommand,
        /// The words of a message, or what was done while the person drove.
        #[serde(default)]
        pub text: Option<String>,
    }

    /// Takes words back.
    pub struct MessageWithdrawRequest {
        /// The message.
        #[cfg_attr(test, ts(type = "number"))]
        pub message: i64,
    }

    /// What became of it.
    pub struct MessageWithdrawn {
        /// The words; null when the run has heard them already.
        pub text: Option<String>,
    }

    /// What was stopped.
    pub struct StoppedRuns {
        /// Their ids.
        pub runs: Vec<String>,
    }
}

choice! {
    /// What a run can be told.
    pub enum RunCommand {
        /// Rest.
        Pause,
        /// Go on.
        Resume,
        /// The person drives.
        TakeOver,
        /// The run drives again.
        HandBack,
        /// Words.
        Message,
    }
}

impl Call<'_> {
    pub(super) async fn run_start(&self, request: RunStartRequest) -> Result<RunStarted> {
        self.app.refuse_runs("start runs of its own")?;
        let request = self.request(request)?;
        let queued = self.app.enqueue(&request).await?;
        self.app.ensure_runner().await?;
        Ok(queued.into())
    }

    pub(super) async fn run_retry(&self, request: RunRequestById) -> Result<RunStarted> {
        self.app.refuse_runs("start runs of its own")?;
        let run = self.app.find_run(&request.run).await?;
        let queued = self
            .app
            .store
            .call(move |db| db.runs().enqueue_again(&run.task))
            .await?;
        self.app.ensure_runner().await?;
        Ok(queued.into())
    }

    pub(super) async fn run_continue(&self, request: RunContinueRequest) -> Result<Nothing> {
        self.app.refuse_runs("continue runs")?;
        if let Some(message) = &request.message {
            check_length(message)?;
        }
        let run = self.app.find_run(&request.run).await?;
        let from = self.caller.name();
        let words = request.message.map(|text| Words {
            text,
            from: from.to_owned(),
            key: None,
        });
        self.app
            .queue_again(&run.id, words, request.max_steps, SpecAttendance::Waits)
            .await?;
        self.app.ensure_runner().await?;
        Ok(Nothing {})
    }

    pub(super) async fn run_command(&self, request: RunCommandRequest) -> Result<Nothing> {
        self.app.refuse_runs("tell runs what to do")?;
        let kind = match request.command {
            RunCommand::Pause => CommandKind::Pause,
            RunCommand::Resume => CommandKind::Resume,
            RunCommand::TakeOver => CommandKind::TakeOver,
            RunCommand::HandBack => CommandKind::HandBack,
            RunCommand::Message => CommandKind::Message,
        };
        let text = request.text.filter(|text| !text.trim().is_empty());
        if kind == CommandKind::Message && text.is_none() {
            return Err(Failure::new(Code::InvalidRequest, "the message is empty"));
        }
        if let Some(text) = &text {
            check_length(text)?;
        }
        let run = self.app.find_run(&request.run).await?;
        self.app
            .command(&run.id, kind, text, self.caller.name())
            .await?;
        Ok(Nothing {})
    }

    pub(super) async fn run_message_withdraw(
        &self,
        request: MessageWithdrawRequest,
    ) -> Result<MessageWithdrawn> {
        self.app.refuse_runs("take back what was said to a run")?;
        let text = self
            .app
            .store
            .call(move |db| db.commands().withdraw(request.message))
            .await?;
        Ok(MessageWithdrawn { text })
    }

    pub(super) async fn run_stop(&self, request: RunRequestById) -> Result<Nothing> {
        let run = match request.run.parse() {
            // Before anything that may wait or fail.
            Ok(run) if self.app.own_runs.stop(&run).is_some() => run,
            Ok(_) | Err(_) => self.app.find_run(&request.run).await?.id,
        };
        self.app.stop(&run, self.caller.name()).await?;
        Ok(Nothing {})
    }

    pub(super) async fn runs_stop_all(&self, _: Nothing) -> Result<StoppedRuns> {
        let runs = self.app.stop_all(self.caller.name()).await?;
        Ok(StoppedRuns {
            runs: runs.iter().map(ToString::to_string).collect(),
        })
    }

    pub(super) fn request(&self, request: RunStartRequest) -> Result<RunRequest> {
        check_length(&request.task)?;
        let home = self.app.paths.home.clone();
        let path = |text: &String| from_home(&self.app.paths.home, text);
        Ok(RunRequest {
            task: request.task,
            session: request.session,
            origin: "app".to_owned(),
            idempotency_key: request.idempotency_key,
            model: request.model.filter(|model| !model.trim().is_empty()),
            backends: request.backends,
            workspace: request.workspace.as_ref().map(path),
            folder: home,
            limits: request.limits.map(Into::into).unwrap_or_default(),
            preset: request.preset,
            allow: request.allow,
            display: Display::parse(request.display.as_deref()),
            monitor: request.monitor,
            attendance: SpecAttendance::Waits,
            attachments: request.attachments.iter().map(path).collect(),
        })
    }
}

/// A path as a person writes it: `~` is the home folder.
pub(crate) fn from_home(home: &std::path::Path, text: &str) -> PathBuf {
    match text.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with(['/', '\\']) => home.join(&rest[1..]),
        _ => PathBuf::from(text),
    }
}

pub(super) fn check_length(text: &str) -> Result<()> {
    if text.len() > LONGEST {
        return Err(Failure::new(
            Code::InvalidRequest,
            format!("the text is longer than {LONGEST} bytes"),
        )
        .hint("put it into a file and attach that"));
    }
    Ok(())
}

impl From<Enqueued> for RunStarted {
    fn from(queued: Enqueued) -> Self {
        Self {
            run: queued.run.to_string(),
            task: queued.task.to_string(),
            session: queued.session.to_string(),
        }
    }
}
