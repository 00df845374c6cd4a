//! Finding elements in the tree.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::{Element, Elements, InputPoint, InputRect, Window};

use super::bus::{Bus, FOCUSED, Object, PASSWORD, States};

/// How many elements a window's list has at most.
const MOST: usize = 400;

/// How many objects are looked at to find them.
const OBJECTS: usize = 3000;

/// How deep trees are followed; web pages nest deeply.
const DEEPEST: u32 = 60;

/// How much text of an element is told.
const TEXT: i32 = 200;

/// Time kept back for handing over what was found.
const MARGIN: Duration = Duration::from_millis(3);

/// Roles that say nothing without a name.
const HOLLOW: [&str; 10] = [
    "filler",
    "panel",
    "unknown",
    "section",
    "redundant object",
    "scroll pane",
    "viewport",
    "layered pane",
    "split pane",
    "grouping",
];

/// The innermost element under a point of a window.
pub(super) async fn at(bus: &Bus, window: &Window, point: InputPoint) -> Option<Element> {
    let mut object = frame_of(bus, window).await?;
    let mut depth = 0;
    while depth < DEEPEST {
        match bus.child_at(&object, point.x, point.y).await {
            Some(child) if child != object => object = child,
            _ => break,
        }
        depth += 1;
    }
    let described = describe(bus, &object, depth).await?;
    Some(described.element)
}

/// The element of a window that has the keyboard.
pub(super) async fn focused(bus: &Bus, window: &Window) -> Option<Element> {
    let frame = frame_of(bus, window).await?;
    if let Some(found) = bus.matching(&frame, Some(FOCUSED), None).await {
        // A container may count as focused with what is in it; the innermost comes last.
        let object = found.last()?;
        return describe(bus, object, 0)
            .await
            .map(|described| described.element);
    }
    let until = Instant::now() + Duration::from_secs(1);
    let all = elements(bus, window, until).await.elements;
    all.into_iter().rfind(|element| element.focused)
}

/// The visible elements of a window.
pub(super) async fn elements(bus: &Bus, window: &Window, until: Instant) -> Elements {
    let deadline = until.checked_sub(MARGIN).unwrap_or(until);
    let deadline = tokio::time::Instant::from_std(deadline);
    let Ok(Some(frame)) = tokio::time::timeout_at(deadline, frame_of(bus, window)).await else {
        return Elements::default();
    };
    let mut nodes: Vec<Node> = Vec::new();
    let mut complete = true;
    let mut level: Vec<(Option<usize>, Object)> = vec![(None, frame)];
    let mut depth = 0;
    while !level.is_empty() {
        if depth > DEEPEST || nodes.len() + level.len() > OBJECTS {
            complete = false;
            break;
        }
        // A whole level at once: the calls wait for each other's answers no more than they must.
        let looked = join_all(level.iter().map(|(_, object)| async move {
            tokio::join!(describe(bus, object, depth), bus.children(object))
        }));
        let Ok(looked) = tokio::time::timeout_at(deadline, looked).await else {
            complete = false;
            break;
        };
        let mut next = Vec::new();
        for ((parent, _), (described, children)) in level.into_iter().zip(looked) {
            let Some(described) = described.filter(|it| it.states.showing()) else {
                continue;
            };
            let index = nodes.len();
            nodes.push(Node {
                element: Some(described.element),
                children: Vec::new(),
            });
            if let Some(parent) = parent {
                nodes[parent].children.push(index);
            }
            next.extend(children.into_iter().map(|child| (Some(index), child)));
        }
        level = next;
        depth += 1;
    }
    let mut found = Vec::new();
    sort_siblings(&mut nodes);
    in_order(&mut nodes, &mut found);
    found.retain(|element| telling(element) && touches(element.area, window.area));
    complete &= found.len() <= MOST;
    found.truncate(MOST);
    Elements {
        elements: found,
        complete,
    }
}

/// Where the visible password fields of all programs are.
pub(super) async fn passwords(bus: &Bus, until: Instant) -> Vec<InputRect> {
    let deadline = until.checked_sub(MARGIN).unwrap_or(until);
    let deadline = tokio::time::Instant::from_std(deadline);
    let Ok(programs) = tokio::time::timeout_at(deadline, bus.programs()).await else {
        return Vec::new();
    };
    // Each program for itself: one that hangs must not hide the fields of the others.
    let each = join_all(programs.iter().map(|program| async move {
        let looked = tokio::time::timeout_at(deadline, passwords_of(bus, program)).await;
        looked.unwrap_or_default()
    }));
    each.await.into_iter().flatten().collect()
}

async fn passwords_of(bus: &Bus, program: &Object) -> Vec<InputRect> {
    let frames = bus.children(program).await;
    let found = join_all(
        frames
            .iter()
            .map(|frame| bus.matching(frame, None, Some(PASSWORD))),
    )
    .await;
    let fields: Vec<Object> = found.into_iter().flatten().flatten().collect();
    let areas = join_all(fields.iter().map(|field| async move {
        let (states, area) = tokio::join!(bus.states(field), bus.area(field));
        area.filter(|_| states.showing())
    }));
    areas.await.into_iter().flatten().collect()
}

/// The accessible frame of a window: of the same process, in the same place, with the same title.
async fn frame_of(bus: &Bus, window: &Window) -> Option<Object> {
    let programs = bus.programs().await;
    let processes = join_all(programs.iter().map(|program| bus.process(program))).await;
    let own = programs
        .iter()
        .zip(processes)
        .filter(|(_, process)| window.pid.is_none() || *process == window.pid)
        .map(|(program, _)| program);
    let frames: Vec<Object> = join_all(own.map(|program| bus.children(program)))
        .await
        .into_iter()
        .flatten()
        .collect();
    let looked = join_all(frames.iter().map(|frame| async move {
        tokio::join!(bus.name(frame), bus.area(frame), bus.states(frame))
    }))
    .await;
    let likeness = |(name, area, states): &(String, Option<InputRect>, States)| {
        let area = area.filter(|_| states.showing())?;
        // Programs with frames of their own count shadows in, so overlap is what can be asked.
        touches(area, window.area).then_some((
            area == window.area,
            *name == window.title && !name.is_empty(),
        ))
    };
    let best = looked
        .iter()
        .enumerate()
        .filter_map(|(index, frame)| Some((likeness(frame)?, index)))
        .max()?;
    frames.into_iter().nth(best.1)
}

struct Described {
    element: Element,
    states: States,
}

struct Node {
    element: Option<Element>,
    children: Vec<usize>,
}

async fn describe(bus: &Bus, object: &Object, depth: u32) -> Option<Described> {
    let (area, (number, role), name, states) = tokio::join!(
        bus.area(object),
        bus.role(object),
        bus.name(object),
        bus.states(object)
    );
    let password = number == PASSWORD;
    let value = if password {
        None
    } else {
        bus.text(object, TEXT).await
    };
    Some(Described {
        element: Element {
            role,
            value: value.filter(|value| *value != name),
            name,
            area: area?,
            depth,
            focused: states.focused(),
            enabled: states.enabled(),
            password,
        },
        states,
    })
}

/// Toolkits list what is in these in the order it was put in, or backwards.
const CONTAINERS: [&str; 4] = ["panel", "filler", "frame", "dialog"];

/// Puts the children of a toolkit's container into reading order; other parents, such as those of
/// a web page, have them so already.
fn sort_siblings(nodes: &mut [Node]) {
    // Things of one row are rarely aligned to the pixel.
    const ROW: i32 = 6;
    let place = |node: &Node| {
        let centre = node.element.as_ref().map(Element::centre);
        centre.map_or((0, 0), |centre| (centre.y / ROW, centre.x))
    };
    for index in 0..nodes.len() {
        let role = nodes[index]
            .element
            .as_ref()
            .map_or("", |element| element.role.as_str());
        if CONTAINERS.contains(&role) {
            let mut children = std::mem::take(&mut nodes[index].children);
            children.sort_by_key(|child| place(&nodes[*child]));
            nodes[index].children = children;
        }
    }
}

/// Parents before children.
fn in_order(nodes: &mut [Node], found: &mut Vec<Element>) {
    let mut open = if nodes.is_empty() {
        Vec::new()
    } else {
        vec![0]
    };
    while let Some(index) = open.pop() {
        found.extend(nodes[index].element.take());
        open.extend(nodes[index].children.iter().rev());
    }
}

fn telling(element: &Element) -> bool {
    !element.name.is_empty()
        || element.value.is_some()
        || element.focused
        || !HOLLOW.contains(&element.role.as_str())
}

fn touches(one: InputRect, other: InputRect) -> bool {
    let apart = |start: i32, length: u32, other_start: i32, other_length: u32| {
        i64::from(start) + i64::from(length) <= i64::from(other_start)
            || i64::from(other_start) + i64::from(other_length) <= i64::from(start)
    };
    !apart(one.x, one.width, other.x, other.width)
        && !apart(one.y, one.height, other.y, other.height)
}
