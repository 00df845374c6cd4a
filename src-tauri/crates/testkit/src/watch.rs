//! Hears every input event of a display, whichever window receives it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Result;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{self, ConnectionExt as _, Device};
use x11rb::rust_connection::RustConnection;

use crate::screen::TestScreen;
use crate::wait::poll;

/// What kind of input it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// A key went down.
    KeyDown,
    /// A key went up.
    KeyUp,
    /// A button went down.
    ButtonDown,
    /// A button went up.
    ButtonUp,
    /// The pointer moved.
    Motion,
}

/// One input event, before it was given to any window.
#[derive(Debug, Clone)]
pub struct Input {
    /// What happened.
    pub kind: InputKind,
    /// Key code or button number; 0 for motion.
    pub detail: u32,
    /// The server's clock in milliseconds.
    pub server_time: u32,
    /// When it arrived here.
    pub at: Instant,
}

/// Raw events of all devices (XInput 2) since it was started; ends on drop.
#[derive(Debug)]
pub struct InputWatch {
    inputs: Arc<Mutex<Vec<Input>>>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl InputWatch {
    /// Begins to listen.
    pub fn start(screen: &TestScreen) -> Result<Self> {
        let connection = screen.connect()?;
        let root = connection.setup().roots[screen.root_index()].root;
        connection.xinput_xi_query_version(2, 2)?.reply()?;
        let mask = xinput::XIEventMask::RAW_KEY_PRESS
            | xinput::XIEventMask::RAW_KEY_RELEASE
            | xinput::XIEventMask::RAW_BUTTON_PRESS
            | xinput::XIEventMask::RAW_BUTTON_RELEASE
            | xinput::XIEventMask::RAW_MOTION;
        connection
            .xinput_xi_select_events(
                root,
                &[xinput::EventMask {
                    deviceid: Device::ALL_MASTER.into(),
                    mask: vec![mask],
                }],
            )?
            .check()?;
        let inputs = Arc::new(Mutex::new(Vec::new()));
        let ending = Arc::new(AtomicBool::new(false));
        let (sink, flag) = (Arc::clone(&inputs), Arc::clone(&ending));
        let thread = std::thread::spawn(move || listen(&connection, &sink, &flag));
        Ok(Self {
            inputs,
            ending,
            thread: Some(thread),
        })
    }

    /// All events so far.
    pub fn inputs(&self) -> Vec<Input> {
        self.inputs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The newest event.
    pub fn last(&self) -> Option<Input> {
        self.inputs().pop()
    }

    /// Waits until at least `count` events have come; false when they did not.
    pub fn wait_for(&self, count: usize, limit: Duration) -> bool {
        poll(limit, || (self.inputs().len() >= count).then_some(())).is_some()
    }
}

impl Drop for InputWatch {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().ok();
        }
    }
}

fn listen(connection: &RustConnection, sink: &Mutex<Vec<Input>>, ending: &AtomicBool) {
    while !ending.load(Ordering::Relaxed) {
        match connection.poll_for_event() {
            Ok(Some(event)) => {
                if let Some(input) = read(&event) {
                    sink.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(input);
                }
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
            // The screen is gone.
            Err(_) => return,
        }
    }
}

fn read(event: &Event) -> Option<Input> {
    let (kind, detail, server_time) = match event {
        Event::XinputRawKeyPress(event) => (InputKind::KeyDown, event.detail, event.time),
        Event::XinputRawKeyRelease(event) => (InputKind::KeyUp, event.detail, event.time),
        Event::XinputRawButtonPress(event) => (InputKind::ButtonDown, event.detail, event.time),
        Event::XinputRawButtonRelease(event) => (InputKind::ButtonUp, event.detail, event.time),
        Event::XinputRawMotion(event) => (InputKind::Motion, 0, event.time),
        _ => return None,
    };
    Some(Input {
        kind,
        detail,
        server_time,
        at: Instant::now(),
    })
}
