//! Pictures: readable, as large as the model sees them, few enough, and as declared.

use serde_json::Value;

use crate::model::refusal::{Refusal, image_too_large};
use crate::model::rules::{Rules, TOOLSET};
use crate::model::seen::{Part, SeenImage, SeenRequest};

/// No service takes a larger edge.
const MAX_EDGE: u32 = 8000;
/// The largest edge once there are many pictures.
const MAX_EDGE_MANY: u32 = 2000;
/// Smaller files are no screenshots: a blank or failed capture.
const MIN_BYTES: usize = 100;

pub(super) fn check(seen: &SeenRequest, rules: &Rules) -> Vec<Refusal> {
    let images = seen.images();
    let mut refusals: Vec<Refusal> = images
        .iter()
        .filter_map(|image| one(image, rules))
        .collect();
    if images.len() > rules.max_images {
        refusals.push(Refusal::new(
            "image-count",
            format!(
                "messages: too many images ({} > {})",
                images.len(),
                rules.max_images
            ),
        ));
    }
    if images.len() > rules.many_images {
        let large = images
            .iter()
            .find(|image| image.width.max(image.height) > MAX_EDGE_MANY);
        refusals.extend(
            large.map(|image| {
                Refusal::new("image-many", image_too_large(seen.dialect, &image.place))
            }),
        );
    }
    refusals.extend(display(seen));
    refusals
}

fn one(image: &SeenImage, rules: &Rules) -> Option<Refusal> {
    let place = &image.place;
    let (width, height) = (image.width, image.height);
    let format = image::guess_format(&image.bytes).ok();
    let declared = format.map(|format| format.to_mime_type());
    if width == 0 || image.bytes.len() < MIN_BYTES || image.decode().is_none() {
        return Some(Refusal::new(
            "image",
            format!("{place}: Could not process image"),
        ));
    }
    if declared != Some(image.media_type.as_str()) {
        return Some(Refusal::new(
            "image",
            format!(
                "{place}: Image does not match the provided media type {}",
                image.media_type
            ),
        ));
    }
    let encoded = image.bytes.len().div_ceil(3) * 4;
    if encoded > rules.max_image_bytes {
        return Some(Refusal::new(
            "image-bytes",
            format!(
                "{place}.image.source.base64: image exceeds {} MB maximum: {encoded} bytes > {} bytes",
                rules.max_image_bytes / 1_000_000,
                rules.max_image_bytes
            ),
        ));
    }
    if width.max(height) > MAX_EDGE {
        return Some(Refusal::new(
            "image",
            format!(
                "{place}: At least one of the image dimensions exceed max allowed size: 8000 pixels"
            ),
        ));
    }
    // The service shrinks such a picture silently, and positions then miss; here it is an error.
    (!rules.images.fits(width, height)).then(|| {
        Refusal::new(
            "image-class",
            format!(
                "{place}: {width}x{height} is larger than the model sees ({:?})",
                rules.images
            ),
        )
    })
}

/// The newest picture of the whole screen has the size the hosted tool declares.
fn display(seen: &SeenRequest) -> Option<Refusal> {
    let tool = seen
        .tools
        .iter()
        .find(|tool| tool.hosted.is_some() && tool.name == "computer")?;
    if tool.hosted.as_deref() == Some(TOOLSET) {
        // It declares none: positions are in pixels of whatever is sent.
        return None;
    }
    let Some((width, height)) = tool.display else {
        return Some(Refusal::new(
            "display",
            "tools.0: `display_width_px` and `display_height_px` are required",
        ));
    };
    let newest = seen.parts().filter_map(screen_picture).last()?;
    (newest.width != width || newest.height != height).then(|| {
        Refusal::new(
            "display",
            format!(
                "{}: the picture is {}x{}, the declared display {width}x{height}",
                newest.place, newest.width, newest.height
            ),
        )
    })
}

/// The last picture of a computer tool's result, unless it shows only a region.
fn screen_picture(part: &Part) -> Option<&SeenImage> {
    let Part::Result(result) = part else {
        return None;
    };
    let region = match &result.input {
        Value::Object(fields) => fields.get("action").is_some_and(|action| action == "zoom"),
        _ => false,
    };
    let whole = result.name.starts_with("computer") && !region;
    result.images.last().filter(|_| whole)
}
