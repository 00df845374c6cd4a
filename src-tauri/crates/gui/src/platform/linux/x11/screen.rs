//! [`Screen`] on X11.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use x11rb::connection::RequestConnection as _;
use x11rb::protocol::randr::ConnectionExt as _;
use x11rb::protocol::xproto::{
    ConnectionExt as _, EventMask, GrabMode, GrabStatus, MapState, WindowClass,
};
use x11rb::protocol::{dpms, screensaver, shape};

use crate::region::intersection;
use crate::screen::LAG;
use crate::{
    Capture, Cover, InputPoint, InputRect, Monitor, Owner, Screen, ScreenError, ScreenState, Window,
};

use super::capture::Grabber;
use super::connection::Display;
use super::stack::Stack;
use super::window;

/// What can be seen on an X display.
pub(crate) struct X11Screen {
    display: Display,
    grabber: Mutex<Grabber>,
    stack: Mutex<Stack>,
    extensions: Extensions,
    /// Never shown: asking for a grab with it is refused, and says whether somebody else has one.
    unseen: u32,
}

/// Which optional extensions the server has; each only sharpens an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extensions {
    randr: bool,
    dpms: bool,
    screensaver: bool,
    pub(super) res: bool,
    pub(super) shape: bool,
}

impl X11Screen {
    /// Connects to the display.
    pub(crate) fn open(name: &str, authority: Option<&Path>) -> Result<Self, ScreenError> {
        let display = Display::open(name, authority)?;
        let has = |extension| {
            display
                .conn
                .extension_information(extension)
                .map(|it| it.is_some())
        };
        let extensions = Extensions {
            randr: has(x11rb::protocol::randr::X11_EXTENSION_NAME)?,
            dpms: has(dpms::X11_EXTENSION_NAME)?,
            screensaver: has(screensaver::X11_EXTENSION_NAME)?,
            res: has(x11rb::protocol::res::X11_EXTENSION_NAME)?,
            shape: has(shape::X11_EXTENSION_NAME)?,
        };
        if extensions.randr {
            // Servers answer with monitors only to clients that speak at least 1.5.
            display.conn.randr_query_version(1, 5)?.reply()?;
        }
        let grabber = Grabber::new(&display)?;
        let unseen = display.hidden_window()?;
        let stack = Stack::new(&display)?;
        Ok(Self {
            unseen,
            display,
            stack: Mutex::new(stack),
            grabber: Mutex::new(grabber),
            extensions,
        })
    }

    fn root_area(&self) -> Result<InputRect, ScreenError> {
        let root = self.display.conn.get_geometry(self.display.root)?.reply()?;
        Ok(InputRect {
            x: 0,
            y: 0,
            width: root.width.into(),
            height: root.height.into(),
        })
    }

    fn laid_out(&self, root: InputRect) -> Result<Vec<Monitor>, ScreenError> {
        if !self.extensions.randr {
            return Ok(Vec::new());
        }
        let conn = &self.display.conn;
        let Ok(reply) = conn.randr_get_monitors(self.display.root, true)?.reply() else {
            return Ok(Vec::new());
        };
        let names: Result<Vec<_>, _> = reply
            .monitors
            .iter()
            .map(|monitor| conn.get_atom_name(monitor.name))
            .collect();
        let mut monitors = Vec::new();
        for (monitor, name) in reply.monitors.iter().zip(names?) {
            let name = String::from_utf8_lossy(&name.reply()?.name).into_owned();
            let area = InputRect {
                x: monitor.x.into(),
                y: monitor.y.into(),
                width: monitor.width.into(),
                height: monitor.height.into(),
            };
            // A virtual monitor may reach over the root window, where nothing can be grabbed.
            if let Some(area) = intersection(area, root) {
                monitors.push(Monitor {
                    name,
                    area,
                    scale: 1.0,
                    primary: monitor.primary,
                });
            }
        }
        Ok(monitors)
    }
}

impl Screen for X11Screen {
    fn monitors(&self) -> Result<Vec<Monitor>, ScreenError> {
        let root = self.root_area()?;
        let mut monitors = self.laid_out(root)?;
        if monitors.is_empty() {
            monitors.push(Monitor {
                name: "screen".into(),
                area: root,
                scale: 1.0,
                primary: true,
            });
        }
        if let Some(first) = monitors.iter().position(|monitor| monitor.primary) {
            monitors[..]
                .iter_mut()
                .skip(first + 1)
                .for_each(|monitor| monitor.primary = false);
        } else {
            // Nobody chose one: the one a person finds at the origin.
            let first = monitors
                .iter()
                .position(|it| it.area.x == 0 && it.area.y == 0);
            monitors[first.unwrap_or(0)].primary = true;
        }
        monitors.sort_by_key(|monitor| (!monitor.primary, monitor.area.x, monitor.area.y));
        Ok(monitors)
    }

    fn capture(&self, monitor: &Monitor) -> Result<Capture, ScreenError> {
        let now = self.monitors()?;
        let same = |it: &&Monitor| it.name == monitor.name && it.area == monitor.area;
        let Some(monitor) = now.iter().find(same) else {
            return Err(ScreenError::MonitorGone(monitor.name.clone()));
        };
        // A panic while grabbing leaves nothing half-done that the next grab relies on.
        let mut grabber = self.grabber.lock().unwrap_or_else(PoisonError::into_inner);
        grabber.grab(&self.display, monitor.area)
    }

    fn window_at(&self, point: InputPoint) -> Result<Option<Window>, ScreenError> {
        window::at(&self.display, point, self.extensions.res)
    }

    fn focused(&self) -> Result<Option<Window>, ScreenError> {
        window::focused(&self.display, self.extensions.res)
    }

    fn windows(&self) -> Result<Vec<Window>, ScreenError> {
        window::all(&self.display, self.extensions.res)
    }

    fn covers(&self, asked: &dyn Fn(Owner<'_>) -> bool) -> Result<Vec<Cover>, ScreenError> {
        // What a panic leaves behind is looked up anew where it does not fit.
        let mut stack = self.stack.lock().unwrap_or_else(PoisonError::into_inner);
        stack.covers(&self.display, self.extensions, asked)
    }

    fn lag(&self) -> Result<Duration, ScreenError> {
        let stack = self.stack.lock().unwrap_or_else(PoisonError::into_inner);
        let composited = stack.is_composited(&self.display)?;
        Ok(if composited { LAG } else { Duration::ZERO })
    }

    fn pointer(&self) -> Result<InputPoint, ScreenError> {
        let pointer = self
            .display
            .conn
            .query_pointer(self.display.root)?
            .reply()?;
        Ok(InputPoint {
            x: pointer.root_x.into(),
            y: pointer.root_y.into(),
        })
    }

    fn state(&self) -> Result<ScreenState, ScreenError> {
        let conn = &self.display.conn;
        if self.extensions.dpms {
            let power = dpms::info(conn)?.reply()?;
            if power.state && power.power_level != dpms::DPMSMode::ON {
                return Ok(ScreenState::Off);
            }
        }
        if self.extensions.screensaver {
            let saver = screensaver::query_info(conn, self.display.root)?.reply()?;
            if saver.state == u8::from(screensaver::State::ON) {
                // An external saver is a program that covers the screen, usually a locker;
                // otherwise the server itself shows black or a pattern.
                let external = saver.kind == screensaver::Kind::EXTERNAL;
                return Ok(if external {
                    ScreenState::Locked
                } else {
                    ScreenState::Off
                });
            }
        }
        // Most lockers (i3lock, xsecurelock, slock) tell no extension. What they all do is to cover
        // the screen and to take keyboard and pointer; a program in full screen that does the same
        // cannot be operated by anybody else either.
        if self.is_covered()? && self.is_grabbed()? {
            return Ok(ScreenState::Locked);
        }
        Ok(ScreenState::Usable)
    }
}

/// Pixels a window may leave free on each side and still cover the screen: xsecurelock leaves one so
/// that no compositor takes it for full screen.
const UNCOVERED: i32 = 2;

impl X11Screen {
    /// A window without a manager lies over the whole screen. Small ones above it, such as
    /// notifications, change nothing.
    fn is_covered(&self) -> Result<bool, ScreenError> {
        let conn = &self.display.conn;
        let whole = conn.get_geometry(self.display.root)?.reply()?;
        let (width, height) = (i32::from(whole.width), i32::from(whole.height));
        let windows = conn.query_tree(self.display.root)?.reply()?.children;
        for window in windows.into_iter().rev() {
            // It may be gone by now.
            let Ok(attributes) = conn.get_window_attributes(window)?.reply() else {
                continue;
            };
            if attributes.map_state != MapState::VIEWABLE
                || attributes.class != WindowClass::INPUT_OUTPUT
            {
                continue;
            }
            let Ok(area) = conn.get_geometry(window)?.reply() else {
                continue;
            };
            let (x, y) = (i32::from(area.x), i32::from(area.y));
            let (right, bottom) = (x + i32::from(area.width), y + i32::from(area.height));
            if x <= UNCOVERED
                && y <= UNCOVERED
                && right >= width - UNCOVERED
                && bottom >= height - UNCOVERED
            {
                return Ok(attributes.override_redirect);
            }
            let small = i32::from(area.width) * i32::from(area.height) < width * height / 4;
            if !(attributes.override_redirect && small) {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Another program has both keyboard and pointer to itself. Asked with a window that is not
    /// shown, which can be given neither: the server looks for other holders first.
    fn is_grabbed(&self) -> Result<bool, ScreenError> {
        let (conn, now) = (&self.display.conn, x11rb::CURRENT_TIME);
        let mode = GrabMode::ASYNC;
        let keyboard = conn
            .grab_keyboard(false, self.unseen, now, mode, mode)?
            .reply()?;
        let none = x11rb::NONE;
        let pointer = conn
            .grab_pointer(
                false,
                self.unseen,
                EventMask::NO_EVENT,
                mode,
                mode,
                none,
                none,
                now,
            )?
            .reply()?;
        let taken = GrabStatus::ALREADY_GRABBED;
        Ok(keyboard.status == taken && pointer.status == taken)
    }
}
