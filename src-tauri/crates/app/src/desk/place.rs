//! Where windows were, and where they go.

use openspace_gui::InputRect;
use serde::{Deserialize, Serialize};

/// A part of the desktop. Its unit is that of whoever asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// Where the main window was, logical pixels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// Left edge.
    pub x: f64,
    /// Top edge.
    pub y: f64,
    /// Width of its page.
    pub width: f64,
    /// Height of its page.
    pub height: f64,
    /// It filled the monitor.
    pub maximized: bool,
}

impl Place {
    /// Enough of it is on a monitor to be taken hold of: a monitor that went away must not take the
    /// window with it.
    pub fn is_visible(&self, monitors: &[Area]) -> bool {
        const CORNER: f64 = 80.0;
        monitors.iter().any(|monitor| {
            self.x + self.width >= monitor.x + CORNER
                && self.x <= monitor.x + monitor.width - CORNER
                && self.y >= monitor.y - CORNER
                && self.y <= monitor.y + monitor.height - CORNER
        })
    }
}

/// Left upper corner of the pill of a size: where it was put, while that is on a monitor, else in the
/// lower right corner of the first one. Pixels.
pub fn pill_corner(
    kept: Option<(f64, f64)>,
    size: (f64, f64),
    monitors: &[Area],
    scale: f64,
) -> Option<(f64, f64)> {
    const MARGIN: f64 = 16.0;
    /// Height of a usual panel.
    const PANEL: f64 = 40.0;
    let on_one = |(x, y): (f64, f64)| monitors.iter().any(|monitor| monitor.contains(x, y));
    kept.filter(|at| on_one(*at)).or_else(|| {
        let monitor = monitors.first()?;
        Some((
            monitor.x + monitor.width - size.0 - MARGIN * scale,
            monitor.y + monitor.height - size.1 - (MARGIN + PANEL) * scale,
        ))
    })
}

/// Where the top edge of a window goes whose height changes from one to another: the edge that is nearer
/// to an edge of its monitor stays.
pub fn turned(top: f64, from: f64, to: f64, monitor: Area) -> f64 {
    let above = top - monitor.y;
    let below = monitor.y + monitor.height - (top + from);
    if below < above { top + from - to } else { top }
}

impl From<InputRect> for Area {
    fn from(area: InputRect) -> Self {
        Self {
            x: area.x.into(),
            y: area.y.into(),
            width: area.width.into(),
            height: area.height.into(),
        }
    }
}

impl Area {
    /// By its left upper corner and its size.
    pub fn new((x, y): (f64, f64), (width, height): (f64, f64)) -> Self {
        Self {
            x,
            y,
            width,
            height,
        }
    }

    /// Some of it lies on the other one.
    pub(super) fn meets(&self, other: Self) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }

    fn contains(&self, x: f64, y: f64) -> bool {
        (self.x..self.x + self.width).contains(&x) && (self.y..self.y + self.height).contains(&y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Area = Area {
        x: -1920.0,
        y: 0.0,
        width: 1920.0,
        height: 1080.0,
    };
    const RIGHT: Area = Area { x: 0.0, ..LEFT };
    const SIZE: (f64, f64) = (320.0, 56.0);

    /// A window comes back where it was as long as it can be taken hold of there.
    #[test]
    fn windows_stay_on_monitors() {
        let at = |x: f64, y: f64| Place {
            x,
            y,
            width: 800.0,
            height: 600.0,
            maximized: false,
        };
        assert!(at(100.0, 100.0).is_visible(&[RIGHT]));
        assert!(at(-1000.0, 100.0).is_visible(&[RIGHT, LEFT]));
        assert!(!at(-1000.0, 100.0).is_visible(&[RIGHT]));
        assert!(!at(100.0, 1040.0).is_visible(&[RIGHT]));
        assert!(!at(1900.0, 100.0).is_visible(&[RIGHT]));
    }

    /// A window at the edge between two monitors lies on both, one beside it on neither.
    #[test]
    fn windows_lie_on_monitors() {
        let window = |x: f64| Area {
            x,
            width: 100.0,
            ..RIGHT
        };
        let on = |x: f64| (window(x).meets(LEFT), window(x).meets(RIGHT));
        assert_eq!(on(-100.0), (true, false));
        assert_eq!(on(-99.0), (true, true));
        assert_eq!(on(0.0), (false, true));
        assert_eq!(on(1920.0), (false, false));
    }

    /// The pill is where the person put it, or in the corner when that place is gone.
    #[test]
    fn the_pill_remembers_its_place() {
        let corner = |kept| pill_corner(kept, SIZE, &[RIGHT], 1.0);
        assert_eq!(corner(Some((30.0, 40.0))), Some((30.0, 40.0)));
        assert_eq!(corner(Some((-30.0, 40.0))), Some((1584.0, 968.0)));
        assert_eq!(corner(None), Some((1584.0, 968.0)));
        assert_eq!(pill_corner(None, SIZE, &[], 1.0), None);
    }

    /// What grows at the lower edge grows upwards, at the upper edge downwards, and comes back.
    #[test]
    fn the_nearer_edge_stays() {
        for (top, from, to, goes) in [
            (968.0, 56.0, 200.0, 824.0),
            (824.0, 200.0, 56.0, 968.0),
            (40.0, 56.0, 200.0, 40.0),
            (40.0, 200.0, 56.0, 40.0),
        ] {
            let turned = turned(top, from, to, RIGHT);
            assert!((turned - goes).abs() < 0.5, "{top}: {turned}");
        }
    }
}
