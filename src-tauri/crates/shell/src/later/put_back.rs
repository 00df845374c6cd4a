//! Puts back what changed. Works with the person's rights beside commands that may still run, so
//! no link is followed, and whatever is taken away is kept first.

use std::{
    io,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use openspace_grounding::{ArtefactId, Keep};

use super::{
    compare::Change,
    scan::{Item, is_folder},
};
use crate::place::{Place, Thing};

/// Largest file that is kept among the files of the run; what is larger stays where it is, under
/// another name.
const KEPT: u64 = 20 * 1024 * 1024;
/// Names of settings that are told.
const NAMED: usize = 5;

/// Undoes one change, and tells what was done in words for the model. `shown` is how the model
/// writes a path.
pub(super) async fn undo(
    change: &Change,
    keep: &dyn Keep,
    shown: &(dyn Fn(&Path) -> String + Send + Sync),
) -> String {
    let path = change.path();
    match act(change, keep, shown).await {
        Ok(done) => done,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "putting back a file that runs later");
            format!(
                "`{}` changed and could not be put back: {error}",
                shown(path)
            )
        }
    }
}

impl Change {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Moved { to, .. } => to,
            Self::New { path, .. } | Self::Different { path, .. } | Self::Settings { path, .. } => {
                path
            }
        }
    }
}

async fn act(
    change: &Change,
    keep: &dyn Keep,
    shown: &(dyn Fn(&Path) -> String + Send + Sync),
) -> io::Result<String> {
    let name = shown(change.path());
    match change {
        Change::Moved { from, to } => {
            let mut text = format!("moved `{}` back to `{name}`", shown(from));
            let place = Place::open(to, false)?;
            if place.thing(0).is_ok() {
                let aside = beside(to)?;
                place.rename(&Place::open(&aside, false)?)?;
                text = format!("{text} (what stood there is now `{}`)", shown(&aside));
            }
            Place::open(from, false)?.rename(&place)?;
            Ok(text)
        }
        Change::New { path, leads_away } => {
            let kept = take_away(path, &name, keep).await?;
            let why = if *leads_away {
                ", which led git away from here"
            } else {
                ""
            };
            Ok(format!("took away the new `{name}`{why}{kept}"))
        }
        Change::Different { path, old, gone } => restore(path, &name, old, *gone, keep).await,
        Change::Settings {
            path,
            content,
            names,
        } => {
            let place = Place::open(path, false)?;
            let Thing::File {
                content: now,
                facts,
            } = place.thing(KEPT)?
            else {
                return Err(io::Error::other("it is no file any more"));
            };
            let kept = match now {
                Some(now) => keep_content(&name, now, keep)
                    .await
                    .map_or_else(String::new, |id| {
                        format!(" (the whole file is kept as artefact `{id}`)")
                    }),
                None => String::new(),
            };
            place.replace(content, Some(facts))?;
            let mut told: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
            if names.len() > NAMED {
                told.push("…");
            }
            Ok(format!("took {} out of `{name}`{kept}", told.join(", ")))
        }
    }
}

async fn restore(
    path: &Path,
    name: &str,
    old: &Item,
    gone: bool,
    keep: &dyn Keep,
) -> io::Result<String> {
    let kept = if gone {
        String::new()
    } else {
        take_copy(path, name, keep).await?
    };
    // A folder with the file of that name would be in the way.
    if is_folder(path) {
        let place = Place::open(path, false)?;
        place.rename(&Place::open(&beside(path)?, false)?)?;
    }
    match &old.thing {
        Thing::File {
            content: Some(content),
            facts,
        } => Place::open(path, true)?.replace(content, Some(*facts))?,
        Thing::Link(target) => Place::open(path, true)?.link(target)?,
        Thing::File { content: None, .. } | Thing::Folder | Thing::Other => {
            if !gone {
                take_away(path, name, keep).await?;
            }
            return Ok(format!(
                "took away `{name}`, which had changed; what it was before is too large to be brought back{kept}"
            ));
        }
    }
    let what = if gone {
        "brought back the deleted"
    } else {
        "restored"
    };
    Ok(format!("{what} `{name}`{kept}"))
}

/// Keeps what is there, then removes it.
async fn take_away(path: &Path, name: &str, keep: &dyn Keep) -> io::Result<String> {
    let place = Place::open(path, false)?;
    match place.thing(KEPT)? {
        Thing::File {
            content: Some(content),
            ..
        } => {
            if let Some(id) = keep_content(name, content, keep).await {
                place.remove()?;
                return Ok(format!(" (kept as artefact `{id}`)"));
            }
        }
        Thing::Link(target) => {
            place.remove()?;
            return Ok(format!(" (a link to `{}`)", target.display()));
        }
        Thing::Other => {
            place.remove()?;
            return Ok(String::new());
        }
        Thing::File { content: None, .. } | Thing::Folder => {}
    }
    // Under a name nothing looks for, so that it is not lost.
    let aside = beside(path)?;
    place.rename(&Place::open(&aside, false)?)?;
    Ok(format!(" (it is `{}` now)", aside.display()))
}

/// Keeps what is there.
async fn take_copy(path: &Path, name: &str, keep: &dyn Keep) -> io::Result<String> {
    let place = Place::open(path, false)?;
    match place.thing(KEPT) {
        Ok(Thing::File { content, .. }) => {
            if let Some(content) = content
                && let Some(id) = keep_content(name, content, keep).await
            {
                return Ok(format!(" (what was written is kept as artefact `{id}`)"));
            }
            let aside = beside(path)?;
            place.rename(&Place::open(&aside, false)?)?;
            Ok(format!(" (what was written is `{}` now)", aside.display()))
        }
        Ok(Thing::Link(target)) => Ok(format!(" (it had become a link to `{}`)", target.display())),
        Ok(Thing::Folder | Thing::Other) | Err(_) => Ok(String::new()),
    }
}

async fn keep_content(name: &str, content: Bytes, keep: &dyn Keep) -> Option<ArtefactId> {
    let media_type = if std::str::from_utf8(&content).is_ok() {
        "text/plain"
    } else {
        "application/octet-stream"
    };
    let title = format!("put back: {name}");
    match keep.artefact(&title, media_type, content).await {
        Ok(id) => Some(id),
        Err(error) => {
            tracing::warn!(%error, name, "keeping what a command had written");
            None
        }
    }
}

fn beside(path: &Path) -> io::Result<PathBuf> {
    let random = getrandom::u32().map_err(io::Error::other)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok(path.with_file_name(format!("{name}.put-aside-{random:08x}")))
}
