//! A frame around a monitor while a run has control of it: four windows that clicks go through.

use std::path::Path;

use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{ConfigureWindowAux, ConnectionExt as _, StackMode, Window};

use crate::{InputRect, ScreenError};

use super::connection::Display;
use super::overlay;

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
        let display = overlay::connect(name, authority)?;
        let mut sides = Vec::new();
        for side in self::sides(area) {
            let window = overlay::window(&display, side, colour, title, None)?;
            display.conn.map_window(window)?;
            sides.push(window);
        }
        let mut frame = Self { display, sides };
        frame.raise();
        Ok(frame)
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
