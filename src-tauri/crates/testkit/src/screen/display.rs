//! What is said to the X server.

use std::os::unix::net::UnixStream;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use image::RgbImage;
use x11rb::connection::{Connection, RequestConnection as _};
use x11rb::protocol::randr::{self, ConnectionExt as _};
use x11rb::protocol::xinput;
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, ImageFormat, ModMask};
use x11rb::protocol::xtest;
use x11rb::rust_connection::{DefaultStream, RustConnection};

use super::Rect;
use crate::home::random_word;
use crate::wait::{poll, wait_until};

const LIMIT: Duration = super::START;
const COOKIE_NAME: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// Sixteen random bytes.
pub(super) fn random_cookie() -> [u8; 16] {
    let word = random_word();
    let mut cookie = [0; 16];
    cookie.copy_from_slice(&word.as_bytes()[..16]);
    cookie
}

/// An authority file with one entry for any host and any display, because the number is not
/// known before the server runs (format: `Xau(3)`).
pub(super) fn authority(cookie: [u8; 16]) -> Vec<u8> {
    const FAMILY_WILD: u16 = 0xFFFF;
    let mut file = FAMILY_WILD.to_be_bytes().to_vec();
    for part in [b"".as_slice(), b"", COOKIE_NAME, &cookie] {
        file.extend((part.len() as u16).to_be_bytes());
        file.extend(part);
    }
    file
}

/// Connects to the local display of that number.
pub(super) fn connect(number: u32, cookie: Option<[u8; 16]>) -> Result<(RustConnection, usize)> {
    let path = format!("/tmp/.X11-unix/X{number}");
    let socket = poll(LIMIT, || UnixStream::connect(&path).ok())
        .with_context(|| format!("no X server answers on `{path}`"))?;
    let (stream, _) = DefaultStream::from_unix_stream(socket)?;
    let (name, data) = cookie.map_or((Vec::new(), Vec::new()), |cookie| {
        (COOKIE_NAME.to_vec(), cookie.to_vec())
    });
    let connection = RustConnection::connect_to_stream_with_auth_info(stream, 0, name, data)?;
    Ok((connection, 0))
}

/// Divides the screen into monitors.
pub(super) fn set_monitors(
    connection: &RustConnection,
    screen: usize,
    monitors: &[Rect],
) -> Result<()> {
    let root = connection.setup().roots[screen].root;
    connection.randr_query_version(1, 5)?.reply()?;
    let outputs = connection
        .randr_get_screen_resources_current(root)?
        .reply()?
        .outputs;
    for (index, area) in monitors.iter().enumerate() {
        let name = format!("TEST-{}", index + 1);
        let atom = connection
            .intern_atom(false, name.as_bytes())?
            .reply()?
            .atom;
        // Taking the server's output for the first one makes its automatic monitor disappear.
        let outputs = if index == 0 {
            outputs.clone()
        } else {
            Vec::new()
        };
        connection
            .randr_set_monitor(
                root,
                randr::MonitorInfo {
                    name: atom,
                    primary: index == 0,
                    automatic: false,
                    x: i16::try_from(area.x)?,
                    y: i16::try_from(area.y)?,
                    width: u16::try_from(area.width)?,
                    height: u16::try_from(area.height)?,
                    // 96 dots per inch.
                    width_in_millimeters: area.width * 254 / 960,
                    height_in_millimeters: area.height * 254 / 960,
                    outputs,
                },
            )?
            .check()?;
    }
    Ok(())
}

/// Locks one of the keyboard's layouts.
pub(super) fn lock_group(connection: &RustConnection, group: u8) -> Result<()> {
    /// The core keyboard (`XkbUseCoreKbd`).
    const CORE_KEYBOARD: u16 = 0x100;
    connection.xkb_use_extension(1, 0)?.reply()?;
    connection
        .xkb_latch_lock_state(
            CORE_KEYBOARD,
            ModMask::default(),
            ModMask::default(),
            true,
            xkb::Group::from(group),
            ModMask::default(),
            false,
            0,
        )?
        .check()?;
    let locked = wait_until(LIMIT, || {
        connection
            .xkb_get_state(CORE_KEYBOARD)
            .ok()
            .and_then(|cookie| cookie.reply().ok())
            .is_some_and(|state| u8::from(state.locked_group) == group)
    });
    ensure!(locked, "layout {group} could not be locked");
    Ok(())
}

/// Waits until a window manager owns the screen.
pub(super) fn wait_managed(connection: &RustConnection, screen: usize) -> Result<()> {
    let root = connection.setup().roots[screen].root;
    let atom = connection
        .intern_atom(false, b"_NET_SUPPORTING_WM_CHECK")?
        .reply()?
        .atom;
    let managed = wait_until(LIMIT, || {
        connection
            .get_property(false, root, atom, AtomEnum::WINDOW, 0, 1)
            .ok()
            .and_then(|cookie| cookie.reply().ok())
            .is_some_and(|property| property.value_len == 1)
    });
    ensure!(managed, "the window manager did not start");
    Ok(())
}

/// Waits for whoever draws the windows, by the selection that he owns (EWMH, `_NET_WM_CM_Sn`).
pub(super) fn wait_composited(connection: &RustConnection, screen: usize) -> Result<()> {
    let name = format!("_NET_WM_CM_S{screen}");
    let atom = connection
        .intern_atom(false, name.as_bytes())?
        .reply()?
        .atom;
    let composited = wait_until(LIMIT, || {
        connection
            .get_selection_owner(atom)
            .ok()
            .and_then(|cookie| cookie.reply().ok())
            .is_some_and(|it| it.owner != x11rb::NONE)
    });
    ensure!(composited, "the compositor did not start");
    Ok(())
}

/// The whole screen, by `GetImage` in strips (one reply holds at most some megabytes).
pub(super) fn screenshot(
    connection: &RustConnection,
    screen: usize,
    (width, height): (u32, u32),
) -> Result<RgbImage> {
    const STRIP: u32 = 256;
    let root = connection.setup().roots[screen].root;
    let mut pixels = Vec::with_capacity((width * height * 3) as usize);
    for top in (0..height).step_by(STRIP as usize) {
        let rows = STRIP.min(height - top);
        let reply = connection
            .get_image(
                ImageFormat::Z_PIXMAP,
                root,
                0,
                i16::try_from(top)?,
                u16::try_from(width)?,
                rows as u16,
                u32::MAX,
            )?
            .reply()?;
        ensure!(
            reply.data.len() == (width * rows * 4) as usize,
            "the server's pixels are not 32 bits wide"
        );
        let (quads, _) = reply.data.as_chunks::<4>();
        pixels.extend(
            quads
                .iter()
                .flat_map(|[blue, green, red, _]| [*red, *green, *blue]),
        );
    }
    match RgbImage::from_raw(width, height, pixels) {
        Some(image) => Ok(image),
        None => bail!("the server sent too few pixels"),
    }
}

pub(super) fn pointer(connection: &RustConnection, screen: usize) -> Result<(i32, i32)> {
    let root = connection.setup().roots[screen].root;
    let reply = connection.query_pointer(root)?.reply()?;
    Ok((reply.root_x.into(), reply.root_y.into()))
}

/// XTEST speaks for any device that is named, as a driver would.
pub(super) fn button_by_hand(connection: &RustConnection, down: bool) -> Result<()> {
    const MOUSE: &[u8] = b"Xvfb mouse";
    const LEFT: u8 = 1;
    let devices = xinput::xi_query_device(connection, xinput::Device::ALL)?
        .reply()?
        .infos;
    let mouse = devices.iter().find(|device| device.name == MOUSE);
    let mouse = u8::try_from(mouse.context("the server has no mouse")?.deviceid)?;
    let first = connection
        .extension_information(xinput::X11_EXTENSION_NAME)?
        .context("the server has no input extension")?
        .first_event;
    let kind = if down {
        xinput::DEVICE_BUTTON_PRESS_EVENT
    } else {
        xinput::DEVICE_BUTTON_RELEASE_EVENT
    };
    xtest::fake_input(connection, first + kind, LEFT, 0, x11rb::NONE, 0, 0, mouse)?.check()?;
    Ok(())
}

pub(super) fn move_pointer(
    connection: &RustConnection,
    screen: usize,
    x: i32,
    y: i32,
) -> Result<()> {
    let root = connection.setup().roots[screen].root;
    let (x, y) = (i16::try_from(x)?, i16::try_from(y)?);
    connection
        .warp_pointer(x11rb::NONE, root, 0, 0, 0, 0, x, y)?
        .check()?;
    Ok(())
}
