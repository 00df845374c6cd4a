//! A run as a folder anybody can read, without secrets.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use openspace_store::{FrameId, Run};
use serde::Serialize;
use serde_json::json;

use crate::{App, Code, Failure, failure::Result, redact::Redaction};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Events of the run.
    pub events: usize,
    /// Pictures that were still kept.
    pub frames: usize,
    /// Files the run produced.
    pub artefacts: usize,
    /// Secrets that were blacked out.
    pub redacted: usize,
}

/// A file of an export that was not written yet.
pub(crate) struct ExportFile {
    /// Below the export's folder.
    pub(crate) path: PathBuf,
    pub(crate) content: ExportContent,
    /// Secrets blacked out in it.
    pub(crate) redacted: usize,
}

pub(crate) enum ExportContent {
    Text(String),
    Frame { id: FrameId, bytes: u64 },
    Copy { from: PathBuf, bytes: u64 },
}

impl ExportFile {
    /// Size in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.content {
            ExportContent::Text(text) => text.len() as u64,
            ExportContent::Frame { bytes, .. } | ExportContent::Copy { bytes, .. } => *bytes,
        }
    }
}

impl App {
    /// Writes a run into a folder that must not exist yet: `run.json`, `events.jsonl`,
    /// `messages.jsonl`, `frames/`, `artefacts/`. Secrets in the texts are blacked out; pictures
    /// are as they were taken.
    pub async fn export(&self, run: &Run, folder: &Path) -> Result<Exported> {
        let files = self.export_files(run).await?;
        let below = |name: &str| {
            files
                .iter()
                .filter(|file| file.path.starts_with(name))
                .count()
        };
        let exported = Exported {
            events: files
                .iter()
                .find(|file| file.path == Path::new(EVENTS))
                .map_or(0, |file| match &file.content {
                    ExportContent::Text(text) => text.lines().count(),
                    ExportContent::Frame { .. } | ExportContent::Copy { .. } => 0,
                }),
            frames: below("frames"),
            artefacts: below("artefacts"),
            redacted: files.iter().map(|file| file.redacted).sum(),
        };
        self.write_files(files, folder, &["frames", "artefacts"])
            .await?;
        Ok(exported)
    }

    /// Writes files into a new folder.
    pub(crate) async fn write_files(
        &self,
        files: Vec<ExportFile>,
        folder: &Path,
        subfolders: &[&str],
    ) -> Result<()> {
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
        for sub in subfolders {
            fs::create_dir(folder.join(sub)).map_err(unusable)?;
        }
        for file in files {
            let path = folder.join(&file.path);
            match file.content {
                ExportContent::Text(text) => {
                    let mut file = fs::File::create(path).map_err(unusable)?;
                    file.write_all(text.as_bytes()).map_err(unusable)?;
                }
                ExportContent::Frame { id, .. } => {
                    let (_, data) = self.store.spawn(move |store| store.read_frame(&id)).await?;
                    fs::write(path, data).map_err(unusable)?;
                }
                ExportContent::Copy { from, .. } => {
                    fs::copy(from, path).map_err(unusable)?;
                }
            }
        }
        Ok(())
    }

    /// What an export of a run consists of.
    pub(crate) async fn export_files(&self, run: &Run) -> Result<Vec<ExportFile>> {
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
        let redaction = self.redaction()?;
        let file = |path: &str, (text, redacted): (String, usize)| ExportFile {
            path: path.into(),
            content: ExportContent::Text(text),
            redacted,
        };
        let mut about = json!({ "run": run, "frames": frames, "artefacts": artefacts, "approvals": approvals, "changes": changes.iter().map(change).collect::<Vec<_>>(), "modelCalls": calls });
        let hidden = redaction.apply_to(&mut about);
        let about = serde_json::to_string_pretty(&about).unwrap_or_default();
        let mut files = vec![
            file("run.json", (about, hidden)),
            file(EVENTS, lines(&events, &redaction)),
            file("messages.jsonl", lines(&messages, &redaction)),
        ];
        for frame in frames.iter().filter(|frame| !frame.pruned) {
            let extension = if frame.media_type == "image/png" {
                "png"
            } else {
                "jpg"
            };
            files.push(ExportFile {
                path: Path::new("frames")
                    .join(format!("{:04}-{}.{extension}", frame.step, frame.id)),
                content: ExportContent::Frame {
                    id: frame.id.clone(),
                    bytes: frame.bytes,
                },
                redacted: 0,
            });
        }
        for artefact in &artefacts {
            let id = artefact.id.clone();
            let (_, from) = self.store.spawn(move |store| store.artefact(&id)).await?;
            let path = Path::new("artefacts").join(format!(
                "{:04}-{}",
                artefact.step,
                plain(&artefact.name)
            ));
            files.push(artefact_file(
                path,
                from,
                artefact.bytes,
                &artefact.media_type,
                &redaction,
            ));
        }
        Ok(files)
    }
}

/// Output of commands is text and may hold what was printed by mistake.
fn artefact_file(
    path: PathBuf,
    from: PathBuf,
    bytes: u64,
    media_type: &str,
    redaction: &Redaction,
) -> ExportFile {
    const MOST_TEXT: u64 = 64 * 1024 * 1024;
    let text = (media_type.starts_with("text/") && bytes <= MOST_TEXT)
        .then(|| fs::read_to_string(&from).ok())
        .flatten();
    let (content, redacted) = match text {
        Some(text) => {
            let (text, redacted) = redaction.apply(&text);
            (ExportContent::Text(text), redacted)
        }
        None => (ExportContent::Copy { from, bytes }, 0),
    };
    ExportFile {
        path,
        content,
        redacted,
    }
}

const EVENTS: &str = "events.jsonl";

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

/// One row a line, without secrets, and how many there were.
fn lines<T: Serialize>(rows: &[T], redaction: &Redaction) -> (String, usize) {
    let (mut text, mut count) = (String::new(), 0);
    for row in rows {
        let mut row = serde_json::to_value(row).unwrap_or_default();
        count += redaction.apply_to(&mut row);
        text.push_str(&row.to_string());
        text.push('\n');
    }
    (text, count)
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
