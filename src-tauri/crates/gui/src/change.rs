//! What differs between two captures.

use crate::{
    Capture,
    geometry::{PhysicalPoint, PhysicalRect},
};

/// Edge of the squares differences are counted in.
const TILE: u32 = 32;
/// One tile in this many may move for ever (carets, spinners, clocks) without counting as unrest.
const SMALL_SHARE: usize = 200;

/// The tiles in which two pictures of one size differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    columns: u32,
    width: u32,
    height: u32,
    tiles: Vec<bool>,
}

impl Change {
    /// Compares. Pictures of different size differ everywhere.
    pub fn between(before: &Capture, after: &Capture) -> Self {
        let (width, height) = (after.width, after.height);
        let columns = width.div_ceil(TILE);
        let count = (columns * height.div_ceil(TILE)) as usize;
        let mut change = Self {
            columns,
            width,
            height,
            tiles: vec![false; count],
        };
        if before.width != width || before.height != height || before.bgrx.len() != after.bgrx.len()
        {
            change.tiles.fill(true);
            return change;
        }
        // Bands of a tile's height are compared whole, which is what still screens cost.
        let stride = width as usize * 4;
        let band = stride * TILE as usize;
        if stride == 0 {
            return change;
        }
        let bands = before.bgrx.chunks(band).zip(after.bgrx.chunks(band));
        for (line, (old, new)) in bands.enumerate() {
            if old == new {
                continue;
            }
            for (old, new) in old.chunks(stride).zip(new.chunks(stride)) {
                if old == new {
                    continue;
                }
                let tile = TILE as usize * 4;
                for (column, (old, new)) in old.chunks(tile).zip(new.chunks(tile)).enumerate() {
                    if old != new {
                        change.tiles[line * columns as usize + column] = true;
                    }
                }
            }
        }
        change
    }

    /// Nothing differs.
    pub fn is_empty(&self) -> bool {
        !self.tiles.contains(&true)
    }

    /// So little differs that it may be a caret, a spinner or a clock.
    pub fn is_small(&self) -> bool {
        let changed = self.tiles.iter().filter(|tile| **tile).count();
        changed <= (self.tiles.len() / SMALL_SHARE).max(2)
    }

    /// The smallest rectangle of whole tiles around all that differs.
    pub fn region(&self) -> Option<PhysicalRect> {
        let mut found: Option<(u32, u32, u32, u32)> = None;
        for (index, _) in self.tiles.iter().enumerate().filter(|(_, tile)| **tile) {
            let index = u32::try_from(index).unwrap_or(u32::MAX);
            let (x, y) = (index % self.columns, index / self.columns);
            found = Some(found.map_or((x, y, x, y), |(x0, y0, x1, y1)| {
                (x0.min(x), y0.min(y), x1.max(x), y1.max(y))
            }));
        }
        found.map(|(x0, y0, x1, y1)| PhysicalRect {
            x: x0 * TILE,
            y: y0 * TILE,
            width: ((x1 + 1) * TILE).min(self.width) - x0 * TILE,
            height: ((y1 + 1) * TILE).min(self.height) - y0 * TILE,
        })
    }

    /// What remains when the tiles of `restless` do not count.
    pub fn without(mut self, restless: &Self) -> Self {
        if self.tiles.len() == restless.tiles.len() {
            for (tile, moves) in self.tiles.iter_mut().zip(&restless.tiles) {
                *tile &= !moves;
            }
        }
        self
    }

    /// Whether a tile at the point or beside it differs.
    pub fn touches(&self, point: PhysicalPoint) -> bool {
        let (x, y) = (i64::from(point.x / TILE), i64::from(point.y / TILE));
        let columns = i64::from(self.columns);
        (y - 1..=y + 1).any(|y| {
            (x - 1..=x + 1).any(|x| {
                (0..columns).contains(&x)
                    && usize::try_from(y * columns + x)
                        .ok()
                        .and_then(|index| self.tiles.get(index))
                        .is_some_and(|tile| *tile)
            })
        })
    }
}

#[cfg(test)]
mod tests;
