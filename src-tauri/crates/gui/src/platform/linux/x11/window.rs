//! Which window is where, and whose it is.

use x11rb::errors::ReplyError;
use x11rb::protocol::res;
use x11rb::protocol::xproto::{
    self, Atom, AtomEnum, ConnectionExt as _, MapState, Window as Id, WindowClass,
};

use crate::{InputPoint, InputRect, ScreenError, Window};

use super::connection::Display;

/// How deep below a frame a window manager may put the client's window.
pub(super) const FRAME_DEPTH: usize = 4;

/// The top-level window that would receive a click at `point`.
pub(crate) fn at(
    display: &Display,
    point: InputPoint,
    res: bool,
) -> Result<Option<Window>, ScreenError> {
    let (Ok(x), Ok(y)) = (i16::try_from(point.x), i16::try_from(point.y)) else {
        return Ok(None);
    };
    // The server's own answer honours the stacking order and the shapes of windows.
    let found = display
        .conn
        .translate_coordinates(display.root, display.root, x, y)?
        .reply()?
        .child;
    if found == x11rb::NONE {
        return Ok(None);
    }
    let visible = match display.conn.get_window_attributes(found)?.reply() {
        Ok(attributes) => attributes.class != WindowClass::INPUT_ONLY,
        Err(_) => return Ok(None),
    };
    // Window managers lay invisible windows over edges; what a person sees there is below.
    let top = if visible {
        Some(found)
    } else {
        visible_below(display, found, x, y)?
    };
    match top {
        Some(top) => describe(display, client_of(display, top)?, res),
        None => Ok(None),
    }
}

/// The top-level window that has the keyboard.
pub(crate) fn focused(display: &Display, res: bool) -> Result<Option<Window>, ScreenError> {
    let focus = display.conn.get_input_focus()?.reply()?.focus;
    if focus == u32::from(xproto::InputFocus::NONE) {
        return Ok(None);
    }
    if focus == u32::from(xproto::InputFocus::POINTER_ROOT) || focus == display.root {
        let pointer = display.conn.query_pointer(display.root)?.reply()?;
        return at(
            display,
            InputPoint {
                x: pointer.root_x.into(),
                y: pointer.root_y.into(),
            },
            res,
        );
    }
    match focused_client(display, focus)? {
        Some(client) => describe(display, client, res),
        None => Ok(None),
    }
}

/// The top-level windows that are shown.
pub(crate) fn all(display: &Display, res: bool) -> Result<Vec<Window>, ScreenError> {
    let conn = &display.conn;
    let root = conn.get_geometry(display.root)?.reply()?;
    let (width, height) = (i32::from(root.width), i32::from(root.height));
    // Window managers and toolkits keep helpers beside the screen, where nobody sees them.
    let is_on_screen = |area: &InputRect| {
        let right = area.x.saturating_add_unsigned(area.width);
        let bottom = area.y.saturating_add_unsigned(area.height);
        area.x < width && area.y < height && right > 0 && bottom > 0
    };
    let mut windows = Vec::new();
    for top in conn.query_tree(display.root)?.reply()?.children {
        let Ok(attributes) = conn.get_window_attributes(top)?.reply() else {
            continue;
        };
        if attributes.map_state != MapState::VIEWABLE || attributes.class == WindowClass::INPUT_ONLY
        {
            continue;
        }
        let client = client_of(display, top)?;
        windows.extend(describe(display, client, res)?.filter(|it| is_on_screen(&it.area)));
    }
    Ok(windows)
}

/// The client window above (or at) the one that has the focus.
pub(crate) fn focused_client(display: &Display, focus: Id) -> Result<Option<Id>, ScreenError> {
    let mut window = focus;
    let mut below_root = focus;
    loop {
        if has_state(display, window)? {
            return Ok(Some(window));
        }
        let Ok(tree) = display.conn.query_tree(window)?.reply() else {
            break;
        };
        if tree.parent == x11rb::NONE || tree.parent == display.root {
            below_root = window;
            break;
        }
        window = tree.parent;
    }
    // While a window manager itself holds the focus it still says who is meant.
    let active = property(
        display,
        display.root,
        display.atoms._NET_ACTIVE_WINDOW,
        AtomEnum::WINDOW,
    )?
    .and_then(|value| Some(u32::from_ne_bytes(*value.first_chunk::<4>()?)))
    .filter(|id| *id != x11rb::NONE);
    Ok(active.or(Some(below_root)))
}

/// The topmost visible child of the root below `covering` that contains the point.
fn visible_below(
    display: &Display,
    covering: Id,
    x: i16,
    y: i16,
) -> Result<Option<Id>, ReplyError> {
    let conn = &display.conn;
    let children = conn.query_tree(display.root)?.reply()?.children;
    let asked: Result<Vec<_>, _> = children
        .iter()
        .rev()
        .skip_while(|id| **id != covering)
        .skip(1)
        .map(|id| {
            Ok::<_, ReplyError>((
                *id,
                conn.get_window_attributes(*id)?,
                conn.get_geometry(*id)?,
            ))
        })
        .collect();
    for (id, attributes, geometry) in asked? {
        let (Ok(attributes), Ok(geometry)) = (attributes.reply(), geometry.reply()) else {
            continue;
        };
        let border = i32::from(geometry.border_width) * 2;
        let area = InputRect {
            x: geometry.x.into(),
            y: geometry.y.into(),
            width: (i32::from(geometry.width) + border) as u32,
            height: (i32::from(geometry.height) + border) as u32,
        };
        let seen = attributes.map_state == MapState::VIEWABLE
            && attributes.class != WindowClass::INPUT_ONLY
            && area.contains(InputPoint {
                x: x.into(),
                y: y.into(),
            });
        if seen {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// The client inside a frame, or the window itself where it has none (menus, panels of old).
fn client_of(display: &Display, top: Id) -> Result<Id, ReplyError> {
    let mut level = vec![top];
    for _ in 0..FRAME_DEPTH {
        for id in &level {
            if has_state(display, *id)? {
                return Ok(*id);
            }
        }
        let trees: Result<Vec<_>, _> = level
            .iter()
            .map(|id| display.conn.query_tree(*id))
            .collect();
        level = trees?
            .into_iter()
            .filter_map(|tree| tree.reply().ok())
            .flat_map(|tree| tree.children)
            .collect();
        if level.is_empty() {
            break;
        }
    }
    Ok(top)
}

fn has_state(display: &Display, id: Id) -> Result<bool, ReplyError> {
    let state = display.atoms.WM_STATE;
    let reply = display
        .conn
        .get_property(false, id, state, AtomEnum::ANY, 0, 0)?
        .reply();
    Ok(reply.is_ok_and(|property| property.type_ != x11rb::NONE))
}

fn describe(display: &Display, id: Id, res: bool) -> Result<Option<Window>, ScreenError> {
    let conn = &display.conn;
    let geometry = conn.get_geometry(id)?;
    let origin = conn.translate_coordinates(id, display.root, 0, 0)?;
    let (Ok(geometry), Ok(origin)) = (geometry.reply(), origin.reply()) else {
        // It closed in the meantime.
        return Ok(None);
    };
    let class = property(display, id, AtomEnum::WM_CLASS.into(), AtomEnum::ANY)?;
    let title = match property(display, id, display.atoms._NET_WM_NAME, AtomEnum::ANY)? {
        Some(title) => String::from_utf8_lossy(&title).into_owned(),
        None => property(display, id, AtomEnum::WM_NAME.into(), AtomEnum::ANY)?
            .map_or_else(String::new, |title| legacy_text(&title)),
    };
    Ok(Some(Window {
        id: id.into(),
        pid: if res { owner(display, id)? } else { None },
        class: class.map_or_else(String::new, |class| class_name(&class)),
        title,
        area: InputRect {
            x: origin.dst_x.into(),
            y: origin.dst_y.into(),
            width: geometry.width.into(),
            height: geometry.height.into(),
        },
    }))
}

/// The process the server sees at the other end of the window's connection.
///
/// The window's own `_NET_WM_PID` is not asked: any program can write any number there.
fn owner(display: &Display, id: Id) -> Result<Option<u32>, ReplyError> {
    let spec = res::ClientIdSpec {
        client: id,
        mask: res::ClientIdMask::LOCAL_CLIENT_PID,
    };
    let reply = res::query_client_ids(&display.conn, &[spec])?.reply();
    Ok(reply
        .ok()
        .and_then(|reply| reply.ids.first()?.value.first().copied())
        .filter(|pid| *pid != 0))
}

fn property(
    display: &Display,
    id: Id,
    name: Atom,
    kind: AtomEnum,
) -> Result<Option<Vec<u8>>, ReplyError> {
    let reply = display
        .conn
        .get_property(false, id, name, kind, 0, 1024)?
        .reply();
    Ok(reply
        .ok()
        .filter(|property| property.type_ != x11rb::NONE)
        .map(|property| property.value))
}

/// `WM_CLASS` is the instance and the class, each ended by a zero byte.
pub(super) fn class_name(value: &[u8]) -> String {
    let mut parts = value
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty());
    let instance = parts.next().unwrap_or_default();
    String::from_utf8_lossy(parts.next().unwrap_or(instance)).to_lowercase()
}

/// `STRING` is Latin-1, though many programs put UTF-8 there.
fn legacy_text(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) => text.to_owned(),
        Err(_) => value.iter().map(|byte| char::from(*byte)).collect(),
    }
}
