//! A frame around a monitor while a run has control of it: four windows that clicks go through.

use std::path::Path;

use x11rb::connection::Connection as _;
use x11rb::protocol::shape::SK;
use x11rb::protocol::xfixes::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, PropMode, StackMode, Window,
    WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use crate::{InputRect, ScreenError};

use super::connection::Display;

/// Breadth of the frame in pixels.
const BREADTH: u32 = 4;

/// The frame; gone with its connection.
pub struct EdgeFrame {
    display: Display,
    sides: Vec<Window>,
}

impl EdgeFrame {
    /// Draws the frame inside `area` in `colour` (`0xRRGGBB`), with `title` for whoever lists windows.
    pub fn show(
        name: &str,
        authority: Option<&Path>,
        area: InputRect,
        colour: u32,
        title: &str,
    ) -> Result<Self, ScreenError> {
        let display = Display::open(name, authority)?;
        display.require("XFIXES")?;
        // The server answers requests of the extension only after it was told a version.
        display.conn.xfixes_query_version(5, 0)?.reply()?;
        let mut frame = Self {
            display,
            sides: Vec::new(),
        };
        for side in sides(area) {
            frame.add(side, colour, title)?;
        }
        frame.raise();
        Ok(frame)
    }

    fn add(&mut self, side: InputRect, colour: u32, title: &str) -> Result<(), ScreenError> {
        let conn = &self.display.conn;
        let id = conn
            .generate_id()
            .map_err(|error| ScreenError::Lost(error.to_string()))?;
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
            self.display.root,
            near(side.x),
            near(side.y),
            short(side.width),
            short(side.height),
            0,
            WindowClass::INPUT_OUTPUT,
            x11rb::COPY_FROM_PARENT,
            &aux,
        )?;
        conn.change_property8(
            PropMode::REPLACE,
            id,
            self.display.atoms._NET_WM_NAME,
            self.display.atoms.UTF8_STRING,
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
        let nothing = conn
            .generate_id()
            .map_err(|error| ScreenError::Lost(error.to_string()))?;
        conn.xfixes_create_region(nothing, &[])?;
        conn.xfixes_set_window_shape_region(id, SK::INPUT, 0, 0, nothing)?;
        conn.xfixes_destroy_region(nothing)?;
        conn.map_window(id)?;
        self.sides.push(id);
        Ok(())
    }

    /// Brings it above windows that opened since.
    pub fn raise(&mut self) {
        let conn = &self.display.conn;
        let above = ConfigureWindowAux::new().stack_mode(StackMode::ABOVE);
        for side in &self.sides {
            // A display that is gone shows no frame.
            let _gone = conn.configure_window(*side, &above);
        }
        let _gone = conn.flush();
    }
}

/// Top, bottom, left, right.
fn sides(area: InputRect) -> [InputRect; 4] {
    let (width, height) = (area.width, area.height);
    let far = |from: i32, length: u32| from + length.saturating_sub(BREADTH) as i32;
    let side = |x, y, width, height| InputRect {
        x,
        y,
        width,
        height,
    };
    [
        side(area.x, area.y, width, BREADTH),
        side(area.x, far(area.y, height), width, BREADTH),
        side(area.x, area.y, BREADTH, height),
        side(far(area.x, width), area.y, BREADTH, height),
    ]
}
