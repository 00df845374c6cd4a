//! Running the calls of one turn.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::{FutureExt as _, future::join_all};
use openspace_grounding::{
    Action, Block, CallContext, Evidence, Folders, Keep, Output, Tool, ToolError, ToolRegistry,
    untrusted,
};
use openspace_llm::{Content, ToolCall};
use openspace_store::{Fence, NewEvent, Store};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    CallResult, Event,
    gate::{CallGate, Permitted, Shared},
    prompts,
    transcript::{PictureSource, Pictures},
};

/// Makes the [`Keep`] of one call, so that what is kept knows its step.
pub type KeepForCall = Arc<dyn Fn(u32, &str) -> Arc<dyn Keep> + Send + Sync>;

/// What the calls of a run share.
pub(crate) struct Calls {
    pub(crate) shared: Arc<Shared>,
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) folders: Arc<Folders>,
    pub(crate) keep: KeepForCall,
    pub(crate) pictures: Arc<Mutex<Pictures>>,
    /// Marks untrusted text in a way that the text cannot imitate.
    pub(crate) nonce: u64,
}

impl Calls {
    /// Runs the calls of a turn: neighbours that are not exclusive together, exclusive ones alone,
    /// and reports each as it ends. What follows on the screen builds on what came before, so once an
    /// action there has failed, the later ones of the turn are not carried out.
    pub(crate) async fn run(&self, step: u32, calls: Vec<ToolCall>) {
        let exclusive = |call: &ToolCall| {
            self.tools
                .get(&call.name)
                .is_some_and(|tool| tool.spec().exclusive)
        };
        let mut together = Vec::new();
        let mut halted = false;
        for call in &calls {
            if exclusive(call) {
                join_all(together.drain(..).map(|call| self.one(step, call))).await;
                let on_screen = self.is_on_screen(call);
                if halted && on_screen {
                    self.skip(step, call).await;
                } else {
                    let failed = self.one(step, call).await;
                    halted |= failed && on_screen;
                }
            } else {
                together.push(call);
            }
        }
        join_all(together.into_iter().map(|call| self.one(step, call))).await;
    }

    /// Answers a call that is not carried out.
    async fn skip(&self, step: u32, call: &ToolCall) {
        self.tell(
            "step.call_finished",
            json!({
                "step": step,
                "call": call.id,
                "tool": call.name,
                "error": true,
                "failure": "not_executed",
                "message": NOT_EXECUTED,
                "ms": 0,
                "evidence": [],
            }),
        )
        .await;
        let _gone = self.shared.events.send(Event::CallFinished(CallResult {
            call: call.id.clone(),
            content: vec![Content::Text(NOT_EXECUTED.to_owned())],
            is_error: true,
            evidence: Vec::new(),
            visible_change: None,
        }));
    }

    /// Carries out one call; whether it failed.
    async fn one(&self, step: u32, call: &ToolCall) -> bool {
        let started = std::time::Instant::now();
        self.tell(
            "step.call_started",
            json!({ "step": step, "call": call.id, "tool": call.name, "arguments": call.input }),
        )
        .await;
        let mut edited = None;
        let result = self.perform(step, call, &mut edited).await;
        let (output, failure) = match result {
            Ok(output) => (output, None),
            Err(error) => (failed(&error), Some(error)),
        };
        self.note_changes(&output).await;
        let visible_change = output
            .evidence
            .iter()
            .rev()
            .find_map(|evidence| match evidence {
                Evidence::Frame { changed, .. } => Some(*changed),
                Evidence::File { .. } | Evidence::Command { .. } => None,
            });
        let acts = self.acts_on_screen(call);
        // What a slow program does is seen by the next look only.
        let effect = visible_change.filter(|changed| acts || *changed);
        self.tell(
            "step.call_finished",
            json!({
                "step": step,
                "call": call.id,
                "tool": call.name,
                "error": output.is_error,
                "failure": failure.as_ref().map(kind_of),
                "message": failure.as_ref().map(ToString::to_string),
                "ms": u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
                "evidence": output.evidence,
                "visibleChange": visible_change.filter(|_| acts),
                "record": output.record,
            }),
        )
        .await;
        let mut content = self.content(&call.name, &output);
        if let Some(line) = edited {
            content.insert(0, Content::Text(prompts::edited(&line)));
        }
        let failed = output.is_error;
        let _gone = self.shared.events.send(Event::CallFinished(CallResult {
            call: call.id.clone(),
            content,
            is_error: output.is_error,
            evidence: output.evidence,
            visible_change: effect,
        }));
        failed
    }

    fn is_on_screen(&self, call: &ToolCall) -> bool {
        self.tools
            .get(&call.name)
            .is_some_and(|tool| tool.spec().backend == "gui")
    }

    /// How changed files were left: undo brings back only what nobody has touched since.
    async fn note_changes(&self, output: &Output) {
        for evidence in &output.evidence {
            let Evidence::File { undo: Some(id), .. } = evidence else {
                continue;
            };
            let (fence, id) = (self.shared.fence.clone(), id.clone());
            let noted = self
                .shared
                .store
                .spawn(move |store| store.note_left(&fence, &id).map(drop));
            if let Err(error) = noted.await {
                tracing::warn!(%error, "noting how a changed file was left; it cannot be undone");
            }
        }
    }

    /// Looking is not expected to change anything.
    fn acts_on_screen(&self, call: &ToolCall) -> bool {
        let looks = [
            "screenshot",
            "zoom",
            "cursor_position",
            "wait",
            "mouse_move",
            "clipboard_read",
            "clipboard_write",
        ];
        let action = call.input.get("action").and_then(Value::as_str);
        self.is_on_screen(call)
            && !action.is_some_and(|action| looks.contains(&action))
            && call.name != "accessibility_tree"
    }

    /// `edited` becomes the command line that a person allowed in place of the call's own.
    async fn perform(
        &self,
        step: u32,
        call: &ToolCall,
        edited: &mut Option<String>,
    ) -> Result<Output, ToolError> {
        if let Some(text) = &call.malformed {
            let beginning: String = text.chars().take(200).collect();
            return Err(ToolError::InvalidArguments(format!(
                "the arguments are not valid JSON: {beginning}"
            )));
        }
        let Some(tool) = self.tools.get(&call.name) else {
            let names: Vec<_> = self
                .tools
                .definitions()
                .into_iter()
                .map(|tool| tool.name)
                .collect();
            return Err(ToolError::NotFound(format!(
                "there is no tool `{}`; there are {}",
                call.name,
                names.join(", ")
            )));
        };
        let cancel: CancellationToken = self.shared.cancel.child_token();
        let gate = Arc::new(CallGate {
            shared: Arc::clone(&self.shared),
            step,
            call: call.id.clone(),
        });
        let context = CallContext {
            run: self.shared.fence.run().clone(),
            step,
            call: call.id.clone(),
            cancel: cancel.clone(),
            gate: Arc::clone(&gate) as Arc<dyn openspace_grounding::Gate>,
            keep: (self.keep)(step, &call.id),
            folders: Arc::clone(&self.folders),
        };
        let work = async {
            let actions = tool.actions(&call.input, &context).await?;
            let editable = is_one_command(tool.as_ref(), &call.input, &actions);
            let line = match gate.permit_call(&actions, editable).await? {
                Permitted::AsAsked(permit) => {
                    return tool.call(call.input.clone(), permit, &context).await;
                }
                Permitted::Edited(line) => line,
            };
            let input = tool.with_command(&call.input, &line);
            *edited = Some(line);
            let input = input.ok_or_else(|| ToolError::InvalidArguments(NO_COMMAND.to_owned()))?;
            self.tell(
                "step.call_edited",
                json!({ "step": step, "call": call.id, "tool": call.name, "arguments": input }),
            )
            .await;
            let actions = tool.actions(&input, &context).await?;
            let permit = gate.permit_edited(&actions)?;
            tool.call(input, permit, &context).await
        };
        // A tool that panics must not take the run with it.
        match std::panic::AssertUnwindSafe(work).catch_unwind().await {
            Ok(result) => result,
            Err(_panic) => Err(ToolError::Failed(format!(
                "the tool `{}` failed inside; the fault is logged",
                call.name
            ))),
        }
    }

    fn content(&self, source: &str, output: &Output) -> Vec<Content> {
        let block = |block: &Block| match block {
            Block::Text(text) => Content::Text(untrusted::marked(source, text, self.nonce)),
            Block::Json(value) => {
                Content::Text(untrusted::marked(source, &value.to_string(), self.nonce))
            }
            Block::Resource { uri, text, .. } => Content::Text(untrusted::marked(
                source,
                text.as_deref().unwrap_or(uri),
                self.nonce,
            )),
            Block::Image { image, frame } => {
                if let Some(frame) = frame {
                    self.pictures
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(image, PictureSource::Frame(frame.clone()));
                }
                Content::Image(image.clone())
            }
        };
        let content: Vec<_> = output.blocks.iter().map(block).collect();
        if content.is_empty() {
            vec![Content::Text("(no output)".to_owned())]
        } else {
            content
        }
    }

    async fn tell(&self, kind: &'static str, payload: Value) {
        tell(&self.shared.store, &self.shared.fence, kind, payload).await;
    }
}

/// Tells everybody what happens in a run. A failure to tell is logged: the next write that matters
/// meets the same trouble and reports it.
pub(crate) async fn tell(store: &Store, fence: &Fence, kind: &'static str, payload: Value) {
    let fence = fence.clone();
    let event = NewEvent::of_run(fence.run(), kind, payload);
    let told = store
        .call(move |db| db.events().append_fenced(&fence, event))
        .await;
    if let Err(error) = told {
        tracing::warn!(%error, kind, "telling what happened in a run");
    }
}

/// Whether a call is a single command line that another one can take the place of.
fn is_one_command(tool: &dyn Tool, input: &Value, actions: &[Action]) -> bool {
    matches!(actions, [Action::Command(command)] if tool.with_command(input, &command.line).is_some())
}

const NO_COMMAND: &str = "the call takes no command";

/// What the hosted computer toolset's documentation wants said, word for word.
const NOT_EXECUTED: &str = "Not executed: an earlier computer action in this turn failed.";

fn failed(error: &ToolError) -> Output {
    Output {
        is_error: true,
        ..Output::text(error.to_string())
    }
}

fn kind_of(error: &ToolError) -> &'static str {
    match error {
        ToolError::InvalidArguments(_) => "invalid_arguments",
        ToolError::NotFound(_) => "not_found",
        ToolError::Denied(_) => "denied",
        ToolError::Unavailable(_) => "unavailable",
        ToolError::Stale(_) => "stale",
        ToolError::Timeout(_) => "timeout",
        ToolError::Failed(_) => "failed",
        ToolError::Cancelled => "cancelled",
    }
}
