//! Rectangles, and what is left of them where others lie above.

use crate::InputRect;

/// Left, top, and the first column and row outside.
type Edges = (i64, i64, i64, i64);

fn edges(area: InputRect) -> Edges {
    let (x, y) = (i64::from(area.x), i64::from(area.y));
    (x, y, x + i64::from(area.width), y + i64::from(area.height))
}

fn rect((left, top, right, bottom): Edges) -> Option<InputRect> {
    (left < right && top < bottom).then(|| InputRect {
        x: left as i32,
        y: top as i32,
        width: (right - left) as u32,
        height: (bottom - top) as u32,
    })
}

/// What lies in both rectangles.
pub(crate) fn intersection(one: InputRect, other: InputRect) -> Option<InputRect> {
    let ((a0, b0, a1, b1), (c0, d0, c1, d1)) = (edges(one), edges(other));
    rect((a0.max(c0), b0.max(d0), a1.min(c1), b1.min(d1)))
}

/// Rectangles without what lies in another one.
pub(crate) fn without(areas: Vec<InputRect>, hole: InputRect) -> Vec<InputRect> {
    let left_of = |area: InputRect| {
        let Some(hole) = intersection(area, hole) else {
            return vec![area];
        };
        let ((x0, y0, x1, y1), (h0, v0, h1, v1)) = (edges(area), edges(hole));
        let around = [
            (x0, y0, x1, v0),
            (x0, v0, h0, v1),
            (h1, v0, x1, v1),
            (x0, v1, x1, y1),
        ];
        around.into_iter().filter_map(rect).collect()
    };
    areas.into_iter().flat_map(left_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(x: i32, y: i32, width: u32, height: u32) -> InputRect {
        InputRect {
            x,
            y,
            width,
            height,
        }
    }

    /// Every pixel is where it should be, and in one rectangle only.
    #[test]
    fn holes_are_cut_exactly() {
        let whole = area(-3, -2, 12, 10);
        for hole in [
            area(0, 0, 3, 3),
            area(-9, -9, 30, 8),
            area(-9, 1, 30, 2),
            area(5, -9, 30, 30),
            area(-3, -2, 12, 10),
            area(40, 40, 2, 2),
            area(i32::MAX - 1, 0, u32::MAX, 5),
        ] {
            let left = without(vec![whole], hole);
            for y in -4..10 {
                for x in -5..12 {
                    let at = crate::InputPoint { x, y };
                    let times = left.iter().filter(|part| part.contains(at)).count();
                    let wanted = whole.contains(at) && !hole.contains(at);
                    assert_eq!(times, usize::from(wanted), "{hole:?} at {x}, {y}: {left:?}");
                }
            }
        }
    }
}
