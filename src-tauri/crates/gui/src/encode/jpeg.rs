//! JPEG on two cores.
//!
//! A restart marker (ITU-T T.81, section F.1.1.5.1) makes what follows it independent of what came
//! before. So both halves of a picture are encoded at the same time as files of their own, and
//! joined with such a marker between them: the result is the file one pass would have made.

use std::thread;

use bytes::Bytes;
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

use super::QUALITY;
use crate::{GuiError, geometry::Size};

/// Edge of the blocks that are encoded as one, with colours at half the resolution.
const BLOCK: u32 = 16;
/// Rows below which a second thread costs more than it saves.
const ROWS_FOR_TWO: u32 = 256;

const SOF0: u8 = 0xc0;
const RST0: u8 = 0xd0;
const EOI: u8 = 0xd9;
const SOS: u8 = 0xda;

/// Encodes pixels of four bytes each, the fourth unused.
pub(super) fn jpeg(bgrx: &[u8], size: Size) -> Result<Bytes, GuiError> {
    let upper = (size.height / 2).next_multiple_of(BLOCK);
    let interval = size.width.div_ceil(BLOCK) * (upper / BLOCK);
    let Some(interval) = u16::try_from(interval)
        .ok()
        .filter(|_| size.height >= ROWS_FOR_TWO)
    else {
        return Ok(single(bgrx, size, 0)?.into());
    };
    let (first, second) = bgrx.split_at(size.width as usize * 4 * upper as usize);
    let part = |pixels, height| {
        let width = size.width;
        single(pixels, Size { width, height }, interval)
    };
    let (first, second) = thread::scope(|scope| {
        let second = scope.spawn(|| part(second, size.height - upper));
        let first = part(first, upper);
        let second = second
            .join()
            .unwrap_or_else(|_| Err(GuiError::Encode("encoding failed".into())));
        (first, second)
    });
    join(first?, &second?, size.height)
        .map(Bytes::from)
        .ok_or_else(|| GuiError::Encode("the halves of the picture do not fit together".into()))
}

fn single(bgrx: &[u8], size: Size, restart_interval: u16) -> Result<Vec<u8>, GuiError> {
    let edge = |length: u32| {
        u16::try_from(length).map_err(|_| GuiError::Encode(format!("{size} is too large")))
    };
    // An eighth of the raw size is a picture full of text; more than that is rare.
    let mut data = Vec::with_capacity(bgrx.len() / 8);
    let mut encoder = Encoder::new(&mut data, QUALITY);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    encoder.set_restart_interval(restart_interval);
    encoder
        .encode(bgrx, edge(size.width)?, edge(size.height)?, ColorType::Bgra)
        .map_err(|error| GuiError::Encode(error.to_string()))?;
    Ok(data)
}

/// Appends the scan of the second file to the first and corrects the height.
fn join(mut first: Vec<u8>, second: &[u8], height: u32) -> Option<Vec<u8>> {
    let frame = segment(&first, SOF0)?;
    // Marker, length and precision come before the height.
    first
        .get_mut(frame + 5..frame + 7)?
        .copy_from_slice(&u16::try_from(height).ok()?.to_be_bytes());
    let start = segment(second, SOS)?;
    let length = usize::from(u16::from_be_bytes([
        *second.get(start + 2)?,
        *second.get(start + 3)?,
    ]));
    let scan = second.get(start + 2 + length..)?;
    let ends = |data: &[u8]| data.ends_with(&[0xff, EOI]);
    if !ends(&first) || !ends(scan) {
        return None;
    }
    first.truncate(first.len() - 2);
    first.extend_from_slice(&[0xff, RST0]);
    first.extend_from_slice(scan);
    Some(first)
}

/// Where the first segment with this marker begins.
fn segment(data: &[u8], marker: u8) -> Option<usize> {
    // The file begins with a marker that has no length.
    let mut at = 2;
    loop {
        let [0xff, found, high, low] = *data.get(at..at + 4)? else {
            return None;
        };
        if found == marker {
            return Some(at);
        }
        at += 2 + usize::from(u16::from_be_bytes([high, low]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joined halves show exactly what one pass shows, whatever the size.
    #[test]
    fn two_halves_are_one_picture() {
        for (width, height) in [(640, 480), (333, 257), (17, 300), (1456, 819)] {
            let bgrx: Vec<u8> = (0..width * height)
                .flat_map(|n: u32| {
                    let (x, y) = (n % width, n / width);
                    [(x * y / 50) as u8, (x ^ y) as u8, (y / 3) as u8, 0]
                })
                .collect();
            let size = Size { width, height };
            let decode = |data: &[u8]| image::load_from_memory(data).unwrap().to_rgb8();
            let joined = decode(&jpeg(&bgrx, size).unwrap());
            let plain = decode(&single(&bgrx, size, 0).unwrap());
            assert_eq!(joined.dimensions(), (width, height));
            assert!(joined == plain, "{size}");
        }
    }

    /// What is no JPEG file is not joined to one.
    #[test]
    fn other_data_is_not_joined() {
        let size = Size {
            width: 16,
            height: 16,
        };
        let file = single(&[9; 16 * 16 * 4], size, 1).unwrap();
        assert_eq!(join(file.clone(), &[], 32), None);
        assert_eq!(join(vec![0xff, 0xd8, 0xff], &file, 32), None);
        assert!(join(file.clone(), &file, 32).is_some());
    }
}
