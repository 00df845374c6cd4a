//! Grabbing pixels: through memory shared with the server, or through the connection where the
//! server is elsewhere.

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::protocol::shm;
use x11rb::protocol::xproto::{self, ConnectionExt as _, ImageFormat, ImageOrder};

use crate::{Capture, InputRect, ScreenError};

use super::connection::Display;

/// Grabs rectangles of the root window.
pub(crate) struct Grabber {
    shared: Option<Shared>,
    /// Whether sharing memory is worth a try.
    sharing: bool,
}

impl Grabber {
    /// Checks that the pixels come in the one format this understands.
    pub(crate) fn new(display: &Display) -> Result<Self, ScreenError> {
        let setup = display.conn.setup();
        let root = &setup.roots[display.screen];
        let visual = root
            .allowed_depths
            .iter()
            .flat_map(|depth| &depth.visuals)
            .find(|visual| visual.visual_id == root.root_visual);
        let bits = setup
            .pixmap_formats
            .iter()
            .find(|format| format.depth == root.root_depth)
            .map_or(0, |format| format.bits_per_pixel);
        let bgrx = bits == 32
            && setup.image_byte_order == ImageOrder::LSB_FIRST
            && visual.is_some_and(|it| {
                (it.red_mask, it.green_mask, it.blue_mask) == (0x00ff_0000, 0xff00, 0xff)
            });
        if !bgrx {
            return Err(ScreenError::BadCapture(format!(
                "the display uses {} bits of colour in an unusual order; set it to 24 bits",
                root.root_depth
            )));
        }
        let conn = &display.conn;
        let sharing = conn
            .extension_information(shm::X11_EXTENSION_NAME)?
            .is_some()
            && shm::query_version(conn)?.reply().is_ok_and(|version| {
                // Descriptors can be passed since 1.2.
                (version.major_version, version.minor_version) >= (1, 2)
            });
        Ok(Self {
            shared: None,
            sharing,
        })
    }

    /// The pixels of `area`, which must lie inside the root window.
    pub(crate) fn grab(
        &mut self,
        display: &Display,
        area: InputRect,
    ) -> Result<Capture, ScreenError> {
        let bytes = area.width as usize * area.height as usize * 4;
        if self.sharing {
            if self
                .shared
                .as_ref()
                .is_none_or(|shared| shared.length < bytes)
            {
                if let Some(old) = self.shared.take() {
                    shm::detach(&display.conn, old.segment)?;
                }
                self.shared = Shared::attach(display, bytes)?;
                self.sharing = self.shared.is_some();
            }
            if let Some(shared) = &self.shared {
                return shared.grab(display, area, bytes);
            }
        }
        through_connection(display, area)
    }
}

/// Memory that the server writes pictures into.
struct Shared {
    segment: shm::Seg,
    memory: NonNull<libc::c_void>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone, and is only read, while the server, which is
// the only writer, has answered and is not writing.
unsafe impl Send for Shared {}

impl Shared {
    /// `None` when the server cannot reach our memory, as over a forwarded connection.
    fn attach(display: &Display, bytes: usize) -> Result<Option<Self>, ScreenError> {
        let Some((memory, fd)) = map(bytes) else {
            return Ok(None);
        };
        let conn = &display.conn;
        let segment = conn.generate_id()?;
        let shared = Self {
            segment,
            memory,
            length: bytes,
        };
        let attached =
            shm::attach_fd(conn, segment, fd, false).map(x11rb::cookie::VoidCookie::check);
        match attached {
            Ok(Ok(())) => Ok(Some(shared)),
            Ok(Err(error)) => {
                tracing::debug!(%error, "the X server does not share memory; captures are slower");
                Ok(None)
            }
            Err(error) => {
                tracing::debug!(%error, "no memory can be shared over this connection");
                Ok(None)
            }
        }
    }

    fn grab(
        &self,
        display: &Display,
        area: InputRect,
        bytes: usize,
    ) -> Result<Capture, ScreenError> {
        shm::get_image(
            &display.conn,
            display.root,
            area.x as i16,
            area.y as i16,
            area.width as u16,
            area.height as u16,
            !0,
            ImageFormat::Z_PIXMAP.into(),
            self.segment,
            0,
        )?
        .reply()?;
        // SAFETY: `memory` maps `length >= bytes` bytes that live as long as `self`; the server
        // answered, so it has written them and writes no more until the next request.
        let pixels =
            unsafe { std::slice::from_raw_parts(self.memory.as_ptr().cast::<u8>(), bytes) };
        Ok(Capture::new(area.width, area.height, copied(pixels)))
    }
}

/// A copy in few large pages where the system offers them: entering thousands of small fresh ones
/// takes as long as the picture itself.
fn copied(pixels: &[u8]) -> Vec<u8> {
    const HUGE: usize = 2 << 20;
    let mut copy: Vec<u8> = Vec::with_capacity(pixels.len());
    let begin = copy.as_mut_ptr() as usize;
    let first = begin.next_multiple_of(HUGE);
    let end = begin + pixels.len();
    if first + HUGE <= end {
        // SAFETY: only advice about pages that belong wholly to `copy`; their content stays.
        // It may fail, and then the pages are small.
        unsafe {
            let start = copy.as_mut_ptr().add(first - begin).cast();
            libc::madvise(start, (end - first) / HUGE * HUGE, libc::MADV_HUGEPAGE);
        }
    }
    copy.extend_from_slice(pixels);
    copy
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this address and length and nothing borrows it any more.
        unsafe { libc::munmap(self.memory.as_ptr(), self.length) };
    }
}

/// Anonymous memory, mapped here, with the descriptor the server maps it by.
fn map(bytes: usize) -> Option<(NonNull<libc::c_void>, OwnedFd)> {
    use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
    let fd = memfd_create("openspace-capture", MemfdFlags::CLOEXEC).ok()?;
    ftruncate(&fd, bytes as u64).ok()?;
    // SAFETY: a fresh mapping at an address the kernel chooses, of a file of that very length.
    let memory = unsafe {
        use std::os::fd::AsRawFd as _;
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED,
            fd.as_raw_fd(),
            0,
        )
    };
    if memory == libc::MAP_FAILED {
        return None;
    }
    Some((NonNull::new(memory)?, fd))
}

fn through_connection(display: &Display, area: InputRect) -> Result<Capture, ScreenError> {
    let image = display
        .conn
        .get_image(
            xproto::ImageFormat::Z_PIXMAP,
            display.root,
            area.x as i16,
            area.y as i16,
            area.width as u16,
            area.height as u16,
            !0,
        )?
        .reply()?;
    let bytes = area.width as usize * area.height as usize * 4;
    if image.data.len() < bytes {
        return Err(ScreenError::BadCapture(format!(
            "the X server sent {} bytes instead of {bytes}",
            image.data.len()
        )));
    }
    let mut bgrx = image.data;
    bgrx.truncate(bytes);
    Ok(Capture::new(area.width, area.height, bgrx))
}
