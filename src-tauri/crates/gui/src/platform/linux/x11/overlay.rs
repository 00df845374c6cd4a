//! Windows of ours that lie over everything and that clicks go through.

use x11rb::connection::Connection as _;
use x11rb::protocol::shape::SK;
use x11rb::protocol::xfixes::{ConnectionExt as _, Region};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, PropMode, Rectangle, Window, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::{InputRect, ScreenError};

use super::connection::Display;

/// Connects, and makes sure that windows can have shapes.
pub(super) fn connect(
    name: &str,
    authority: Option<&std::path::Path>,
) -> Result<Display, ScreenError> {
    let display = Display::open(name, authority)?;
    display.require("XFIXES")?;
    // The server answers requests of the extension only after it was told a version.
    display.conn.xfixes_query_version(5, 0)?.reply()?;
    Ok(display)
}

/// A window over `area` in one `colour` (`0xRRGGBB`), not shown yet, with `title` for whoever lists
/// windows; only `shape` of it where one is given.
pub(super) fn window(
    display: &Display,
    area: InputRect,
    colour: u32,
    title: &str,
    shape: Option<&[Rectangle]>,
) -> Result<Window, ScreenError> {
    let conn = &display.conn;
    let id = new_id(display)?;
    let aux = CreateWindowAux::new()
        // No window manager moves, decorates or focuses it.
        .override_redirect(1)
        .background_pixel(colour)
        .border_pixel(colour);
    let short = |length: u32| u16::try_from(length).unwrap_or(u16::MAX);
    let near = |at: i32| i16::try_from(at).unwrap_or(i16::MAX);
    conn.create_window(
        x11rb::COPY_DEPTH_FROM_PARENT,
        id,
        display.root,
        near(area.x),
        near(area.y),
        short(area.width),
        short(area.height),
        0,
        WindowClass::INPUT_OUTPUT,
        x11rb::COPY_FROM_PARENT,
        &aux,
    )?;
    conn.change_property8(
        PropMode::REPLACE,
        id,
        display.atoms._NET_WM_NAME,
        display.atoms.UTF8_STRING,
        title.as_bytes(),
    )?;
    let class = b"openspace-desktop\0openspace-desktop\0";
    conn.change_property8(
        PropMode::REPLACE,
        id,
        AtomEnum::WM_CLASS,
        AtomEnum::STRING,
        class,
    )?;
    form(display, id, SK::INPUT, &[])?;
    if let Some(shape) = shape {
        form(display, id, SK::BOUNDING, shape)?;
    }
    Ok(id)
}

fn form(
    display: &Display,
    window: Window,
    kind: SK,
    rectangles: &[Rectangle],
) -> Result<(), ScreenError> {
    let conn = &display.conn;
    let region: Region = new_id(display)?;
    conn.xfixes_create_region(region, rectangles)?;
    conn.xfixes_set_window_shape_region(window, kind, 0, 0, region)?;
    conn.xfixes_destroy_region(region)?;
    Ok(())
}

fn new_id(display: &Display) -> Result<u32, ScreenError> {
    let id = display.conn.generate_id();
    id.map_err(|error| ScreenError::Lost(error.to_string()))
}
