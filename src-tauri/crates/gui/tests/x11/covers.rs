//! Where windows are seen that no picture of a run shows, among those of others.

use std::sync::Arc;

use openspace_gui::{Cover, InputRect, MaskedScreen, Owner, Screen};
use openspace_testkit::screen::Rect;
use openspace_testkit::target::Window;
use openspace_testkit::{GtkTarget, Options, RawTarget, TestScreen};
use x11rb::connection::Connection as _;
use x11rb::protocol::shape::{self, SK, SO};
use x11rb::protocol::xproto::{
    AtomEnum, ClipOrdering, ColormapAlloc, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux,
    PropMode, Rectangle, StackMode, WindowClass,
};
use x11rb::wrapper::ConnectionExt as _;

use super::open;

fn of(pid: u32) -> impl Fn(Owner<'_>) -> bool {
    move |owner| owner.pid == Some(pid)
}

fn rect(x: i32, y: i32, width: u32, height: u32) -> InputRect {
    InputRect {
        x,
        y,
        width,
        height,
    }
}

/// The pixels in which a window is seen.
fn seen(cover: &Cover) -> u32 {
    cover.seen.iter().map(|it| it.width * it.height).sum()
}

/// A managed window is told with its frame, by its process, and not where a window of another lies
/// above it; a window of the same process takes nothing away.
#[test]
fn what_lies_above_is_left_out() {
    let screen = TestScreen::start(Options::sized(1280, 800)).unwrap();
    let gtk = GtkTarget::titled(&screen, "Other tasks").unwrap();
    let platform = open(&screen);
    let ours = of(gtk.id());
    let whole = platform.screen.covers(&ours).unwrap();
    let [cover] = whole.as_slice() else {
        panic!("{whole:?}");
    };
    let client = platform.screen.windows().unwrap().remove(0);
    let area = cover.area;
    assert!(
        area.height > client.area.height && area.y < client.area.y,
        "with its title bar: {area:?} {client:?}"
    );
    assert_eq!(cover.seen, [area]);

    let (x, y) = (area.x + 20, area.y + 40);
    let above = RawTarget::start(&screen, Window::new(Rect::new(x, y, 100, 50))).unwrap();
    let covered = platform.screen.covers(&ours).unwrap();
    assert_eq!(covered.len(), 1);
    assert_eq!(seen(&covered[0]), area.width * area.height - 100 * 50);
    let hole = rect(x, y, 100, 50);
    let middle = openspace_gui::InputPoint {
        x: x + 50,
        y: y + 25,
    };
    assert!(hole.contains(middle));
    assert!(!covered[0].seen.iter().any(|it| it.contains(middle)));
    let known = [gtk.id(), std::process::id()];
    let both = |owner: Owner<'_>| owner.pid.is_some_and(|pid| known.contains(&pid));
    let both = platform.screen.covers(&both).unwrap();
    assert_eq!(both.len(), 2, "lowest first: {both:?}");
    assert_eq!(both[1].area, hole);
    assert_eq!(both[0].seen, [area]);

    // Below it, it hides nothing.
    let connection = screen.connect().unwrap();
    let lower = ConfigureWindowAux::new().stack_mode(StackMode::BELOW);
    connection
        .configure_window(above.window(), &lower)
        .unwrap()
        .check()
        .unwrap();
    assert_eq!(platform.screen.covers(&ours).unwrap(), whole);
    drop(above);
    assert_eq!(platform.screen.covers(&ours).unwrap(), whole);
    drop(gtk);
    assert_eq!(platform.screen.covers(&ours).unwrap(), []);
}

/// What shows through a hole in a window above it is seen; so is what shines through one that is not
/// opaque, once somebody draws it like that.
#[test]
fn holes_and_glass_hide_nothing() {
    let screen = TestScreen::start(Options::sized(1280, 800)).unwrap();
    let gtk = GtkTarget::titled(&screen, "Other tasks").unwrap();
    let platform = open(&screen);
    let ours = of(gtk.id());
    let area = platform.screen.covers(&ours).unwrap()[0].area;
    let whole = area.width * area.height;
    let left = |expected: u32| {
        let covers = platform.screen.covers(&ours).unwrap();
        assert_eq!(whole - seen(&covers[0]), expected, "{covers:?}");
    };

    let connection = screen.connect().unwrap();
    let setup = &connection.setup().roots[0];
    let deep = setup.allowed_depths.iter().find(|it| it.depth == 32);
    let visual = deep.unwrap().visuals[0].visual_id;
    let (window, colours) = (
        connection.generate_id().unwrap(),
        connection.generate_id().unwrap(),
    );
    connection
        .create_colormap(ColormapAlloc::NONE, colours, setup.root, visual)
        .unwrap();
    let aux = CreateWindowAux::new()
        .override_redirect(1)
        .border_pixel(0)
        .colormap(colours);
    let (x, y) = (area.x as i16 + 20, area.y as i16 + 40);
    connection
        .create_window(
            32,
            window,
            setup.root,
            x,
            y,
            100,
            50,
            0,
            WindowClass::INPUT_OUTPUT,
            visual,
            &aux,
        )
        .unwrap();
    connection.map_window(window).unwrap().check().unwrap();
    left(100 * 50);

    // A frame of ten pixels.
    let hole = Rectangle {
        x: 10,
        y: 10,
        width: 80,
        height: 30,
    };
    let (cut, bounding) = (SO::SUBTRACT, SK::BOUNDING);
    let unsorted = ClipOrdering::UNSORTED;
    shape::rectangles(&connection, cut, bounding, unsorted, window, 0, 0, &[hole])
        .unwrap()
        .check()
        .unwrap();
    left(100 * 50 - 80 * 30);

    let atom = |name: &str| {
        let asked = connection.intern_atom(false, name.as_bytes()).unwrap();
        asked.reply().unwrap().atom
    };
    let compositor = atom("_NET_WM_CM_S0");
    let now = x11rb::CURRENT_TIME;
    connection
        .set_selection_owner(window, compositor, now)
        .unwrap()
        .check()
        .unwrap();
    left(0);
    let set = |name: &str, value: &[u32]| {
        let (atom, kind) = (atom(name), AtomEnum::CARDINAL);
        connection
            .change_property32(PropMode::REPLACE, window, atom, kind, value)
            .unwrap()
            .check()
            .unwrap();
    };
    // Opaque is its left half, of which the hole takes 40 columns.
    set("_NET_WM_OPAQUE_REGION", &[0, 0, 50, 50]);
    left(50 * 50 - 40 * 30);
    set("_NET_WM_WINDOW_OPACITY", &[u32::MAX]);
    left(50 * 50 - 40 * 30);
    set("_NET_WM_WINDOW_OPACITY", &[u32::MAX / 2]);
    left(0);
}

/// A picture is grey where such a window is, and shows what lies above it.
#[test]
fn pictures_leave_it_out() {
    let screen = TestScreen::start(Options::sized(1280, 800)).unwrap();
    is_left_out(&screen);
}

/// A compositor lays a window of its own over everything, which hides nothing, and draws the shadows of
/// others where it likes.
#[test]
fn pictures_leave_it_out_under_a_compositor() {
    let mut screen = TestScreen::start(Options::sized(1280, 800)).unwrap();
    screen.start_compositor().unwrap();
    is_left_out(&screen);
}

fn is_left_out(screen: &TestScreen) {
    let gtk = GtkTarget::titled(screen, "Other tasks").unwrap();
    let platform = open(screen);
    let area = platform.screen.covers(&of(gtk.id())).unwrap()[0].area;
    let (x, y) = (area.x + 20, area.y + 40);
    let _above = RawTarget::start(screen, Window::new(Rect::new(x, y, 100, 50))).unwrap();
    let monitor = platform.screen.monitors().unwrap().remove(0);
    let plain = platform.screen.capture(&monitor).unwrap();
    let masked = MaskedScreen::new(Arc::clone(&platform.screen), Arc::new(of(gtk.id())));
    let picture = masked.capture(&monitor).unwrap();
    let hole = rect(x, y, 100, 50);
    for y in 0..monitor.area.height {
        for x in 0..monitor.area.width {
            let at = ((y * monitor.area.width + x) * 4) as usize;
            let point = openspace_gui::InputPoint {
                x: x as i32,
                y: y as i32,
            };
            let hidden = area.contains(point) && !hole.contains(point);
            let wanted = if hidden {
                &[0x80; 3]
            } else {
                &plain.bgrx[at..at + 3]
            };
            assert_eq!(&picture.bgrx[at..at + 3], wanted, "{x}, {y}");
        }
    }
    assert!(!picture.covered.is_empty());
}
