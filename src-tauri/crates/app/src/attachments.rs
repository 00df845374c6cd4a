//! Pictures that came as bytes rather than as files, such as from the clipboard. They are kept among
//! our own data, which is closed to runs: a run gets a copy in its scratch folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use openspace_store::{Run, RunFilter};

use crate::{App, Code, Failure, RunSpec, conversation::MOST_PICTURE_BYTES, failure::Result};

/// Below the data folder; each picture has a folder of its own, so that it keeps its name.
const FOLDER: &str = "attachments";
/// Longest name, characters.
const LONGEST_NAME: usize = 60;

impl App {
    pub(crate) fn kept_pictures(&self) -> PathBuf {
        self.paths.data.join(FOLDER)
    }

    /// Keeps a picture, to be attached to a task; answers where.
    ///
    /// # Errors
    /// [`Code::InvalidRequest`] with the parameter `why`: `large`, or `damaged` for what is no PNG or
    /// JPEG.
    pub(crate) async fn keep_picture(&self, name: &str, data: Vec<u8>) -> Result<PathBuf> {
        if data.len() as u64 > MOST_PICTURE_BYTES {
            let most = MOST_PICTURE_BYTES / 1024 / 1024;
            return Err(Failure::new(
                Code::InvalidRequest,
                format!("the picture is larger than {most} MB"),
            )
            .hint("save it as a file and attach that")
            .param("why", "large"));
        }
        let stem = plain_stem(name);
        let folder = self.kept_pictures();
        let kept = tokio::task::spawn_blocking(move || keep(&folder, &stem, &data)).await;
        kept.map_err(|error| Failure::new(Code::Internal, error.to_string()))?
    }

    /// Removes a kept picture; anything else is left alone.
    pub(crate) fn discard_picture(&self, path: &Path) -> Result<()> {
        let Some(folder) = folder_of(&self.kept_pictures(), path) else {
            return Err(Failure::new(
                Code::InvalidRequest,
                format!("`{}` is no picture that was kept", path.display()),
            ));
        };
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::new(
                Code::Store,
                format!("cannot remove `{}`: {error}", folder.display()),
            )),
            _ => Ok(()),
        }
    }

    /// The kept pictures that go with a run when it is deleted: no other run of its task has them.
    pub(crate) async fn pictures_of(&self, run: &Run) -> Result<Vec<PathBuf>> {
        let filter = RunFilter {
            task: Some(run.task.clone()),
            limit: 2,
            ..RunFilter::default()
        };
        let runs = self.store.read(move |db| db.runs().list(&filter)).await?;
        let spec = serde_json::from_value::<RunSpec>(run.settings.clone());
        let (1, Ok(spec)) = (runs.len(), spec) else {
            return Ok(Vec::new());
        };
        let folder = self.kept_pictures();
        let kept = |path: &PathBuf| folder_of(&folder, path).is_some();
        Ok(spec.attachments.into_iter().filter(kept).collect())
    }

    /// Copies the kept pictures of a run to where its tools may read them, and names them there.
    pub(crate) fn lay_out(&self, attachments: &mut [PathBuf], scratch: &Path) -> Result<()> {
        for path in attachments {
            let Some(folder) = folder_of(&self.kept_pictures(), path) else {
                continue;
            };
            let copy = scratch.join(
                path.strip_prefix(folder.parent().unwrap_or(&folder))
                    .unwrap_or(path),
            );
            let copied = copy
                .parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::copy(&*path, &copy));
            copied.map_err(|error| {
                Failure::new(
                    Code::InvalidRequest,
                    format!("the picture `{}` cannot be read: {error}", path.display()),
                )
            })?;
            *path = copy;
        }
        Ok(())
    }
}

/// Removes kept pictures that are as old as recorded ones may get. Blocks.
pub(crate) fn prune(folder: &Path, age: Duration) {
    let Some(oldest) = SystemTime::now().checked_sub(age) else {
        return;
    };
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let changed = entry.metadata().and_then(|metadata| metadata.modified());
        if changed.is_ok_and(|changed| changed < oldest)
            && let Err(error) = fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%error, "removing an old picture");
        }
    }
}

fn keep(folder: &Path, stem: &str, data: &[u8]) -> Result<PathBuf> {
    let extension = match data {
        [0x89, b'P', b'N', b'G', ..] => "png",
        _ => "jpg",
    };
    if let Err(error) = openspace_gui::encode::decode(data) {
        return Err(Failure::new(
            Code::InvalidRequest,
            format!("it is no picture that can be shown: {error}"),
        )
        .hint("save it as PNG or JPEG")
        .param("why", "damaged"));
    }
    let written = openspace_config::paths::create_private(folder)
        .and_then(|()| {
            tempfile::Builder::new()
                .prefix("picture-")
                .tempdir_in(folder)
        })
        .and_then(|place| {
            let path = place.path().join(format!("{stem}.{extension}"));
            fs::write(&path, data)?;
            // From here on it stays.
            let _place = place.keep();
            Ok(path)
        });
    written.map_err(|error| {
        Failure::new(Code::Store, format!("cannot keep the picture: {error}"))
            .hint("free some space, or mend the permissions of the data folder")
    })
}

/// The folder of a kept picture, where the path is one.
fn folder_of(kept: &Path, path: &Path) -> Option<PathBuf> {
    let below = |kept: &Path| {
        let mut names = path.strip_prefix(kept).ok()?.components();
        let (
            Some(std::path::Component::Normal(folder)),
            Some(std::path::Component::Normal(_)),
            None,
        ) = (names.next(), names.next(), names.next())
        else {
            return None;
        };
        Some(kept.join(folder))
    };
    // A run has the path with its links resolved.
    below(kept).or_else(|| below(&kept.canonicalize().ok()?))
}

/// A name that is one on every system, without its ending.
fn plain_stem(name: &str) -> String {
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let plain = |character: char| match character {
        '-' | '_' | ' ' | '.' => character,
        character if character.is_alphanumeric() => character,
        _ => '_',
    };
    let stem: String = stem.chars().take(LONGEST_NAME).map(plain).collect();
    match stem.trim_matches([' ', '.', '_']) {
        "" => "picture".to_owned(),
        stem => stem.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a page calls it, it is a plain name in a folder of its own.
    #[test]
    fn names_are_plain() {
        for (given, plain) in [
            ("image.png", "image"),
            ("../../etc/passwd", "passwd"),
            ("C:\\x\\截图 1.jpeg", "截图 1"),
            ("a:b*c?.png", "a_b_c"),
            ("....", "picture"),
            ("", "picture"),
            (&"x".repeat(500), &"x".repeat(60)),
        ] {
            assert_eq!(plain_stem(given), plain, "{given}");
        }
    }

    /// Only a picture in a folder of its own, directly below ours, is one of the kept.
    #[test]
    fn only_kept_pictures_are_known() {
        let kept = Path::new("/data/attachments");
        let known = |path: &str| folder_of(kept, Path::new(path));
        assert_eq!(
            known("/data/attachments/picture-1/a.png"),
            Some("/data/attachments/picture-1".into())
        );
        for path in [
            "/data/attachments",
            "/data/attachments/a.png",
            "/data/attachments/../openspace.db",
            "/data/attachments/picture-1/../../openspace.db",
            "/data/attachments/picture-1/a/b.png",
            "/home/ana/a.png",
        ] {
            assert_eq!(known(path), None, "{path}");
        }
    }
}
