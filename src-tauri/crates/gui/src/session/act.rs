//! Doing: one action, the waiting after it, and what came of it.

use std::{thread, time::Instant};

use openspace_grounding::Action;
use serde_json::Value;

use super::{Done, GuiSession, Hooks, Judged};
use crate::{
    Capture, Element, GuiError, InputPoint, LOOKUP, Monitor,
    action::{ComputerAction, Place},
    change::Change,
    geometry::{FrameGeometry, PhysicalPoint, PhysicalRect, SentPoint},
    record::{Crop, StepRecord, Target, TargetWindow},
    ring::REPAINT,
    settle::{RealPace, Settled, settle, sleep},
    target::{UNKNOWN, pending_after},
};

/// So many actions in a row without a visible change are a reason to do something else.
const STUCK: u32 = 3;
/// Most characters of the clipboard that are shown.
const SHOWN: usize = 20_000;

/// The screen right before an action, and what was found out about the target meanwhile.
struct Before {
    monitor: Monitor,
    capture: Capture,
    /// Small changes since the last frame: carets and clocks that move without our doing.
    restless: Option<Change>,
    hash: String,
    element: Option<Element>,
}

impl GuiSession {
    pub(super) fn perform(
        &mut self,
        action: &ComputerAction,
        base: Option<&FrameGeometry>,
        judged: &Judged,
        permitted: &[Action],
        last: bool,
        hooks: &Hooks<'_>,
    ) -> Result<Done, GuiError> {
        match action {
            ComputerAction::Screenshot { monitor } => {
                if let Some(name) = monitor {
                    self.choose(name)?;
                }
                self.look()?;
                Ok(Done {
                    seen: true,
                    ..Done::default()
                })
            }
            ComputerAction::Zoom { region } => {
                let base = base.ok_or_else(|| {
                    GuiError::Stale("no picture has been taken yet; this one is fresh".into())
                })?;
                let image = self.zoom(*region, base)?;
                Ok(Done {
                    texts: vec![
                        "A closer look; positions still refer to the last whole screenshot.".into(),
                    ],
                    zoom: Some(image),
                    ..Done::default()
                })
            }
            ComputerAction::Wait { duration } => {
                if !sleep(*duration, hooks.may_act) {
                    return Err(GuiError::Cancelled);
                }
                if last {
                    self.look()?;
                }
                Ok(Done {
                    seen: last,
                    ..Done::default()
                })
            }
            ComputerAction::CursorPosition => Ok(Done {
                texts: vec![self.pointer_told()?],
                ..Done::default()
            }),
            ComputerAction::ClipboardRead => {
                let text = match self.input.clipboard()? {
                    None => "The clipboard holds no text.".into(),
                    Some(text) => clipboard_told(&text),
                };
                Ok(Done {
                    texts: vec![text],
                    ..Done::default()
                })
            }
            ComputerAction::ClipboardWrite { text } => {
                self.input.set_clipboard(text)?;
                Ok(Done {
                    texts: vec![format!(
                        "{} characters are on the clipboard.",
                        text.chars().count()
                    )],
                    ..Done::default()
                })
            }
            _ => self.control(action, base, judged, permitted, last, hooks),
        }
    }

    fn pointer_told(&self) -> Result<String, GuiError> {
        let point = self.screen.pointer()?;
        let sent = self
            .frame
            .as_ref()
            .and_then(|frame| frame.geometry.input_to_sent(point));
        Ok(match sent {
            Some(sent) => format!("X={},Y={}", sent.x, sent.y),
            None if self.frame.is_none() => {
                "Take a screenshot first: positions refer to a picture.".into()
            }
            None => "The pointer is on another monitor.".into(),
        })
    }

    /// Everything that moves the mouse or presses something.
    fn control(
        &mut self,
        action: &ComputerAction,
        base: Option<&FrameGeometry>,
        judged: &Judged,
        permitted: &[Action],
        last: bool,
        hooks: &Hooks<'_>,
    ) -> Result<Done, GuiError> {
        let before = self.before(judged)?;
        self.ring(action, judged, &before);
        let start = Instant::now();
        let injected = self.inject(action, base, judged, permitted, hooks);
        self.remember_typed(judged, injected.is_ok());
        injected?;

        let (monitors, monitor) = self.monitors()?;
        let tree = last.then(|| self.tree.clone()).flatten();
        // Password fields are looked for while the screen comes to rest.
        let secrets =
            tree.map(|tree| thread::spawn(move || tree.passwords(Instant::now() + LOOKUP)));
        let options = if last {
            match action {
                ComputerAction::Type { .. } | ComputerAction::Key { .. } => {
                    self.options.settle.after_keys()
                }
                _ => self.options.settle,
            }
        } else {
            self.options.settle.between_actions()
        };
        let screen = self.screen.clone();
        let settled = {
            let mut look = || Ok(screen.capture(&monitor)?);
            let mut pace = RealPace {
                since: start,
                may_go_on: hooks.may_act,
                look: &mut look,
            };
            settle(options, Some(&before.capture), &mut pace)?
        };
        let settled = self.without_ring(&monitor, settled, hooks)?;
        let middle = judged.point.and_then(|point| {
            let frame = self.frame.as_ref()?;
            frame.geometry.input_to_physical(point)
        });
        let change = effective_change(&before, &settled.capture, middle);
        let region = change.region();
        let mut record = self.record(action, base, judged, &before, region, &settled);
        let mut texts = Vec::new();
        if last {
            let secrets = secrets
                .and_then(|thread| thread.join().ok())
                .unwrap_or_default();
            // The last look of the waiting is the picture, once it proves trustworthy.
            let (capture, note) = self.trust(&monitor, settled.capture)?;
            let frame = self.show(&monitors, monitor, capture, secrets, note)?;
            record.hash_after = Some(frame.hash.clone());
            texts.extend(frame.notes.iter().cloned());
            if let Some(region) = region {
                texts.push(changed_told(region, &frame.geometry));
            }
        }
        if !settled.still {
            texts.push(format!(
                "The screen is still changing after {} ms.",
                settled.waited.as_millis()
            ));
        }
        let changed = region.is_some();
        let stuck = self.count_unmoved(action, changed, &mut texts);
        Ok(Done {
            texts,
            zoom: None,
            seen: last,
            changed: Some(changed),
            stuck,
            record: Some(record),
        })
    }

    /// Shows the person where a click goes, which does not wait for it.
    fn ring(&self, action: &ComputerAction, judged: &Judged, before: &Before) {
        let clicks = matches!(
            action,
            ComputerAction::Click { .. }
                | ComputerAction::Press { .. }
                | ComputerAction::Drag { .. }
        );
        if let (true, Some(ring), Some(point)) = (clicks, &self.options.ring, judged.point) {
            ring.show(point, &before.monitor, &before.capture);
        }
    }

    /// The last look, taken again where the ring still covers what has changed.
    fn without_ring(
        &self,
        monitor: &Monitor,
        settled: Settled,
        hooks: &Hooks<'_>,
    ) -> Result<Settled, GuiError> {
        match &self.options.ring {
            Some(ring) if ring.is_disturbed(monitor, &settled.capture) => ring.hide(),
            _ => return Ok(settled),
        }
        if !sleep(REPAINT, hooks.may_act) {
            return Err(GuiError::Cancelled);
        }
        Ok(Settled {
            capture: self.screen.capture(monitor)?,
            waited: settled.waited + REPAINT,
            ..settled
        })
    }

    /// The screen and the target's element as they are before anything happens.
    fn before(&mut self, judged: &Judged) -> Result<Before, GuiError> {
        let (_, monitor) = self.monitors()?;
        let tree = self.tree.clone();
        let point = judged.point;
        let (capture, element) = thread::scope(|scope| {
            let lookup = tree.as_ref().map(|tree| {
                scope.spawn(move || {
                    let until = Instant::now() + LOOKUP;
                    match point {
                        Some(point) => tree.element_at(point, until),
                        None => tree.focused(until),
                    }
                })
            });
            let capture = self.screen.capture(&monitor);
            let element = lookup.and_then(|thread| thread.join().ok()).flatten();
            (capture, element)
        });
        let capture = capture?;
        let mut restless = None;
        let mut hash = None;
        if let Some(frame) = &self.frame {
            let change = Change::between(&frame.capture, &capture);
            if change.is_empty() {
                hash = Some(frame.hash.clone());
            } else if change.is_small() {
                restless = Some(change);
            }
        }
        Ok(Before {
            hash: hash.unwrap_or_else(|| crate::encode::hash(&capture)),
            monitor,
            capture,
            restless,
            element,
        })
    }

    /// The unfinished line of a terminal after what was typed into it. When that broke off, nobody
    /// knows how much of it is there.
    fn remember_typed(&mut self, judged: &Judged, whole: bool) {
        let line = judged.actions.iter().find_map(|action| match action {
            Action::TypedCommand { line, .. } => Some(line),
            _ => None,
        });
        let (Some(line), Some(window)) = (line, &judged.window) else {
            return;
        };
        let rest = if whole {
            pending_after("", line)
        } else {
            format!("{}{UNKNOWN}", line.replace('\n', &UNKNOWN.to_string()))
        };
        if rest.is_empty() {
            self.pending.remove(&window.id);
        } else {
            self.pending.insert(window.id, rest);
        }
    }

    fn trust(
        &mut self,
        monitor: &Monitor,
        capture: Capture,
    ) -> Result<(Capture, Option<String>), GuiError> {
        let window = self.screen.focused()?;
        match self.check.pixels(&capture, monitor, window.as_ref())? {
            crate::capture_check::Verdict::Fine => Ok((capture, None)),
            // Anything doubtful gets the whole examination, with a second look.
            _ => self.grab(monitor),
        }
    }

    fn count_unmoved(
        &mut self,
        action: &ComputerAction,
        changed: bool,
        texts: &mut Vec<String>,
    ) -> bool {
        if changed {
            self.unmoved = 0;
            return false;
        }
        if !action.should_show() {
            texts.push("No visible change.".into());
            return false;
        }
        self.unmoved += 1;
        if self.unmoved < STUCK {
            texts.push(
                "No visible change: the screen looks exactly as before. If something should have \
                 happened, it may need a moment (wait) or did not work."
                    .into(),
            );
            return false;
        }
        texts.push(format!(
            "No visible change after {} actions in a row: this way does not work. Look closely (zoom), \
             try another way (another target, the keyboard, a menu), or tell the person what is in \
             the way.",
            self.unmoved
        ));
        true
    }

    fn record(
        &self,
        action: &ComputerAction,
        base: Option<&FrameGeometry>,
        judged: &Judged,
        before: &Before,
        changed: Option<PhysicalRect>,
        settled: &Settled,
    ) -> StepRecord {
        let geometry = base.or(self.frame.as_ref().map(|frame| &frame.geometry));
        let target = |point: InputPoint, sent: Option<SentPoint>, element: Option<Element>| {
            let physical = geometry.and_then(|geometry| geometry.input_to_physical(point));
            Target {
                sent: sent.or_else(|| geometry.and_then(|geometry| geometry.input_to_sent(point))),
                physical,
                input: point,
                element,
                crop: physical.and_then(|physical| Crop::around(&before.capture, physical)),
            }
        };
        let sent = |place: Place| match place {
            Place::Sent(point) => Some(point),
            _ => None,
        };
        let other_end = match action {
            ComputerAction::Drag { to, .. } => self
                .point(*to, base)
                .ok()
                .map(|point| target(point, sent(*to), None)),
            _ => None,
        };
        let on_screen = judged.point.is_some();
        let element = before.element.clone();
        let secret = !on_screen && element.as_ref().is_some_and(|element| element.password);
        let typed = match action {
            ComputerAction::Type { text } if !secret => Some(text.clone()),
            _ => None,
        };
        let target = judged
            .point
            .map(|point| target(point, action.place().and_then(sent), element.clone()));
        let mut arguments = action.arguments();
        // A click on an element has no position of its own.
        if let (Some(Place::Input(_)), Some(at)) = (
            action.place(),
            target.as_ref().and_then(|target| target.sent),
        ) {
            arguments["coordinate"] = serde_json::json!([at.x, at.y]);
        }
        StepRecord {
            action: if secret { Value::Null } else { arguments },
            geometry: geometry.cloned(),
            target,
            other_end,
            focus: element.filter(|_| !on_screen),
            window: judged.window.as_ref().map(TargetWindow::from),
            typed,
            secret,
            hash_before: Some(before.hash.clone()),
            hash_after: None,
            changed,
            settled_ms: u64::try_from(settled.waited.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

/// What the action changed. Carets and clocks elsewhere that moved before it do not count.
fn effective_change(before: &Before, after: &Capture, middle: Option<PhysicalPoint>) -> Change {
    let change = Change::between(&before.capture, after);
    match (&before.restless, middle) {
        (Some(restless), Some(middle)) if !restless.touches(middle) => change.without(restless),
        _ => change,
    }
}

fn changed_told(region: PhysicalRect, geometry: &FrameGeometry) -> String {
    let from = geometry.physical_to_sent(PhysicalPoint {
        x: region.x,
        y: region.y,
    });
    let to = geometry.physical_to_sent(PhysicalPoint {
        x: region.x + region.width - 1,
        y: region.y + region.height - 1,
    });
    format!(
        "Changed: x {} to {}, y {} to {}.",
        from.x, to.x, from.y, to.y
    )
}

fn clipboard_told(text: &str) -> String {
    let count = text.chars().count();
    if count <= SHOWN {
        return format!("The clipboard holds {count} characters:\n{text}");
    }
    let shown: String = text.chars().take(SHOWN).collect();
    format!("The clipboard holds {count} characters, the first {SHOWN} are:\n{shown}")
}
