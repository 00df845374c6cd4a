//! Pictures and files of runs, for whoever asks for their bytes.

use bytes::Bytes;
use openspace_gui::{
    encode,
    geometry::{PhysicalRect, Size},
};

use super::Rpc;
use crate::{Code, Failure, failure::Result};

/// Bytes with their type.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Such as `image/jpeg`.
    pub media_type: String,
    /// The bytes.
    pub data: Bytes,
}

impl Rpc {
    /// The picture of a frame, at most `width` pixels wide.
    ///
    /// # Errors
    /// [`Code::NotFound`] for a frame that does not exist or was removed to save space.
    pub async fn frame(&self, id: &str, width: Option<u32>) -> Result<Picture> {
        let missing = || Failure::new(Code::NotFound, format!("there is no picture `{id}`"));
        let frame = id.parse().map_err(|_| missing())?;
        let read = self
            .app()
            .store
            .spawn(move |store| match store.read_frame(&frame) {
                Ok((frame, data)) => Ok(Some((frame.media_type, data))),
                Err(openspace_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(error),
            })
            .await?;
        let (media_type, data) = read.ok_or_else(missing)?;
        let Some(width) = width else {
            return Ok(Picture { media_type, data });
        };
        let shrunk = tokio::task::spawn_blocking(move || thumbnail(&data, width));
        shrunk
            .await
            .map_err(|error| Failure::new(Code::Internal, error.to_string()))?
    }

    /// A file a run produced.
    pub async fn artefact(&self, id: &str) -> Result<Picture> {
        let missing = || Failure::new(Code::NotFound, format!("there is no file `{id}`"));
        let artefact = id.parse().map_err(|_| missing())?;
        let (row, path) = self
            .app()
            .store
            .spawn(move |store| store.artefact(&artefact))
            .await?;
        let data = tokio::fs::read(path)
            .await
            .map_err(|error| Failure::new(Code::Store, error.to_string()))?;
        Ok(Picture {
            media_type: row.media_type,
            data: data.into(),
        })
    }
}

/// A picture shrunk to a width, never enlarged, as JPEG.
pub fn thumbnail(data: &Bytes, width: u32) -> Result<Picture> {
    let broken =
        |error: openspace_gui::GuiError| Failure::new(Code::Store, format!("the picture: {error}"));
    let whole = encode::decode(data).map_err(broken)?;
    let area = PhysicalRect {
        x: 0,
        y: 0,
        width: whole.width,
        height: whole.height,
    };
    let width = width.clamp(16, whole.width.max(16)).min(whole.width);
    let height = (u64::from(whole.height) * u64::from(width) / u64::from(whole.width)).max(1);
    let size = Size {
        width,
        height: u32::try_from(height).unwrap_or(whole.height),
    };
    let image = encode::encode(&whole, area, size).map_err(broken)?;
    Ok(Picture {
        media_type: image.media_type.as_str().to_owned(),
        data: image.data,
    })
}
