//! The run that the demo made when it was recorded, with its pictures.

use anyhow::{Context as _, Result, bail};
use openspace_app::{Action, Decision, Question};
use openspace_grounding::{
    Folders, ShellCommand,
    policy::{Decision as Judgement, DiskPaths, Grants, Policy, PolicyInputs},
};
use openspace_store::{Answer, ApprovalId, Fence, NewApproval, RunStatus};
use serde::Deserialize;
use serde_json::Value;

use super::scene::{Asked, Scene};

/// Its events, milliseconds after the first, and what came of it.
const RECORDING: &str = include_str!("recorded/run.json");
/// What it saw, in the order in which the events name them.
pub(super) const PICTURES: [&[u8]; 7] = [
    include_bytes!("recorded/1.jpg"),
    include_bytes!("recorded/2.jpg"),
    include_bytes!("recorded/3.jpg"),
    include_bytes!("recorded/4.jpg"),
    include_bytes!("recorded/5.jpg"),
    include_bytes!("recorded/6.jpg"),
    include_bytes!("recorded/7.jpg"),
];

#[derive(Deserialize)]
struct Recording {
    task: String,
    outcome: Value,
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    at: i64,
    kind: String,
    payload: Value,
}

/// Names of pictures: those of the recording and those of the store.
struct Pictures(Vec<(String, String)>);

impl Pictures {
    /// Keeps the pictures that are seen for the first time.
    fn keep(&mut self, scene: &Scene, fence: &Fence, step: u32, payload: &Value) -> Result<()> {
        let evidence = payload["evidence"].as_array().into_iter().flatten();
        for recorded in evidence.filter_map(|seen| seen["frame"].as_str()) {
            if self.0.iter().all(|(known, _)| known != recorded) {
                let picture = PICTURES.get(self.0.len()).context("a picture too many")?;
                let kept = scene.keep_frame(fence, step, picture)?;
                self.0.push((recorded.to_owned(), kept.to_string()));
            }
        }
        Ok(())
    }

    /// The same text, about the pictures of the store.
    fn translate(&self, recorded: &Value) -> Result<Value> {
        let mut text = recorded.to_string();
        for (old, new) in &self.0 {
            text = text.replace(old, new);
        }
        Ok(serde_json::from_str(&text)?)
    }
}

/// The recorded run as if it had begun at a time, Unix milliseconds.
pub(super) fn plant(scene: &Scene, begin: i64) -> Result<()> {
    let recording: Recording = serde_json::from_str(RECORDING)?;
    scene.set_time(begin);
    let fence = scene.begin(&Asked {
        text: &recording.task,
        origin: "demo",
        model: "recorded/demo",
        backends: &["shell", "gui"],
    })?;
    let mut pictures = Pictures(Vec::new());
    let mut call = &Value::Null;
    let mut asked = None;
    for event in &recording.events {
        scene.set_time(begin + event.at);
        match event.kind.as_str() {
            // The store itself tells these, when it is asked for what they tell of.
            "run.status" => match event.payload["status"].as_str() {
                Some("running") => scene.set_status(&fence, RunStatus::Running)?,
                Some("needs_approval") => scene.set_status(&fence, RunStatus::NeedsApproval)?,
                Some("done") => {
                    let outcome = pictures.translate(&recording.outcome)?;
                    scene.finish(&fence, RunStatus::Done, None, &outcome)?;
                }
                _ => {}
            },
            "run.approval_asked" => {
                let command = text(&call["arguments"], "command");
                asked = Some(ask(scene, &fence, step(call), text(call, "call"), command)?);
            }
            "run.approval_answered" => answer(scene, asked.as_ref())?,
            kind => {
                let payload = &event.payload;
                pictures.keep(scene, &fence, step(payload), payload)?;
                if kind == "step.call_started" {
                    call = payload;
                    scene.store.call_blocking(|db| {
                        db.runs()
                            .set_step(&fence, step(payload), text(payload, "tool"))
                    })?;
                }
                scene.tell(&fence, kind, pictures.translate(payload)?)?;
            }
        }
    }
    Ok(())
}

fn step(payload: &Value) -> u32 {
    payload["step"].as_u64().unwrap_or_default() as u32
}

fn text<'a>(payload: &'a Value, name: &str) -> &'a str {
    payload[name].as_str().unwrap_or_default()
}

fn answer(scene: &Scene, asked: Option<&ApprovalId>) -> Result<()> {
    let id = asked.context("an answer without a question")?;
    let yes = Answer {
        decision: Decision::AllowOnce,
        edited: None,
        note: None,
    };
    scene
        .store
        .call_blocking(|db| db.approvals().answer(id, &yes, "app"))?;
    Ok(())
}

/// Asks what the policy would ask about a command, as a step waits for it.
pub(super) fn ask(
    scene: &Scene,
    fence: &Fence,
    step: u32,
    call: &str,
    command: &str,
) -> Result<ApprovalId> {
    let question = question(command)?;
    let new = NewApproval {
        step,
        call: call.to_owned(),
        question: serde_json::to_value(&question)?,
        risk: serde_json::to_value(question.risk)?
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        irreversible: !question.reversible,
        editable: true,
    };
    Ok(scene
        .store
        .call_blocking(|db| db.approvals().ask(fence, &new))?)
}

fn question(command: &str) -> Result<Question> {
    let folder = super::scene::WORKSPACE;
    let folders = Folders {
        workspace: folder.into(),
        allowed: Vec::new(),
        protected: Vec::new(),
        scratch: "/tmp".into(),
    };
    let policy = Policy::new(PolicyInputs {
        sandbox: true,
        paths: std::sync::Arc::new(DiskPaths),
        ..PolicyInputs::new(std::sync::Arc::new(folders), "/home/ana".into())
    });
    let action = Action::Command(ShellCommand {
        line: command.to_owned(),
        folder: folder.into(),
        sandboxed: true,
        network: false,
    });
    match policy.decide(&[action], &Grants::default()) {
        Judgement::Ask(question) => Ok(*question),
        other => bail!("`{command}` is no question: {other:?}"),
    }
}
