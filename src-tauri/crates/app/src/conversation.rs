//! The conversation a run begins or goes on with.

use std::path::Path;

use bytes::Bytes;
use openspace_agent::{PictureSource, Pictures, Used, from_stored, to_stored};
use openspace_grounding::Evidence;
use openspace_llm::{Content, Image, MediaType, Message, Role, history};
use openspace_store::{Fence, MessageRow, NewArtefact, Run, RunStatus};
use serde_json::Value;

use crate::{App, Code, Failure, RunSpec, failure::Result};

/// Pictures of earlier turns that are shown again; older ones have become notes anyway.
const PICTURES_SHOWN_AGAIN: usize = 3;
/// Most bytes of an attached picture.
pub(crate) const MOST_PICTURE_BYTES: u64 = 8 * 1024 * 1024;

/// What a run starts from.
pub(crate) struct Resumed {
    pub(crate) messages: Vec<Message>,
    pub(crate) used: Used,
    pub(crate) evidence: Vec<Evidence>,
    /// It was under way before.
    pub(crate) goes_on: bool,
}

const CONTINUED: &str = "The run was interrupted and goes on now. The screen and the files may have \
changed, and the last action may or may not have taken effect: take a fresh look before you act, and do \
not simply repeat it.";

/// Rebuilds the conversation of the run's session and adds what is new: the task when the run begins,
/// a note and the person's words when it goes on.
pub(crate) async fn load(
    app: &App,
    fence: &Fence,
    run: &Run,
    spec: &RunSpec,
    pictures: &mut Pictures,
) -> Result<Resumed> {
    let session = run.session.clone();
    let rows = app
        .store
        .read(move |db| db.messages().of_session(&session))
        .await?;
    let goes_on = rows.iter().any(|row| row.run.as_ref() == Some(&run.id));
    let mut messages = restore(app, &rows, pictures)?;
    history::repair_pairs(&mut messages);

    let mut content = Vec::new();
    let mut heard = Vec::new();
    let (mut used, mut evidence) = (Used::default(), Vec::new());
    if goes_on {
        content.push(Content::Text(CONTINUED.to_owned()));
        let id = run.id.clone();
        let of_run = fence.clone();
        let commands = app
            .store
            .read(move |db| db.commands().take(&of_run, 0))
            .await?;
        // Only what was said: a stop that came in the meantime is for the loop to obey.
        let words = commands.iter().filter(|it| it.kind.is_said());
        for command in words {
            if let Some(text) = command.payload.get("text").and_then(Value::as_str) {
                content.push(Content::Text(text.to_owned()));
            }
            heard.push(command.id);
        }
        let events = app
            .store
            .read(move |db| db.events().of("run", id.as_str(), 0, u32::MAX))
            .await?;
        (used, evidence) = so_far(&events);
    } else {
        let task = run.task.clone();
        let task = app.store.read(move |db| db.tasks().get(&task)).await?;
        content.push(Content::Text(task.text));
        for path in &spec.attachments {
            content.extend(attach(app, fence, spec, path, pictures).await?);
        }
    }
    let message = Message {
        role: Role::User,
        content,
    };
    let stored = to_stored(&message, pictures);
    let of_run = fence.clone();
    app.store
        .call(move |db| {
            db.messages().append_fenced(&of_run, "user", &stored)?;
            for command in heard {
                db.commands().acknowledge(&of_run, command)?;
            }
            Ok(())
        })
        .await?;
    messages.push(message);
    history::repair_pairs(&mut messages);
    Ok(Resumed {
        messages,
        used,
        evidence,
        goes_on,
    })
}

fn restore(app: &App, rows: &[MessageRow], pictures: &mut Pictures) -> Result<Vec<Message>> {
    let mut left = rows
        .iter()
        .map(|row| count_pictures(&row.content))
        .sum::<usize>();
    let store = app.store.clone();
    let mut messages = Vec::with_capacity(rows.len());
    for row in rows {
        let role = if row.role == "assistant" {
            Role::Assistant
        } else {
            Role::User
        };
        let mut load = |source: &PictureSource| {
            left = left.saturating_sub(1);
            if left >= PICTURES_SHOWN_AGAIN {
                return None;
            }
            read_picture(&store, source)
        };
        let message = from_stored(role, &row.content, pictures, &mut load).map_err(|error| {
            Failure::new(
                Code::Store,
                format!("message {} of the session cannot be read: {error}", row.id),
            )
        })?;
        messages.push(message);
    }
    Ok(messages)
}

fn count_pictures(content: &Value) -> usize {
    match content {
        Value::Object(object) => {
            usize::from(object.contains_key("picture"))
                + object.values().map(count_pictures).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count_pictures).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn read_picture(store: &openspace_store::Store, source: &PictureSource) -> Option<Image> {
    let read =
        match source {
            PictureSource::Frame(id) => store
                .read_frame(id)
                .map(|(frame, data)| (frame.media_type, data)),
            PictureSource::Artefact(id) => store
                .read_blocking(|db| db.artefacts().get(id))
                .and_then(|artefact| {
                    Ok((
                        artefact.media_type,
                        store.read_artefact(id, 0, artefact.bytes)?,
                    ))
                }),
        };
    match read {
        Ok((media_type, data)) => picture(&media_type, data),
        Err(error) => {
            tracing::info!(%error, "a picture of the conversation is not there any more");
            None
        }
    }
}

fn picture(media_type: &str, data: Bytes) -> Option<Image> {
    let media_type = match media_type {
        "image/png" => MediaType::Png,
        "image/jpeg" => MediaType::Jpeg,
        _ => return None,
    };
    let (width, height) = openspace_gui::encode::encoded_size(&data)?;
    Some(Image {
        media_type,
        data,
        width,
        height,
    })
}

/// Refuses a file that is named like a picture and cannot be shown as one, before anything begins.
pub(crate) fn check_attachment(path: &Path) -> Result<()> {
    let unusable = |why: String| {
        Failure::new(
            Code::InvalidRequest,
            format!("the attachment `{}` {why}", path.display()),
        )
        .param("reason", "attachment")
        .param("path", path.display().to_string())
    };
    let metadata =
        std::fs::metadata(path).map_err(|error| unusable(format!("cannot be read: {error}")))?;
    if picture_type(path).is_none() || !metadata.is_file() || metadata.len() > MOST_PICTURE_BYTES {
        return Ok(());
    }
    let data = std::fs::read(path).map_err(|error| unusable(format!("cannot be read: {error}")))?;
    openspace_gui::encode::decode(&data)
        .map(drop)
        .map_err(|error| {
            unusable(format!("is no picture that can be shown: {error}"))
                .param("reason", "picture")
                .hint(
                    "save it again as PNG or JPEG, or give it another ending to hand it over as a \
                     file",
                )
        })
}

/// The media type a file's name promises, where it is one that models are shown.
fn picture_type(path: &Path) -> Option<&'static str> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "png" => Some("image/png"),
        "jpg" | "jpeg" => Some("image/jpeg"),
        _ => None,
    }
}

/// An attached file: a picture is shown, anything else is named so that the tools can read it.
async fn attach(
    app: &App,
    fence: &Fence,
    spec: &RunSpec,
    path: &Path,
    pictures: &mut Pictures,
) -> Result<Vec<Content>> {
    let named = Content::Text(format!("Attached file: {}", path.display()));
    let Some(media_type) = picture_type(path).filter(|_| path.is_file()) else {
        return Ok(vec![named]);
    };
    let unreadable = |error: std::io::Error| {
        Failure::new(
            Code::InvalidRequest,
            format!(
                "the attachment `{}` cannot be read: {error}",
                path.display()
            ),
        )
    };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MOST_PICTURE_BYTES {
        return Ok(vec![named]);
    }
    let data = Bytes::from(std::fs::read(path).map_err(unreadable)?);
    let limits = openspace_llm::Profile::lookup(&spec.model);
    let limits = match app.values().model.profiles.get(&spec.model) {
        Some(own) => limits.with(own),
        None => limits,
    };
    let image = picture(media_type, data).and_then(|image| fitted(image, &limits.images));
    let Some(image) = image else {
        return Ok(vec![named]);
    };
    let name = path.file_name().map_or_else(
        || "picture".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let artefact = NewArtefact {
        step: 0,
        name,
        media_type: image.media_type.as_str().to_owned(),
        data: image.data.clone(),
    };
    let fence = fence.clone();
    let id = app
        .store
        .spawn(move |store| store.keep_artefact(&fence, &artefact))
        .await?;
    pictures.insert(&image, PictureSource::Artefact(id));
    Ok(vec![named, Content::Image(image)])
}

/// The picture as large as the model sees it: a larger one would be refused, or shrunk unseen.
fn fitted(image: Image, limits: &openspace_llm::ImageLimits) -> Option<Image> {
    let sent = limits.fit(image.width, image.height);
    if sent == (image.width, image.height) {
        return Some(image);
    }
    let whole = openspace_gui::encode::decode(&image.data).ok()?;
    let area = openspace_gui::geometry::PhysicalRect {
        x: 0,
        y: 0,
        width: whole.width,
        height: whole.height,
    };
    let size = openspace_gui::geometry::Size {
        width: sent.0,
        height: sent.1,
    };
    openspace_gui::encode::encode(&whole, area, size).ok()
}

/// What an interrupted run had used and shown. After a limit or a stop the allowance begins anew: the
/// person asked for more.
fn so_far(events: &[openspace_store::Event]) -> (Used, Vec<Evidence>) {
    let interrupted = events
        .iter()
        .rev()
        .filter(|event| event.kind == "run.status")
        .find_map(|event| {
            let status = event.payload.get("status").and_then(Value::as_str)?;
            (!["queued", "planning"].contains(&status))
                .then(|| status == RunStatus::Interrupted.as_str())
        });
    let used = events
        .iter()
        .rev()
        .find(|event| event.kind == "run.used")
        .and_then(|event| serde_json::from_value(event.payload.clone()).ok());
    let evidence = events
        .iter()
        .filter(|event| event.kind == "step.call_finished")
        .filter_map(|event| {
            serde_json::from_value::<Vec<Evidence>>(event.payload.get("evidence")?.clone()).ok()
        })
        .flatten()
        .collect();
    (
        used.filter(|_| interrupted == Some(true))
            .unwrap_or_default(),
        evidence,
    )
}
