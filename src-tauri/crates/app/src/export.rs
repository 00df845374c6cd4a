//! A run as a folder anybody can read.

use std::{fs, io::Write as _, path::Path};

use openspace_store::Run;
use serde::Serialize;
use serde_json::json;

use crate::{App, Code, Failure, failure::Result};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Events of the run.
    pub events: usize,
    /// Pictures that were still kept.
    pub frames: usize,
    /// Files the run produced.
    pub artefacts: usize,
}

impl App {
    /// Writes a run into a folder that must not exist yet: `run.json`, `events.jsonl`,
    /// `messages.jsonl`, `frames/`, `artefacts/`.
    pub async fn export(&self, run: &Run, folder: &Path) -> Result<Exported> {
        let unusable = |error: std::io::Error| {
            Failure::new(
                Code::InvalidRequest,
                format!("cannot write into `{}`: {error}", folder.display()),
            )
        };
        fs::create_dir(folder).map_err(|error| {
            let failure = unusable(error);
            failure.hint("name a folder that does not exist yet, in one that does")
        })?;
        for sub in ["frames", "artefacts"] {
            fs::create_dir(folder.join(sub)).map_err(unusable)?;
        }
        let id = run.id.clone();
        let (events, messages, frames, artefacts, approvals, changes, calls) = self
            .store
            .read(move |db| {
                Ok((
                    db.events().of("run", id.as_str(), 0, u32::MAX)?,
                    db.messages().of_run(&id)?,
                    db.frames().of_run(&id)?,
                    db.artefacts().of_run(&id)?,
                    db.approvals().of_run(&id)?,
                    db.changes().of_run(&id)?,
                    db.model_calls().of_run(&id)?,
                ))
            })
            .await?;
        let about = json!({ "run": run, "frames": frames, "artefacts": artefacts, "approvals": approvals, "changes": changes.iter().map(change).collect::<Vec<_>>(), "modelCalls": calls });
        let text = serde_json::to_vec_pretty(&about).unwrap_or_default();
        fs::write(folder.join("run.json"), text).map_err(unusable)?;
        write_lines(&folder.join("events.jsonl"), &events).map_err(unusable)?;
        write_lines(&folder.join("messages.jsonl"), &messages).map_err(unusable)?;
        let mut exported = Exported {
            events: events.len(),
            frames: 0,
            artefacts: 0,
        };
        for frame in frames.iter().filter(|frame| !frame.pruned) {
            let id = frame.id.clone();
            let (_, data) = self.store.spawn(move |store| store.read_frame(&id)).await?;
            let extension = if frame.media_type == "image/png" {
                "png"
            } else {
                "jpg"
            };
            let name = format!("{:04}-{}.{extension}", frame.step, frame.id);
            fs::write(folder.join("frames").join(name), data).map_err(unusable)?;
            exported.frames += 1;
        }
        for artefact in &artefacts {
            let id = artefact.id.clone();
            let (_, path) = self.store.spawn(move |store| store.artefact(&id)).await?;
            let name = format!("{:04}-{}", artefact.step, plain(&artefact.name));
            fs::copy(path, folder.join("artefacts").join(name)).map_err(unusable)?;
            exported.artefacts += 1;
        }
        Ok(exported)
    }
}

fn change(change: &openspace_store::Change) -> serde_json::Value {
    json!({
        "id": change.id,
        "step": change.step,
        "path": change.path.display().to_string(),
        "kind": change.kind,
        "canBeUndone": change.before_hash.is_some(),
        "at": change.at,
    })
}

fn write_lines<T: Serialize>(path: &Path, rows: &[T]) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    for row in rows {
        serde_json::to_writer(&mut file, row)?;
        file.write_all(b"\n")?;
    }
    file.flush()
}

/// A name without anything that is special in a path.
fn plain(name: &str) -> String {
    let fits = |character: char| character.is_alphanumeric() || "-_.".contains(character);
    let plain: String = name
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(100)
        .collect();
    plain.trim_start_matches('.').to_owned()
}
