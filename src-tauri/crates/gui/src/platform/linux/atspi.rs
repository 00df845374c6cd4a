//! The accessibility tree, over D-Bus.

use crate::{InputRect, Window};
use crate::{Element, Elements, InputPoint, Tree};
use std::time::Instant;

/// AT-SPI.
pub(crate) struct AtspiTree;

impl AtspiTree {
    /// Starts.
    pub(crate) fn start(_bus: Option<String>) -> Option<Self> {
        None
    }
}

impl Tree for AtspiTree {
    fn element_at(&self, _point: InputPoint, _until: Instant) -> Option<Element> {
        None
    }
    fn focused(&self, _until: Instant) -> Option<Element> {
        None
    }
    fn elements(&self, _window: &Window, _until: Instant) -> Elements {
        Elements::default()
    }
    fn passwords(&self, _until: Instant) -> Vec<InputRect> {
        Vec::new()
    }
}
