//! Telling a person's hand from our own input.
//!
//! The server names the device an event came from. XTEST events come from devices of their own,
//! one pair per master, whose names contain "XTEST" (`Virtual core XTEST pointer`).
//!
//! Limits: a person who works through a remote desktop that injects with XTEST (x11vnc, some
//! virtual machines) looks like us. Input that a program reads from the device itself, past the
//! server, is not seen.

use std::collections::HashMap;
use std::path::Path;
use std::thread::JoinHandle;

use x11rb::protocol::Event;
use x11rb::protocol::xinput::{
    ConnectionExt as _, Device, DeviceId, EventMask, KeyEventFlags, XIEventMask,
};

use crate::{ScreenError, platform::injects};

use super::connection::Display;
use super::wait::{Wake, Waker, Woken, waker};

/// What a person did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HumanInput {
    /// Pressed a key.
    Key,
    /// Pressed a mouse button or touched.
    Button,
    /// Turned the wheel.
    Wheel,
    /// Moved the pointer.
    Motion,
}

/// Watches for a person's input until it is dropped.
pub struct HumanWatch {
    waker: Option<Waker>,
    thread: Option<JoinHandle<()>>,
}

impl HumanWatch {
    /// Starts watching; `callback` runs on a thread of its own and should only take note.
    ///
    /// # Errors
    /// [`ScreenError`] when the display cannot be reached or has no XInput 2.1.
    pub fn start(
        display: &str,
        authority: Option<&Path>,
        callback: impl Fn(HumanInput) + Send + 'static,
    ) -> Result<Self, ScreenError> {
        let display = Display::open(display, authority)?;
        display.require(x11rb::protocol::xinput::X11_EXTENSION_NAME)?;
        let conn = &display.conn;
        // From 2.1 on raw events arrive during grabs, and carry the device they came from.
        let version = conn.xinput_xi_query_version(2, 2)?.reply()?;
        if (version.major_version, version.minor_version) < (2, 1) {
            return Err(ScreenError::NoDisplay(
                "the X server is too old to tell a person's input from ours".into(),
            ));
        }
        let mask = XIEventMask::RAW_KEY_PRESS
            | XIEventMask::RAW_BUTTON_PRESS
            | XIEventMask::RAW_MOTION
            | XIEventMask::RAW_TOUCH_BEGIN;
        conn.xinput_xi_select_events(
            display.root,
            &[EventMask {
                deviceid: Device::ALL_MASTER.into(),
                mask: vec![mask],
            }],
        )?
        .check()?;
        let (waker, wake) = waker().map_err(|error| ScreenError::Lost(error.to_string()))?;
        let thread = std::thread::Builder::new()
            .name("human-watch".into())
            .spawn(move || watch(&display, &wake, &callback))
            .map_err(|error| ScreenError::Lost(error.to_string()))?;
        Ok(Self {
            waker: Some(waker),
            thread: Some(thread),
        })
    }
}

impl Drop for HumanWatch {
    fn drop(&mut self) {
        self.waker = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the panic hook already.
            let _ = thread.join();
        }
    }
}

fn watch(display: &Display, wake: &Wake, callback: &dyn Fn(HumanInput)) {
    let mut injects: HashMap<DeviceId, bool> = HashMap::new();
    loop {
        let event = match wake.wait(&display.conn) {
            Ok(Woken::Event(event)) => event,
            Ok(Woken::Called) => continue,
            Ok(Woken::Dropped) => return,
            Err(error) => {
                tracing::warn!(%error, "no longer watching for a person's input");
                return;
            }
        };
        let (source, input) = match event {
            // A key that repeats by itself is a key somebody left down, not a new deed.
            Event::XinputRawKeyPress(event) if event.flags.contains(KeyEventFlags::KEY_REPEAT) => {
                continue;
            }
            Event::XinputRawKeyPress(event) => (event.sourceid, HumanInput::Key),
            Event::XinputRawButtonPress(event) => {
                let wheel = (4..=7).contains(&event.detail);
                (
                    event.sourceid,
                    if wheel {
                        HumanInput::Wheel
                    } else {
                        HumanInput::Button
                    },
                )
            }
            Event::XinputRawTouchBegin(event) => (event.sourceid, HumanInput::Button),
            Event::XinputRawMotion(event) => (event.sourceid, HumanInput::Motion),
            _ => continue,
        };
        let injected = *injects
            .entry(source)
            .or_insert_with(|| is_injector(display, source));
        if !injected {
            callback(input);
        }
    }
}

fn is_injector(display: &Display, device: DeviceId) -> bool {
    let reply = display
        .conn
        .xinput_xi_query_device(device)
        .map(x11rb::cookie::Cookie::reply);
    match reply {
        Ok(Ok(reply)) => reply
            .infos
            .iter()
            .any(|info| injects(&String::from_utf8_lossy(&info.name))),
        // A device that was pulled out before we could ask was real.
        Ok(Err(_)) | Err(_) => false,
    }
}
