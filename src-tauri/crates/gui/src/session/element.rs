//! Elements of the accessibility tree: listing them and finding one again.

use std::{fmt::Write as _, time::Duration, time::Instant};

use super::GuiSession;
use crate::{Element, GuiError, InputPoint, LOOKUP};

/// How long the listing of a window may take.
const LISTING: Duration = Duration::from_millis(1500);

impl GuiSession {
    /// There is a tree to ask.
    pub fn has_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// The program in front.
    pub(crate) fn front(&self) -> Result<openspace_grounding::ScreenApp, GuiError> {
        let window = self.screen.focused()?;
        let own = window.as_ref().is_some_and(|window| self.is_own(window));
        Ok(crate::target::app_of(window.as_ref(), own))
    }

    /// The elements of the window in front, one a line, numbered for [`GuiSession::element`].
    pub fn list_elements(&mut self) -> Result<String, GuiError> {
        let tree = self.tree.clone().ok_or_else(no_tree)?;
        let window = self.screen.focused()?.ok_or_else(|| {
            GuiError::NotFound("no window is in front; open or activate one first".into())
        })?;
        if self.is_own(&window) {
            return Err(GuiError::OffLimits(
                "the window in front belongs to OpenSpace; bring another one to the front".into(),
            ));
        }
        let found = tree.elements(&window, Instant::now() + LISTING);
        let mut text = format!("Window `{}` ({}).\n", window.title, window.class);
        if found.elements.is_empty() {
            text.push_str("It tells nothing about its elements.");
        }
        for (index, element) in found.elements.iter().enumerate() {
            describe(&mut text, index + 1, element, self.frame());
        }
        if !found.complete {
            text.push_str("There are more elements than are listed here.\n");
        }
        self.listed = found
            .elements
            .into_iter()
            .map(|element| (window.clone(), element))
            .collect();
        Ok(text)
    }

    /// Where a listed element is now.
    pub fn element(&mut self, number: usize) -> Result<InputPoint, GuiError> {
        let tree = self.tree.clone().ok_or_else(no_tree)?;
        let (window, element) = number
            .checked_sub(1)
            .and_then(|index| self.listed.get(index))
            .cloned()
            .ok_or_else(|| {
                GuiError::NotFound(format!(
                    "there is no element {number}; call accessibility_tree and take a number from it"
                ))
            })?;
        let alike = |other: &Element| other.role == element.role && other.name == element.name;
        let here = tree.element_at(element.centre(), Instant::now() + LOOKUP);
        if here.is_some_and(|here| alike(&here)) {
            return Ok(element.centre());
        }
        // It moved, or something smaller lies on its middle: look for the nearest one like it.
        let now = tree.elements(&window, Instant::now() + LISTING);
        let far = |other: &Element| {
            let (a, b) = (other.centre(), element.centre());
            (i64::from(a.x) - i64::from(b.x)).abs() + (i64::from(a.y) - i64::from(b.y)).abs()
        };
        now.elements
            .iter()
            .filter(|other| alike(other))
            .min_by_key(|other| far(other))
            .map(Element::centre)
            .ok_or_else(|| {
                GuiError::NotFound(format!(
                    "the {} `{}` is not there any more; call accessibility_tree again",
                    element.role, element.name
                ))
            })
    }
}

fn no_tree() -> GuiError {
    GuiError::NotFound(
        "the accessibility tree is not available here; use screenshots and positions".into(),
    )
}

fn describe(text: &mut String, number: usize, element: &Element, frame: Option<&super::Frame>) {
    let indent = "  ".repeat(element.depth.min(12) as usize);
    let _ = write!(text, "{indent}[{number}] {}", element.role);
    if !element.name.is_empty() {
        let _ = write!(text, " {:?}", element.name);
    }
    if let Some(value) = &element.value {
        let _ = write!(text, " = {value:?}");
    }
    if element.password {
        text.push_str(" (password)");
    }
    if element.focused {
        text.push_str(" (focused)");
    }
    if !element.enabled {
        text.push_str(" (disabled)");
    }
    let sent = frame.and_then(|frame| frame.geometry.input_to_sent(element.centre()));
    if let Some(sent) = sent {
        let _ = write!(text, " at [{}, {}]", sent.x, sent.y);
    }
    text.push('\n');
}
