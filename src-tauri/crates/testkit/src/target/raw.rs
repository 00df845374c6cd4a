//! A window drawn by ourselves, whose every pixel and event is known.

use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde::Serialize;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeGCAux, ConnectionExt, CreateGCAux, CreateWindowAux, EventMask, InputFocus,
    PropMode, Rectangle, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::keys::{self, Keys};
use crate::screen::{Rect, TestScreen};
use crate::wait::poll;

/// A coloured rectangle in the window.
#[derive(Debug, Clone)]
pub struct Patch {
    /// Its name in the log.
    pub name: String,
    /// Position relative to the window.
    pub area: Rect,
    /// Red, green, blue.
    pub colour: [u8; 3],
    /// The colour after a click; `None` swallows clicks without any visible change.
    pub after_click: Option<[u8; 3]>,
}

impl Patch {
    /// A rectangle that turns black when it is clicked.
    pub fn new(name: &str, area: Rect, colour: [u8; 3]) -> Self {
        Self {
            name: name.to_owned(),
            area,
            colour,
            after_click: Some([0, 0, 0]),
        }
    }

    /// A rectangle that receives clicks and shows nothing.
    pub fn dead(name: &str, area: Rect, colour: [u8; 3]) -> Self {
        Self {
            after_click: None,
            ..Self::new(name, area, colour)
        }
    }
}

/// A window to be shown.
#[derive(Debug, Clone)]
pub struct Window {
    /// Where on the screen.
    pub area: Rect,
    /// Title.
    pub title: String,
    /// Colour of what is no patch.
    pub background: [u8; 3],
    /// What is drawn.
    pub patches: Vec<Patch>,
    /// Keeps its exact place and has no frame, whatever the window manager thinks.
    pub unmanaged: bool,
}

impl Window {
    /// An unmanaged grey window without patches.
    pub fn new(area: Rect) -> Self {
        Self {
            area,
            title: "Target".to_owned(),
            background: [208, 208, 208],
            patches: Vec::new(),
            unmanaged: true,
        }
    }

    /// A window over the whole screen.
    pub fn full(screen: &TestScreen) -> Self {
        let (width, height) = screen.size();
        Self::new(Rect::new(0, 0, width, height))
    }

    /// One more patch.
    pub fn with(mut self, patch: Patch) -> Self {
        self.patches.push(patch);
        self
    }

    /// The five probes of a square button: 40 px from each corner (`top_left`, `top_right`,
    /// `bottom_left`, `bottom_right`) and in the middle (`centre`), each in its own colour.
    pub fn with_probes(mut self, side: u32) -> Self {
        const MARGIN: i32 = 40;
        let (width, height) = (self.area.width as i32, self.area.height as i32);
        let (far_x, far_y) = (width - MARGIN - side as i32, height - MARGIN - side as i32);
        let middle = ((width - side as i32) / 2, (height - side as i32) / 2);
        let probes = [
            ("top_left", MARGIN, MARGIN, [230, 20, 20]),
            ("top_right", far_x, MARGIN, [20, 150, 20]),
            ("bottom_left", MARGIN, far_y, [20, 20, 230]),
            ("bottom_right", far_x, far_y, [200, 20, 200]),
            ("centre", middle.0, middle.1, [240, 130, 0]),
        ];
        for (name, x, y, colour) in probes {
            self = self.with(Patch::new(name, Rect::new(x, y, side, side), colour));
        }
        self
    }
}

/// What reached the window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Happened {
    /// A button went down.
    ButtonDown {
        /// X11 button: 1 left, 2 middle, 3 right, 4 to 7 the wheel.
        button: u8,
        /// The patch under the pointer.
        patch: Option<String>,
    },
    /// A button went up.
    ButtonUp {
        /// X11 button.
        button: u8,
        /// The patch under the pointer.
        patch: Option<String>,
    },
    /// The pointer moved.
    Motion,
    /// A key went down.
    KeyDown {
        /// X11 key code.
        code: u8,
        /// The character, or the name of the key: `a`, `Return`, `Control_L`.
        key: String,
    },
    /// A key went up.
    KeyUp {
        /// X11 key code.
        code: u8,
        /// As for [`Happened::KeyDown`].
        key: String,
    },
}

/// One event with where and when.
#[derive(Debug, Clone, Serialize)]
pub struct TargetEvent {
    /// What happened.
    #[serde(flatten)]
    pub what: Happened,
    /// Pointer on the whole screen, in pixels.
    pub x: i32,
    /// Pointer on the whole screen, in pixels.
    pub y: i32,
    /// Modifiers and buttons before the event (X11 bits: 1 Shift, 4 Control, 8 Alt, 64 Super).
    pub state: u16,
    /// The server's clock in milliseconds.
    pub server_time: u32,
    /// When it arrived here.
    #[serde(skip)]
    pub at: Instant,
}

type Log = Arc<Mutex<Vec<TargetEvent>>>;

/// A running window; closed on drop.
#[derive(Debug)]
pub struct RawTarget {
    window: u32,
    log: Log,
    ending: mpsc::Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl RawTarget {
    /// Shows the window and returns once it is drawn and has the keyboard focus.
    pub fn start(screen: &TestScreen, window: Window) -> Result<Self> {
        let connection = screen.connect()?;
        let canvas = Canvas::open(connection, screen.root_index(), window)?;
        let id = canvas.window;
        let log = Log::default();
        let sink = Arc::clone(&log);
        let (ending, ended) = mpsc::channel();
        let (ready, drawn) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            canvas.run(&sink, &ended, &ready).ok();
        });
        let target = Self {
            window: id,
            log,
            ending,
            thread: Some(thread),
        };
        drawn.recv_timeout(Duration::from_secs(10))?;
        let focused = poll(Duration::from_secs(5), || {
            let connection = screen.connection();
            connection
                .set_input_focus(InputFocus::PARENT, id, x11rb::CURRENT_TIME)
                .ok()?;
            let focus = connection.get_input_focus().ok()?.reply().ok()?.focus;
            (focus == id).then_some(())
        });
        ensure!(focused.is_some(), "the target window did not get the focus");
        Ok(target)
    }

    /// Its X11 id.
    pub fn window(&self) -> u32 {
        self.window
    }

    /// Everything that reached it so far.
    pub fn events(&self) -> Vec<TargetEvent> {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The same as JSON, one event a line.
    pub fn json_lines(&self) -> String {
        self.events()
            .iter()
            .filter_map(|event| serde_json::to_string(event).ok())
            .map(|line| line + "\n")
            .collect()
    }

    /// Left clicks as `(patch, x, y)` on the screen, at the press.
    pub fn clicks(&self) -> Vec<(Option<String>, i32, i32)> {
        self.events()
            .into_iter()
            .filter_map(|event| match event.what {
                Happened::ButtonDown { button: 1, patch } => Some((patch, event.x, event.y)),
                _ => None,
            })
            .collect()
    }

    /// The keys that went down, by name.
    pub fn keys(&self) -> Vec<String> {
        self.events()
            .into_iter()
            .filter_map(|event| match event.what {
                Happened::KeyDown { key, .. } => Some(key),
                _ => None,
            })
            .collect()
    }

    /// Waits for an event; also sees those that already came.
    pub fn wait_for(
        &self,
        limit: Duration,
        matches: impl Fn(&TargetEvent) -> bool,
    ) -> Option<TargetEvent> {
        poll(limit, || {
            self.events().into_iter().find(|event| matches(event))
        })
    }

    /// Waits for a left click on a patch.
    pub fn wait_for_click(&self, patch: &str, limit: Duration) -> Option<TargetEvent> {
        self.wait_for(limit, |event| {
            matches!(&event.what, Happened::ButtonDown { button: 1, patch: Some(name) } if name == patch)
        })
    }

    /// Forgets what came so far.
    pub fn clear(&self) {
        self.log
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clear();
    }
}

impl Drop for RawTarget {
    fn drop(&mut self) {
        self.ending.send(()).ok();
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

/// The window's own side.
struct Canvas {
    connection: RustConnection,
    window: u32,
    gc: u32,
    shown: Window,
    clicked: Vec<bool>,
    keys: Keys,
}

impl Canvas {
    fn open(connection: RustConnection, screen: usize, shown: Window) -> Result<Self> {
        let root = connection.setup().roots[screen].clone();
        // Only clients that know XKB are told the layout in the state of a key event.
        connection.xkb_use_extension(1, 0)?.reply()?;
        let window = connection.generate_id()?;
        let (x, y) = (i16::try_from(shown.area.x)?, i16::try_from(shown.area.y)?);
        let (width, height) = (
            u16::try_from(shown.area.width)?,
            u16::try_from(shown.area.height)?,
        );
        let attributes = CreateWindowAux::new()
            .background_pixel(pixel(shown.background))
            .override_redirect(u32::from(shown.unmanaged))
            .event_mask(
                EventMask::EXPOSURE
                    | EventMask::BUTTON_PRESS
                    | EventMask::BUTTON_RELEASE
                    | EventMask::POINTER_MOTION
                    | EventMask::KEY_PRESS
                    | EventMask::KEY_RELEASE,
            );
        connection
            .create_window(
                root.root_depth,
                window,
                root.root,
                x,
                y,
                width,
                height,
                0,
                WindowClass::INPUT_OUTPUT,
                root.root_visual,
                &attributes,
            )?
            .check()?;
        connection.change_property8(
            PropMode::REPLACE,
            window,
            AtomEnum::WM_NAME,
            AtomEnum::STRING,
            shown.title.as_bytes(),
        )?;
        connection.change_property8(
            PropMode::REPLACE,
            window,
            AtomEnum::WM_CLASS,
            AtomEnum::STRING,
            b"target\0Target\0",
        )?;
        let gc = connection.generate_id()?;
        connection.create_gc(gc, window, &CreateGCAux::new())?;
        connection.map_window(window)?.check()?;
        let keys = Keys::read(&connection)?;
        let clicked = vec![false; shown.patches.len()];
        Ok(Self {
            connection,
            window,
            gc,
            shown,
            clicked,
            keys,
        })
    }

    fn run(
        mut self,
        log: &Mutex<Vec<TargetEvent>>,
        ended: &mpsc::Receiver<()>,
        ready: &mpsc::Sender<()>,
    ) -> Result<()> {
        while ended.try_recv() == Err(mpsc::TryRecvError::Empty) {
            let Some(event) = self.connection.poll_for_event()? else {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            };
            match &event {
                Event::Expose(expose) if expose.count == 0 => {
                    self.draw()?;
                    ready.send(()).ok();
                }
                Event::MappingNotify(_) => self.keys = Keys::read(&self.connection)?,
                _ => {}
            }
            if let Some(entry) = self.describe(&event) {
                if let Happened::ButtonDown {
                    patch: Some(name), ..
                } = &entry.what
                {
                    self.click(&name.clone())?;
                }
                log.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(entry);
            }
        }
        Ok(())
    }

    fn draw(&self) -> Result<()> {
        for (patch, clicked) in self.shown.patches.iter().zip(&self.clicked) {
            let colour = patch
                .after_click
                .filter(|_| *clicked)
                .unwrap_or(patch.colour);
            self.connection
                .change_gc(self.gc, &ChangeGCAux::new().foreground(pixel(colour)))?;
            let area = Rectangle {
                x: i16::try_from(patch.area.x)?,
                y: i16::try_from(patch.area.y)?,
                width: u16::try_from(patch.area.width)?,
                height: u16::try_from(patch.area.height)?,
            };
            self.connection
                .poly_fill_rectangle(self.window, self.gc, &[area])?;
        }
        self.connection.sync()?;
        Ok(())
    }

    fn click(&mut self, name: &str) -> Result<()> {
        for (patch, clicked) in self.shown.patches.iter().zip(&mut self.clicked) {
            *clicked |= patch.name == name;
        }
        self.draw()
    }

    fn patch_at(&self, x: i16, y: i16) -> Option<String> {
        self.shown
            .patches
            .iter()
            .rev()
            .find(|patch| patch.area.contains(x.into(), y.into()))
            .map(|patch| patch.name.clone())
    }

    fn describe(&self, event: &Event) -> Option<TargetEvent> {
        let (what, x, y, state, server_time) = match event {
            Event::ButtonPress(event) | Event::ButtonRelease(event) => {
                let patch = self.patch_at(event.event_x, event.event_y);
                let button = event.detail;
                let what = if event.response_type & 0x7F == 4 {
                    Happened::ButtonDown { button, patch }
                } else {
                    Happened::ButtonUp { button, patch }
                };
                (what, event.root_x, event.root_y, event.state, event.time)
            }
            Event::MotionNotify(event) => (
                Happened::Motion,
                event.root_x,
                event.root_y,
                event.state,
                event.time,
            ),
            Event::KeyPress(event) | Event::KeyRelease(event) => {
                let code = event.detail;
                let key = keys::name(self.keys.symbol(code, event.state.into()));
                let what = if event.response_type & 0x7F == 2 {
                    Happened::KeyDown { code, key }
                } else {
                    Happened::KeyUp { code, key }
                };
                (what, event.root_x, event.root_y, event.state, event.time)
            }
            _ => return None,
        };
        Some(TargetEvent {
            what,
            x: x.into(),
            y: y.into(),
            state: state.into(),
            server_time,
            at: Instant::now(),
        })
    }
}

fn pixel([red, green, blue]: [u8; 3]) -> u32 {
    u32::from(red) << 16 | u32::from(green) << 8 | u32::from(blue)
}
