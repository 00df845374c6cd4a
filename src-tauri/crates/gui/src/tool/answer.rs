//! What a call gives back: words, at most one picture of the whole screen, closer looks, a record.

use std::sync::Arc;

use openspace_grounding::{
    Block, CallContext, Evidence, FrameId, Image, NewFrame, Output, ToolError,
};
use serde_json::{Value, json};

use super::{Shared, Wanted};
use crate::{
    GuiError,
    action::ComputerAction,
    record::{CallRecord, StepRecord},
    session::Done,
};

/// Version of [`CallRecord`].
const RECORD: u32 = 1;

/// What gathers while the actions of a call are done.
pub(super) struct Answer {
    batch: bool,
    only_looked: bool,
    texts: Vec<String>,
    zooms: Vec<(Image, Value)>,
    steps: Vec<StepRecord>,
    seen: bool,
    changed: Option<bool>,
    stuck: bool,
    done: usize,
    before: Option<u64>,
    regions: Vec<Value>,
}

impl Answer {
    pub(super) fn new(wanted: &Wanted, batch: bool) -> Self {
        let geometry = wanted.base.as_ref();
        let region = |action: &ComputerAction| match action {
            ComputerAction::Zoom { region } => json!({"frame": geometry, "region": region}),
            _ => Value::Null,
        };
        Self {
            batch,
            only_looked: !wanted.actions.iter().any(ComputerAction::is_control),
            texts: Vec::new(),
            zooms: Vec::new(),
            steps: Vec::new(),
            seen: false,
            changed: None,
            stuck: false,
            done: 0,
            before: geometry.map(|geometry| geometry.generation),
            regions: wanted.actions.iter().map(region).collect(),
        }
    }

    /// Nothing was done yet.
    pub(super) fn is_empty(&self) -> bool {
        self.done == 0
    }

    pub(super) fn add(&mut self, index: usize, done: Done) {
        let prefix = if self.batch {
            format!("Action {}: ", index + 1)
        } else {
            String::new()
        };
        self.texts
            .extend(done.texts.iter().map(|text| format!("{prefix}{text}")));
        if let Some(image) = done.zoom {
            let region = self.regions.get(index).cloned().unwrap_or_default();
            self.zooms.push((image, region));
        }
        self.steps.extend(done.record);
        self.seen = done.seen;
        if let Some(changed) = done.changed {
            self.changed = Some(changed || self.changed.unwrap_or(false));
        }
        self.stuck |= done.stuck;
        self.done += 1;
    }

    pub(super) async fn finish(
        mut self,
        shared: &Arc<Shared>,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        // A batch that ends with a closer look or a question still shows the whole screen.
        if self.batch && !self.seen {
            let looked = shared
                .blocking(|session| session.look().map(|_| ()))
                .await?;
            looked?;
            self.seen = true;
        }
        let is_error = self.stuck;
        self.into_output(shared, context, is_error).await
    }

    /// The call could not be finished, but part of it happened: what, why not, and the screen now.
    pub(super) async fn broken(
        mut self,
        shared: &Arc<Shared>,
        context: &CallContext,
        index: usize,
        reason: &str,
    ) -> Result<Output, ToolError> {
        if self.batch {
            self.texts.push(format!(
                "Action {} failed, {} before it were done and the rest was not: {reason}",
                index + 1,
                self.done
            ));
        } else {
            self.texts.push(reason.to_owned());
        }
        let record = std::mem::take(&mut self.steps);
        let text = self.texts.join("\n");
        fresh(shared, context, text, Some(record)).await
    }

    async fn into_output(
        self,
        shared: &Arc<Shared>,
        context: &CallContext,
        is_error: bool,
    ) -> Result<Output, ToolError> {
        let mut output = Output {
            is_error,
            record: record(self.steps),
            ..Output::default()
        };
        let mut texts = self.texts;
        let mut pictures = Vec::new();
        if self.seen {
            let shown = Shown::keep(shared, context).await?;
            if self.only_looked {
                texts.splice(0..0, shown.notes.iter().cloned());
            }
            let moved = self.before.is_none() || shown.fresh;
            output.evidence.push(Evidence::Frame {
                frame: shown.frame.clone(),
                changed: self.changed.unwrap_or(moved),
            });
            pictures.push((shown.image, Some(shown.frame)));
        }
        for (image, geometry) in self.zooms {
            let frame = NewFrame {
                hash: blake3::hash(&image.data).to_hex().to_string(),
                display: display(&geometry),
                image: image.clone(),
                geometry,
            };
            let frame = context.keep.frame(frame).await?;
            pictures.push((image, Some(frame)));
        }
        if texts.is_empty() && (pictures.is_empty() || !shared.vision) {
            texts.push("Done.".into());
        }
        if !texts.is_empty() {
            output.blocks.push(Block::Text(texts.join("\n")));
        }
        if shared.vision {
            let images = pictures.into_iter();
            output
                .blocks
                .extend(images.map(|(image, frame)| Block::Image { image, frame }));
        }
        Ok(output)
    }
}

fn display(geometry: &Value) -> String {
    geometry["frame"]["monitor"]["name"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn record(steps: Vec<StepRecord>) -> Option<Value> {
    if steps.is_empty() {
        return None;
    }
    let record = CallRecord {
        version: RECORD,
        steps,
    };
    serde_json::to_value(record).ok()
}

/// The current frame, kept.
struct Shown {
    frame: FrameId,
    image: Image,
    notes: Vec<String>,
    /// It was not kept before, so its pixels differ from those of the last one.
    fresh: bool,
}

impl Shown {
    async fn keep(shared: &Arc<Shared>, context: &CallContext) -> Result<Self, ToolError> {
        let found = shared
            .blocking(|session| {
                session.frame().map(|frame| {
                    let new = NewFrame {
                        image: frame.image.clone(),
                        display: frame.geometry.monitor.name.clone(),
                        geometry: serde_json::to_value(&frame.geometry).unwrap_or_default(),
                        hash: frame.hash.clone(),
                    };
                    (new, frame.id.clone(), frame.notes.clone())
                })
            })
            .await?;
        let (new, known, notes) =
            found.ok_or_else(|| ToolError::Failed("there is no picture of the screen".into()))?;
        let image = new.image.clone();
        let fresh = known.is_none();
        let frame = if let Some(frame) = known {
            frame
        } else {
            let frame = context.keep.frame(new).await?;
            let kept = frame.clone();
            shared.blocking(move |session| session.kept(kept)).await?;
            frame
        };
        Ok(Self {
            frame,
            image,
            notes,
            fresh,
        })
    }
}

/// An error the model can act on at once: the reason and the screen as it is now. The text begins as
/// that of [`ToolError::Stale`] when nothing was done.
pub(super) async fn fresh(
    shared: &Arc<Shared>,
    context: &CallContext,
    reason: String,
    steps: Option<Vec<StepRecord>>,
) -> Result<Output, ToolError> {
    let text = match steps {
        None => ToolError::Stale(reason).to_string(),
        Some(_) => reason,
    };
    let looked: Result<(), GuiError> = shared
        .blocking(|session| session.look().map(|_| ()))
        .await?;
    if let Err(error) = looked {
        // Without a picture the reason still has to arrive.
        return Err(ToolError::Stale(format!("{text}; and {error}")));
    }
    let shown = Shown::keep(shared, context).await?;
    let mut output = Output::text(text);
    output.is_error = true;
    output.record = record(steps.unwrap_or_default());
    output.evidence.push(Evidence::Frame {
        frame: shown.frame.clone(),
        changed: shown.fresh,
    });
    if shared.vision {
        output.blocks.push(Block::Image {
            image: shown.image,
            frame: Some(shown.frame),
        });
    }
    Ok(output)
}
