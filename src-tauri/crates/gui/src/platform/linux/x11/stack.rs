//! Where the windows of some programs are seen: whose they are, and what lies above them.
//!
//! This is asked twice for every picture. What is inside a top-level window is looked up when it is
//! shown first and remembered while the same top-level windows exist; everything else is one round trip,
//! and another one only where something lies above a window that was asked for.

use std::collections::HashMap;

use x11rb::connection::Connection as _;
use x11rb::cookie::Cookie;
use x11rb::errors::ReplyError;
use x11rb::protocol::res;
use x11rb::protocol::shape::{self, SK};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply,
    GetWindowAttributesReply, MapState, QueryTreeReply, Window as Id, WindowClass,
};

use crate::region::without;
use crate::{Cover, InputRect, Owner, ScreenError};

use super::connection::{Conn, Display};
use super::screen::Extensions;
use super::window::{FRAME_DEPTH, class_name};

/// Programs of unmanaged windows are looked for so deep inside them.
const OWNERS_DEPTH: usize = 2;

/// What is remembered about the top-level windows.
pub(crate) struct Stack {
    /// All of them, sorted.
    ids: Vec<Id>,
    known: Vec<Known>,
    /// Owned by whoever draws windows with animations and shadows.
    compositor: Atom,
}

struct Known {
    id: Id,
    /// Nobody ever sees it.
    invisible: bool,
    /// Looked up once it is shown.
    inside: Option<Inside>,
}

/// What is inside a top-level window.
#[derive(Default)]
struct Inside {
    /// The client's window; without one, the window itself and what is in it.
    windows: Vec<Id>,
    class: String,
    managed: bool,
    empty: bool,
}

/// A top-level window that is shown.
struct Top<'a> {
    id: Id,
    inside: &'a Inside,
    /// With its border.
    area: InputRect,
    border: i32,
    depth: u8,
}

/// How a window is: asked, not answered yet.
type State<'a> = (
    Cookie<'a, Conn, GetWindowAttributesReply>,
    Cookie<'a, Conn, GetGeometryReply>,
    Option<Cookie<'a, Conn, QueryTreeReply>>,
);

impl Stack {
    /// Nothing is known yet.
    pub(crate) fn new(display: &Display) -> Result<Self, ScreenError> {
        let name = format!("_NET_WM_CM_S{}", display.screen);
        let compositor = display.conn.intern_atom(false, name.as_bytes())?;
        Ok(Self {
            ids: Vec::new(),
            known: Vec::new(),
            compositor: compositor.reply()?.atom,
        })
    }

    /// Somebody draws windows with animations.
    pub(crate) fn is_composited(&self, display: &Display) -> Result<bool, ScreenError> {
        let owner = display.conn.get_selection_owner(self.compositor)?.reply()?;
        Ok(owner.owner != x11rb::NONE)
    }

    /// See [`Screen::covers`](crate::Screen::covers).
    pub(crate) fn covers(
        &mut self,
        display: &Display,
        has: Extensions,
        asked: &dyn Fn(Owner<'_>) -> bool,
    ) -> Result<Vec<Cover>, ScreenError> {
        let compositor = self.compositor;
        let (tops, pids) = self.shown(display, has)?;
        let wanted: Vec<bool> = tops.iter().map(|top| top.is(asked, &pids)).collect();
        let is_above = |index: usize, below: usize| {
            index > below
                && !wanted[index]
                && crate::region::intersection(tops[index].area, tops[below].area).is_some()
        };
        let chosen = || (0..tops.len()).filter(|index| wanted[*index]);
        let hiding: Vec<usize> = (0..tops.len())
            .filter(|index| chosen().any(|below| is_above(*index, below)))
            .collect();
        let hidden = if hiding.is_empty() {
            HashMap::new()
        } else {
            hidden(display, has, compositor, &tops, &hiding)?
        };
        let cover = |index: usize| {
            let top = &tops[index];
            let above = hiding.iter().filter(|above| is_above(**above, index));
            let holes = above.filter_map(|above| hidden.get(above)).flatten();
            Cover {
                window: top.id.into(),
                area: top.area,
                seen: holes.fold(vec![top.area], |seen, hole| without(seen, *hole)),
            }
        };
        Ok(chosen().map(cover).collect())
    }

    /// The windows that are shown, the lowest first, and the processes of their clients.
    fn shown(
        &mut self,
        display: &Display,
        has: Extensions,
    ) -> Result<(Vec<Top<'_>>, Pids), ScreenError> {
        let tree = display.conn.query_tree(display.root)?;
        let mut states = self.ask(display)?;
        let mut pids = Pids::ask(display, has, &self.known)?;
        let order = tree.reply()?.children;
        let mut ids = order.clone();
        ids.sort_unstable();
        if ids != self.ids {
            // A window may have the number of another one that is gone.
            let known = |id: &Id| Known {
                id: *id,
                invisible: false,
                inside: None,
            };
            self.known = order.iter().map(known).collect();
            self.ids = ids;
            states = self.ask(display)?;
        }
        let mut shown = HashMap::new();
        let mut unclear = Vec::new();
        for (index, (known, state)) in self.known.iter_mut().zip(states).enumerate() {
            // One that is gone is not shown.
            let Some((Ok(attributes), Ok(geometry), children)) = state.map(replies) else {
                continue;
            };
            known.invisible = attributes.class == WindowClass::INPUT_ONLY;
            if known.invisible || attributes.map_state != MapState::VIEWABLE {
                continue;
            }
            let filled = children.is_some_and(|it| it.is_ok_and(|it| !it.children.is_empty()));
            let clear = known.inside.as_ref();
            if !clear.is_some_and(|it| it.managed || (it.empty && !filled)) {
                unclear.push(index);
            }
            shown.insert(known.id, (index, geometry));
        }
        if !unclear.is_empty() {
            let looked: Vec<Id> = unclear.iter().map(|index| self.known[*index].id).collect();
            for (index, inside) in unclear.into_iter().zip(look_inside(display, &looked)?) {
                self.known[index].inside = Some(inside);
            }
            pids = Pids::ask(display, has, &self.known)?;
        }
        let mut tops = Vec::new();
        for id in order {
            if let Some((index, geometry)) = shown.remove(&id)
                && let Some(inside) = &self.known[index].inside
            {
                tops.push(Top::new(id, inside, &geometry));
            }
        }
        Ok((tops, pids))
    }

    /// Asks how the known windows are; an empty unmanaged one also what is in it now.
    fn ask<'a>(&self, display: &'a Display) -> Result<Vec<Option<State<'a>>>, ScreenError> {
        let conn = &display.conn;
        let ask = |known: &Known| {
            if known.invisible {
                return Ok(None);
            }
            let may_fill = known
                .inside
                .as_ref()
                .is_some_and(|it| it.empty && !it.managed);
            let children = may_fill.then(|| conn.query_tree(known.id)).transpose()?;
            Ok(Some((
                conn.get_window_attributes(known.id)?,
                conn.get_geometry(known.id)?,
                children,
            )))
        };
        self.known.iter().map(ask).collect()
    }
}

#[expect(clippy::type_complexity, reason = "what was asked, answered")]
fn replies(
    (attributes, geometry, children): State<'_>,
) -> (
    Result<GetWindowAttributesReply, ReplyError>,
    Result<GetGeometryReply, ReplyError>,
    Option<Result<QueryTreeReply, ReplyError>>,
) {
    (
        attributes.reply(),
        geometry.reply(),
        children.map(Cookie::reply),
    )
}

impl<'a> Top<'a> {
    fn new(id: Id, inside: &'a Inside, geometry: &GetGeometryReply) -> Self {
        let border = i32::from(geometry.border_width);
        let length = |length: u16| u32::from(length) + 2 * border.unsigned_abs();
        Self {
            id,
            inside,
            area: InputRect {
                x: geometry.x.into(),
                y: geometry.y.into(),
                width: length(geometry.width),
                height: length(geometry.height),
            },
            border,
            depth: geometry.depth,
        }
    }

    fn is(&self, asked: &dyn Fn(Owner<'_>) -> bool, pids: &Pids) -> bool {
        let class = self.inside.class.as_str();
        let mut owners = self.inside.windows.iter().map(|window| pids.of(*window));
        owners.any(|pid| asked(Owner { pid, class }))
    }
}

/// The processes of clients, as the server sees them at the other end of their connections.
struct Pids {
    of: HashMap<Id, u32>,
    /// The part of a number that tells windows of one client apart.
    mask: u32,
}

impl Pids {
    fn ask(display: &Display, has: Extensions, known: &[Known]) -> Result<Self, ScreenError> {
        let mask = display.conn.setup().resource_id_mask;
        let mut of = HashMap::new();
        let windows = known.iter().filter_map(|known| known.inside.as_ref());
        let windows = windows.flat_map(|inside| &inside.windows);
        // One window of each client: what the server answers with is the client.
        let one: HashMap<Id, Id> = windows.map(|window| (window & !mask, *window)).collect();
        if has.res && !one.is_empty() {
            let spec = |client: &Id| res::ClientIdSpec {
                client: *client,
                mask: res::ClientIdMask::LOCAL_CLIENT_PID,
            };
            let specs: Vec<_> = one.values().map(spec).collect();
            for answer in res::query_client_ids(&display.conn, &specs)?.reply()?.ids {
                let pid = answer.value.first().copied().filter(|pid| *pid != 0);
                of.extend(pid.map(|pid| (answer.spec.client & !mask, pid)));
            }
        }
        Ok(Self { of, mask })
    }

    fn of(&self, window: Id) -> Option<u32> {
        self.of.get(&(window & !self.mask)).copied()
    }
}

/// Looks for the clients' windows inside others, all at the same time.
fn look_inside(display: &Display, tops: &[Id]) -> Result<Vec<Inside>, ScreenError> {
    let conn = &display.conn;
    let state = display.atoms.WM_STATE;
    let mut found: Vec<Inside> = tops.iter().map(|_| Inside::default()).collect();
    let mut levels: Vec<(usize, Vec<Id>)> = Vec::new();
    levels.extend(
        tops.iter()
            .enumerate()
            .map(|(index, id)| (index, vec![*id])),
    );
    for depth in 0..=FRAME_DEPTH {
        let ask = |id: &Id| -> Result<_, ReplyError> {
            let property = conn.get_property(false, *id, state, AtomEnum::ANY, 0, 0)?;
            Ok((*id, property, conn.query_tree(*id)?))
        };
        let asked: Result<Vec<Vec<_>>, _> = levels
            .iter()
            .map(|(_, level)| level.iter().map(ask).collect())
            .collect();
        let mut next = Vec::new();
        for ((index, _), asked) in levels.iter().zip(asked?) {
            let inside = &mut found[*index];
            let mut below = Vec::new();
            for (id, property, tree) in asked {
                let managed = property.reply().is_ok_and(|it| it.type_ != x11rb::NONE);
                if managed && !inside.managed {
                    inside.windows = vec![id];
                    inside.managed = true;
                } else if !inside.managed && depth <= OWNERS_DEPTH {
                    inside.windows.push(id);
                }
                below.extend(tree.reply().map(|tree| tree.children).unwrap_or_default());
            }
            inside.empty = depth == 0 && below.is_empty();
            if !inside.managed && !below.is_empty() {
                next.push((*index, below));
            }
        }
        levels = next;
        if levels.is_empty() {
            break;
        }
    }
    let class = |inside: &Inside| {
        let first = inside.windows.first().copied().unwrap_or_default();
        conn.get_property(false, first, AtomEnum::WM_CLASS, AtomEnum::ANY, 0, 64)
    };
    let classes: Result<Vec<_>, _> = found.iter().map(class).collect();
    for (inside, class) in found.iter_mut().zip(classes?) {
        inside.class = class
            .reply()
            .map_or_else(|_| String::new(), |it| class_name(&it.value));
    }
    Ok(found)
}

/// What windows hide of what lies below them, by their place in `tops`. What shines through hides
/// nothing.
fn hidden(
    display: &Display,
    has: Extensions,
    compositor: Atom,
    tops: &[Top<'_>],
    hiding: &[usize],
) -> Result<HashMap<usize, Vec<InputRect>>, ScreenError> {
    let conn = &display.conn;
    let atoms = &display.atoms;
    let property = |window: Id, name: Atom| {
        conn.get_property(false, window, name, AtomEnum::CARDINAL, 0, 1024)
    };
    let ask = |index: &usize| -> Result<_, ReplyError> {
        let top = &tops[*index];
        let client = top.inside.windows.first().copied().unwrap_or(top.id);
        let shape = has
            .shape
            .then(|| shape::get_rectangles(conn, top.id, SK::BOUNDING));
        let opacity = [
            property(top.id, atoms._NET_WM_WINDOW_OPACITY)?,
            property(client, atoms._NET_WM_WINDOW_OPACITY)?,
        ];
        let opaque = property(client, atoms._NET_WM_OPAQUE_REGION)?;
        let origin = conn.translate_coordinates(client, display.root, 0, 0)?;
        Ok((*index, shape.transpose()?, opacity, opaque, origin))
    };
    let composited = conn.get_selection_owner(compositor)?;
    let asked: Result<Vec<_>, _> = hiding.iter().map(ask).collect();
    let composited = composited.reply()?.owner != x11rb::NONE;
    let mut hidden = HashMap::new();
    for (index, shape, opacity, opaque, origin) in asked? {
        let top = &tops[index];
        let numbers = |cookie: Cookie<'_, Conn, GetPropertyReply>| -> Vec<u32> {
            let reply = cookie.reply().ok();
            let values = reply.as_ref().and_then(GetPropertyReply::value32);
            values.into_iter().flatten().collect()
        };
        let [one, other] = opacity.map(numbers);
        let faint = one.iter().chain(&other).any(|opacity| *opacity != u32::MAX);
        if composited && faint {
            continue;
        }
        let (x, y) = (top.area.x + top.border, top.area.y + top.border);
        let mut parts = match shape.map(Cookie::reply) {
            None => vec![top.area],
            // It is gone.
            Some(Err(_)) => continue,
            Some(Ok(shape)) => shape
                .rectangles
                .iter()
                .map(|it| InputRect {
                    x: x + i32::from(it.x),
                    y: y + i32::from(it.y),
                    width: it.width.into(),
                    height: it.height.into(),
                })
                .collect(),
        };
        if composited && top.depth == 32 {
            // It may have shadows and rounded corners; what is opaque it tells.
            let Ok(origin) = origin.reply() else { continue };
            let opaque: Vec<InputRect> = numbers(opaque)
                .chunks_exact(4)
                .map(|it| InputRect {
                    x: i32::from(origin.dst_x).saturating_add_unsigned(it[0]),
                    y: i32::from(origin.dst_y).saturating_add_unsigned(it[1]),
                    width: it[2],
                    height: it[3],
                })
                .collect();
            let both = |part: &InputRect| {
                let of = *part;
                opaque
                    .iter()
                    .filter_map(move |it| crate::region::intersection(of, *it))
                    .collect::<Vec<_>>()
            };
            parts = parts.iter().flat_map(both).collect();
        }
        hidden.insert(index, parts);
    }
    Ok(hidden)
}
