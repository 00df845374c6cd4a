//! What writing tools share: the old content is kept before the new one takes its place.

use std::{
    io::{self, Read},
    path::{Path, PathBuf},
};

use bytes::Bytes;
use openspace_grounding::{
    Action, Block, CallContext, ChangeKind, Evidence, NewChange, Output, ToolError,
};

use crate::{
    place::{Facts, Place, describe},
    shell::check_may_act,
};

/// Largest file whose old content is kept.
pub(crate) const KEPT: u64 = 20 * 1024 * 1024;

/// A file as it is before it is written.
pub(crate) struct Before {
    pub(crate) path: PathBuf,
    pub(crate) place: Place,
    /// None where the file does not exist.
    pub(crate) old: Option<(Facts, Bytes)>,
}

/// What writing `path` would do. The size decides whether the old content can be kept.
pub(crate) fn action(path: &Path) -> Action {
    let size = std::fs::symlink_metadata(path).map_or(0, |metadata| metadata.len());
    Action::Write {
        path: path.to_owned(),
        keeps_copy: size <= KEPT,
    }
}

impl Before {
    /// Reads what is there. `create` makes missing folders.
    pub(crate) async fn read(path: PathBuf, create: bool) -> Result<Self, ToolError> {
        let asked = path.clone();
        tokio::task::spawn_blocking(move || Self::read_blocking(path, create))
            .await
            .map_err(|_| ToolError::Cancelled)?
            .map_err(|error| describe(&asked, &error))
    }

    fn read_blocking(path: PathBuf, create: bool) -> io::Result<Self> {
        let place = Place::open(&path, create)?;
        let old = match place.read() {
            Ok((file, facts)) => {
                let mut content = Vec::new();
                if facts.size <= KEPT {
                    // One byte more tells a file that grew meanwhile.
                    file.take(KEPT + 1).read_to_end(&mut content)?;
                }
                Some((facts, content.into()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Ok(Self { path, place, old })
    }

    /// Keeps the old content, then writes the new one.
    pub(crate) async fn write(
        self,
        new: Vec<u8>,
        text: String,
        context: &CallContext,
    ) -> Result<Output, ToolError> {
        check_may_act(context)?;
        let kind = match self.old {
            Some(_) => ChangeKind::Modified,
            None => ChangeKind::Created,
        };
        let before = self
            .old
            .as_ref()
            .filter(|(facts, bytes)| facts.size <= KEPT && bytes.len() as u64 <= KEPT)
            .map(|(_, bytes)| bytes.clone());
        let undo = context
            .keep
            .change(NewChange {
                path: self.path.clone(),
                kind,
                before: before.clone(),
            })
            .await?;
        let can_undo = before.is_some() || kind == ChangeKind::Created;
        let path = self.path.clone();
        let facts = self.old.map(|(facts, _)| facts);
        let place = self.place;
        tokio::task::spawn_blocking(move || place.replace(&new, facts))
            .await
            .map_err(|_| ToolError::Cancelled)?
            .map_err(|error| describe(&path, &error))?;
        Ok(Output {
            blocks: vec![Block::Text(text)],
            evidence: vec![Evidence::File {
                path,
                change: kind,
                undo: can_undo.then_some(undo),
            }],
            ..Output::default()
        })
    }
}
