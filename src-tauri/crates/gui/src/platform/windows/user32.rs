//! The handful of calls of `user32.dll` that input needs, as `winuser.h` declares them.

use crate::{InputPoint, InputRect};

pub(super) const KEY_EXTENDED: u32 = 0x01;
pub(super) const KEY_UP: u32 = 0x02;
pub(super) const KEY_UNICODE: u32 = 0x04;
pub(super) const MOUSE_MOVE: u32 = 0x0001;
pub(super) const MOUSE_VIRTUAL_DESK: u32 = 0x4000;
pub(super) const MOUSE_ABSOLUTE: u32 = 0x8000;

/// An event to send.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    Mouse {
        x: i32,
        y: i32,
        data: i32,
        flags: u32,
    },
    Key {
        code: u16,
        unit: u16,
        flags: u32,
    },
}

impl Event {
    /// The same key going up.
    pub(super) fn released(self) -> Self {
        match self {
            Self::Key { code, unit, flags } => Self::Key {
                code,
                unit,
                flags: flags | KEY_UP,
            },
            mouse @ Self::Mouse { .. } => mouse,
        }
    }
}

#[repr(C)]
#[derive(Clone, Copy)]
struct MouseInput {
    x: i32,
    y: i32,
    data: u32,
    flags: u32,
    time: u32,
    extra: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct KeyboardInput {
    code: u16,
    scan: u16,
    flags: u32,
    time: u32,
    extra: usize,
}

#[repr(C)]
union Payload {
    mouse: MouseInput,
    keyboard: KeyboardInput,
}

#[repr(C)]
struct RawInput {
    kind: u32,
    payload: Payload,
}

#[repr(C)]
#[derive(Default)]
struct Point {
    x: i32,
    y: i32,
}

#[link(name = "user32")]
unsafe extern "system" {
    fn SendInput(count: u32, inputs: *const RawInput, size: i32) -> u32;
    fn GetSystemMetrics(index: i32) -> i32;
    fn GetCursorPos(point: *mut Point) -> i32;
    fn VkKeyScanW(unit: u16) -> i16;
}

/// Sends one event; false when Windows refuses it.
pub(super) fn send(event: Event) -> bool {
    let input = match event {
        Event::Mouse { x, y, data, flags } => RawInput {
            kind: 0,
            payload: Payload {
                mouse: MouseInput {
                    x,
                    y,
                    data: data as u32,
                    flags,
                    time: 0,
                    extra: 0,
                },
            },
        },
        Event::Key { code, unit, flags } => RawInput {
            kind: 1,
            payload: Payload {
                keyboard: KeyboardInput {
                    code,
                    scan: unit,
                    flags,
                    time: 0,
                    extra: 0,
                },
            },
        },
    };
    // SAFETY: one fully initialised structure of the size that is given.
    unsafe { SendInput(1, &raw const input, size_of::<RawInput>() as i32) == 1 }
}

/// The rectangle of all screens.
pub(super) fn virtual_desk() -> InputRect {
    // SAFETY: takes and returns plain numbers.
    let metric = |index| unsafe { GetSystemMetrics(index) };
    InputRect {
        x: metric(76),
        y: metric(77),
        width: metric(78).max(1) as u32,
        height: metric(79).max(1) as u32,
    }
}

/// Whether the person swapped the buttons.
pub(super) fn buttons_are_swapped() -> bool {
    // SAFETY: takes and returns plain numbers.
    unsafe { GetSystemMetrics(23) != 0 }
}

/// Where the pointer is.
pub(super) fn pointer() -> Option<InputPoint> {
    let mut point = Point::default();
    // SAFETY: writes one point to where a point is.
    let known = unsafe { GetCursorPos(&raw mut point) } != 0;
    known.then_some(InputPoint {
        x: point.x,
        y: point.y,
    })
}

/// The virtual key that gives a character on the current layout, whatever its modifiers.
pub(super) fn key_of(character: char) -> Option<u16> {
    let unit = u16::try_from(u32::from(character)).ok()?;
    // SAFETY: takes and returns plain numbers.
    let found = unsafe { VkKeyScanW(unit) };
    (found != -1).then_some(found as u16 & 0xff)
}
