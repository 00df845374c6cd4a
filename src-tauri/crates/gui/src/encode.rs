//! From captured pixels to the picture a model is sent.

mod jpeg;

use std::thread;

use fast_image_resize::{
    FilterType, ResizeAlg, ResizeOptions, Resizer,
    images::{TypedImage, TypedImageRef},
    pixels::U8x4,
};
use openspace_grounding::{Image, ImageLimits, MediaType};

use crate::{
    Capture, GuiError,
    geometry::{PhysicalRect, Size},
};

/// JPEG quality of pictures; vendors' own desktop applications send 75 to 80.
pub const QUALITY: u8 = 78;
/// How far a zoomed region is enlarged at most: small text gains, more only costs tokens.
const LARGEST_ZOOM: u32 = 3;
/// Rows below which a second thread costs more than it saves.
const ROWS_FOR_TWO: u32 = 200;

/// The largest size a model sees unshrunk: aspect kept, both limits met, never enlarged.
pub fn fit(limits: &ImageLimits, picture: Size) -> Size {
    let (width, height) = limits.fit(picture.width, picture.height);
    Size { width, height }
}

/// The size a zoomed region is sent in: as it is, enlarged where it is small, shrunk where it must be.
pub fn fit_zoom(limits: &ImageLimits, region: Size, frame: Size) -> Size {
    let times = (frame.width / region.width.max(1))
        .min(frame.height / region.height.max(1))
        .clamp(1, LARGEST_ZOOM);
    fit(
        limits,
        Size {
            width: region.width * times,
            height: region.height * times,
        },
    )
}

/// BLAKE3 of the pixels as captured, with their size, hexadecimal.
pub fn hash(capture: &Capture) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&capture.width.to_le_bytes());
    hasher.update(&capture.height.to_le_bytes());
    hasher.update(&capture.bgrx);
    hasher.finalize().to_hex().to_string()
}

/// The pixels of a part of a capture.
pub fn crop(capture: &Capture, area: PhysicalRect) -> Result<Capture, GuiError> {
    check(capture, area)?;
    let stride = capture.width as usize * 4;
    let (left, width) = (area.x as usize * 4, area.width as usize * 4);
    let rows = (area.y..area.y + area.height).flat_map(|row| {
        let start = row as usize * stride + left;
        &capture.bgrx[start..start + width]
    });
    Ok(Capture::new(
        area.width,
        area.height,
        rows.copied().collect(),
    ))
}

/// A part of a capture as JPEG of the given size.
pub fn encode(capture: &Capture, area: PhysicalRect, sent: Size) -> Result<Image, GuiError> {
    check(capture, area)?;
    let whole = area.width == capture.width && area.height == capture.height;
    let same = area.width == sent.width && area.height == sent.height;
    let owned;
    let pixels: &[u8] = match (whole, same) {
        (true, true) => &capture.bgrx,
        (false, true) => {
            owned = crop(capture, area)?.bgrx;
            &owned
        }
        _ => {
            owned = resize(capture, area, sent)?;
            &owned
        }
    };
    Ok(Image {
        media_type: MediaType::Jpeg,
        data: jpeg::jpeg(pixels, sent)?,
        width: sent.width,
        height: sent.height,
    })
}

fn check(capture: &Capture, area: PhysicalRect) -> Result<(), GuiError> {
    let bytes = capture.width as usize * capture.height as usize * 4;
    let inside = |start: u32, length: u32, size: u32| {
        length > 0 && u64::from(start) + u64::from(length) <= u64::from(size)
    };
    if capture.bgrx.len() == bytes
        && inside(area.x, area.width, capture.width)
        && inside(area.y, area.height, capture.height)
    {
        Ok(())
    } else {
        Err(GuiError::Encode(format!(
            "{area:?} does not lie on {capture:?} of {} bytes",
            capture.bgrx.len()
        )))
    }
}

/// Resizes in two halves at once; each half sees the rows of the other at the seam.
fn resize(capture: &Capture, area: PhysicalRect, sent: Size) -> Result<Vec<u8>, GuiError> {
    let failed = |error: &dyn std::fmt::Display| GuiError::Encode(error.to_string());
    let source = TypedImageRef::<U8x4>::from_buffer(capture.width, capture.height, &capture.bgrx)
        .map_err(|error| failed(&error))?;
    let stride = sent.width as usize * 4;
    let mut target = vec![0_u8; stride * sent.height as usize];
    let rows = if sent.height >= ROWS_FOR_TWO {
        sent.height / 2
    } else {
        sent.height
    };
    let (upper, lower) = target.split_at_mut(stride * rows as usize);
    let part = |from: u32, count: u32, buffer: &mut [u8]| -> Result<(), GuiError> {
        if count == 0 {
            return Ok(());
        }
        let step = f64::from(area.height) / f64::from(sent.height);
        // Shrinking averages over all pixels; enlarging interpolates.
        let options = ResizeOptions::new()
            .resize_alg(ResizeAlg::Convolution(FilterType::Bilinear))
            .use_alpha(false)
            .crop(
                f64::from(area.x),
                f64::from(area.y) + f64::from(from) * step,
                f64::from(area.width),
                f64::from(count) * step,
            );
        let mut image = TypedImage::<U8x4>::from_buffer(sent.width, count, buffer)
            .map_err(|error| failed(&error))?;
        Resizer::new()
            .resize_typed(&source, &mut image, &options)
            .map_err(|error| failed(&error))
    };
    thread::scope(|scope| {
        let second = scope.spawn(|| part(rows, sent.height - rows, lower));
        let first = part(0, rows, upper);
        let second = second
            .join()
            .unwrap_or_else(|_| Err(GuiError::Encode("resizing failed".into())));
        first.and(second)
    })?;
    Ok(target)
}

/// Pixels an encoded picture may have: more is no picture anybody attaches on purpose.
const MOST_PIXELS: u64 = 200_000_000;

/// The pixels of a whole PNG or JPEG; an error for one that is damaged or cut off.
pub fn decode(data: &[u8]) -> Result<Capture, GuiError> {
    let failed = |error: image::ImageError| GuiError::Encode(error.to_string());
    let (width, height) =
        encoded_size(data).ok_or_else(|| GuiError::Encode("it is neither PNG nor JPEG".into()))?;
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(GuiError::Encode(format!(
            "it has {width}x{height} pixels, which is too many"
        )));
    }
    let mut pixels = image::load_from_memory(data).map_err(failed)?.into_rgba8();
    for pixel in pixels.pixels_mut() {
        pixel.0.swap(0, 2);
    }
    Ok(Capture::new(width, height, pixels.into_raw()))
}

/// Width and height in pixels that an encoded picture says of itself; `None` when it is no picture.
pub fn encoded_size(data: &[u8]) -> Option<(u32, u32)> {
    let reader = image::ImageReader::new(std::io::Cursor::new(data))
        .with_guessed_format()
        .ok()?;
    reader.into_dimensions().ok()
}

#[cfg(test)]
mod tests;
