//! One run with everything that is known of it.

use openspace_store::{Artefact, Change, ChangeKind, Frame, Run};
use serde_json::Value;

use super::{
    ApprovalView, Call, Nothing, StoredEvent, payload,
    runs::{RunRequestById, RunSummary, UsageView, with_texts},
};
use crate::{App, Code, Display, Failure, Limits, RunSpec, failure::Result};

payload! {
    /// A run with everything that is known of it.
    pub struct RunDetail {
        /// Where it stands.
        pub run: RunSummary,
        /// What it was asked to do and with what.
        pub spec: SpecView,
        /// How far it may go.
        pub limits: LimitsView,
        /// Everything that happened, oldest first.
        pub events: Vec<StoredEvent>,
        /// Its pictures, oldest first.
        pub frames: Vec<FrameView>,
        /// Files it produced.
        pub artefacts: Vec<ArtefactView>,
        /// Files it changed.
        pub changes: Vec<ChangeView>,
        /// Its questions, answered ones too.
        pub approvals: Vec<ApprovalView>,
        /// What was said to it and has not been heard yet.
        pub waiting_messages: Vec<WaitingMessage>,
        /// Calls of the model.
        pub model_calls: Vec<ModelCallView>,
        /// How it came out, once it ended.
        #[cfg_attr(test, ts(type = "{ [value: string]: unknown } | null"))]
        pub outcome: Option<Value>,
        /// Earlier and later runs of its conversation, oldest first, itself included.
        pub conversation: Vec<RunSummary>,
        /// Newest event that is contained in it.
        #[cfg_attr(test, ts(type = "number"))]
        pub cursor: i64,
    }

    /// What shapes a run.
    pub struct SpecView {
        /// `provider/model`
        pub model: String,
        /// Back ends offered.
        pub backends: Vec<String>,
        /// Folder to work in.
        pub workspace: String,
        /// How much is asked.
        pub preset: String,
        /// Rules granted for this run.
        pub allow: Vec<String>,
        /// `session`, `private` or the name of a display.
        pub display: String,
        /// Which monitor of it.
        pub monitor: Option<String>,
        /// Files given along.
        pub attachments: Vec<String>,
    }

    /// How far a run may go; null where nothing binds.
    pub struct LimitsView {
        /// Turns of the model.
        pub steps: Option<u32>,
        /// Minutes of work.
        pub minutes: Option<f64>,
        /// Tokens.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub tokens: Option<u64>,
        /// US dollars.
        pub dollars: Option<f64>,
    }

    /// A picture of the screen.
    pub struct FrameView {
        /// Its id, for `/frames/ID`.
        pub id: String,
        /// The step it belongs to.
        pub step: u32,
        /// Pixels.
        pub width: u32,
        /// Pixels.
        pub height: u32,
        /// The display it shows.
        pub display: String,
        /// How its pixels lie on the screen.
        #[cfg_attr(test, ts(type = "{ [value: string]: unknown }"))]
        pub geometry: Value,
        /// The picture itself was removed to save space.
        pub pruned: bool,
        /// When, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number"))]
        pub at: i64,
    }

    /// A file a run produced.
    pub struct ArtefactView {
        /// Its id, for `/artefacts/ID`.
        pub id: String,
        /// The step it belongs to.
        pub step: u32,
        /// A name for a person.
        pub name: String,
        /// Its type.
        pub media_type: String,
        /// Its size.
        #[cfg_attr(test, ts(type = "number"))]
        pub bytes: u64,
        /// Where it is kept.
        pub path: String,
    }

    /// A file a run changed.
    pub struct ChangeView {
        /// Its id.
        pub id: String,
        /// The step it belongs to.
        pub step: u32,
        /// The file.
        pub path: String,
        /// What happened to it.
        #[cfg_attr(test, ts(type = "\"created\" | \"modified\" | \"deleted\""))]
        pub kind: ChangeKind,
        /// What it held before is kept.
        pub can_be_undone: bool,
        /// When it was undone.
        #[cfg_attr(test, ts(type = "number | null"))]
        pub undone_at: Option<i64>,
    }

    /// Something said to a run.
    pub struct WaitingMessage {
        /// Its id.
        #[cfg_attr(test, ts(type = "number"))]
        pub id: i64,
        /// The words.
        pub text: String,
        /// When, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number"))]
        pub at: i64,
    }

    /// One call of the model.
    pub struct ModelCallView {
        /// The step it made.
        pub step: u32,
        /// The model.
        pub model: String,
        /// What it used.
        pub usage: UsageView,
        /// How long it took.
        pub milliseconds: u32,
        /// What went wrong.
        pub error: Option<String>,
        /// When, Unix milliseconds.
        #[cfg_attr(test, ts(type = "number"))]
        pub at: i64,
    }

    /// Asks for what a call answered.
    pub struct CallOutputRequest {
        /// The run.
        pub run: String,
        /// The model's id of the call.
        pub call: String,
    }

    /// What a call answered.
    pub struct CallOutput {
        /// Its text; null while there is none.
        pub text: Option<String>,
        /// The text was cut.
        pub more: bool,
    }

    /// Asks which calls answered with some words.
    pub struct CallsFindRequest {
        /// The run.
        pub run: String,
        /// The words, as one text; letters count the same in both sizes.
        pub words: String,
    }

    /// Calls whose whole answer holds the words.
    pub struct CallsFound {
        /// The model's ids of them.
        pub calls: Vec<String>,
    }

    /// Brings a file back.
    pub struct ChangeUndoRequest {
        /// Id of the change.
        pub change: String,
    }
}

impl Call<'_> {
    pub(super) async fn run_detail(&self, request: RunRequestById) -> Result<RunDetail> {
        let run = self.app.find_run(&request.run).await?;
        let id = run.id.clone();
        let session = run.session.clone();
        let detail = self
            .app
            .store
            .read(move |db| {
                let conversation = db.runs().list(&openspace_store::RunFilter {
                    session: Some(session),
                    limit: 100,
                    ..openspace_store::RunFilter::default()
                })?;
                Ok(Rows {
                    cursor: db.events().last_id()?,
                    events: db.events().of("run", id.as_str(), 0, u32::MAX)?,
                    frames: db.frames().of_run(&id)?,
                    artefacts: db.artefacts().of_run(&id)?,
                    changes: db.changes().of_run(&id)?,
                    approvals: db.approvals().of_run(&id)?,
                    waiting: db.commands().open(&id)?,
                    calls: db.model_calls().of_run(&id)?,
                    itself: with_texts(db, vec![db.runs().get(&id)?])?,
                    conversation: with_texts(db, conversation)?,
                })
            })
            .await?;
        self.app.detail(&run, detail)
    }

    pub(super) async fn call_output(&self, request: CallOutputRequest) -> Result<CallOutput> {
        const LONGEST: usize = 64 * 1024;
        let run = self.app.find_run(&request.run).await?;
        let messages = self
            .app
            .store
            .read(move |db| db.messages().of_run(&run.id))
            .await?;
        let text = messages
            .iter()
            .rev()
            .find_map(|message| result_text(&message.content, &request.call));
        let Some(mut text) = text else {
            return Ok(CallOutput {
                text: None,
                more: false,
            });
        };
        let more = text.len() > LONGEST;
        text.truncate(boundary(&text, LONGEST));
        Ok(CallOutput {
            text: Some(text),
            more,
        })
    }

    pub(super) async fn calls_find(&self, request: CallsFindRequest) -> Result<CallsFound> {
        let run = self.app.find_run(&request.run).await?;
        let words = request.words.trim().to_lowercase();
        if words.is_empty() {
            return Ok(CallsFound { calls: Vec::new() });
        }
        let messages = self
            .app
            .store
            .read(move |db| db.messages().of_run(&run.id))
            .await?;
        let searched = tokio::task::spawn_blocking(move || {
            let results = messages
                .iter()
                .flat_map(|message| results(&message.content));
            let fits = |result: &&Value| text_of(result).to_lowercase().contains(&words);
            results
                .filter(fits)
                .filter_map(|result| result.get("id")?.as_str().map(str::to_owned))
                .collect()
        });
        let calls = searched
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
        Ok(CallsFound { calls })
    }

    pub(super) async fn change_undo(&self, request: ChangeUndoRequest) -> Result<Nothing> {
        self.app.refuse_runs("undo changes")?;
        let id = request.change.parse().map_err(|_| {
            Failure::new(
                Code::InvalidRequest,
                format!("`{}` is not the id of a change", request.change),
            )
        })?;
        self.app.store.spawn(move |store| store.undo(&id)).await?;
        Ok(Nothing {})
    }
}

/// The longest length up to `longest` at which no character is cut.
fn boundary(text: &str, longest: usize) -> usize {
    (0..=longest.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

/// The answers to calls in a stored message.
fn results(content: &Value) -> impl Iterator<Item = &Value> {
    let pieces = content.as_array().map(Vec::as_slice).unwrap_or_default();
    pieces.iter().filter_map(|piece| piece.get("tool_result"))
}

/// The text of an answer.
fn text_of(result: &Value) -> String {
    let content = result.get("content").and_then(Value::as_array);
    let texts: Vec<_> = content
        .map(Vec::as_slice)
        .unwrap_or_default()
        .iter()
        .filter_map(|piece| piece.get("text")?.as_str())
        .collect();
    texts.join("\n")
}

/// The text of the answer to a call, in a stored message.
fn result_text(content: &Value, call: &str) -> Option<String> {
    results(content)
        .find(|result| result.get("id").and_then(Value::as_str) == Some(call))
        .map(text_of)
}

struct Rows {
    cursor: i64,
    events: Vec<openspace_store::Event>,
    frames: Vec<Frame>,
    artefacts: Vec<Artefact>,
    changes: Vec<Change>,
    approvals: Vec<openspace_store::Approval>,
    waiting: Vec<openspace_store::Command>,
    calls: Vec<openspace_store::ModelCall>,
    itself: Vec<super::runs::RunRow>,
    conversation: Vec<super::runs::RunRow>,
}

impl App {
    fn detail(&self, run: &Run, rows: Rows) -> Result<RunDetail> {
        let spec: RunSpec = serde_json::from_value(run.settings.clone()).map_err(|error| {
            Failure::new(
                Code::Store,
                format!("what run {} was asked for cannot be read: {error}", run.id),
            )
        })?;
        let limits: Limits = serde_json::from_value(run.limits.clone()).unwrap_or_default();
        let text = rows
            .itself
            .first()
            .map(|row| row.text.clone())
            .unwrap_or_default();
        let gone = || Failure::new(Code::NotFound, format!("there is no run {}", run.id));
        let mut conversation = self.summaries(rows.conversation);
        conversation.reverse();
        Ok(RunDetail {
            run: self
                .summaries(rows.itself)
                .into_iter()
                .next()
                .ok_or_else(gone)?,
            spec: spec.into(),
            limits: limits.into(),
            events: rows.events.into_iter().map(Into::into).collect(),
            frames: rows.frames.into_iter().map(Into::into).collect(),
            artefacts: rows
                .artefacts
                .into_iter()
                .map(|artefact| ArtefactView::new(artefact, &self.store))
                .collect(),
            changes: rows.changes.into_iter().map(Into::into).collect(),
            approvals: rows
                .approvals
                .iter()
                .map(|approval| ApprovalView::new(approval, &text, &run.origin))
                .collect::<Result<_>>()?,
            waiting_messages: rows.waiting.iter().filter_map(waiting).collect(),
            model_calls: rows.calls.into_iter().map(Into::into).collect(),
            outcome: run.outcome.clone(),
            conversation,
            cursor: rows.cursor,
        })
    }
}

fn waiting(command: &openspace_store::Command) -> Option<WaitingMessage> {
    let text = command.payload.get("text")?.as_str()?.to_owned();
    command.kind.is_said().then_some(WaitingMessage {
        id: command.id,
        text,
        at: command.given_at,
    })
}

impl From<RunSpec> for SpecView {
    fn from(spec: RunSpec) -> Self {
        Self {
            model: spec.model,
            backends: spec.backends,
            workspace: spec.workspace.display().to_string(),
            preset: spec.preset,
            allow: spec.allow,
            display: match spec.display {
                Display::Session => "session".to_owned(),
                Display::Private => "private".to_owned(),
                Display::Named(name) => name,
            },
            monitor: spec.monitor,
            attachments: spec
                .attachments
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
        }
    }
}

impl From<Limits> for LimitsView {
    fn from(limits: Limits) -> Self {
        Self {
            steps: limits.steps,
            minutes: limits.active_ms.map(|ms| ms as f64 / 60_000.0),
            tokens: limits.tokens,
            dollars: limits.cost,
        }
    }
}

impl From<LimitsView> for Limits {
    fn from(limits: LimitsView) -> Self {
        Self {
            steps: limits.steps,
            active_ms: limits.minutes.map(|minutes| (minutes * 60_000.0) as u64),
            tokens: limits.tokens,
            cost: limits.dollars,
        }
    }
}

impl From<Frame> for FrameView {
    fn from(frame: Frame) -> Self {
        Self {
            id: frame.id.to_string(),
            step: frame.step,
            width: frame.width,
            height: frame.height,
            display: frame.display,
            geometry: frame.geometry,
            pruned: frame.pruned,
            at: frame.at,
        }
    }
}

impl ArtefactView {
    fn new(artefact: Artefact, store: &openspace_store::Store) -> Self {
        Self {
            path: store.artefact_file(&artefact.id).display().to_string(),
            id: artefact.id.to_string(),
            step: artefact.step,
            name: artefact.name,
            media_type: artefact.media_type,
            bytes: artefact.bytes,
        }
    }
}

impl From<Change> for ChangeView {
    fn from(change: Change) -> Self {
        Self {
            id: change.id.to_string(),
            step: change.step,
            path: change.path.display().to_string(),
            kind: change.kind,
            can_be_undone: change.kind == ChangeKind::Created || change.before_hash.is_some(),
            undone_at: change.undone_at,
        }
    }
}

impl From<openspace_store::ModelCall> for ModelCallView {
    fn from(call: openspace_store::ModelCall) -> Self {
        Self {
            step: call.step,
            model: call.model,
            usage: call.usage.into(),
            milliseconds: call.milliseconds,
            error: call.error,
            at: call.at,
        }
    }
}
