//! Pictures from files.

use std::{
    fs::File,
    io::{Cursor, Read},
};

use image::{ImageFormat, ImageReader};
use openspace_grounding::{Block, Image, MediaType, Output, ToolError};

/// Largest file that is shown.
const BYTES: u64 = 3 * 1024 * 1024;
/// Longest edge every vendor takes (models.md: many pictures in one request).
const EDGE: u32 = 2000;

/// Starts like a picture of any kind we could name.
pub(crate) fn is_image(start: &[u8]) -> bool {
    image::guess_format(start).is_ok_and(|format| {
        matches!(
            format,
            ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::Gif | ImageFormat::WebP
        )
    })
}

/// The picture as it is, or in words what keeps it from being shown.
pub(crate) fn read(file: &mut File, size: u64, shown: &str) -> Result<Output, ToolError> {
    if size > BYTES {
        return Err(ToolError::Failed(format!(
            "`{shown}` is a picture of {size} bytes; up to {BYTES} can be shown. Make a smaller \
             copy of it with a command"
        )));
    }
    let mut data = Vec::new();
    file.take(BYTES)
        .read_to_end(&mut data)
        .map_err(|error| ToolError::Failed(format!("`{shown}`: {error}")))?;
    let reader = ImageReader::new(Cursor::new(&data))
        .with_guessed_format()
        .map_err(|error| ToolError::Failed(format!("`{shown}`: {error}")))?;
    let media_type = match reader.format() {
        Some(ImageFormat::Png) => MediaType::Png,
        Some(ImageFormat::Jpeg) => MediaType::Jpeg,
        Some(_) | None => {
            return Err(ToolError::Failed(format!(
                "`{shown}` is a picture, but neither PNG nor JPEG; convert it with a command"
            )));
        }
    };
    let damaged = |error: image::ImageError| {
        ToolError::Failed(format!("`{shown}` is a damaged picture: {error}"))
    };
    let (width, height) = reader.into_dimensions().map_err(damaged)?;
    if width.max(height) > EDGE {
        return Err(ToolError::Failed(format!(
            "`{shown}` is a picture of {width}x{height} pixels; up to {EDGE} on the longer edge can \
             be shown. Make a smaller copy of it with a command"
        )));
    }
    // A right beginning says nothing about the rest, and a vendor refuses the whole request for it.
    image::load_from_memory(&data).map_err(damaged)?;
    Ok(Output {
        blocks: vec![
            Block::Text(format!("`{shown}`: {width}x{height} pixels")),
            Block::Image {
                image: Image {
                    media_type,
                    data: data.into(),
                    width,
                    height,
                },
                frame: None,
            },
        ],
        ..Output::default()
    })
}
